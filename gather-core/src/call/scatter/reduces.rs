//! The reductions of scatters: built-in ones, and reducers of your own.

use crate::call::Sealed;
use crate::call::scatter::ScatterOperator;
use crate::call::source::kind::PlainKind;
use crate::kernels::reduce::Reductions;
use crate::kernels::reduce::reducer::Reducer;
use crate::kernels::reduce::scatter::ScatterFns;
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::op::Op;
use crate::types::reduction::Reduction;

impl Sealed for Reduction {}
impl<T> Sealed for &Reducer<T> {}

/// A reduction of data of a kind `K`: a [`Reduction`] for any type, or your [`Reducer<T>`](Reducer) for `T`. Sealed.
///
/// # Safety
/// **Y1** [`Reduces::fns`] returns functions that take elements of the kind, and the count of numbers in an element.
/// If the kind is [`Dyn`](crate::Dyn), the functions take any bytes of such numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not reduce elements `{K}`",
    label = "not for elements `{K}`",
    note = "a reduction of your own takes elements of its own type, which data, updates and the result have; where \
            types are known at run time, take a `Reduction`"
)]
pub unsafe trait Reduces<K>: Sealed + Copy {
    /// The functions that scatter, and the count of numbers in an element, each reduced separately.
    ///
    /// # Errors
    /// [`Error::ReductionUnavailable`].
    #[doc(hidden)]
    fn fns(self, op: Op, dtype: DType) -> Result<(&'static ScatterFns, usize), Error>;
}

// SAFETY: Y1: `K::reductions` finds the functions of the kind or of the data type; built-in functions take any bytes.
unsafe impl<K: PlainKind> Reduces<K> for Reduction {
    #[inline(always)]
    fn fns(self, op: Op, dtype: DType) -> Result<(&'static ScatterFns, usize), Error> {
        let reductions = match K::reductions(dtype) {
            // Replacing needs no functions of the type.
            None if self == Reduction::None => Reductions::NONE,
            found => found.ok_or(Error::KernelsNotCompiled { op, dtype, index: None })?,
        };
        let found = reductions.scatters(self);
        found.ok_or(Error::ReductionUnavailable { op, reduction: self, dtype: Some(dtype) })
    }
}

// SAFETY: Y1: a `Reducer<T>` has functions of elements `T`, each of which it reduces as one number.
unsafe impl<T: Element> Reduces<T> for &Reducer<T> {
    #[inline(always)]
    fn fns(self, _: Op, _: DType) -> Result<(&'static ScatterFns, usize), Error> {
        Ok((self.scatter_fns(), 1))
    }
}

impl<A> ScatterOperator<A> {
    /// Replaces the [`Reduction`] by a [`Reducer`].
    ///
    /// Updates are applied in row-major order of the indices, by any number of threads. If the old value of an element
    /// takes no part ([`include_self`](Self::include_self)), the element begins with its first update.
    ///
    /// ```
    /// use gather_core::ScatterElements;
    ///
    /// gather_core::reduce_kernels! {
    ///     /// The value that is further from 0.
    ///     pub static MAX_ABS = |kept: f32, new: f32| -> f32 { if new.abs() > kept.abs() { new } else { kept } };
    /// }
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let peaks = ScatterElements::new(0).reduce_by(&MAX_ABS);
    ///     let peaks = peaks.run(&[1.0, -2.0], &[0u8, 1, 0, 1], &[-3.0, 1.0, 2.0, -1.0])?;
    ///     assert_eq!(peaks.as_slice(), [-3.0, -2.0]);
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn reduce_by<T: Element>(self, reducer: &Reducer<T>) -> ScatterOperator<A, &Reducer<T>> {
        let ScatterOperator {
            attributes, include_self, skip_negative, negative, out_of_bounds, options, registry, ..
        } = self;
        let reduction = reducer;
        ScatterOperator {
            attributes,
            reduction,
            include_self,
            skip_negative,
            negative,
            out_of_bounds,
            options,
            registry,
        }
    }
}
