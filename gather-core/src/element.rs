//! What can be moved as bytes ([`Element`]) and how a data type is named at run time ([`DType`]).

use core::any::TypeId;
use core::fmt;
use core::hash::{Hash, Hasher};

use crate::dynamic::ElementBytes;

/// A plain data type: moving its bytes moves the value.
///
/// Implemented for `bool`, `i8..i64`, `u8..u64`, `isize`, `usize`, `f32`, `f64`, `[T; N]`, with the feature `half` for
/// `f16` and `bf16`, and with `num-complex` for `Complex<f32>` and `Complex<f64>`. For your own types derive it:
/// `#[derive(gather_core::Element)]`, on which the [guide](crate::guide::custom_types) has a chapter.
///
/// # Safety
/// The type has no padding and no uninitialised byte, and every value is moved faithfully by copying
/// `size_of::<Self>()` bytes. The size is not zero.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element",
    label = "not known to be plain data",
    note = "elements are numbers, `bool`, arrays of elements, and plain types that derive `gather_core::Element`"
)]
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// The data type's identity.
    const DTYPE: DType;
    /// What [`OutOfBounds::Zero`](crate::OutOfBounds::Zero) writes.
    const ZERO: Self;
}

/// A data type known at run time: name, size and alignment. Two are equal if and only if they stand for one Rust type.
#[derive(Clone, Copy)]
pub struct DType {
    name: &'static str,
    size: usize,
    align: usize,
    validity: Validity,
    id: fn() -> TypeId,
    zero: fn() -> ElementBytes,
}

/// Which bytes are values of a data type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validity {
    /// Any.
    AnyBits,
    /// Those of which each is 0 or 1.
    Bool,
    /// It is not known here.
    Unknown,
}

impl DType {
    /// The data type of `T` under a name.
    ///
    /// # Panics
    /// At compile time when `T` has no bytes.
    #[must_use]
    pub const fn of<T: Element>(name: &'static str) -> Self {
        Self::with_validity::<T>(name, Validity::Unknown)
    }

    const fn with_validity<T: Element>(name: &'static str, validity: Validity) -> Self {
        assert!(size_of::<T>() > 0, "an element has at least one byte");
        let zero = || ElementBytes::from_slice(bytes_of(&T::ZERO));
        DType { name, size: size_of::<T>(), align: align_of::<T>(), validity, id: TypeId::of::<T>, zero }
    }

    /// The name, such as `f32`; the type's own name for a derived type.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The size of an element in bytes.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The alignment of an element in bytes.
    #[must_use]
    pub const fn align(&self) -> usize {
        self.align
    }

    pub(crate) const fn validity(&self) -> Validity {
        self.validity
    }

    /// The bytes of the type's [`Element::ZERO`].
    pub(crate) fn zero(&self) -> ElementBytes {
        (self.zero)()
    }

    /// The identity of the Rust type.
    #[must_use]
    pub fn type_id(&self) -> TypeId {
        (self.id)()
    }
}

/// An element's bytes.
pub(crate) fn bytes_of<T: Element>(value: &T) -> &[u8] {
    // SAFETY: an element has no padding and no uninitialised byte, so all its bytes may be read.
    unsafe { core::slice::from_raw_parts(core::ptr::from_ref(value).cast(), size_of::<T>()) }
}

impl PartialEq for DType {
    fn eq(&self, other: &Self) -> bool {
        self.type_id() == other.type_id()
    }
}

impl Eq for DType {}

impl Hash for DType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.type_id().hash(state);
    }
}

impl fmt::Debug for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes)", self.name, self.size)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

macro_rules! elements {
    ($($(#[$attr:meta])* $ty:ty => $name:literal, $zero:expr, $validity:ident;)*) => {$(
        $(#[$attr])*
        // SAFETY: a number without padding whose bytes are its value.
        unsafe impl Element for $ty {
            const DTYPE: DType = DType::with_validity::<Self>($name, Validity::$validity);
            const ZERO: Self = $zero;
        }
    )*};
}

elements! {
    bool => "bool", false, Bool;
    i8 => "i8", 0, AnyBits;
    i16 => "i16", 0, AnyBits;
    i32 => "i32", 0, AnyBits;
    i64 => "i64", 0, AnyBits;
    u8 => "u8", 0, AnyBits;
    u16 => "u16", 0, AnyBits;
    u32 => "u32", 0, AnyBits;
    u64 => "u64", 0, AnyBits;
    isize => "isize", 0, AnyBits;
    usize => "usize", 0, AnyBits;
    f32 => "f32", 0.0, AnyBits;
    f64 => "f64", 0.0, AnyBits;
    #[cfg(feature = "half")] half::f16 => "f16", half::f16::ZERO, AnyBits;
    #[cfg(feature = "half")] half::bf16 => "bf16", half::bf16::ZERO, AnyBits;
    #[cfg(feature = "num-complex")] num_complex::Complex<f32> => "complex64", num_complex::Complex::new(0.0, 0.0), AnyBits;
    #[cfg(feature = "num-complex")] num_complex::Complex<f64> => "complex128", num_complex::Complex::new(0.0, 0.0), AnyBits;
}

// SAFETY: an array is its elements, one after the other, without padding.
unsafe impl<T: Element, const N: usize> Element for [T; N] {
    const DTYPE: DType = DType::with_validity::<Self>("array", T::DTYPE.validity);
    const ZERO: Self = [T::ZERO; N];
}
