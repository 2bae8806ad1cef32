//! The scatters: their doors.

// The pages of operators list methods in this order: `run` first, and the forms for types known at run time later.
mod typed;

mod adjoint;
mod dynamic;
mod erased;
mod plan;
mod reduce;

pub use dynamic::DynScatterPlan;
pub use plan::ScatterPlan;

use crate::call::Sealed;
use crate::call::operator::{HasAttributes, Operator, Reduces, TakesIndices, has_attributes, takes_indices};
use crate::plan::IndexLowered;
use crate::tensor::layout::Layout;
use crate::types::error::Error;
use crate::types::op::Op;
use crate::types::policy::{NegativeIndex, ScatterOutOfBounds};
use crate::types::reduction::Reduction;

/// The attributes of a scatter. Sealed: those of [`ScatterElements`](crate::ScatterElements) and
/// [`ScatterNd`](crate::ScatterNd).
pub trait ScatterAttributes: Sealed {
    /// The operator.
    #[doc(hidden)]
    fn op(&self) -> Op;

    /// Checks the attributes against the shapes, and adds loops and axes to what is empty: those of the gather that
    /// reads where this writes.
    #[doc(hidden)]
    fn lower(&self, data: &Layout, indices: &Layout, updates: &Layout, lowered: &mut IndexLowered)
    -> Result<(), Error>;
}

/// The kind of a scatter: its attributes, its reduction and its index policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scattering<A> {
    attributes: A,
    reduction: Reduction,
    include_self: bool,
    negative: NegativeIndex,
    out_of_bounds: ScatterOutOfBounds,
}

/// An operator that changes data by updates: [`ScatterElements`](crate::ScatterElements) or
/// [`ScatterNd`](crate::ScatterNd), which differ in their attributes.
///
/// Updates are taken in row-major order of the indices. The result is that of the plain loop, to the bit, for any
/// number of threads, at every level and by every method.
pub type ScatterOperator<A> = Operator<Scattering<A>>;

has_attributes!(Scattering);
takes_indices!(Scattering<A>: negative, out_of_bounds: ScatterOutOfBounds);

impl<A> Reduces for Scattering<A> {
    fn reduction(&self) -> Reduction {
        self.reduction
    }

    fn reduction_mut(&mut self) -> &mut Reduction {
        &mut self.reduction
    }
}
