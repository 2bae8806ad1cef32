//! The plan of a map: that of its index operator, for elements that have one size in data and another in the output.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::dispatch;
use crate::error::Error;
use crate::index::IndexType;
use crate::kernels::{BLOCK, Loop, MapNest};
use crate::level::Level;
use crate::ops::{IndexRules, OutOfBounds, Tuning};
use crate::plan::fold::{arrange, count, fold};
use crate::plan::index::{components, fits_i32, is_far, out_strides};
use crate::plan::{Chosen, IndexLowered, IndexPlan, Route, Strategy};
use crate::shape::{Layout, Shape};
use crate::threads;

/// The plan of a map.
pub(crate) type MapPlan = IndexPlan<MapNest>;

/// Bytes of data that are fetched ahead: rows of 768 bytes and of 1,536 take least with 2 or 4 of them ahead, and more with 1
/// or 8 (2026-11-21, 2-core EPYC of the Zen 4 class, `maps`).
const AHEAD: usize = 2048;

/// Bytes of what a map reads and writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// An element of data.
    pub(crate) data: usize,
    /// An element of the output.
    pub(crate) out: usize,
    /// An index.
    pub(crate) index: IndexType,
}

impl MapPlan {
    /// Plans a lowered operator that has one axis.
    pub(crate) fn new_map(
        lowered: &IndexLowered,
        sizes: Sizes,
        out: &Layout,
        rules: IndexRules,
        tuning: Tuning,
    ) -> Result<Self, Error> {
        let level = Level::resolve(tuning.level)?;
        let IndexLowered { op, output, dims, merged, axes } = lowered;
        let bytes = Shape::checked_bytes(output, sizes.out)?;
        if let Some(strategy) = tuning.strategy.filter(|&strategy| strategy != Strategy::Direct) {
            return Err(Error::StrategyUnavailable { op: *op, strategy });
        }

        // Folded in elements: what is contiguous in data and in the output is so whatever the sizes are.
        let mut room = SmallVec::new();
        let outs = out_strides(out, dims, *merged, &mut room);
        let dims = dims.iter().zip(outs).map(|(dim, &out)| Loop { n: dim.n, out, data: dim.data, index: dim.index });
        let (mut loops, elements) = fold(dims, 1);
        let blocked = arrange(&mut loops);
        // Byte strides wrap for layouts over no slice; a view's cannot overflow.
        let index_size = sizes.index.size() as isize;
        for l in &mut loops {
            l.out = l.out.wrapping_mul(sizes.out as isize);
            l.data = l.data.wrapping_mul(sizes.data as isize);
            l.index = l.index.wrapping_mul(index_size);
        }
        let (components, unit) = components(axes, sizes.data as isize, index_size);

        let route = if output.contains(&0) {
            if rules.out_of_bounds == OutOfBounds::Error { Route::Check } else { Route::Nothing }
        } else if axes.iter().any(|axis| axis.dim == 0) {
            if rules.out_of_bounds == OutOfBounds::Zero { Route::Fill } else { Route::Check }
        } else if fits_i32(&components) {
            Route::Kernel(dispatch::map_nest(sizes.index, level))
        } else {
            Route::Wide
        };
        let (from, row) = (elements.saturating_mul(sizes.data), elements.saturating_mul(sizes.out));
        let ahead = if is_far(axes, sizes.data, from) { (AHEAD / from).clamp(2, 8) } else { 0 };
        let blocked = blocked && loops.last().is_some_and(|lane| lane.n > BLOCK);
        let lanes = count(&loops);
        Ok(IndexPlan {
            op: *op,
            output: output[..].into(),
            axes: SmallVec::from_slice(axes),
            blocked,
            whole: !blocked && threads::alone(tuning.par, bytes, lanes),
            loops,
            components,
            unit,
            row,
            ahead,
            stream: false,
            span: 0,
            chosen: Chosen::Direct,
            route,
            index: sizes.index,
            level,
            rules,
            par: tuning.par,
            bytes,
            lanes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Op;
    use crate::plan::Axis;

    #[test]
    fn rows_are_runs_of_elements_whatever_their_sizes() {
        // data [10, 6] u8, axis 0, 4 indices of 8 bytes, output f32.
        let mut lowered = IndexLowered::new(Op::Gather);
        lowered.push(4, 0, 1);
        lowered.push(6, 1, 0);
        lowered.axes.push(Axis { axis: 0, dim: 10, data: 6, index: 0 });
        let sizes = Sizes { data: 1, out: 4, index: IndexType::I64 };
        let out = Layout::contiguous(&[4, 6]).unwrap();
        let plan = MapPlan::new_map(&lowered, sizes, &out, IndexRules::default(), Tuning::default()).unwrap();
        assert_eq!(plan.loops.as_slice(), [Loop { n: 4, out: 24, data: 0, index: 8 }]);
        assert_eq!((plan.row, plan.unit, plan.bytes), (24, 6, 96));
    }
}
