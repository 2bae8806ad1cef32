//! Plain types of other crates as elements, by traits of `bytemuck`.

use alloc::vec::Vec;

use bytemuck::allocation::TransparentWrapperAlloc;
use bytemuck::{NoUninit, TransparentWrapper, Zeroable};

use crate::types::element::{DType, Element};

/// A plain type of another crate as an element: any type that is [`NoUninit`] and [`Zeroable`], such as `glam::Vec3`
/// or `rgb::Rgb<u8>` with their features for `bytemuck`.
///
/// It has the bytes of the wrapped value: slices and vectors are wrapped and unwrapped without a copy. Use of a
/// zero-sized type is refused at compile time. For types of your own derive [`Element`](macro@crate::Element) instead.
///
/// ```
/// use gather_core::{Gather, Plain, View};
///
/// // A crate of colours has this type, and both implementations.
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// #[repr(C)]
/// struct Rgb { r: u8, g: u8, b: u8 }
/// // SAFETY: three bytes without padding.
/// unsafe impl bytemuck::NoUninit for Rgb {}
/// // SAFETY: any three bytes are a colour.
/// unsafe impl bytemuck::Zeroable for Rgb {}
///
/// fn main() -> Result<(), gather_core::Error> {
///     let palette = [Rgb { r: 0, g: 0, b: 0 }, Rgb { r: 255, g: 255, b: 255 }];
///     let palette = View::new(Plain::wrap_slice(&palette), &[2])?;
///     let image = Gather::new(0).run(&palette, &View::new(&[1u8, 0, 1, 1], &[2, 2])?)?;
///     let pixels: Vec<Rgb> = Plain::unwrap_vec(image.into_vec());
///     assert_eq!(pixels[1], Rgb { r: 0, g: 0, b: 0 });
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Plain<T>(pub T);

// SAFETY: by the contract of `NoUninit` the type has no padding and no uninitialised bytes, and is `Copy`. A zero-sized
// type fails `DType::wrapper` at compile time, as it would fail `DType::new`.
unsafe impl<T: NoUninit + Zeroable + Send + Sync> Element for Plain<T> {
    const DTYPE: DType = DType::wrapper::<Self, T>("Plain");
    type Number = Self;
    // SAFETY: by the contract of `Zeroable`, zeros are a value.
    const ZERO: Self = Plain(unsafe { core::mem::zeroed() });
}

// SAFETY: it is `repr(transparent)` over its only field, and has no invariants of its own.
unsafe impl<T> TransparentWrapper<T> for Plain<T> {}

impl<T> Plain<T> {
    /// A slice as elements.
    #[must_use]
    #[inline]
    pub fn wrap_slice(values: &[T]) -> &[Self] {
        TransparentWrapper::wrap_slice(values)
    }

    /// A mutable slice as elements.
    #[must_use]
    #[inline]
    pub fn wrap_slice_mut(values: &mut [T]) -> &mut [Self] {
        TransparentWrapper::wrap_slice_mut(values)
    }

    /// A vector as elements.
    #[must_use]
    #[inline]
    pub fn wrap_vec(values: Vec<T>) -> Vec<Self> {
        TransparentWrapperAlloc::wrap_vec(values)
    }

    /// Elements as the wrapped values.
    #[must_use]
    #[inline]
    pub fn unwrap_slice(elements: &[Self]) -> &[T] {
        TransparentWrapper::peel_slice(elements)
    }

    /// Mutable elements as the wrapped values.
    #[must_use]
    #[inline]
    pub fn unwrap_slice_mut(elements: &mut [Self]) -> &mut [T] {
        TransparentWrapper::peel_slice_mut(elements)
    }

    /// A vector of elements as the wrapped values.
    #[must_use]
    #[inline]
    pub fn unwrap_vec(elements: Vec<Self>) -> Vec<T> {
        TransparentWrapperAlloc::peel_vec(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A type of another crate, with its own alignment.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C, align(16))]
    struct Point([f32; 4]);

    // SAFETY: four numbers fill the 16 bytes.
    unsafe impl NoUninit for Point {}
    // SAFETY: zeros are numbers.
    unsafe impl Zeroable for Point {}

    #[test]
    fn slices_are_wrapped_where_they_lie() {
        let mut points = vec![Point([1.0; 4]), Point([2.0, -0.0, 3.0, f32::MIN])];
        let start = points.as_ptr();
        assert_eq!(Plain::wrap_slice(&points), [Plain(points[0]), Plain(points[1])]);
        Plain::wrap_slice_mut(&mut points)[0].0.0[1] = 7.0;
        assert_eq!(points[0], Point([1.0, 7.0, 1.0, 1.0]));
        let mut wrapped = Plain::wrap_vec(points);
        assert_eq!(Plain::unwrap_slice(&wrapped)[0], Point([1.0, 7.0, 1.0, 1.0]));
        Plain::unwrap_slice_mut(&mut wrapped)[1] = Point([9.0; 4]);
        let points = Plain::unwrap_vec(wrapped);
        assert_eq!((points.as_ptr(), points[1]), (start, Point([9.0; 4])));
    }

    #[test]
    fn wrapped_types_are_told_apart() {
        let (point, number) = (Plain::<Point>::DTYPE, Plain::<u32>::DTYPE);
        assert_eq!((point.size(), point.align(), point.name()), (16, 16, "Plain"));
        assert!(point != number && number != u32::DTYPE && number == Plain::<u32>::DTYPE);
        assert_eq!(number.to_string(), "Plain<u32>");
        assert!(point.to_string().ends_with("::Point>"), "{point}");
        assert_eq!(<[Plain<u32>; 3]>::DTYPE.to_string(), "[Plain; 3]");
        assert_eq!(Plain::<Point>::ZERO, Plain(Point([0.0; 4])));
        assert_eq!(point.zero().unwrap()[..], [0; 16]);
    }
}
