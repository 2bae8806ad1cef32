//! Bags by a reduction of the caller's own.

use crate::call::bag::erased::{Request, Tensors};
use crate::call::bag::{BagPlan, Bags, EmbeddingBag};
use crate::kernels::reduce::reducer::Reducer;
use crate::tensor::layout::Layout;
use crate::tensor::output::{Output, written};
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;

impl EmbeddingBag {
    /// Runs the operator with a [`Reducer`] in place of its [`Reduction`](crate::Reduction), into a fresh tensor.
    ///
    /// A bag begins with its first row that counts, and takes the others in their order. There are no weights.
    ///
    /// ```
    /// use gather_core::{Bags, EmbeddingBag, Reduction, View};
    ///
    /// gather_core::reduce_kernels! {
    ///     /// The bits of both.
    ///     pub static UNION = |kept: u8, new: u8| -> u8 { kept | new };
    /// }
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let (sets, ids) = ([0b0001u8, 0b0110, 0b1000], [0u32, 2, 1, 1]);
    ///     let (sets, ids) = (View::new(&sets, &[3])?, View::new(&ids, &[2, 2])?);
    ///     let unions = EmbeddingBag::new(Reduction::Add).run_reduce(&UNION, &sets, &Bags::packed(&ids))?;
    ///     assert_eq!(unions.as_slice(), [0b1001, 0b0110]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// As for [`Self::run`].
    ///
    /// # Panics
    /// When the reduction does.
    pub fn run_reduce<T: Element, I: Index, O: Index>(
        &self,
        reducer: &Reducer<T>,
        data: &View<'_, T>,
        bags: &Bags<'_, T, I, O>,
    ) -> Result<Tensor<T>, Error> {
        written(Tensor::default(), |out| self.run_reduce_into(reducer, data, bags, out))
    }

    /// As [`Self::run_reduce`], into an [`Output`]: a view of any strides, uninitialised memory, or a tensor that is
    /// used again.
    ///
    /// # Errors
    /// As for [`Self::run_into`].
    ///
    /// # Panics
    /// When the reduction does; a view then holds a mix of results and what it held before, and a tensor no elements.
    pub fn run_reduce_into<T: Element, I: Index, O: Index>(
        &self,
        reducer: &Reducer<T>,
        data: &View<'_, T>,
        bags: &Bags<'_, T, I, O>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        let request = self.reducing::<T, I>(reducer)?;
        // SAFETY: the request and the tensors are of these types; O1 for `T`; the output is borrowed mutably, so that
        // it overlaps no input.
        unsafe { request.run(&Tensors::of(data, bags), out.target()) }
    }

    /// As [`Self::plan`], for a reduction of the caller's own.
    ///
    /// # Errors
    /// As for [`Self::plan`].
    pub fn plan_reduce<T: Element, I: Index, O: Index>(
        &self,
        reducer: &Reducer<T>,
        data: &Layout,
        bags: &Bags<'_, T, I, O>,
    ) -> Result<BagPlan<T, I>, Error> {
        BagPlan::new(&self.reducing::<T, I>(reducer)?, &Tensors::of(data, bags))
    }

    fn reducing<T: Element, I: Index>(&self, reducer: &Reducer<T>) -> Result<Request<'_>, Error> {
        Request::typed::<T, I>(self, Some((reducer.bag_fns(), reducer.name())))
    }
}
