//! Items named by emitted code. They are not part of the public interface, and change without notice.

#![forbid(unsafe_code)]

pub use ::core;
pub use ::core::mem::{offset_of, size_of};
// A caller's scope may have other types of these names.
pub use ::core::primitive::{i8, i16, i32, i64, isize, u8, u16, u32, u64, usize};
pub use gather_macros::{
    kernels as kernels_impl, map_kernels as map_kernels_impl, reduce_kernels as reduce_kernels_impl,
    row_kernels as row_kernels_impl, specialize as specialize_impl,
};

pub use crate::__scatter_rows as scatter_rows;
#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
pub use crate::kernels::Neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub use crate::kernels::Simd128;
pub use crate::kernels::convert::map::Convert;
pub use crate::kernels::convert::row::{RowParams, Rowwise};
#[cfg(any(feature = "scatter", feature = "bags"))]
pub use crate::kernels::reduce::Combine;
pub use crate::kernels::shaped::row::ShapedRow;
#[cfg(target_arch = "x86_64")]
pub use crate::kernels::{Avx2, Avx512};
pub use crate::kernels::{
    ElementRow, Fixed, IndexRest, IndexRow, Kernel, KernelSet, LevelTable, Lists, Rests, Rows, Scalar, WidthRow,
};
pub use crate::specialize::{batch_to_space, cannot_fail, gather, gather_map};
pub use crate::types::asserts::with_width;
pub use crate::types::declared::{ANY, Declaration, Declared, size};
pub use crate::types::element::{DType, Element};
pub use crate::types::index::IndexType;
pub use crate::types::level::Level;
pub use crate::types::op::Op;
pub use crate::types::policy::{NegativeIndex, OutOfBounds};
