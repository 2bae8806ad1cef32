//! Index types, each read at its own width.

use core::fmt;

use num_traits::PrimInt;

use crate::element::{DType, Element};

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

impl IndexType {
    /// Every index type.
    pub const ALL: [IndexType; 10] = [
        IndexType::I8,
        IndexType::I16,
        IndexType::I32,
        IndexType::I64,
        IndexType::U8,
        IndexType::U16,
        IndexType::U32,
        IndexType::U64,
        IndexType::Isize,
        IndexType::Usize,
    ];

    /// The data type of the same integers.
    #[must_use]
    pub const fn dtype(self) -> DType {
        match self {
            IndexType::I8 => i8::DTYPE,
            IndexType::I16 => i16::DTYPE,
            IndexType::I32 => i32::DTYPE,
            IndexType::I64 => i64::DTYPE,
            IndexType::U8 => u8::DTYPE,
            IndexType::U16 => u16::DTYPE,
            IndexType::U32 => u32::DTYPE,
            IndexType::U64 => u64::DTYPE,
            IndexType::Isize => isize::DTYPE,
            IndexType::Usize => usize::DTYPE,
        }
    }

    /// The index type of a data type; `None` when it cannot index.
    #[must_use]
    pub fn from_dtype(dtype: DType) -> Option<Self> {
        Self::ALL.into_iter().find(|index| index.dtype() == dtype)
    }

    /// The size in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        self.dtype().size()
    }

    /// The type of fixed width that has the same values on this target.
    #[must_use]
    pub const fn word(self) -> Self {
        match self {
            IndexType::Isize if cfg!(target_pointer_width = "64") => IndexType::I64,
            IndexType::Usize if cfg!(target_pointer_width = "64") => IndexType::U64,
            IndexType::Isize => IndexType::I32,
            IndexType::Usize => IndexType::U32,
            fixed => fixed,
        }
    }
}

/// Reads one index exactly.
///
/// # Safety
/// The address may be read as a value of the index type, at any alignment.
pub(crate) type Reader = unsafe fn(*const u8) -> i128;

impl IndexType {
    /// How a value of this type is read.
    pub(crate) fn reader(self) -> Reader {
        /// # Safety
        /// As for [`Reader`].
        unsafe fn read<I: Index>(at: *const u8) -> i128 {
            // SAFETY: the caller's promise.
            unsafe { at.cast::<I>().read_unaligned() }.exact()
        }
        match self {
            IndexType::I8 => read::<i8>,
            IndexType::I16 => read::<i16>,
            IndexType::I32 => read::<i32>,
            IndexType::I64 => read::<i64>,
            IndexType::U8 => read::<u8>,
            IndexType::U16 => read::<u16>,
            IndexType::U32 => read::<u32>,
            IndexType::U64 => read::<u64>,
            IndexType::Isize => read::<isize>,
            IndexType::Usize => read::<usize>,
        }
    }
}

impl fmt::Display for IndexType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.dtype().name())
    }
}

mod sealed {
    pub trait Sealed {}
}

/// An integer type that can index. Sealed: implemented for `i8..i64`, `u8..u64`, `isize` and `usize`.
pub trait Index: Element + PrimInt + sealed::Sealed {
    /// The type at run time.
    const TYPE: IndexType;

    /// The value as `i64`; unsigned values above `i64::MAX`, which are in range of no axis, become `i64::MAX`.
    #[doc(hidden)]
    #[inline(always)]
    fn widen(self) -> i64 {
        self.to_i64().unwrap_or(i64::MAX)
    }

    /// The value modulo `dim`, from 0, for `dim` from 1 to `i64::MAX`.
    #[doc(hidden)]
    #[inline(always)]
    fn wrap(self, dim: i64) -> i64 {
        match (self.to_i64(), self.to_u64()) {
            (Some(value), _) => value.rem_euclid(dim),
            (None, Some(value)) => (value % dim as u64) as i64,
            (None, None) => unreachable!("every integer of at most 64 bits is an i64 or a u64"),
        }
    }

    /// The value itself.
    #[doc(hidden)]
    fn exact(self) -> i128 {
        self.to_i128().unwrap_or(i128::MAX)
    }
}

macro_rules! indices {
    ($($ty:ty => $name:ident),*) => {$(
        impl sealed::Sealed for $ty {}
        impl Index for $ty {
            const TYPE: IndexType = IndexType::$name;
        }
    )*};
}

indices! {
    i8 => I8, i16 => I16, i32 => I32, i64 => I64, isize => Isize,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64, usize => Usize
}
