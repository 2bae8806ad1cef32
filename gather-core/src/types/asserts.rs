//! Compile-time assertions of emitted code. The functions track their caller: errors point to the macro's call.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::types::element::{BuiltIn, DType, Element, IsElement};
use crate::types::text::Text;

type AssertMessage = Text<512>;

/// Checks that the size of a data type is `bytes`, and returns the data type.
///
/// # Panics
/// At compile time if the size differs.
#[must_use]
#[track_caller]
pub const fn with_width(dtype: DType, name: &str, bytes: usize) -> DType {
    let class = match dtype.size() {
        size if size == bytes => return dtype,
        1 => "x8",
        2 => "x16",
        4 => "x32",
        8 => "x64",
        16 => "x128",
        _ => AssertMessage::new().text("`").text(name).text("` does not have ").bytes(bytes).panic(),
    };
    let message = AssertMessage::new().text("`").text(name).text("` has ").bytes(dtype.size());
    message.text("; give it the class `").text(class).text("`").panic()
}

/// Proof that `T` is an element. The only proof is [`Element::__PROOF`].
///
/// `#[derive(Element)]` proves that a type is plain by a chain of methods. It begins at the proof of another type, has
/// one step per field, and ends with the [`DType`] of the type. The chain begins at the implemented trait, and every
/// method belongs to a type of this module. So a path to a doctored copy of this crate cannot change the chain.
#[derive(Clone, Copy)]
pub struct Proof<T> {
    /// The built-in number type that values of `T` consist of.
    numbers: Option<BuiltIn>,
    of: PhantomData<fn() -> T>,
}

impl<T: Element> Proof<T> {
    /// The proof. Evaluating the data type of a derived `T` checks its chain.
    pub(crate) const HOLDS: Self = {
        let () = IsElement::<T>::CHECK;
        Proof { numbers: <T::Number as Element>::DTYPE.built_in(), of: PhantomData }
    };

    /// Checks the chain of `U`.
    pub const fn holds_for<U: Element>(self) {
        let () = IsElement::<U>::CHECK;
    }

    /// Begins the chain of `U`.
    pub const fn begin<U: Element>(self) -> Fields<U> {
        Fields { bytes: 0, numbers: None, last: "", end: 0, gaps: AssertMessage::new(), count: 0, of: PhantomData }
    }
}

/// A chain: the facts known of `T` after some of its fields.
///
/// A step takes a function from a value of `T` to a field. The field's type is inferred by the compiler, not read by
/// the derive: an alias, a macro or another attribute cannot make the two differ. The functions are never called. The
/// steps take `self` by value, because the compiler would prefer methods of a user's trait that take `self` by value.
#[must_use]
pub struct Fields<T> {
    /// Bytes of the fields so far.
    bytes: usize,
    /// The built-in number type declared for all fields.
    numbers: Option<BuiltIn>,
    /// The name of the last field, for the message only.
    last: &'static str,
    /// The end of the last field, for the message only.
    end: usize,
    /// The text about the gaps so far, for the message only.
    gaps: AssertMessage,
    /// The number of gaps so far, for the message only.
    count: usize,
    of: PhantomData<fn() -> T>,
}

/// Maximum gaps listed in a message.
const MAX_GAPS: usize = 6;

impl<T: Element> Fields<T> {
    /// Adds a field of element type `F` at offset `start`.
    #[track_caller]
    pub const fn field<F>(self, _get: fn(T) -> F, is_element: Proof<F>, name: &'static str, start: usize) -> Self {
        assert!(size_of::<F>() > 0, "a type without bytes cannot be an element");
        if let Some(number) = self.numbers {
            let found = is_element.numbers;
            if !matches!(found, Some(found) if found as u8 == number as u8) {
                let message = AssertMessage::new().text("field `").text(name).text("` is not made of `");
                message.text(number.dtype().name()).text("`, as `numbers` says of the type").panic()
            }
        }
        let (gaps, count) = self.gaps_up_to(start);
        Fields {
            bytes: self.bytes + size_of::<F>(),
            last: name,
            end: start.saturating_add(size_of::<F>()),
            gaps,
            count,
            ..self
        }
    }

    /// Declares that values consist of built-in numbers, [`Element::Number`], with which later fields are compared.
    #[track_caller]
    pub const fn numbers(self, number: Proof<T::Number>) -> Self {
        let dtype = <T::Number as Element>::DTYPE;
        if dtype.built_in().is_none() {
            let message = AssertMessage::new().text("`numbers` names `").text(dtype.name());
            message.text("`, which is no built-in type").panic()
        }
        if align_of::<T>() < dtype.align() {
            let message = AssertMessage::new().text("a type of numbers is as much aligned as these, by ");
            message.bytes(dtype.align()).text(", and not packed").panic()
        }
        Fields { numbers: number.numbers, ..self }
    }

    /// Adds a field without bytes. Its type is `PhantomData` of `core`, whatever its name; anyone may make its value.
    pub const fn phantom<F: ?Sized>(self, _get: fn(T) -> PhantomData<F>) -> Self {
        self
    }

    /// Adds an enum whose representation is declared to have `bytes` bytes. Only a fieldless enum can be cast to an
    /// integer. Its values differ in their discriminant alone, so all values have the padding of [`Element::__SAMPLE`],
    /// whose bytes are read at compile time.
    #[track_caller]
    pub const fn tag(self, _cast: fn(T) -> i128, bytes: usize, name: &str) -> Self {
        if size_of::<T>() != bytes {
            let message = AssertMessage::new().text("`").text(name).text("` cannot be an element: it has ");
            message.bytes(size_of::<T>()).text(", and its representation has ").number(bytes).panic()
        }
        assert!(self.numbers.is_none(), "an enum is not made of numbers");
        Fields { bytes: self.bytes + bytes, last: "", end: 0, ..self }.without_holes()
    }

    /// Reads bytes of a value at compile time; an uninitialised one is an error. A separate function, since its
    /// constants are evaluated before its body: errors that say more about the type come first.
    const fn without_holes(self) -> Self {
        let _ = IsElement::<T>::FIRST_BYTES;
        self
    }

    /// The data type, if there is no padding between fields. Fields do not overlap, so padding is absent iff their
    /// sizes add up to `size_of::<T>()`.
    #[track_caller]
    #[must_use]
    pub const fn dtype(self, name: &'static str) -> DType {
        if self.bytes != size_of::<T>() {
            let message = AssertMessage::new().text("`").text(name).text("` cannot be an element: ");
            let (gaps, count) = self.gaps_up_to(size_of::<T>());
            if count > MAX_GAPS {
                let more = message.text(gaps.as_str()).text(", and ").number(count - MAX_GAPS);
                more.text(" more; ")
                    .number(size_of::<T>() - self.bytes)
                    .text(" bytes in all; add fields that fill them")
                    .panic()
            }
            if count > 0 {
                message.text(gaps.as_str()).text("; add fields that fill them").panic()
            }
            message.text("its fields have ").number(self.bytes).text(" of its ").bytes(size_of::<T>()).panic()
        }
        DType::new::<T>(name)
    }

    /// The message about the gaps up to `start`, where a field begins or the type ends, and their count.
    const fn gaps_up_to(&self, start: usize) -> (AssertMessage, usize) {
        let gap = start.saturating_sub(self.end);
        if gap == 0 || self.last.is_empty() {
            return (self.gaps, self.count);
        }
        if self.count >= MAX_GAPS {
            return (self.gaps, self.count + 1);
        }
        let gaps = if self.count > 0 { self.gaps.text(", ") } else { self.gaps };
        (gaps.bytes(gap).text(" of padding after field `").text(self.last).text("`"), self.count + 1)
    }
}
