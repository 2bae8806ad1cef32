//! Types that can be moved as bytes ([`Element`]), and their identity at run time ([`DType`]).

use core::any::TypeId;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use smallvec::SmallVec;

use crate::types::asserts::Proof;
use crate::types::error::Error;
use crate::types::text::Text;

/// A plain data type: moving its bytes moves the value.
///
/// Implemented for `bool`, `i8..i64`, `u8..u64`, `isize`, `usize`, `f32`, `f64`, `[T; N]`, with the feature `half` for
/// `f16` and `bf16`, and with `num-complex` for `Complex<f32>` and `Complex<f64>`. For your own types derive it:
/// `#[derive(gather_core::Element)]`, on which the [guide](crate::guide::custom_types) has a chapter.
///
/// # Safety
/// - The type has at least one byte, no padding and no uninitialised byte, and every value is moved faithfully by
///   copying `size_of::<Self>()` bytes.
/// - [`Element::DTYPE`] is the result of [`DType::new`] for the type itself.
/// - [`Element::Number`] is the type itself, or a built-in type `N`. For `N`, `align_of::<Self>() >= align_of::<N>()`,
///   and any `size_of::<Self>() / size_of::<N>()` numbers are a value of the type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element",
    label = "not known to be plain data",
    note = "elements are numbers, `bool`, arrays of elements, and plain types that derive `gather_core::Element`",
    note = "plain types of other crates are elements as `gather_core::Plain`, with the feature `bytemuck`",
    note = "other `Clone` types, such as `String`, are gathered by `run_cloned`"
)]
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// The data type's identity.
    const DTYPE: DType;
    /// The built-in number type that values consist of, or the type itself. Reductions and weights work on it. For an
    /// array it is the number type of its elements.
    type Number: Element<Number = Self::Number>;
    /// The value that [`OutOfBounds::Zero`](crate::OutOfBounds::Zero) writes.
    const ZERO: Self;
    /// The beginning of the derive's proofs. No part of the public interface.
    #[doc(hidden)]
    const __PROOF: Proof<Self> = Proof::HOLDS;
    /// A value whose bytes are read at compile time. For an enum it is a literal variant, since a constant could be
    /// made with initialised padding. No part of the public interface.
    #[doc(hidden)]
    const __SAMPLE: Self = Self::ZERO;
}

/// A data type known at run time: name, size and alignment. Two are equal iff they represent the same Rust type.
#[derive(Clone, Copy)]
pub struct DType {
    name: &'static str,
    validity: ValidBytes,
    built_in: Option<BuiltIn>,
    facts: &'static ElementFacts,
}

struct ElementFacts {
    size: usize,
    align: usize,
    id: fn() -> TypeId,
    /// The data type of [`Element::Number`]. It depends on the type only, not on who made the [`DType`].
    number: fn() -> DType,
    zero: Zero,
    /// The name of the type inside a wrapper of any type, which is not known at compile time.
    wraps: Option<fn() -> &'static str>,
}

/// The source of the bytes of [`Element::ZERO`].
#[derive(Clone, Copy)]
enum Zero {
    Value(fn() -> Result<ElementBytes, Error>),
    /// The zero of another data type, repeated. So a big array is never on the stack.
    Repeated(&'static DType, usize),
}

struct FactsOf<T>(PhantomData<T>);

impl<T: Element> FactsOf<T> {
    const FACTS: &'static ElementFacts = &ElementFacts {
        size: size_of::<T>(),
        align: align_of::<T>(),
        id: TypeId::of::<T>,
        number: number_of::<T>,
        zero: Zero::Value(bytes_of_zero::<T>),
        wraps: None,
    };
}

/// The facts of a wrapper `T` of a type `U`, as a constant.
#[cfg(feature = "bytemuck")]
struct WrapperOf<T, U>(PhantomData<(T, U)>);

#[cfg(feature = "bytemuck")]
impl<T: Element, U> WrapperOf<T, U> {
    const FACTS: &'static ElementFacts =
        &ElementFacts { wraps: Some(core::any::type_name::<U>), ..*FactsOf::<T>::FACTS };
}

/// The facts and the name of an array, as constants.
struct ArrayOf<T, const N: usize>(PhantomData<T>);

impl<T: Element, const N: usize> ArrayOf<T, N> {
    const FACTS: &'static ElementFacts = &ElementFacts {
        size: size_of::<[T; N]>(),
        align: align_of::<T>(),
        id: TypeId::of::<[T; N]>,
        number: number_of::<T>,
        zero: Zero::Repeated(&T::DTYPE, N),
        wraps: None,
    };
    const TEXT: &'static Text<128> = &Text::new().text("[").text(T::DTYPE.name).text("; ").number(N).text("]");
    const NAME: &'static str = match Self::TEXT.whole() {
        Some(name) => name,
        None => "array",
    };
}

/// The data type of [`Element::Number`]. Every [`DType`] points to this function. So every program with a data type of
/// `T`, whoever made it, checks the proof of `T`: functions pointed to are compiled. The constants of a [`DType`]
/// cannot require the proof, which begins at them.
fn number_of<T: Element>() -> DType {
    const { IsElement::<T>::CHECK };
    <T::Number as Element>::DTYPE
}

/// The bytes that are values of a data type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValidBytes {
    /// Any bytes.
    AnyBits,
    /// Bytes that are each 0 or 1.
    Bool,
    /// Unknown to this crate.
    Unknown,
}

impl DType {
    /// The data type of `T` under a name.
    ///
    /// # Panics
    /// At compile time if `T` has no bytes, or is a derived type that is not plain with its parameters.
    #[must_use]
    pub const fn new<T: Element>(name: &'static str) -> Self {
        const { HasBytes::<T>::CHECK };
        DType { name, validity: ValidBytes::Unknown, built_in: None, facts: FactsOf::<T>::FACTS }
    }

    #[cfg(feature = "bytemuck")]
    pub(crate) const fn wrapper<T: Element, U>(name: &'static str) -> Self {
        const { HasBytes::<T>::CHECK };
        DType { name, validity: ValidBytes::Unknown, built_in: None, facts: WrapperOf::<T, U>::FACTS }
    }

    const fn array<T: Element, const N: usize>() -> Self {
        const { HasBytes::<[T; N]>::CHECK };
        let (name, facts) = (ArrayOf::<T, N>::NAME, ArrayOf::<T, N>::FACTS);
        DType { name, validity: T::DTYPE.validity, built_in: None, facts }
    }

    /// The name, such as `f32`, `[u8; 34]`, or a derived type's own; `array` if an array's exceeds 128 bytes.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The size of an element in bytes.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.facts.size
    }

    /// The alignment of an element in bytes.
    #[must_use]
    pub const fn align(&self) -> usize {
        self.facts.align
    }

    pub(crate) const fn validity(&self) -> ValidBytes {
        self.validity
    }

    #[inline(always)]
    pub(crate) const fn built_in(&self) -> Option<BuiltIn> {
        self.built_in
    }

    #[inline(always)]
    pub(crate) fn number(&self) -> DType {
        (self.facts.number)()
    }

    /// The bytes of the type's [`Element::ZERO`].
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    #[inline]
    pub(crate) fn zero(&self) -> Result<ElementBytes, Error> {
        // Numbers have few bytes, all zero.
        if let (Some(_), size @ ..=16) = (self.built_in, self.facts.size) {
            return Ok(ElementBytes::from_buf_and_len([0; 16], size));
        }
        match self.facts.zero {
            Zero::Value(zero) => zero(),
            Zero::Repeated(inner, count) => repeated(&inner.zero()?, count),
        }
    }

    /// The identity of the Rust type.
    #[must_use]
    pub fn type_id(&self) -> TypeId {
        (self.facts.id)()
    }
}

/// The bytes of one element. Numbers fit inline.
pub(crate) type ElementBytes = SmallVec<[u8; 16]>;

/// `count` copies of `bytes`, made by doubling.
///
/// # Errors
/// [`Error::AllocationFailed`].
fn repeated(bytes: &[u8], count: usize) -> Result<ElementBytes, Error> {
    let len = bytes.len() * count;
    let mut all = ElementBytes::new();
    all.try_reserve_exact(len).map_err(|_| Error::AllocationFailed { bytes: len })?;
    all.resize(len, 0);
    let mut done = bytes.len().min(len);
    all[..done].copy_from_slice(&bytes[..done]);
    while done < len {
        let (from, to) = all.split_at_mut(done);
        let more = to.len().min(done);
        to[..more].copy_from_slice(&from[..more]);
        done += more;
    }
    Ok(all)
}

/// The bytes of [`Element::ZERO`].
///
/// # Errors
/// [`Error::AllocationFailed`].
fn bytes_of_zero<T: Element>() -> Result<ElementBytes, Error> {
    const { IsElement::<T>::CHECK };
    let len = size_of::<T>();
    let mut bytes = ElementBytes::new();
    bytes.try_reserve_exact(len).map_err(|_| Error::AllocationFailed { bytes: len })?;
    // SAFETY: the capacity is at least `len` bytes.
    unsafe { write_zero(bytes.as_mut_ptr().cast::<T>()) };
    // SAFETY: an element has no padding and no uninitialised byte, so all its bytes have been written.
    unsafe { bytes.set_len(len) };
    Ok(bytes)
}

/// Writes [`Element::ZERO`] without the stack, for which an element may be too big. A constant is assigned from where
/// the compiler keeps it; an argument of a function would be copied to the stack first.
///
/// # Safety
/// `to` may be written for an element, at any alignment.
#[inline(always)]
pub(crate) unsafe fn write_zero<T: Element>(to: *mut T) {
    let to = to.cast::<Unaligned<T>>();
    // SAFETY: by the caller's contract, `to` may be written at any alignment.
    unsafe { (*to).0 = T::ZERO };
}

/// A value at any alignment.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub(crate) struct Unaligned<T: Copy>(pub(crate) T);

/// Maximum bytes of a value that closures of maps and reductions take or return, since values are passed on the stack.
pub(crate) const BY_VALUE: usize = 16 << 10;

/// The assertion that every typed method makes of its elements: `const { IsElement::<T>::CHECK }`. Evaluating the data
/// type checks the proof of a derived type. Reading the bytes of a value finds uninitialised ones.
pub(crate) struct IsElement<T>(PhantomData<T>);

impl<T: Element> IsElement<T> {
    pub(crate) const CHECK: () = {
        assert!(T::DTYPE.size() == size_of::<T>(), "the data type has another size than the element");
        let _ = Self::FIRST_BYTES;
    };

    /// The first bytes of [`Element::__SAMPLE`], which are all bytes of an enum: reading them is the only check of its
    /// padding. The fields of a struct prove its bytes. No value of a large type is made.
    pub(crate) const FIRST_BYTES: [u8; 16] = if size_of::<T>() <= 4096 { Self::first_bytes() } else { [0; 16] };

    const fn first_bytes() -> [u8; 16] {
        let sample = T::__SAMPLE;
        let mut bytes = [MaybeUninit::new(0u8); 16];
        let count = if size_of::<T>() < 16 { size_of::<T>() } else { 16 };
        // SAFETY: both have at least `count` bytes, and a byte of `MaybeUninit` may be uninitialised.
        unsafe { core::ptr::copy_nonoverlapping((&raw const sample).cast(), bytes.as_mut_ptr(), count) };
        // SAFETY: only the constant `FIRST_BYTES` calls this; an uninitialised byte in a constant does not compile.
        unsafe { core::mem::transmute(bytes) }
    }
}

pub(crate) struct HasBytes<T>(PhantomData<T>);

impl<T> HasBytes<T> {
    pub(crate) const CHECK: () =
        assert!(size_of::<T>() > 0, "an element has at least one byte, and this type has none");
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
        write!(f, "{self} ({} bytes)", self.size())
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.facts.wraps {
            None => f.pad(self.name),
            Some(inner) => write!(f, "{}<{}>", self.name, inner()),
        }
    }
}

macro_rules! elements {
    ($($(#[$attr:meta])* $ty:ty => $built_in:ident, $name:literal, $zero:expr, $validity:ident;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub(crate) enum BuiltIn {
            $($(#[$attr])* $built_in,)*
        }

        impl BuiltIn {
            pub(crate) const fn dtype(self) -> DType {
                match self {
                    $($(#[$attr])* BuiltIn::$built_in => <$ty>::DTYPE,)*
                }
            }
        }

        $(
            $(#[$attr])*
            // SAFETY: a number without padding whose bytes are its value.
            unsafe impl Element for $ty {
                const DTYPE: DType = DType {
                    name: $name,
                    validity: ValidBytes::$validity,
                    built_in: Some(BuiltIn::$built_in),
                    facts: FactsOf::<Self>::FACTS,
                };
                type Number = Self;
                const ZERO: Self = $zero;
            }
        )*
    };
}

elements! {
    bool => Bool, "bool", false, Bool;
    i8 => I8, "i8", 0, AnyBits;
    i16 => I16, "i16", 0, AnyBits;
    i32 => I32, "i32", 0, AnyBits;
    i64 => I64, "i64", 0, AnyBits;
    u8 => U8, "u8", 0, AnyBits;
    u16 => U16, "u16", 0, AnyBits;
    u32 => U32, "u32", 0, AnyBits;
    u64 => U64, "u64", 0, AnyBits;
    isize => Isize, "isize", 0, AnyBits;
    usize => Usize, "usize", 0, AnyBits;
    f32 => F32, "f32", 0.0, AnyBits;
    f64 => F64, "f64", 0.0, AnyBits;
    #[cfg(feature = "half")] half::f16 => F16, "f16", half::f16::ZERO, AnyBits;
    #[cfg(feature = "half")] half::bf16 => Bf16, "bf16", half::bf16::ZERO, AnyBits;
    #[cfg(feature = "num-complex")]
    num_complex::Complex<f32> => Complex64, "complex64", num_complex::Complex::new(0.0, 0.0), AnyBits;
    #[cfg(feature = "num-complex")]
    num_complex::Complex<f64> => Complex128, "complex128", num_complex::Complex::new(0.0, 0.0), AnyBits;
}

// SAFETY: the elements of an array are contiguous, without padding.
unsafe impl<T: Element, const N: usize> Element for [T; N] {
    const DTYPE: DType = DType::array::<T, N>();
    type Number = T::Number;
    const ZERO: Self = [T::ZERO; N];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_named_by_what_they_hold() {
        assert_eq!(<[u8; 34]>::DTYPE.to_string(), "[u8; 34]");
        assert_eq!(<[[f32; 3]; 1207]>::DTYPE.name(), "[[f32; 3]; 1207]");
        assert_eq!(format!("{:?}", <[[bool; 1]; 2]>::DTYPE), "[[bool; 1]; 2] (2 bytes)");
        type Five<T> = [[[[[T; 1]; 1]; 1]; 1]; 1];
        type Most = Five<Five<Five<Five<Five<u8>>>>>;
        assert_eq!(Most::DTYPE.name(), "[".repeat(25) + "u8" + &"; 1]".repeat(25));
        assert_eq!(<[Most; 1]>::DTYPE.name(), "array");
    }

    #[test]
    fn the_bytes_of_zeros_are_put_together() {
        #[derive(Clone, Copy, crate::Element)]
        #[repr(transparent)]
        #[element(zero = Odd(0x0102))]
        struct Odd(u16);
        let odd = 0x0102u16.to_ne_bytes();
        assert_eq!(Odd::DTYPE.zero().unwrap()[..], odd);
        for (zero, count) in [
            (<[Odd; 1]>::DTYPE.zero(), 1),
            (<[Odd; 3]>::DTYPE.zero(), 3),
            (<[[Odd; 5]; 7]>::DTYPE.zero(), 35),
            (<[[[Odd; 1]; 2]; 8]>::DTYPE.zero(), 16),
        ] {
            assert_eq!(zero.unwrap()[..], odd.repeat(count));
        }
        assert_eq!(f64::DTYPE.zero().unwrap()[..], [0; 8]);
        assert!(!<[u8; 16]>::DTYPE.zero().unwrap().spilled());
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "needs threads")]
    fn a_huge_zero_does_not_pass_over_the_stack() {
        const LEN: usize = 16 << 20;
        type Array = [[u8; 1 << 10]; LEN >> 10];
        #[derive(Clone, Copy, crate::Element)]
        #[repr(transparent)]
        struct Derived(Array);
        for dtype in [Array::DTYPE, Derived::DTYPE] {
            let small = std::thread::Builder::new().stack_size(128 << 10);
            let zero = small.spawn(move || dtype.zero()).unwrap().join().unwrap().unwrap();
            assert_eq!(zero.len(), LEN);
            assert!(zero.iter().all(|&byte| byte == 0));
        }
    }
}
