//! Running the plan of a map.

use crate::error::Error;
use crate::exec::culprit;
use crate::exec::index::{Kernel, Operands, run_nest};
use crate::kernels::{
    Fill, IndexArgs, IndexKernel, MapArgs, MapMover, MapNest, Verdict, index_nest_any, wide_map_nest,
};
use crate::ops::OutOfBounds;
use crate::plan::{MapPlan, Route};

/// A map and its parameters, without their types.
#[derive(Clone, Copy)]
pub(crate) struct Conversion {
    /// The map at the plan's level.
    pub(crate) mover: MapMover,
    /// The lookups of its parameters.
    pub(crate) params: *const (),
    /// Bytes of an element of the output.
    pub(crate) size: usize,
}

/// Runs a plan.
///
/// # Errors
/// As for [`run_index`](super::run_index).
///
/// # Safety
/// As for [`run_index`](super::run_index), for data of the map's input and output, both aligned; the mover is that of a map
/// of these types at the plan's level, and `params` are lookups of its parameters, which are shared between threads and
/// reach a value for every position along the axis.
pub(crate) unsafe fn run(plan: &MapPlan, conversion: &Conversion, operands: &Operands<'_>) -> Result<(), Error> {
    let nest = match plan.route {
        Route::Nothing => return Ok(()),
        Route::Check => {
            // SAFETY: the indices may be read along their layout.
            return unsafe { culprit::check(&plan.blame(), operands.index, operands.indices) };
        }
        Route::Fill => {
            let fill: IndexKernel = index_nest_any::<Fill>;
            // SAFETY: the promise about the operands; the plan fills.
            let _ = unsafe { run_nest(plan, fill, operands.index, operands) };
            return Ok(());
        }
        Route::Kernel(nest) => nest,
        Route::Wide => wide_map_nest(plan.index),
    };
    let mapped = Mapped { nest, conversion };
    // SAFETY: the promise about the operands and the map; the plan has picked the nest.
    let verdict = unsafe { run_nest(plan, mapped, operands.index, operands) };
    if verdict.out_of_range && plan.rules.out_of_bounds == OutOfBounds::Error {
        // SAFETY: the indices may be read along their layout.
        return Err(unsafe { culprit::find(&plan.blame(), operands.index, operands.indices) });
    }
    Ok(())
}

/// A nest with the map that it applies.
#[derive(Clone, Copy)]
struct Mapped<'a> {
    nest: MapNest,
    conversion: &'a Conversion,
}

impl Kernel for Mapped<'_> {
    #[inline]
    unsafe fn call(self, args: &IndexArgs<'_>) -> Verdict {
        let Conversion { mover, params, size } = *self.conversion;
        let args = MapArgs { index: *args, mover, params, elements: args.row / size };
        // SAFETY: the kernel contract is the caller's promise; K8 is that of `run`, and the plan's rows are contiguous runs
        // of elements at both ends.
        unsafe { (self.nest)(&args) }
    }
}
