//! The built-in kernels: two sets for each representation of indices, one for gathers and one for scatters, so that a
//! program links only those that it uses.
//!
//! CONTRIBUTING.md lists what to touch for a new data type, index type or rank: its name below, and more.

#![forbid(unsafe_code)]

use crate::kernels::kernel::Kernel;
use crate::kernels::level_fn::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::kernels::level_fn::{Avx2, Avx512};
use crate::kernels::moves::Rows;
use crate::kernels::table::{IndexRow, KernelSet, LevelTable, Lists, WidthRow};
#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
use crate::kernels::v128::Vectors as Neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use crate::kernels::v128::Vectors as Simd128;
use crate::types::index::IndexType;
use crate::types::level::Level;
use crate::types::op::Op;

/// A set of built-in kernels of every data type.
macro_rules! builtin {
    ($(#[$doc:meta])* $name:ident, indices: $indices:tt, ops: $ops:tt) => {
        #[cfg(not(test))]
        builtin! { $(#[$doc])* $name, indices: $indices, ops: $ops, ranks: 1..=8, any }
        // Unit tests plan a few calls. The kernels of any rank run them, and the others are not built once more.
        #[cfg(test)]
        builtin! { $(#[$doc])* $name, indices: $indices, ops: $ops, ranks: any }
    };
    ($(#[$doc:meta])* $name:ident, indices: $indices:tt, ops: $ops:tt, ranks: $($ranks:tt)*) => {
        crate::kernels! {
            $(#[$doc])*
            pub(crate) static $name;
            elements: [
                bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64,
                #[cfg(feature = "half")] half::f16 as x16,
                #[cfg(feature = "half")] half::bf16 as x16,
                #[cfg(feature = "num-complex")] num_complex::Complex<f32> as x64,
                #[cfg(feature = "num-complex")] num_complex::Complex<f64> as x128,
            ];
            indices: $indices;
            ranks: $($ranks)*;
            ops: $ops;
            widths: [x128, rows];
        }
    };
    ($($gathers:ident, $scatters:ident: $index:ident;)*) => {$(
        builtin! {
            /// The built-in gathers by indices of one representation; pointer-sized ones have that of their width.
            $gathers, indices: [$index], ops: [gather, gather_elements, gather_nd]
        }
        builtin! {
            /// The built-in scatters, likewise.
            $scatters, indices: [$index], ops: [scatter_elements, scatter_nd]
        }
    )*};
}

builtin! {
    GATHER_I8, SCATTER_I8: i8;
    GATHER_I16, SCATTER_I16: i16;
    GATHER_I32, SCATTER_I32: i32;
    GATHER_I64, SCATTER_I64: i64;
    GATHER_U8, SCATTER_U8: u8;
    GATHER_U16, SCATTER_U16: u16;
    GATHER_U32, SCATTER_U32: u32;
    GATHER_U64, SCATTER_U64: u64;
}

builtin! {
    /// The built-in kernels of the operators that rearrange space.
    REARRANGE, indices: [i64], ops: [batch_to_space, space_to_batch, depth_to_space, space_to_depth]
}

/// The gathers for rows of any length and loop nests of any rank: functions of the sets above, and few, so that a
/// program links little for them.
macro_rules! rows {
    ($($name:ident: $index:ident, $repr:ident, $kernel:literal;)*) => {$(
        static $name: KernelSet = KernelSet::new(Lists {
            name: stringify!($name),
            elements: &[],
            indices: &[IndexRow { index: IndexType::$repr, repr: 0 }],
            ranks: &[0],
            ops: &[Op::Gather, Op::GatherElements, Op::GatherNd],
            widths: &[WidthRow { name: "rows", bytes: None }],
            reprs: &[IndexType::$repr],
            levels: &[
                rows!(Scalar, $index, concat!($kernel, "__scalar")),
                #[cfg(target_arch = "x86_64")]
                rows!(Avx2, $index, concat!($kernel, "__avx2")),
                #[cfg(target_arch = "x86_64")]
                rows!(Avx512, $index, concat!($kernel, "__avx512")),
                #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
                rows!(Neon, $index, concat!($kernel, "__neon")),
                #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
                rows!(Simd128, $index, concat!($kernel, "__simd128")),
            ],
        });
    )*};
    ($level:ident, $index:ident, $name:expr) => {
        LevelTable {
            level: Level::$level,
            index: &[Kernel::gather::<Rows, $index, $level, 0>($name)],
            scatter: &[],
            space: &[],
        }
    };
}

rows! {
    ROWS_I8: i8, I8, "gather_rows_i8_rn";
    ROWS_I16: i16, I16, "gather_rows_i16_rn";
    ROWS_I32: i32, I32, "gather_rows_i32_rn";
    ROWS_I64: i64, I64, "gather_rows_i64_rn";
    ROWS_U8: u8, U8, "gather_rows_u8_rn";
    ROWS_U16: u16, U16, "gather_rows_u16_rn";
    ROWS_U32: u32, U32, "gather_rows_u32_rn";
    ROWS_U64: u64, U64, "gather_rows_u64_rn";
}

/// Every built-in set.
pub(crate) const BUILTIN: [&KernelSet; 17] = [
    &GATHER_I8,
    &GATHER_I16,
    &GATHER_I32,
    &GATHER_I64,
    &GATHER_U8,
    &GATHER_U16,
    &GATHER_U32,
    &GATHER_U64,
    &SCATTER_I8,
    &SCATTER_I16,
    &SCATTER_I32,
    &SCATTER_I64,
    &SCATTER_U8,
    &SCATTER_U16,
    &SCATTER_U32,
    &SCATTER_U64,
    &REARRANGE,
];

macro_rules! by_index {
    ($(#[$doc:meta])* $name:ident: $i8:ident $i16:ident $i32:ident $i64:ident $u8:ident $u16:ident $u32:ident $u64:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub(crate) fn $name(index: IndexType) -> &'static KernelSet {
            match index.fixed_width() {
                IndexType::I8 => &$i8,
                IndexType::I16 => &$i16,
                IndexType::I32 => &$i32,
                IndexType::I64 | IndexType::Isize => &$i64,
                IndexType::U8 => &$u8,
                IndexType::U16 => &$u16,
                IndexType::U32 => &$u32,
                IndexType::U64 | IndexType::Usize => &$u64,
            }
        }
    };
}

by_index! {
    /// The built-in gathers by an index type. Where the type is a constant, no other set is linked.
    gathers_of: GATHER_I8 GATHER_I16 GATHER_I32 GATHER_I64 GATHER_U8 GATHER_U16 GATHER_U32 GATHER_U64
}
by_index! {
    /// The built-in gathers of rows of any length, likewise.
    rows_of: ROWS_I8 ROWS_I16 ROWS_I32 ROWS_I64 ROWS_U8 ROWS_U16 ROWS_U32 ROWS_U64
}
by_index! {
    /// The built-in scatters, likewise.
    scatters_of: SCATTER_I8 SCATTER_I16 SCATTER_I32 SCATTER_I64 SCATTER_U8 SCATTER_U16 SCATTER_U32 SCATTER_U64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So that the registry asks one of them.
    #[test]
    fn every_set_knows_the_same_data_types() {
        let dtypes = |set: &KernelSet| set.tables().elements.iter().map(|row| row.dtype).collect::<Vec<_>>();
        for set in BUILTIN {
            assert_eq!(dtypes(set), dtypes(BUILTIN[0]), "{set:?}");
            assert!(set.shaped_rows().is_empty(), "{set:?}");
        }
    }
}
