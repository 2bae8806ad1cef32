//! Arrays of `ndarray` 0.17 as views, and tensors as arrays.

use core::ptr::NonNull;

use ndarray_0_17::{
    Array, ArrayBase, ArrayD, ArrayRef, ArrayView, ArrayViewMut, Data, DataMut, Dimension, Ix0, Ix1, Ix2, Ix3, Ix4,
    Ix5, Ix6, IxDyn, LayoutRef,
};

use crate::tensor::layout::Layout;
use crate::tensor::owned::Tensor;
use crate::tensor::view::{View, ViewMut};
use crate::types::error::Error;

/// The layout of an array. Both types count strides in elements.
fn layout<A, D: Dimension>(array: &LayoutRef<A, D>) -> Result<Layout, Error> {
    Layout::strided(array.shape(), array.strides())
}

/// The origin of a view of an array: the pointer to its first element, or a dangling one if the array is empty.
fn origin<A>(pointer: *mut A, layout: &Layout) -> *mut A {
    if layout.is_empty() { NonNull::dangling().as_ptr() } else { pointer }
}

/// A view of an array with any strides: transposed, stepped, reversed or broadcast. Nothing is copied.
///
/// ```
/// # use ndarray_0_17 as ndarray;
/// use gather_core::{Gather, View};
/// use ndarray::{ArrayD, array, s};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let table = array![[1, 2, 3], [4, 5, 6]];
///     let columns = table.slice(s![.., ..;-2]);
///     let ids = array![1u32, 1, 0];
///     let rows = Gather::new(0).run(&View::try_from(&columns)?, &View::try_from(&ids)?)?;
///     assert_eq!(ArrayD::from(rows), array![[6, 4], [6, 4], [3, 1]].into_dyn());
///     Ok(())
/// }
/// ```
///
/// # Errors
/// [`Error::TooManyElements`], which no array in memory causes.
impl<'a, A, D: Dimension> TryFrom<&'a ArrayRef<A, D>> for View<'a, A> {
    type Error = Error;

    fn try_from(array: &'a ArrayRef<A, D>) -> Result<Self, Error> {
        let layout = layout(array)?;
        let origin = origin(array.as_ptr().cast_mut(), &layout);
        // SAFETY: the pointer of a nonempty array points to its first element, aligned and not null. Every coordinate
        // is an element of one allocation, which is borrowed for 'a with the array. An empty array has no coordinate,
        // and its view an origin that is aligned and not null.
        Ok(unsafe { View::from_raw_parts(origin, layout) })
    }
}

/// As for a reference to its [`ArrayRef`].
impl<'a, A, S: Data<Elem = A>, D: Dimension> TryFrom<&'a ArrayBase<S, D>> for View<'a, A> {
    type Error = Error;

    fn try_from(array: &'a ArrayBase<S, D>) -> Result<Self, Error> {
        View::try_from(&**array)
    }
}

/// As for a reference to its [`ArrayRef`], for as long as the elements are borrowed.
impl<'a, A, D: Dimension> TryFrom<ArrayView<'a, A, D>> for View<'a, A> {
    type Error = Error;

    fn try_from(array: ArrayView<'a, A, D>) -> Result<Self, Error> {
        let layout = layout(&array)?;
        let origin = origin(array.as_ptr().cast_mut(), &layout);
        // SAFETY: as for an `ArrayRef`; 'a is the borrow of the elements, not of `array`.
        Ok(unsafe { View::from_raw_parts(origin, layout) })
    }
}

/// A mutable view of an array with any strides, such as an output.
///
/// ```
/// # use ndarray_0_17 as ndarray;
/// use gather_core::{Gather, View, ViewMut};
/// use ndarray::{Array2, array};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let table = array![[1, 2], [3, 4], [5, 6]];
///     let mut out = Array2::zeros((2, 2));
///     let ids = View::new(&[2u8, 0], &[2])?;
///     let mut transposed: ViewMut<'_, i32> = out.view_mut().reversed_axes().try_into()?;
///     Gather::new(0).run_into(&View::try_from(&table)?, &ids, &mut transposed)?;
///     assert_eq!(out, array![[5, 1], [6, 2]]);
///     Ok(())
/// }
/// ```
///
/// # Errors
/// [`Error::TooManyElements`], which no array in memory causes.
impl<'a, A, D: Dimension> TryFrom<&'a mut ArrayRef<A, D>> for ViewMut<'a, A> {
    type Error = Error;

    fn try_from(array: &'a mut ArrayRef<A, D>) -> Result<Self, Error> {
        let layout = layout(array)?;
        let origin = origin(array.as_mut_ptr(), &layout);
        // SAFETY: as for `View`; the elements of a mutable array are borrowed mutably with it, each at one coordinate.
        Ok(unsafe { ViewMut::from_raw_parts(origin, layout) })
    }
}

/// As for a mutable reference to its [`ArrayRef`]; shared arrays (`ArcArray`) are copied first.
impl<'a, A, S: DataMut<Elem = A>, D: Dimension> TryFrom<&'a mut ArrayBase<S, D>> for ViewMut<'a, A> {
    type Error = Error;

    fn try_from(array: &'a mut ArrayBase<S, D>) -> Result<Self, Error> {
        ViewMut::try_from(&mut **array)
    }
}

/// As for a mutable reference to its [`ArrayRef`], for as long as the elements are borrowed.
impl<'a, A, D: Dimension> TryFrom<ArrayViewMut<'a, A, D>> for ViewMut<'a, A> {
    type Error = Error;

    fn try_from(mut array: ArrayViewMut<'a, A, D>) -> Result<Self, Error> {
        let layout = layout(&array)?;
        let origin = origin(array.as_mut_ptr(), &layout);
        // SAFETY: as for an `ArrayRef`; 'a is the mutable borrow of the elements, not of `array`, which ends here.
        Ok(unsafe { ViewMut::from_raw_parts(origin, layout) })
    }
}

/// The tensor as an array in row-major order. Nothing is copied.
impl<A> From<Tensor<A>> for ArrayD<A> {
    fn from(tensor: Tensor<A>) -> Self {
        let shape = IxDyn(tensor.shape());
        ArrayD::from_shape_vec(shape, tensor.into_vec()).expect("a tensor has as many values as its shape says")
    }
}

/// Implements the conversion of tensors to arrays of a rank known to the compiler.
macro_rules! of_rank {
    ($($D:ty),*) => {$(
        /// The tensor as an array of this rank in row-major order. Nothing is copied.
        ///
        /// # Errors
        /// [`Error::ArrayRankMismatch`].
        impl<A> TryFrom<Tensor<A>> for Array<A, $D> {
            type Error = Error;

            fn try_from(tensor: Tensor<A>) -> Result<Self, Error> {
                let (rank, expected) = (tensor.rank(), <$D>::NDIM.expect("a rank that the compiler knows"));
                let array = ArrayD::from(tensor).into_dimensionality();
                array.map_err(|_| Error::ArrayRankMismatch { rank, expected })
            }
        }
    )*};
}
of_rank!(Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6);

#[cfg(test)]
mod tests {
    use ndarray_0_17::{ArcArray, Array3, Axis, ShapeBuilder, Slice, s};

    use super::*;

    /// Checks that a view and an array have the same elements at the same coordinates.
    fn check<D: Dimension>(array: &ArrayRef<i32, D>) {
        let view = View::try_from(array).unwrap();
        assert_eq!((view.shape(), view.strides()), (array.shape(), array.strides()));
        let same = array.view().into_dyn();
        for (coords, value) in same.indexed_iter() {
            assert_eq!(
                view.get(coords.as_array_view().as_slice().unwrap()).map(|got| got as *const i32),
                Some(&raw const *value)
            );
        }
        assert_eq!(view.len(), array.len());
    }

    #[test]
    fn arrays_of_any_strides_are_viewed() {
        let array = Array::from_iter(0..60).into_shape_with_order((3, 4, 5)).unwrap();
        check(&array);
        check(&array.t());
        check(&array.view().permuted_axes([1, 2, 0]));
        check(&array.slice(s![..;-1, 1..;2, ..;-2]));
        check(&array.slice(s![1, .., 3]));
        check(&array.slice(s![1, 2, 3]));
        check(&array.slice(s![.., 4.., ..]));
        check(&array.slice(s![2.., ..0, ..;-1]));
        check(&array.broadcast((2, 3, 4, 5)).unwrap());
        check(&array.slice(s![.., 1..2, ..]).broadcast((3, 7, 5)).unwrap());
        check(&Array3::from_shape_vec((3, 4, 5).f(), (0..60).collect()).unwrap());
        check(&array.windows((2, 2, 2)).into_iter().nth(5).unwrap());
        check(&ArcArray::from(array).slice_axis(Axis(2), Slice::from(-2..)));
    }

    /// The view of an empty array does not hold the array's pointer.
    #[test]
    fn arrays_without_elements_are_not_pointed_to() {
        let nowhere = NonNull::<i64>::dangling().as_ptr();
        let mut array = Array::from_iter(0..24i64).into_shape_with_order((2, 3, 4)).unwrap();
        let origin = |view: View<'_, i64>| view.origin().cast_mut();
        assert_eq!(origin(View::try_from(array.slice(s![.., 3.., ..;-1])).unwrap()), nowhere);
        assert_eq!(origin(View::try_from(&array.slice(s![2.., .., ..])).unwrap()), nowhere);
        assert_ne!(origin(View::try_from(&array).unwrap()), nowhere);
        assert_eq!(ViewMut::try_from(array.slice_mut(s![.., .., 4..])).unwrap().origin(), nowhere);
        assert_eq!(ViewMut::try_from(&mut array.slice_mut(s![..0, .., ..])).unwrap().origin(), nowhere);
    }

    #[test]
    fn views_live_as_long_as_the_elements() {
        let array = Array::from_iter(0..6).into_shape_with_order((2, 3)).unwrap();
        let view = View::try_from(array.slice(s![.., ..;-1])).unwrap();
        assert_eq!((view.get(&[0, 0]), view.get(&[1, 2])), (Some(&2), Some(&3)));
    }

    #[test]
    fn outputs_are_written_where_the_array_has_them() {
        /// Writes 1, 2, .. in row-major order.
        fn number(mut view: ViewMut<'_, i32>) {
            let (shape, strides) = (view.shape().to_vec(), view.strides().to_vec());
            let origin = view.origin();
            for (at, coords) in Array::<(), _>::default(IxDyn(&shape)).indexed_iter().map(|(c, ())| c).enumerate() {
                let coords = coords.as_array_view();
                let offset: isize = coords.iter().zip(&strides).map(|(&c, &stride)| c as isize * stride).sum();
                // SAFETY: V1: `coords` is a coordinate of the view.
                unsafe { origin.wrapping_offset(offset).write(at as i32 + 1) };
            }
        }
        let mut array = Array::zeros((2, 3));
        number(ViewMut::try_from(&mut array).unwrap());
        assert_eq!(array, Array::from_shape_vec((2, 3), vec![1, 2, 3, 4, 5, 6]).unwrap());
        number(ViewMut::try_from(array.slice_mut(s![..;-1, ..;2])).unwrap());
        assert_eq!(array, Array::from_shape_vec((2, 3), vec![3, 2, 4, 1, 5, 2]).unwrap());
        number(ViewMut::try_from(&mut *array.view_mut().reversed_axes()).unwrap());
        assert_eq!(array, Array::from_shape_vec((2, 3), vec![1, 3, 5, 2, 4, 6]).unwrap());

        let shared = ArcArray::from(array.clone());
        let mut own = shared.clone();
        number(ViewMut::try_from(&mut own).unwrap());
        assert_eq!((&shared, own[[0, 1]]), (&array.into_shared(), 2));
    }

    #[test]
    fn tensors_become_arrays_without_a_copy() {
        let tensor = Tensor::new((0..24).collect(), &[2, 1, 3, 4]).unwrap();
        let start = tensor.as_slice().as_ptr();
        let array = ArrayD::from(tensor);
        assert_eq!((array.shape(), array[[1, 0, 2, 3]], array.as_ptr()), (&[2, 1, 3, 4][..], 23, start));
        assert_eq!(ArrayD::from(Tensor::new(vec![7], &[]).unwrap()).first(), Some(&7));
        assert_eq!(ArrayD::from(Tensor::<u8>::new(vec![], &[3, 0]).unwrap()).shape(), [3, 0]);
    }

    #[test]
    fn tensors_become_arrays_of_their_rank_and_of_no_other() {
        /// Converts a tensor of each rank from 0 to 7.
        fn of<D: Dimension>()
        where
            Array<i32, D>: TryFrom<Tensor<i32>, Error = Error>,
        {
            let expected = D::NDIM.unwrap();
            for rank in 0..8 {
                let shape = [1, 2, 3, 1, 2, 1, 2];
                let shape = &shape[..rank];
                let tensor = Tensor::from_fn(shape, |at| at as i32).unwrap();
                let (start, values) = (tensor.as_slice().as_ptr(), tensor.as_slice().to_vec());
                match Array::<i32, D>::try_from(tensor) {
                    Ok(array) => {
                        assert_eq!((rank, array.shape(), array.as_ptr()), (expected, shape, start));
                        assert!(array.iter().eq(&values));
                    }
                    Err(error) => {
                        assert_ne!(rank, expected);
                        assert_eq!(error, Error::ArrayRankMismatch { rank, expected });
                    }
                }
            }
        }
        of::<Ix0>();
        of::<Ix1>();
        of::<Ix2>();
        of::<Ix3>();
        of::<Ix4>();
        of::<Ix5>();
        of::<Ix6>();
        let error = ndarray_0_17::Array2::try_from(Tensor::new(vec![7], &[1]).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "the tensor has rank 1, and the array rank 2");
    }
}
