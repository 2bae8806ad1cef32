//! The built-in kernels: two sets for each representation of indices, one for gathers and one for scatters, so that a
//! program links only those that it uses.
//!
//! CONTRIBUTING.md lists what to touch for a new data type, index type or rank: its name below, and more.

#![forbid(unsafe_code)]

use crate::kernels::table::KernelSet;
use crate::types::index::IndexType;

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

/// The built-in gathers by an index type. Where the type is a constant, no other set is linked.
#[inline(always)]
pub(crate) fn gathers_of(index: IndexType) -> &'static KernelSet {
    match index.fixed_width() {
        IndexType::I8 => &GATHER_I8,
        IndexType::I16 => &GATHER_I16,
        IndexType::I32 => &GATHER_I32,
        IndexType::I64 | IndexType::Isize => &GATHER_I64,
        IndexType::U8 => &GATHER_U8,
        IndexType::U16 => &GATHER_U16,
        IndexType::U32 => &GATHER_U32,
        IndexType::U64 | IndexType::Usize => &GATHER_U64,
    }
}

/// The built-in scatters by an index type, likewise.
#[inline(always)]
pub(crate) fn scatters_of(index: IndexType) -> &'static KernelSet {
    match index.fixed_width() {
        IndexType::I8 => &SCATTER_I8,
        IndexType::I16 => &SCATTER_I16,
        IndexType::I32 => &SCATTER_I32,
        IndexType::I64 | IndexType::Isize => &SCATTER_I64,
        IndexType::U8 => &SCATTER_U8,
        IndexType::U16 => &SCATTER_U16,
        IndexType::U32 => &SCATTER_U32,
        IndexType::U64 | IndexType::Usize => &SCATTER_U64,
    }
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
