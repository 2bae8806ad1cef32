//! Outputs of calls.
//!
//! A view has a shape, which must equal the result's. A tensor takes the shape of the result, and keeps its memory if
//! the memory is large enough. Inside the crate both are a [`Target`], which has no element type.

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use crate::tensor::dynamic::{DynTensor, DynViewMut, check_dtype};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::memory;
use crate::tensor::owned::Tensor;
use crate::tensor::typing::Dyn;
use crate::tensor::view::ViewMut;
use crate::types::element::{DType, Element};
use crate::types::error::Error;

/// An output of elements `T`. Sealed; there are five, and for [`Dyn`] every [`DynOutput`]:
///
/// - [`ViewMut<T>`](ViewMut): a tensor of any strides. Its shape must equal the result's.
/// - [`ViewMut<MaybeUninit<T>>`](ViewMut): a tensor of any strides in uninitialised memory. A call that succeeds has
///   initialised every element. After an error, or a panic of a map or reduction, any element may be uninitialised.
/// - [`Tensor<T>`]: a reused tensor. It takes the shape of the result, as a `Vec` does in `clone_from`, and allocates
///   only if its memory is too small. After an error it is unchanged or empty.
/// - [`Append`]: a `Vec<T>` or a [`Tensor<T>`] that grows by the result.
/// - `Pooled<T>`, with the feature `std`: a reused tensor whose memory comes from a `Pool` and returns to it.
///
/// ```
/// use gather_core::{Gather, Tensor, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let table = [0.0f32, 0.5, 1.0, 1.5, 2.0, 2.5];
///     let table = View::new(&table, &[3, 2])?;
///     let mut rows = Tensor::default();
///     for ids in [&[2u32, 0][..], &[1]] {
///         // The second call allocates nothing.
///         Gather::new(0).run_into(&table, &View::new(ids, &[ids.len()])?, &mut rows)?;
///     }
///     assert_eq!((rows.shape(), rows.as_slice()), (&[1, 2][..], &[1.0, 1.5][..]));
///     Ok(())
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "results of `{T}` cannot be written to `{Self}`",
    label = "not an output for elements of `{T}`",
    note = "outputs are `ViewMut<T>`, `ViewMut<MaybeUninit<T>>` and `Tensor<T>`; for a slice, make a view by \
            `ViewMut::new(slice, shape)`; to append to a `Vec`, pass `Append(&mut vec)`",
    note = "for results `[T; N]`, a slice of `T` becomes a slice of arrays by `slice.as_chunks_mut::<N>().0`"
)]
pub trait Output<T>: Sealed<T> {}

/// An output of calls whose types are known at run time. Sealed; there are three:
///
/// - [`DynViewMut`]: a tensor of any strides. Its data type and its shape must equal the result's.
/// - [`DynTensor`]: a reused tensor. It takes the data type and the shape of the result, and allocates only if its
///   memory is too small or of another alignment. After an error it is unchanged or empty.
/// - `DynPooled`, with the feature `std`: a reused tensor whose memory comes from a `Pool` and returns to it.
#[diagnostic::on_unimplemented(
    message = "results whose type is known at run time cannot be written to `{Self}`",
    label = "neither a `DynViewMut` nor a `DynTensor`",
    note = "a `ViewMut` becomes a `DynViewMut` by `DynViewMut::from(&mut view)`"
)]
pub trait DynOutput: Output<Dyn> {}

/// An output as seen by calls. Typed outputs are of an [`Element`]: [`Dyn`] is no element, and has no bytes.
///
/// # Safety
/// O1: while the output is borrowed, a [`Target::Fixed`] may be written along its layout as elements of `T`, or of the
/// `dtype` given, and no two coordinates share an element. A [`Target::Resized`] is a tensor of elements of this type.
pub unsafe trait Sealed<T> {
    /// The untyped output.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`], if the type is known at run time.
    fn target_of(&mut self, dtype: DType) -> Result<Target<'_>, Error>;

    /// The untyped output of a type known to the compiler.
    #[inline(always)]
    fn target(&mut self) -> Target<'_>
    where
        T: Element,
    {
        match self.target_of(T::DTYPE) {
            Ok(target) => target,
            Err(_) => unreachable!("the type is known"),
        }
    }
}

/// An untyped output.
pub enum Target<'a> {
    /// Existing memory, and its layout.
    Fixed(*mut u8, &'a Layout),
    /// A tensor that takes the shape of the result.
    Resized(&'a mut dyn Resize),
}

/// A tensor that takes the shape of a result.
pub trait Resize {
    /// Returns aligned memory for `len` new elements of a shape, valid until the next call of a method. A tensor loses
    /// its elements; [`Append`] keeps them.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`]; then the tensor is empty. Of [`Append`] also errors of the shape.
    fn allocate(&mut self, shape: &[usize], len: usize) -> Result<*mut u8, Error>;

    /// Takes over the elements in the memory that [`Resize::allocate`] returned.
    ///
    /// # Safety
    /// [`Resize::allocate`] was called last, for `len` elements, all initialised since. The shape has `len` elements.
    unsafe fn assume_init(&mut self, shape: &[usize], len: usize);
}

impl<'a> Target<'a> {
    /// Calls `write` on the memory of a fixed output, whose shape has been checked, or of a tensor that becomes a
    /// row-major result of the shape and length from `fresh`. A tensor stays empty until `write` returns `Ok`.
    ///
    /// # Errors
    /// The errors of `fresh`, [`Error::AllocationFailed`], then the errors of `write`.
    ///
    /// # Safety
    /// The shape that `fresh` returns has `len` elements. `write` returns `Ok` only after it has initialised them all.
    #[inline(always)]
    pub(crate) unsafe fn write<'s>(
        self,
        fresh: impl FnOnce() -> Result<(&'s [usize], usize), Error>,
        write: impl FnOnce(*mut u8) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self {
            Target::Fixed(start, _) => write(start),
            Target::Resized(out) => {
                let (shape, len) = fresh()?;
                // SAFETY: the shape has `len` elements, which `write` initialises, by the caller's contract.
                unsafe { out.fill(shape, len, write) }
            }
        }
    }

    /// The layout of a fixed output.
    #[inline(always)]
    pub(crate) fn layout(&self) -> Option<&'a Layout> {
        match self {
            Target::Fixed(_, layout) => Some(layout),
            Target::Resized(_) => None,
        }
    }
}

/// Calls `write` on an output, and returns the output.
///
/// # Errors
/// The errors of `write`.
#[inline(always)]
pub(crate) fn written<O>(mut out: O, write: impl FnOnce(&mut O) -> Result<(), Error>) -> Result<O, Error> {
    write(&mut out)?;
    Ok(out)
}

impl dyn Resize + '_ {
    /// Makes the tensor a row-major result of `len` elements, which `write` initialises.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`], then the errors of `write`; then the tensor is empty.
    ///
    /// # Safety
    /// The shape has `len` elements. `write` returns `Ok` only after it has initialised all of them.
    #[inline(always)]
    pub(crate) unsafe fn fill(
        &mut self,
        shape: &[usize],
        len: usize,
        write: impl FnOnce(*mut u8) -> Result<(), Error>,
    ) -> Result<(), Error> {
        debug_assert_eq!(Shape::checked_len(shape).ok(), Some(len));
        write(self.allocate(shape, len)?)?;
        // SAFETY: `allocate` gave memory for `len` elements, which `write` initialised by the caller's contract.
        unsafe { self.assume_init(shape, len) };
        Ok(())
    }
}

// SAFETY: O1: a mutable view may be written along its layout (V1), and no two coordinates share an element (V2).
unsafe impl<T: Element> Sealed<T> for ViewMut<'_, T> {
    #[inline(always)]
    fn target_of(&mut self, _: DType) -> Result<Target<'_>, Error> {
        Ok(Target::Fixed(self.origin().cast(), self.layout()))
    }
}

impl<T: Element> Output<T> for ViewMut<'_, T> {}

// SAFETY: O1: a mutable view may be written along its layout (V1), no two coordinates share an element (V2), and a
// `MaybeUninit<T>` may be written as a `T`.
unsafe impl<T: Element> Sealed<T> for ViewMut<'_, MaybeUninit<T>> {
    #[inline(always)]
    fn target_of(&mut self, _: DType) -> Result<Target<'_>, Error> {
        Ok(Target::Fixed(self.origin().cast(), self.layout()))
    }
}

impl<T: Element> Output<T> for ViewMut<'_, MaybeUninit<T>> {}

// SAFETY: O1: the tensor has elements `T`.
unsafe impl<T: Element> Sealed<T> for Tensor<T> {
    #[inline(always)]
    fn target_of(&mut self, _: DType) -> Result<Target<'_>, Error> {
        Ok(Target::Resized(self))
    }
}

impl<T: Element> Output<T> for Tensor<T> {}

// SAFETY: O1: a mutable view may be written along its layout (V1) as its data type, and no two coordinates share an
// element (V2).
unsafe impl Sealed<Dyn> for DynViewMut<'_> {
    #[inline]
    fn target_of(&mut self, dtype: DType) -> Result<Target<'_>, Error> {
        check_dtype(dtype, self.dtype())?;
        Ok(Target::Fixed(self.origin(), self.layout()))
    }
}

impl Output<Dyn> for DynViewMut<'_> {}
impl DynOutput for DynViewMut<'_> {}

// SAFETY: O1: the tensor has elements of the data type.
unsafe impl Sealed<Dyn> for DynTensor {
    #[inline]
    fn target_of(&mut self, dtype: DType) -> Result<Target<'_>, Error> {
        self.retype(dtype);
        Ok(Target::Resized(self))
    }
}

impl Output<Dyn> for DynTensor {}
impl DynOutput for DynTensor {}

impl<T: Copy> Resize for Tensor<T> {
    fn allocate(&mut self, _: &[usize], len: usize) -> Result<*mut u8, Error> {
        let (values, shape) = self.parts_mut();
        values.clear();
        shape.assign(&[0]);
        if values.capacity() < len {
            // Freed first: the old and the new memory need not fit at once.
            *values = Vec::new();
            *values = memory::reserve(len)?;
        }
        Ok(values.as_mut_ptr().cast())
    }

    unsafe fn assume_init(&mut self, shape: &[usize], len: usize) {
        let (values, own) = self.parts_mut();
        debug_assert!(len <= values.capacity());
        // SAFETY: by the caller's contract `allocate` gave capacity for `len` elements, all initialised since.
        unsafe { values.set_len(len) };
        own.assign(shape);
    }
}

/// An [`Output`] that grows: results follow the elements of a `Vec<T>`, or the rows of a [`Tensor<T>`] along axis 0.
///
/// A vector takes results of any shape, in row-major order. A tensor takes results of its rank whose other sizes equal
/// its own. A tensor of shape `[0]`, the shape of `Tensor::default()`, takes any result, also one of another rank after
/// results of shape `[0]`. Memory grows at most once in a call, as by `Vec::reserve`. After an error or a panic the
/// contents are unchanged.
///
/// # Errors
/// Of calls into a tensor: [`Error::AppendMismatch`] for another rank or other rows, and [`Error::TooManyElements`] for
/// all rows together, both before [`Error::AllocationFailed`].
///
/// ```
/// use gather_core::{Append, Gather, Tensor, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let batches = [[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
///     let mut column = vec![0.5f32];
///     for (batch, ids) in batches.iter().zip([[2u32, 0], [1, 1]]) {
///         Gather::new(0).run_into(batch, &ids, &mut Append(&mut column))?;
///     }
///     assert_eq!(column, [0.5, 3.0, 1.0, 5.0, 5.0]);
///
///     let mut rows = Tensor::<f32>::default();
///     for batch in &batches {
///         Gather::new(0).run_into(&View::new(batch, &[1, 3])?, &[0u8], &mut Append(&mut rows))?;
///     }
///     assert_eq!((rows.shape(), rows.as_slice()), (&[2, 3][..], batches.as_flattened()));
///     Ok(())
/// }
/// ```
#[derive(Debug)]
#[doc(alias("extend", "concat", "builder"))]
pub struct Append<'v, V>(pub &'v mut V);

/// Memory for `len` elements behind the elements of a vector.
///
/// # Errors
/// [`Error::AllocationFailed`].
pub(crate) fn behind<T>(values: &mut Vec<T>, len: usize) -> Result<*mut u8, Error> {
    if values.capacity() == 0 {
        *values = memory::reserve(len)?;
    }
    let bytes = len.saturating_mul(size_of::<T>());
    values.try_reserve(len).map_err(|_| Error::AllocationFailed { bytes })?;
    Ok(values.spare_capacity_mut().as_mut_ptr().cast())
}

impl<T: Copy> Resize for Append<'_, Vec<T>> {
    fn allocate(&mut self, _: &[usize], len: usize) -> Result<*mut u8, Error> {
        behind(self.0, len)
    }

    unsafe fn assume_init(&mut self, _: &[usize], len: usize) {
        debug_assert!(len <= self.0.capacity() - self.0.len());
        // SAFETY: by the caller's contract `allocate` gave capacity for `len` more elements, all initialised since.
        unsafe { self.0.set_len(self.0.len() + len) };
    }
}

impl<T: Copy> Resize for Append<'_, Tensor<T>> {
    fn allocate(&mut self, shape: &[usize], len: usize) -> Result<*mut u8, Error> {
        let (values, own) = self.0.parts_mut();
        let is_new = own[..] == [0];
        if !is_new && (own.is_empty() || shape.is_empty() || own[1..] != shape[1..]) {
            return Err(Error::AppendMismatch { expected: own[..].into(), got: shape.into() });
        }
        if !is_new {
            Shape::checked_len(&Shape::of_both(&[own[0].saturating_add(shape[0])], &own[1..]))?;
        }
        behind(values, len)
    }

    unsafe fn assume_init(&mut self, shape: &[usize], len: usize) {
        let (values, own) = self.0.parts_mut();
        // SAFETY: by the caller's contract, as for a vector.
        unsafe { Append(values).assume_init(shape, len) };
        let rows = own[0];
        own.assign(shape);
        if rows > 0 {
            own.set(0, rows + shape[0]);
        }
    }
}

// SAFETY: O1: the vector has elements `T`.
unsafe impl<T: Element> Sealed<T> for Append<'_, Vec<T>> {
    fn target_of(&mut self, _: DType) -> Result<Target<'_>, Error> {
        Ok(Target::Resized(self))
    }
}

// SAFETY: O1: the tensor has elements `T`.
unsafe impl<T: Element> Sealed<T> for Append<'_, Tensor<T>> {
    fn target_of(&mut self, _: DType) -> Result<Target<'_>, Error> {
        Ok(Target::Resized(self))
    }
}

impl<T: Element> Output<T> for Append<'_, Vec<T>> {}
impl<T: Element> Output<T> for Append<'_, Tensor<T>> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(tensor: &mut Tensor<u16>, len: usize, value: u16) -> Result<(), Error> {
        let Target::Resized(tensor) = tensor.target() else { unreachable!("a tensor takes any shape") };
        let write = |out: *mut u8| {
            for at in 0..len {
                // SAFETY: there is memory for `len` elements.
                unsafe { out.cast::<u16>().wrapping_add(at).write(value) };
            }
            Ok(())
        };
        // SAFETY: the shape has `len` elements, which are written.
        unsafe { tensor.fill(&[len], len, write) }
    }

    #[test]
    fn tensors_keep_their_memory_where_it_is_large_enough() {
        let mut tensor = Tensor::default();
        filled(&mut tensor, 100, 1).unwrap();
        let memory = tensor.as_slice().as_ptr();
        for len in [100, 7, 0, 50] {
            filled(&mut tensor, len, len as u16).unwrap();
            assert_eq!((tensor.shape(), tensor.as_slice()), (&[len][..], &vec![len as u16; len][..]));
            assert_eq!(tensor.as_slice().as_ptr(), memory);
        }
        filled(&mut tensor, 1000, 9).unwrap();
        assert_eq!((tensor.shape(), tensor.as_slice()), (&[1000][..], &[9; 1000][..]));
        assert_eq!(tensor.into_vec().len(), 1000);
    }

    #[test]
    fn after_an_error_a_tensor_has_no_elements() {
        let mut tensor = Tensor::new(vec![1u16, 2, 3], &[3]).unwrap();
        let refused = filled(&mut tensor, usize::MAX / 2, 0);
        assert!(matches!(refused, Err(Error::AllocationFailed { .. })));
        assert_eq!((tensor.shape(), tensor.len()), (&[0][..], 0));

        filled(&mut tensor, 3, 4).unwrap();
        let Target::Resized(face) = tensor.target() else { unreachable!("a tensor takes any shape") };
        // SAFETY: `write` never returns `Ok`.
        let refused = unsafe { face.fill(&[3], 3, |_| Err(Error::NoOffsets)) };
        assert!(matches!(refused, Err(Error::NoOffsets)));
        assert_eq!((tensor.shape(), tensor.len()), (&[0][..], 0));
    }
}
