//! Adjoints of the gathers.

#![forbid(unsafe_code)]

use crate::call::Sealed;
use crate::call::attributes::IndexAttributes;
use crate::call::checks::check_updates;
use crate::call::gather::GatherOperator;
use crate::call::scatter::{ScatterAttributes, ScatterOperator};
use crate::plan::IndexLowered;
use crate::tensor::layout::Layout;
use crate::types::error::Error;
use crate::types::op::Op;
use crate::types::policy::ScatterOutOfBounds;
use crate::types::reduction::Reduction;

/// The attributes of the [adjoint](GatherOperator::adjoint) of a gather with attributes `A`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AdjointAttributes<A>(A);

impl<A> Sealed for AdjointAttributes<A> {}

impl<A: IndexAttributes> ScatterAttributes for AdjointAttributes<A> {
    fn op(&self) -> Op {
        self.0.op()
    }

    fn lower(
        &self,
        data: &Layout,
        indices: &Layout,
        updates: &Layout,
        lowered: &mut IndexLowered,
    ) -> Result<(), Error> {
        self.0.lower(data, indices, lowered)?;
        check_updates(lowered.op, [data, indices, updates], &lowered.output)
    }

    fn rows_by(&self, data: &Layout, indices: &Layout) -> Option<usize> {
        let named = self.0.leading_axes(data, indices)?;
        (named.axes == 1).then_some(named.outer)
    }

    fn axis_size(&self, data: &Layout) -> Result<usize, Error> {
        self.0.axis_size(data)
    }
}

impl<A> GatherOperator<A> {
    /// The adjoint: the scatter that takes the gradient of the result to the gradient of data. Each element of data's
    /// gradient is the sum of the gradients of its copies. As a linear map it is the transpose of [`Self::run`].
    ///
    /// The adjoint is a [scatter](ScatterOperator) with the gradient as updates. [`run`](ScatterOperator::run) sums
    /// into [zeros](crate::zeros) of the shape of data; [`run_on`](ScatterOperator::run_on) adds to existing values, to
    /// accumulate the gradients of several batches. Another [`reduction`](ScatterOperator::reduction) can replace the
    /// sum, for means or extremes of rows by ids. Into zeros, means and extremes need
    /// [`include_self(false)`](ScatterOperator::include_self); otherwise the zero takes part.
    ///
    /// Terms are added in row-major order of the gradient, which has the shape of the result: the sum is the same, to
    /// the bit, for any number of threads. `f16` and `bf16` are added in `f32`, and rounded once for each element.
    /// Gradients of rows filled by [`OutOfBounds::Zero`](crate::OutOfBounds::Zero) are dropped. Gradients of clamped
    /// or wrapped indices are added to the row that was read.
    ///
    /// For a [`Gather`](crate::Gather) along axis 0 the adjoint is PyTorch's `index_add_`, and the sum of TensorFlow's
    /// IndexedSlices; for [`GatherElements`](crate::GatherElements) it is PyTorch's `scatter_add_`. If types are known
    /// at run time, the adjoint of `GatherElements` runs a registry's kernels of `scatter_elements`, and other adjoints
    /// its kernels of `scatter_nd`. Errors name the gather.
    ///
    /// ```
    /// use gather_core::{Gather, View, zeros};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     // Rows 2, 0 and 2 of a table of three rows were used.
    ///     let gradient = View::new(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[3, 2])?;
    ///     let table = Gather::new(0).adjoint().run(&zeros(&[3, 2])?, &[2u32, 0, 2], &gradient)?;
    ///     assert_eq!(table.as_slice(), [3.0, 4.0, 0.0, 0.0, 6.0, 8.0]);
    ///     Ok(())
    /// }
    /// ```
    #[doc(alias("gradient", "backward", "transpose", "segment_sum", "segment_mean", "segment_max"))]
    #[doc(alias("index_add", "index_add_", "scatter_add", "scatter_add_"))]
    #[doc(alias("message passing", "message_passing"))]
    #[must_use]
    pub fn adjoint(self) -> ScatterOperator<AdjointAttributes<A>> {
        let GatherOperator { attributes, policy, options, registry } = self;
        let (negative, out_of_bounds) = (policy.negative, ScatterOutOfBounds::of_gather(policy.out_of_bounds));
        ScatterOperator {
            reduction: Reduction::Add,
            negative,
            out_of_bounds,
            options,
            registry,
            ..ScatterOperator::from_attributes(AdjointAttributes(attributes))
        }
    }

    /// The scatter that writes rows to the positions that the gather reads: `data[ids[i]] = updates[i]` for a
    /// [`Gather`](crate::Gather) along axis 0. Of equal indices the last in row-major order wins.
    ///
    /// Updates have the shape of the gather's result. [`run_on`](ScatterOperator::run_on) writes in place;
    /// [`run`](ScatterOperator::run) writes to a copy of data. Under `OutOfBounds::Error` an index out of range is an
    /// error, and nothing is written; under [`OutOfBounds::Zero`](crate::OutOfBounds::Zero) its row is dropped. With
    /// [`skip_negative`](ScatterOperator::skip_negative) rows of negative indices are dropped, and an index beyond the
    /// axis is still an error. Equals [`Self::adjoint`] with [`Reduction::None`].
    ///
    /// # Example
    /// ```
    /// use gather_core::{Gather, View, ViewMut};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let mut cache = [0.0f32; 8];
    ///     let rows = View::new(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2])?;
    ///     Gather::new(0).writer().run_on(&mut ViewMut::new(&mut cache, &[4, 2])?, &[3u32, 0], &rows)?;
    ///     assert_eq!(cache, [3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0]);
    ///     Ok(())
    /// }
    /// ```
    #[doc(alias("index_copy", "index_copy_", "index_put_", "index_update", "scatter_update", "SET_ROWS"))]
    #[doc(alias("write rows", "overwrite", "store", "put", "reshape_and_cache"))]
    #[must_use]
    pub fn writer(self) -> ScatterOperator<AdjointAttributes<A>> {
        self.adjoint().reduction(Reduction::None)
    }
}
