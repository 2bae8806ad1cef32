//! The built-in kernels: two sets per representation of indices, one for gathers and one for scatters, so that a
//! program links only the sets it uses.
//!
//! Without the feature `registry` the library holds the sets of the usual index types. All other sets, and the
//! operators that rearrange space, are constants of generic types, compiled in the crate that names the types.
//!
//! CONTRIBUTING.md lists the places to touch for a new data type, index type or rank.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::kernels::kernel::Kernel;
#[cfg(target_arch = "x86_64")]
use crate::kernels::level_fn::{Avx2, Avx512};
use crate::kernels::level_fn::{Scalar, each_level};
use crate::kernels::levels::Isa;
use crate::kernels::moves::{Fixed, Rows};
use crate::kernels::table::{IndexRest, IndexRow, KernelSet, LevelTable, Lists, Rests, WidthRow};
#[allow(unused_imports, reason = "most targets have no level of vectors of 16 bytes")]
use crate::kernels::v128::*;
use crate::types::index::{Index, IndexType, by_index};
use crate::types::level::Level;
use crate::types::op::Op;

/// A set of built-in kernels of every data type.
macro_rules! builtin {
    ($(#[$doc:meta])* $name:ident, indices: $indices:tt, ops: $ops:tt) => {
        #[cfg(not(test))]
        builtin! { $(#[$doc])* $name, indices: $indices, ops: $ops, ranks: 1..=8, any }
        // Unit tests plan few calls: the kernels of any rank run them, and the unrolled ranks are not built again.
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
            /// The built-in gathers by indices of one representation, which pointer-sized indices of its width share.
            $gathers, indices: [$index], ops: [gather, gather_elements, gather_nd]
        }
        #[cfg(feature = "scatter")]
        builtin! {
            /// The built-in scatters by indices of one representation, which pointer-sized indices of its width share.
            $scatters, indices: [$index], ops: [scatter_elements, scatter_nd]
        }
    )*};
}

// Hot: the usual index types. The kernels of all others are compiled here with the feature `registry`, else in the
// crate that names the index type (`SetsOf`).
builtin! {
    GATHER_I32, SCATTER_I32: i32;
    GATHER_I64, SCATTER_I64: i64;
}
#[cfg(feature = "registry")]
builtin! {
    GATHER_I8, SCATTER_I8: i8;
    GATHER_I16, SCATTER_I16: i16;
    GATHER_U8, SCATTER_U8: u8;
    GATHER_U16, SCATTER_U16: u16;
    GATHER_U32, SCATTER_U32: u32;
    GATHER_U64, SCATTER_U64: u64;
}
#[cfg(feature = "registry")]
builtin! {
    /// The built-in kernels that rearrange space.
    REARRANGE, indices: [i64], ops: [batch_to_space, space_to_batch, depth_to_space, space_to_depth]
}

const GATHERS: &[Op] = &[Op::Gather, Op::GatherElements, Op::GatherNd];
#[cfg(feature = "scatter")]
const SCATTERS: &[Op] = &[Op::ScatterElements, Op::ScatterNd];
const REARRANGES: &[Op] = &[Op::BatchToSpace, Op::SpaceToBatch, Op::DepthToSpace, Op::SpaceToDepth];

/// The name of a kernel for any rank, from its level and its index type.
macro_rules! name {
    ($L:ident, $($part:literal)+) => {
        match $L::LEVEL {
            Level::Scalar => concat!($($part,)+ "_rn__scalar"),
            Level::Avx2 => concat!($($part,)+ "_rn__avx2"),
            Level::Avx512 => concat!($($part,)+ "_rn__avx512"),
            Level::Neon => concat!($($part,)+ "_rn__neon"),
            Level::Simd128 => concat!($($part,)+ "_rn__simd128"),
        }
    };
    ($L:ident, $I:ident, $($part:literal)+) => {
        match $I::TYPE.fixed_width() {
            IndexType::I8 => name!($L, $($part)+ "_i8"),
            IndexType::I16 => name!($L, $($part)+ "_i16"),
            IndexType::I32 => name!($L, $($part)+ "_i32"),
            IndexType::I64 | IndexType::Isize => name!($L, $($part)+ "_i64"),
            IndexType::U8 => name!($L, $($part)+ "_u8"),
            IndexType::U16 => name!($L, $($part)+ "_u16"),
            IndexType::U32 => name!($L, $($part)+ "_u32"),
            IndexType::U64 | IndexType::Usize => name!($L, $($part)+ "_u64"),
        }
    };
}

/// A set of kernels of every level, only for loop nests of any rank.
macro_rules! any_rank {
    (
        $name:literal,
        $Of:ident<$I:ident>::$TABLE:ident,
        ($indices:expr, $reprs:expr),
        $ops:expr,
        [$($width:literal: $bytes:expr),*]
    ) => {
        KernelSet::new(Lists {
            name: $name,
            elements: &[],
            indices: $indices,
            ranks: &[0],
            ops: $ops,
            widths: const { &[$(WidthRow { name: $width, bytes: $bytes }),*] },
            reprs: $reprs,
            levels: const { &each_level!(L => $Of::<$I, L>::$TABLE) },
            rests: Rests::NONE,
        })
    };
}

/// The kernels for indices `I` at the level `L`.
struct AtLevel<I, L>(PhantomData<(I, L)>);

/// Sets for indices `I`, compiled where `I` is named.
struct SetsOf<I>(PhantomData<I>);

/// The kernels that rearrange space at the level `L`, compiled where `T` is named.
struct SpaceAtLevel<T, L>(PhantomData<(T, L)>);

/// Sets of kernels that rearrange space, compiled where `T` is named.
struct SpaceOf<T>(PhantomData<T>);

/// Sets by their least width. `ROWS` serves elements of all other sizes: no width is a multiple of such a size.
macro_rules! by_widths {
    ($($NAME:ident: $($width:literal $bytes:literal),*;)*) => {
        impl<I: Index, L: Isa> AtLevel<I, L> {
            $(const $NAME: LevelTable = LevelTable {
                level: L::LEVEL,
                index: &[
                    $(Kernel::gather::<Fixed<$bytes>, I, L, 0>(name!(L, I, "gather_" $width)),)*
                    Kernel::gather::<Rows, I, L, 0>(name!(L, I, "gather_rows")),
                ],
                scatter: &[],
                space: &[],
            };)*
        }

        impl<I: Index> SetsOf<I> {
            $(const $NAME: &'static KernelSet = &any_rank! {
                "gathers", AtLevel<I>::$NAME, (Self::INDICES, Self::REPRS), GATHERS,
                [$($width: Some($bytes),)* "rows": None]
            };)*
        }

        impl<T, L: Isa> SpaceAtLevel<T, L> {
            $(const $NAME: LevelTable = LevelTable {
                level: L::LEVEL,
                index: &[],
                scatter: &[],
                space: &[
                    $(Kernel::rearrange::<Fixed<$bytes>, L, 0>(name!(L, "rearrange_" $width)),)*
                    Kernel::rearrange::<Rows, L, 0>(name!(L, "rearrange_rows")),
                ],
            };)*
        }

        impl<T> SpaceOf<T> {
            $(const $NAME: &'static KernelSet = &any_rank! {
                "rearrange", SpaceAtLevel<T>::$NAME, (&[], &[]), REARRANGES, [$($width: Some($bytes),)* "rows": None]
            };)*
        }
    };
}
by_widths! {
    X8: "x8" 1, "x16" 2, "x32" 4, "x64" 8, "x128" 16;
    X16: "x16" 2, "x32" 4, "x64" 8, "x128" 16;
    X32: "x32" 4, "x64" 8, "x128" 16;
    X64: "x64" 8, "x128" 16;
    X128: "x128" 16;
    ROWS: ;
}

#[cfg(feature = "scatter")]
impl<I: Index, L: Isa> AtLevel<I, L> {
    const SCATTER: LevelTable = LevelTable {
        level: L::LEVEL,
        index: &[],
        scatter: &[Kernel::scatter::<I, L, 0>(name!(L, I, "scatter"))],
        space: &[],
    };
}

macro_rules! of_size {
    ($bytes:expr) => {
        match $bytes {
            1 => Self::X8,
            2 => Self::X16,
            4 => Self::X32,
            8 => Self::X64,
            16 => Self::X128,
            _ => Self::ROWS,
        }
    };
}

impl<I: Index> SetsOf<I> {
    const INDICES: &'static [IndexRow] = &[IndexRow { index: I::TYPE, repr: 0 }];
    const REPRS: &'static [IndexType] = &[I::TYPE];

    #[cfg(feature = "scatter")]
    const SCATTER: &'static KernelSet =
        &any_rank! { "scatters", AtLevel<I>::SCATTER, (Self::INDICES, Self::REPRS), SCATTERS, [] };

    const fn gathers(bytes: usize) -> &'static KernelSet {
        of_size!(bytes)
    }
}

impl<T> SpaceOf<T> {
    const fn of(bytes: usize) -> &'static KernelSet {
        of_size!(bytes)
    }
}

/// Every built-in set, for types known at run time.
#[cfg(feature = "registry")]
pub(crate) const BUILTIN: &[&KernelSet] = &[
    &GATHER_I8,
    &GATHER_I16,
    &GATHER_I32,
    &GATHER_I64,
    &GATHER_U8,
    &GATHER_U16,
    &GATHER_U32,
    &GATHER_U64,
    #[cfg(feature = "scatter")]
    &SCATTER_I8,
    #[cfg(feature = "scatter")]
    &SCATTER_I16,
    #[cfg(feature = "scatter")]
    &SCATTER_I32,
    #[cfg(feature = "scatter")]
    &SCATTER_I64,
    #[cfg(feature = "scatter")]
    &SCATTER_U8,
    #[cfg(feature = "scatter")]
    &SCATTER_U16,
    #[cfg(feature = "scatter")]
    &SCATTER_U32,
    #[cfg(feature = "scatter")]
    &SCATTER_U64,
    &REARRANGE,
];
#[cfg(not(feature = "registry"))]
pub(crate) const BUILTIN: &[&KernelSet] = &[];

macro_rules! compiled {
    ($(#[$doc:meta])* $name:ident: $I32:ident $I64:ident, $($Type:ident $SET:ident),*) => {
        $(#[$doc])*
        #[inline(always)]
        pub(crate) const fn $name(index: IndexType) -> Option<&'static KernelSet> {
            match index.fixed_width() {
                IndexType::I32 => Some(&$I32),
                IndexType::I64 => Some(&$I64),
                $(#[cfg(feature = "registry")]
                IndexType::$Type => Some(&$SET),)*
                _ => None,
            }
        }
    };
}

compiled! {
    /// The built-in gathers that the library holds for an index type. If the type is a constant, no other set is
    /// linked.
    compiled_gathers: GATHER_I32 GATHER_I64,
    I8 GATHER_I8, I16 GATHER_I16, U8 GATHER_U8, U16 GATHER_U16, U32 GATHER_U32, U64 GATHER_U64
}
#[cfg(feature = "scatter")]
compiled! {
    /// The built-in scatters that the library holds for an index type.
    compiled_scatters: SCATTER_I32 SCATTER_I64,
    I8 SCATTER_I8, I16 SCATTER_I16, U8 SCATTER_U8, U16 SCATTER_U16, U32 SCATTER_U32, U64 SCATTER_U64
}

/// The built-in gathers of elements of `bytes` bytes by indices `I`: the library's set, else a set compiled in the
/// crate that calls this function.
pub(crate) const fn gathers<I: Index>(bytes: usize) -> &'static KernelSet {
    match compiled_gathers(I::TYPE) {
        Some(set) => set,
        None => by_index!(I::TYPE, J => SetsOf::<J>::gathers(bytes)),
    }
}

/// The gathers for rows of any length and loop nests of any rank, which links few functions.
pub(crate) const fn rows<I: Index>() -> &'static KernelSet {
    by_index!(I::TYPE, J => SetsOf::<J>::ROWS)
}

/// The built-in scatters by indices `I`: the library's set, else a set compiled in the crate that calls this function.
#[cfg(feature = "scatter")]
pub(crate) const fn scatters<I: Index>() -> &'static KernelSet {
    match compiled_scatters(I::TYPE) {
        Some(set) => set,
        None => by_index!(I::TYPE, J => SetsOf::<J>::SCATTER),
    }
}

/// The built-in kernels that rearrange elements of `bytes` bytes: the library's set, else a set compiled where `T` is
/// named.
pub(crate) const fn rearrange<T>(bytes: usize) -> &'static KernelSet {
    #[cfg(feature = "registry")]
    {
        let _: fn(usize) -> &'static KernelSet = SpaceOf::<T>::of;
        let _ = bytes;
        &REARRANGE
    }
    #[cfg(not(feature = "registry"))]
    SpaceOf::<T>::of(bytes)
}

impl IndexRest {
    /// The fallback sets for gathers and scatters of elements of `sizes` bytes by indices `I`, where `has` is
    /// `[gathers, scatters]`.
    #[must_use]
    pub const fn of<I: Index>(sizes: &[usize], has: [bool; 2]) -> Self {
        let [has_gathers, has_scatters] = has;
        IndexRest {
            gathers: if has_gathers { Some(gathers::<I>(least_width(sizes))) } else { None },
            #[cfg(feature = "scatter")]
            scatters: if has_scatters { Some(scatters::<I>()) } else { None },
            #[cfg(not(feature = "scatter"))]
            scatters: {
                assert!(!has_scatters);
                None
            },
        }
    }
}

impl Rests {
    /// The fallback sets by representation of indices and, if the set rearranges space, for elements of `sizes` bytes.
    #[must_use]
    pub const fn of<T>(by_repr: &'static [IndexRest], sizes: &[usize], has_space: bool) -> Self {
        Rests { by_repr, space: if has_space { Some(rearrange::<T>(least_width(sizes))) } else { None } }
    }
}

/// The least of `sizes` that is a width; 0 if none is.
const fn least_width(sizes: &[usize]) -> usize {
    let (mut least, mut at) = (0, 0);
    while at < sizes.len() {
        let size = sizes[at];
        if matches!(size, 1 | 2 | 4 | 8 | 16) && (least == 0 || size < least) {
            least = size;
        }
        at += 1;
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::table::ElementRow;
    use crate::types::element::Element;

    /// A set of bytes whose fallback, `X64`, would run rows of 4 bytes by its kernels for any length.
    #[test]
    #[should_panic(expected = "what runs the rest of a set lacks kernels too")]
    fn a_set_without_kernels_for_all_rows_is_refused() {
        const ELEMENTS: &[ElementRow] = &[ElementRow { dtype: u8::DTYPE, width: 0 }];
        let bytes = SetsOf::<i32>::X8.tables();
        let _ = KernelSet::new(Lists { elements: ELEMENTS, ..*bytes });
        let rests = Rests { by_repr: &[IndexRest { gathers: Some(SetsOf::<i32>::X64), scatters: None }], space: None };
        let _ = KernelSet::new(Lists { elements: ELEMENTS, rests, ..*bytes });
    }

    /// `Registry` looks data types up in the first set only.
    #[test]
    #[cfg(feature = "registry")]
    fn every_set_knows_the_same_data_types() {
        let dtypes = |set: &KernelSet| set.tables().elements.iter().map(|row| row.dtype).collect::<Vec<_>>();
        for &set in BUILTIN {
            assert_eq!(dtypes(set), dtypes(BUILTIN[0]), "{set:?}");
            assert!(set.shaped_rows().is_empty(), "{set:?}");
        }
    }
}
