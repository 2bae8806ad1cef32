//! Scatters by a reduction of the caller's own.

#![forbid(unsafe_code)]

use crate::call::scatter::erased::Types;
use crate::call::scatter::{ScatterAttributes, ScatterOperator, ScatterPlan};
use crate::kernels::reduce::reducer::Reducer;
use crate::tensor::layout::Layout;
use crate::tensor::output::{Output, written};
use crate::tensor::owned::Tensor;
use crate::tensor::view::{View, ViewMut};
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;

impl<A: ScatterAttributes> ScatterOperator<A> {
    /// Runs the operator with a [`Reducer`] in place of a [`Reduction`](crate::Reduction), into a fresh tensor.
    ///
    /// Updates are taken in row-major order of the indices, by any number of threads. An element that does not count
    /// itself ([`include_self`](Self::include_self)) begins with its first update.
    ///
    /// ```
    /// use gather_core::{ScatterElements, View};
    ///
    /// gather_core::reduce_kernels! {
    ///     /// The value that is further from 0.
    ///     pub static MAX_ABS = |kept: f32, new: f32| -> f32 { if new.abs() > kept.abs() { new } else { kept } };
    /// }
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let (data, ids, new) = ([1.0f32, -2.0], [0u8, 1, 0, 1], [-3.0f32, 1.0, 2.0, -1.0]);
    ///     let (data, ids, new) = (View::new(&data, &[2])?, View::new(&ids, &[4])?, View::new(&new, &[4])?);
    ///     let peaks = ScatterElements::new(0).run_reduce(&MAX_ABS, &data, &ids, &new)?;
    ///     assert_eq!(peaks.as_slice(), [-3.0, -2.0]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// As for [`Self::run`].
    ///
    /// # Panics
    /// When the reduction does.
    pub fn run_reduce<T: Element, I: Index>(
        &self,
        reducer: &Reducer<T>,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        updates: &View<'_, T>,
    ) -> Result<Tensor<T>, Error> {
        written(Tensor::default(), |out| self.run_reduce_into(reducer, data, indices, updates, out))
    }

    /// As [`Self::run_reduce`], into an [`Output`]: a view of any strides, uninitialised memory, or a tensor that is
    /// used again.
    ///
    /// # Errors
    /// As for [`Self::run_into`].
    ///
    /// # Panics
    /// When the reduction does; a view then holds a mix of results and what it held before, and a tensor no elements.
    pub fn run_reduce_into<T: Element, I: Index>(
        &self,
        reducer: &Reducer<T>,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        updates: &View<'_, T>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        self.settings().run_into(Types::<T, I>::reduced_by(reducer), data, indices, updates, out)
    }

    /// As [`Self::run_reduce`], in place, on a tensor of any strides.
    ///
    /// # Errors
    /// As for [`Self::run_on`].
    ///
    /// # Panics
    /// When the reduction does; the tensor then holds some of the updates.
    pub fn run_reduce_on<T: Element, I: Index>(
        &self,
        reducer: &Reducer<T>,
        destination: &mut ViewMut<'_, T>,
        indices: &View<'_, I>,
        updates: &View<'_, T>,
    ) -> Result<(), Error> {
        self.settings().run_on(Types::<T, I>::reduced_by(reducer), destination, indices, updates)
    }

    /// As [`Self::plan`], for a reduction of the caller's own.
    ///
    /// # Errors
    /// As for [`Self::plan`].
    pub fn plan_reduce<T: Element, I: Index>(
        &self,
        reducer: &Reducer<T>,
        data: &[usize],
        indices: &Layout,
        updates: &Layout,
    ) -> Result<ScatterPlan<T, I>, Error> {
        let request = self.settings().request(Types::<T, I>::reduced_by(reducer), indices, updates)?;
        ScatterPlan::new(&request, &Layout::contiguous(data)?)
    }
}
