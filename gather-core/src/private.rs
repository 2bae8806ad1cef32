//! What emitted code may name. No part of the public interface: it changes without notice.

#![forbid(unsafe_code)]

pub use ::core;
pub use ::core::mem::{offset_of, size_of};
// A caller may have given these names to other types.
pub use ::core::primitive::{i8, i16, i32, i64, isize, u8, u16, u32, u64, usize};
pub use gather_macros::{kernels as kernels_impl, map_kernels as map_kernels_impl};

pub use crate::asserts::{assert_has_bytes, assert_no_padding, assert_width};
pub use crate::element::{DType, Element};
pub use crate::error::Op;
pub use crate::index::IndexType;
#[cfg(target_arch = "x86_64")]
pub use crate::kernels::Avx2;
pub use crate::kernels::{
    BatchToSpace, CopyArgs, CopyBody, CopyCursor, CopyEntry, CopyKernel, Cursor, ElementRow, Fixed, Gather, IndexArgs,
    IndexBody, IndexEntry, IndexKernel, IndexRow, KernelSet, LevelTable, Loop, Phased, Rows, Scalar, Tables, UnitRow,
    Units, Verdict, Walk, copy_nest_any, index_nest_any,
};
pub use crate::level::Level;
pub use crate::map::Convert;
