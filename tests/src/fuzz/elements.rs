//! The types of a case: elements of every width class and of other sizes, and every index type.

use arbitrary::{Arbitrary, Result, Unstructured};
use gather_core::{Element, Index};
use num_complex::Complex;

/// Five bytes at any alignment.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C, packed)]
pub(crate) struct Tick {
    flag: bool,
    count: u32,
}

/// Twelve bytes, and a zero that is not all zeros.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
#[element(zero = Point([1.0, -0.0, 2.0]))]
pub(crate) struct Point([f32; 3]);

/// Forty bytes: a row.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub(crate) struct Wide([u64; 5]);

gather_core::kernels! {
    /// Kernels for the widths that the built-in ones do not have.
    pub(crate) static OWN;
    elements: [Tick, Point, Wide];
    indices: [u8, i32, i64];
    ranks: 1, any;
    ops: [gather, gather_elements, gather_nd, batch_to_space];
}

/// Numbers that look random, the same for the same `at`.
#[must_use]
pub(super) fn mixed(at: u64) -> u64 {
    let x = (at ^ (at >> 30)).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A type whose values are computed from numbers.
pub(super) trait Sample: Element {
    fn sample(at: u64) -> Self;
}

/// Draws one of a few by a number of four bytes, as derives of `Arbitrary` do.
fn one_of<T: Copy>(u: &mut Unstructured<'_>, all: &[T]) -> Result<T> {
    let at = (u64::from(u32::arbitrary(u)?) * all.len() as u64) >> 32;
    Ok(all[at as usize])
}

macro_rules! elements {
    ($($kind:ident $ty:ty, $at:ident => $value:expr;)*) => {
        /// A type of elements.
        #[derive(Clone, Copy, Debug)]
        pub(super) enum ElementKind {
            $($kind,)*
        }

        impl<'a> Arbitrary<'a> for ElementKind {
            fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
                one_of(u, &[$(ElementKind::$kind),*])
            }

            fn size_hint(depth: usize) -> (usize, Option<usize>) {
                u32::size_hint(depth)
            }
        }

        $(impl Sample for $ty {
            fn sample($at: u64) -> Self {
                $value
            }
        })*

        /// Evaluates `$body` with `$name` standing for the type.
        macro_rules! with_element {
            ($chosen:expr, $name:ident => $body:expr) => {{
                use $crate::fuzz::elements::*;
                match $chosen {
                    $(ElementKind::$kind => {
                        type $name = $ty;
                        $body
                    })*
                }
            }};
        }
    };
}

elements! {
    Byte u8, at => mixed(at) as u8;
    Short i16, at => mixed(at) as i16;
    Single f32, at => f32::from_bits(mixed(at) as u32);
    Long u64, at => mixed(at);
    Double num_complex::Complex<f64>, at => Complex::new(f64::from_bits(mixed(at)), f64::from_bits(!mixed(at)));
    Tick Tick, at => Tick { flag: at % 2 == 1, count: mixed(at) as u32 };
    Point Point, at => Point([0, 1, 2].map(|part| f32::from_bits(mixed(at ^ part << 60) as u32)));
    Wide Wide, at => Wide([0, 1, 2, 3, 4].map(|part| mixed(at ^ part << 60)));
}

/// An index type that truncates numbers to its width.
pub(super) trait Word: Index {
    fn of(value: i128) -> Self;
}

macro_rules! words {
    ($($kind:ident $ty:ident;)*) => {
        /// A type of indices.
        #[derive(Clone, Copy, Debug)]
        pub(super) enum WordKind {
            $($kind,)*
        }

        impl<'a> Arbitrary<'a> for WordKind {
            fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
                one_of(u, &[$(WordKind::$kind),*])
            }

            fn size_hint(depth: usize) -> (usize, Option<usize>) {
                u32::size_hint(depth)
            }
        }

        impl WordKind {
            /// The number truncated to this width.
            pub(super) fn wrap(self, value: i128) -> i128 {
                match self {
                    $(WordKind::$kind => value as $ty as i128,)*
                }
            }
        }

        $(impl Word for $ty {
            fn of(value: i128) -> Self {
                value as $ty
            }
        })*

        /// Evaluates `$body` with `$name` standing for the type.
        macro_rules! with_word {
            ($chosen:expr, $name:ident => $body:expr) => {
                match $chosen {
                    $($crate::fuzz::elements::WordKind::$kind => {
                        type $name = $ty;
                        $body
                    })*
                }
            };
        }
    };
}

words! {
    I64 i64;
    I32 i32;
    U8 u8;
    I8 i8;
    I16 i16;
    U16 u16;
    U32 u32;
    U64 u64;
    Isize isize;
    Usize usize;
}
