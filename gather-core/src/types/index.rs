//! Index types, each read at its own width.

use core::fmt;

use num_traits::ToPrimitive;

use crate::types::declare::closed_set;
use crate::types::element::{DType, Element};

closed_set! {
/// The integer types that can index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum IndexType {
    /// `i8`
    I8,
    /// `i16`
    I16,
    /// `i32`
    I32,
    /// `i64`
    I64,
    /// `u8`
    U8,
    /// `u16`
    U16,
    /// `u32`
    U32,
    /// `u64`
    U64,
    /// `isize`
    Isize,
    /// `usize`
    Usize,
}
/// Every index type.
pub const ALL;
}

impl IndexType {
    /// The index type of a data type; `None` if it cannot index.
    #[must_use]
    pub fn from_dtype(dtype: DType) -> Option<Self> {
        Self::ALL.iter().copied().find(|index| index.dtype() == dtype)
    }

    /// The size in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        self.dtype().size()
    }

    /// The number of nonnegative values.
    pub(crate) fn positions(self) -> i128 {
        self.bounds().1 + 1
    }

    /// The least and the greatest value.
    ///
    /// ```
    /// assert_eq!(gather_core::IndexType::I8.bounds(), (-128, 127));
    /// ```
    #[must_use]
    pub const fn bounds(self) -> (i128, i128) {
        let end = 1 << (8 * self.size() - self.is_signed() as usize);
        (if self.is_signed() { -end } else { 0 }, end - 1)
    }

    pub(crate) const fn is_signed(self) -> bool {
        matches!(self, IndexType::I8 | IndexType::I16 | IndexType::I32 | IndexType::I64 | IndexType::Isize)
    }

    /// The fixed-width type with the same values on this target.
    #[must_use]
    pub const fn fixed_width(self) -> Self {
        match self {
            IndexType::Isize if cfg!(target_pointer_width = "64") => IndexType::I64,
            IndexType::Usize if cfg!(target_pointer_width = "64") => IndexType::U64,
            IndexType::Isize => IndexType::I32,
            IndexType::Usize => IndexType::U32,
            fixed => fixed,
        }
    }
}

/// Evaluates `$make` with `$I` as the integer type of a run-time index type, shared by types with the same values.
macro_rules! by_index {
    ($index:expr, $I:ident => $make:expr) => {
        $crate::types::index::by_index!($index, $I => $make;
            I8 i8, I16 i16, I32 i32, I64 | Isize i64, U8 u8, U16 u16, U32 u32, U64 | Usize u64)
    };
    ($index:expr, $I:ident => $make:expr; $($($name:ident)|+ $ty:ty),* $(; _ => $other:expr)?) => {
        match $index.fixed_width() {
            $($($crate::types::index::IndexType::$name)|+ => {
                type $I = $ty;
                $make
            })*
            $(_ => $other,)?
        }
    };
}

pub(crate) use by_index;

/// As [`by_index`], for the types with compiled kernels; `None` for others. Without the feature `registry` the
/// compiled types are `i32` and `i64`, and kernels of other types are compiled where a type is named.
macro_rules! by_compiled_index {
    ($index:expr, $I:ident => $make:expr) => {{
        #[cfg(feature = "registry")]
        {
            Some($crate::types::index::by_index!($index, $I => $make))
        }
        #[cfg(not(feature = "registry"))]
        {
            $crate::types::index::by_index!($index, $I => Some($make); I32 i32, I64 i64; _ => None)
        }
    }};
}

pub(crate) use by_compiled_index;

/// Reads one index exactly.
///
/// # Safety
/// The address may be read as a value of the index type, at any alignment.
pub(crate) type Reader = unsafe fn(*const u8) -> i128;

impl IndexType {
    pub(crate) fn reader(self) -> Reader {
        /// # Safety
        /// As for [`Reader`].
        unsafe fn read<I: Index>(at: *const u8) -> i128 {
            // SAFETY: by the caller's contract, `at` may be read as an `I` at any alignment.
            unsafe { at.cast::<I>().read_unaligned() }.exact()
        }
        by_index!(self, I => read::<I>)
    }
}

impl fmt::Display for IndexType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.dtype().name())
    }
}

pub(crate) mod sealed {
    /// The methods of index values that kernels use. They are not in [`Index`](super::Index): a user who imports that
    /// trait would see them on every integer.
    pub trait Sealed: Copy {
        /// The value as `i64`; unsigned values above `i64::MAX`, out of range of every axis, become `i64::MAX`.
        fn widen(self) -> i64;

        /// The value as 64 bits. As an unsigned number, a negative value exceeds any position.
        fn bits(self) -> u64;

        /// The value modulo `dim`, in `0..dim`, for `dim` in `1..=i64::MAX`.
        fn wrap(self, dim: i64) -> i64;

        fn exact(self) -> i128;

        /// The low bits of a number: the number itself if the type can represent it.
        fn truncated(number: i64) -> Self;
    }
}

/// An integer type that can index. Sealed: implemented for `i8..i64`, `u8..u64`, `isize` and `usize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot index",
    label = "not an index type",
    note = "indices are of type `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `isize` or `usize`",
    note = "of a mask, whose elements are `bool`, take the positions that are true"
)]
pub trait Index: Element + Copy + sealed::Sealed {
    /// The type at run time.
    const TYPE: IndexType;
}

macro_rules! indices {
    ($($ty:ty => $name:ident),*) => {
        impl IndexType {
            /// The data type of the same integers.
            #[must_use]
            #[inline]
            pub const fn dtype(self) -> DType {
                match self {
                    $(IndexType::$name => <$ty>::DTYPE,)*
                }
            }
        }
$(
        impl sealed::Sealed for $ty {
            #[inline(always)]
            fn widen(self) -> i64 {
                self.to_i64().unwrap_or(i64::MAX)
            }

            #[inline(always)]
            fn bits(self) -> u64 {
                self as u64
            }

            #[inline(always)]
            fn wrap(self, dim: i64) -> i64 {
                match (self.to_i64(), self.to_u64()) {
                    (Some(value), _) => value.rem_euclid(dim),
                    (None, Some(value)) => (value % dim as u64) as i64,
                    (None, None) => unreachable!("every integer of at most 64 bits is an i64 or a u64"),
                }
            }

            #[inline(always)]
            fn exact(self) -> i128 {
                self.to_i128().unwrap_or(i128::MAX)
            }

            #[inline(always)]
            fn truncated(number: i64) -> Self {
                number as Self
            }
        }

        impl Index for $ty {
            const TYPE: IndexType = IndexType::$name;
        })*
    };
}

indices! {
    i8 => I8, i16 => I16, i32 => I32, i64 => I64, isize => Isize,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64, usize => Usize
}

#[cfg(test)]
macro_rules! of_every_type {
    ($check:ident) => {
        of_every_type!($check: i8 i16 i32 i64 isize u8 u16 u32 u64 usize)
    };
    ($check:ident: $($I:ty)*) => {
        $($check::<$I>();)*
    };
}
#[cfg(test)]
pub(crate) use of_every_type;

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares reads of extreme values and of values around 0 with the same in `i128`.
    fn check<I: Index + TryFrom<i128>>() {
        let (least, most) = I::TYPE.bounds();
        assert_eq!(I::TYPE.dtype(), I::DTYPE);
        assert_eq!(IndexType::from_dtype(I::DTYPE), Some(I::TYPE));
        for exact in [least, least + 1, -3, -1, 0, 1, 100, most - 1, most].into_iter().filter(|&x| x >= least) {
            let value = I::try_from(exact).ok().unwrap();
            assert_eq!(value.exact(), exact);
            assert_eq!(i128::from(value.widen()), exact.min(i64::MAX.into()));
            for dim in [1, 2, 7, 1 << 40, i64::MAX] {
                assert_eq!(i128::from(value.wrap(dim)), exact.rem_euclid(dim.into()));
            }
        }
        assert!(I::try_from(least - 1).is_err() && I::try_from(most + 1).is_err());
    }

    #[test]
    fn values_are_read_exactly() {
        of_every_type!(check);
        assert_eq!(IndexType::ALL.len(), 10);
    }
}
