//! Gather and scatter operators for tensors in Rust: rows of a table by their ids, elements by index, sums of rows,
//! and their inverses, with the semantics of NumPy, PyTorch, TensorFlow, ONNX and OpenVINO.
//!
//! | reads | [gathers](guide::gathers) | [bags](guide::bags) | [scatters](guide::scatter) |
//! |---|---|---|---|
//! | elements: [`View`], [`Tensor`], slices, arrays, `Vec` | yes | yes | yes |
//! | types known at run time: [`DynView`], [`DynTensor`] | yes | yes | yes |
//! | [`view.map(..)`](View::map): each element converted | yes | yes | |
//! | [`view.rows(..)`](View::rows): each row computed | `Gather` | | |
//! | [`fused.to::<f32>()`](FusedRows::to): rows that hold their scale | `Gather` | yes | |
//! | [`codes.blocks(..)`](View::blocks): a scale for each block | yes | | |
//! | [`chunks(&[..])?`](chunks()): row ranges of one of these sources as one table | yes | elements and maps | |
//! | [`tables::<f32>(..)?`](tables()): several tables at once | | yes | |
//!
//! - **Gathers**: [`Gather`] takes rows along an axis, [`GatherElements`] and [`GatherNd`] take elements; with
//!   [nulls](guide::nulls) by [`nullable()`](GatherOperator::nullable).
//! - **Bags**: [`EmbeddingBag`] reduces rows while it reads them.
//! - **Scatters**: [`ScatterElements`], [`ScatterNd`], and the [`adjoint()`](GatherOperator::adjoint) of every gather.
//! - **Rearranging**: [`BatchToSpace`], [`SpaceToBatch`], [`DepthToSpace`] and [`SpaceToDepth`] take elements only.
//!
//! Each operator has `run`, `run_into` and [`plan`](guide::plans). A scatter also has `run_on`, which works in place.
//! Indices are integers of any type, known to the compiler or at run time.
//!
//! # Quick start
//!
//! Rows of a table by their ids:
//!
//! ```
//! fn main() -> Result<(), gather_core::Error> {
//!     let table = [0.0f32, 0.1, 1.0, 1.1, 2.0, 2.1];
//!     assert_eq!(gather_core::rows(&table, 2, &[2u32, 0])?, [2.0, 2.1, 0.0, 0.1]);
//!     Ok(())
//! }
//! ```
//!
//! The same with an operator, which has attributes and takes tensors of any rank and strides. -1 is the last row; row
//! 7, out of range, is zeros:
//!
//! ```
//! use gather_core::{Gather, OutOfBounds, View};
//!
//! fn main() -> Result<(), gather_core::Error> {
//!     let table = [0.0f32, 0.1, 1.0, 1.1, 2.0, 2.1];
//!     let table = View::new(&table, &[3, 2])?;
//!     let gather = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
//!     let rows = gather.run(&table, &[2i64, 0, -1, 7])?;
//!     assert_eq!(rows.shape(), [4, 2]);
//!     assert_eq!(rows.as_slice(), [2.0, 2.1, 0.0, 0.1, 2.0, 2.1, 0.0, 0.0]);
//!     Ok(())
//! }
//! ```
//!
//! A plan for any number of ids, run repeatedly into the same memory. The table holds 8-bit codes, converted as they
//! are read:
//!
//! ```
//! use gather_core::{Gather, Given, Spec, Tensor, View, maps};
//!
//! fn main() -> Result<(), gather_core::Error> {
//!     let codes = [128u8, 130, 126, 255, 0, 128];
//!     let codes = View::new(&codes, &[3, 2])?;
//!     let table = codes.map(&maps::dequantize(), (Given::All(0.5), Given::All(128)));
//!     // 64 ids are expected; any number may come.
//!     let plan = Gather::new(0).plan_any_count(&table, &Spec::<u32>::new(&[64])?)?;
//!     let mut rows = Tensor::default();
//!     plan.run_into(&table, &[2, 0, 1], &mut rows)?;
//!     assert_eq!(rows.as_slice(), [-64.0, 0.0, 0.0, 1.0, -1.0, 63.5]);
//!     Ok(())
//! }
//! ```
//!
//! The [`guide`] explains more. It has a page [by use case](guide::trades), a [comparison](guide::comparison) with
//! other libraries, and the [equivalents](guide::coming_from) of calls of NumPy, PyTorch, TensorFlow, ONNX, OpenVINO,
//! ndarray, candle and Arrow.
//!
//! # Overview
//!
//! - An operator is a small value that holds its attributes. Presets such as [`Gather::openvino8`] and
//!   [`GatherNd::tensorflow`] follow one specification each.
//! - Tensors are borrowed as [`View`]s and returned as [`Tensor`]s, a `Vec` with a shape. `run_into` writes to an
//!   [`Output`] of yours: a [`ViewMut`], uninitialised memory, or a reused [`Tensor`].
//! - A [`Plan`] does the shape-dependent work once. [`Plan::explain`] describes it.
//! - [`maps`] and [`rows`](mod@rows) have ready-made maps and row functions, which infer their types from the table.
//!   [`map_kernels!`], [`row_kernels!`] and [`reduce_kernels!`] make your own.
//! - A function of yours takes any of these sources [as `TableOf`](guide::own_functions).
//! - Types known only at run time go through [`DynView`], [`DynTensor`] and a [`Registry`] of kernels.
//! - [`specialize!`] makes functions for shapes known at compile time, as fast as a loop written by hand.
//! - `#[derive(Element)]` and [`kernels!`] give your own plain types kernels as good as the built-in ones.
//!
//! Elements are copied bit for bit, unless they are converted or reduced: NaN payloads and -0.0 survive. Bad input
//! returns a typed [`Error`] with numbers, and never panics.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `std` | yes | the instruction set is detected (`GATHER_LEVEL` names a [`Level`]); `Pool`, `promote`, `from_reader`, `will_need` |
//! | `rayon` | yes | threads of the current rayon pool, or of the global one, help with large calls |
//! | `huge-pages` | yes | on Linux, huge pages for fresh tensors of 4 MiB and more |
//! | `registry` | yes | the kernels of all built-in types, for [types known at run time](guide::runtime_types) |
//! | `scatter` | yes | [scatters](guide::scatter), and the [`adjoint()`](GatherOperator::adjoint) of gathers |
//! | `bags` | yes | [`EmbeddingBag`] and [`tables`](tables()) |
//! | `half` | no | `f16` and `bf16` of the crate `half`, version 2, on which your program depends too |
//! | `num-complex` | no | `Complex<f32>` and `Complex<f64>` |
//! | `bytemuck` | no | [`Plain`], which makes elements of other crates' plain types |
//! | `ndarray_0_17` | no | arrays of `ndarray` 0.17 as views, and tensors as arrays |
//!
//! Without `std` the crate needs only `alloc`.
//!
#![cfg_attr(not(feature = "bytemuck"), doc = "[`Plain`]: guide::custom_types#types-of-other-crates")]
#![cfg_attr(not(any(feature = "std", test)), no_std)]
// Families of operators share functions, which may be unused in a build without one of the families.
#![cfg_attr(
    not(all(feature = "scatter", feature = "bags")),
    allow(dead_code, unreachable_pub, unused_imports, unused_macros, reason = "of operators that are not compiled")
)]
// Pages on docs.rs show the feature that an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(target_pointer_width = "16")]
compile_error!("gather-core needs pointers of 32 or 64 bits");

extern crate alloc;
// Emitted code names this crate by its path.
extern crate self as gather_core;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private_0_1_0;
mod call;
mod exec;
pub mod guide;
mod kernels;
pub mod maps;
mod ops;
mod plan;
pub mod rows;
mod specialize;
mod tensor;
mod types;

/// Implements [`Element`](trait@Element) for a plain type, and proves at compile time that it is plain.
///
/// The type is `Copy`, and is one of these:
///
/// - a struct with `#[repr(C)]`, `#[repr(C, packed)]` or `#[repr(transparent)]`, all of whose fields are elements or
///   `PhantomData`, without padding; with `#[repr(transparent)]` it may be generic;
/// - a fieldless enum of a fixed representation: `#[repr(u8)]`, `u16`, `u32`, `u64`, `i8`, `i16`, `i32` or `i64`.
///
/// ```
/// use gather_core::Element;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(u8)]
/// #[element(zero = Off)]
/// enum Switch {
///     Off,
///     On,
/// }
///
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// struct Channel {
///     gain: f32,
///     id: [u8; 3],
///     switch: Switch,
/// }
///
/// assert_eq!(Channel::ZERO, Channel { gain: 0.0, id: [0; 3], switch: Switch::Off });
/// ```
///
/// # Attributes
///
/// `#[element(..)]` on the type takes three keys, each once:
///
/// - `zero = EXPR` sets [`Element::ZERO`](trait@Element), the value written by [`OutOfBounds::Zero`]: any constant
///   expression of the type. Without the key, the fields of a struct are zero. An enum needs the key, whose value may
///   be the bare name of a variant.
/// - `numbers = TYPE` declares that a struct consists of numbers of this built-in type, and that any such numbers are a
///   value of the struct: [`Element::Number`](trait@Element). [Reductions](guide::custom_types#rows-of-numbers) then
///   take its values number by number. All fields are numbers of this type, arrays of them, or types with the same
///   declaration. The zero is the numbers' zero.
/// - `crate = PATH` is the path of this crate, by default `::gather_core`.
///
/// [A chapter of the guide](guide::custom_types#what-is-refused-and-why) lists the refused types and the reasons.
pub use gather_macros::Element;

pub use crate::call::attributes::IndexAttributes;
#[cfg(feature = "bags")]
pub use crate::call::bag::bags::{AsPlanned, Bags, BagsOf, OptionalWeights, PerTable, PlanBags, Unweighted};
#[cfg(feature = "bags")]
pub use crate::call::bag::kinds::{BagKind, BagTableOf, BaggedBy};
#[cfg(feature = "bags")]
pub use crate::call::bag::{BagOperator, BagPlan, EmbeddingBag};
pub use crate::call::gather::GatherOperator;
pub use crate::call::gather::kinds::{GatherKind, GatheredBy, Gathers, TableOf};
pub use crate::call::gather::masked::{Masked, MaskedPlan};
pub use crate::call::gather::nullable::{Nullable, NullablePlan};
pub use crate::call::gather::plan::{DynPlan, Plan};
pub use crate::call::gather::rows::RowAttributes;
#[cfg(feature = "scatter")]
pub use crate::call::scatter::adjoint::AdjointAttributes;
#[cfg(feature = "scatter")]
pub use crate::call::scatter::plan::ScatterPlan;
#[cfg(feature = "scatter")]
pub use crate::call::scatter::reduces::Reduces;
#[cfg(feature = "scatter")]
pub use crate::call::scatter::{ScatterAttributes, ScatterOperator};
pub use crate::call::source::blocks::{BlocksSpec, BlocksView};
pub use crate::call::source::checked::{Checked, Position};
pub use crate::call::source::chunks::{ChunksSpec, ChunksView, chunks};
pub use crate::call::source::clones::CloneSource;
#[cfg(feature = "scatter")]
pub use crate::call::source::destination::Destination;
pub use crate::call::source::fused::{DynFusedView, FusedView};
pub use crate::call::source::kind::{
    Blocks, ByRow, ChunkKind, Chunks, Fused, IndexKind, Kind, Mapped, PlainKind, Positions, RowKind, Tables,
};
pub use crate::call::source::map::{MapOf, MappedSpec, MappedView};
pub use crate::call::source::mask::{Mask, MaskKind};
pub use crate::call::source::rows::{RowFunctionOf, RowsSpec, RowsView};
pub use crate::call::source::spec::Spec;
#[cfg(feature = "bags")]
pub use crate::call::source::tables::{TablesView, tables, tables_dyn};
#[cfg(feature = "scatter")]
pub use crate::call::source::zeros::{Zeros, zeros, zeros_dyn};
pub use crate::call::source::{Describe, Source, TensorOf};
pub use crate::call::space::plan::RearrangePlan;
pub use crate::call::space::{PermutationAttributes, SpaceAttributes, SpaceOperator};
pub use crate::kernels::KernelSet;
pub use crate::kernels::convert::given::Given;
pub use crate::kernels::convert::map::{Map, Params};
pub use crate::kernels::convert::row::{RowFunction, RowParam, RowParams};
pub use crate::kernels::info::KernelInfo;
#[cfg(any(feature = "scatter", feature = "bags"))]
pub use crate::kernels::reduce::reducer::Reducer;
pub use crate::kernels::registry::{KernelKey, Registry};
pub use crate::ops::{
    BatchToSpace, BatchToSpaceAttributes, DepthToSpace, DepthToSpaceAttributes, Gather, GatherAttributes,
    GatherElements, GatherElementsAttributes, GatherNd, GatherNdAttributes, SpaceToBatch, SpaceToBatchAttributes,
    SpaceToDepth, SpaceToDepthAttributes, Unique, UniqueId, batch_to_space, depth_to_space, gather, gather_elements,
    gather_nd, rows, rows_into, space_to_batch, space_to_depth,
};
#[cfg(feature = "scatter")]
pub use crate::ops::{
    ScatterElements, ScatterElementsAttributes, ScatterNd, ScatterNdAttributes, scatter_elements, scatter_nd,
};
pub use crate::plan::Explain;
pub use crate::tensor::bitmap::{Bitmap, Nulls, Validity};
pub use crate::tensor::dynamic::{DynTensor, DynView, DynViewMut};
pub use crate::tensor::fused::FusedRows;
pub use crate::tensor::layout::{Layout, Shape};
pub use crate::tensor::needed_pages::AdviceStats;
pub use crate::tensor::output::{Append, DynOutput, Output};
pub use crate::tensor::owned::Tensor;
#[cfg(feature = "std")]
pub use crate::tensor::pages::{HugePageStats, promote};
#[cfg(feature = "std")]
pub use crate::tensor::pool::{DynPooled, Pool, PoolStats, Pooled};
pub use crate::tensor::residency::{Residency, ResidencyStats};
pub use crate::tensor::typing::{Dyn, Typing};
pub use crate::tensor::view::{View, ViewMut};
pub use crate::types::codes::{Codes, Float};
pub use crate::types::element::{DType, Element};
pub use crate::types::error::Error;
pub use crate::types::fused::FusedFormat;
pub use crate::types::index::{Index, IndexType};
pub use crate::types::level::Level;
pub use crate::types::method::Method;
pub use crate::types::op::{Argument, Op};
#[cfg(feature = "bytemuck")]
pub use crate::types::plain::Plain;
pub use crate::types::policy::{DepthMode, IndexPolicy, NegativeIndex, OutOfBounds, Par, Per, ScatterOutOfBounds};
pub use crate::types::reduction::{Reducible, Reduction};

/// Emits a named set of kernels: one for every listed data type x index type x rank x operator.
///
/// The static is a [`KernelSet`] for [`Registry::with`]. [A chapter of the
/// guide](guide::custom_types#a-set-of-kernels) walks through a call. This page is the reference.
///
/// ```
/// #[derive(Clone, Copy, gather_core::Element)]
/// #[repr(C)]
/// pub struct Point([f32; 3]);
///
/// #[derive(Clone, Copy, gather_core::Element)]
/// #[repr(C)]
/// pub struct Rgba([u8; 4]);
///
/// gather_core::kernels! {
///     /// Kernels for points and colours.
///     pub static DRAWING;
///     elements: [Point, Rgba as x32];
///     indices: [i32, i64];
///     ranks: 1..=4, any;
///     ops: [gather, gather_elements, gather_nd, scatter_nd, batch_to_space, space_to_depth];
/// }
/// ```
///
/// # Grammar
///
/// ```text
/// call     = attribute* visibility "static" NAME ";" field*
/// field    = "elements" ":" "[" element ("," element)* ","? "]" ";"
///          | "indices"  ":" "[" index   ("," index)*   ","? "]" ";"
///          | "ranks"    ":"     rank    ("," rank)*    ","?     ";"
///          | "ops"      ":" "[" op      ("," op)*      ","? "]" ";"
///          | "widths"   ":" "[" width   ("," width)*   ","? "]" ";"
/// element  = attribute* TYPE ("as" class)?
/// class    = "x8" | "x16" | "x32" | "x64" | "x128"
/// index    = "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "isize" | "usize"
/// rank     = NUMBER | NUMBER "..=" NUMBER | "any"
/// op       = "gather" | "gather_elements" | "gather_nd" | "scatter_elements" | "scatter_nd"
///          | "batch_to_space" | "space_to_batch" | "depth_to_space" | "space_to_depth"
/// width    = class | "rows"
/// ```
///
/// The fields have any order, each once. All but `widths` are required. No list is empty or has duplicates.
/// Attributes, here and in the other macros, must change no code: `doc`, `cfg`, `cfg_attr` with allowed attributes,
/// `allow`, `expect`, `warn`, `deny`, `forbid`, `deprecated` and `must_use`.
///
/// - `elements`: types that implement [`Element`](trait@Element). Types of one width class share kernels. `bool`, `i8`
///   to `i64`, `u8` to `u64`, `f32` and `f64` have their class by name. Any other type has the class after `as`, which
///   must have the type's size, or without `as` kernels of its own size. The `#[cfg(..)]` of a type holds for
///   everything that names it. A type with attributes needs a class.
/// - `indices`: index types. `isize` and `usize` share the kernels of the integers of their width if both the 64-bit
///   and the 32-bit integer are listed.
/// - `ranks`: the unrolled nest ranks, from 1 to 8. A nest rank is the number of loops after folding. `any` adds
///   kernels that run every other rank. Without it, the built-in kernels run the other ranks.
/// - `ops`: the operators.
/// - `widths`: further widths to emit kernels for, for slices that fold to them. `rows` stands for rows of any length,
///   and exists for the built-in set, whose kernels move the rows of every set.
///
/// # Errors
///
/// All mistakes of a call are reported at once, each at its place. A call is refused if widths x index types x ranks
/// of gathers, and index types x ranks of scatters, exceed 648.
///
/// # Expansion
///
/// A single static with the attributes and the visibility of the call. The table of kernels is in its initialiser, so
/// that types are resolved as around the call. The emitted code is safe, needs no standard library, and finds this
/// crate under any name. A row names the types of a kernel and its rank. The kernel is a function instantiated for the
/// row's types. Its name describes it, such as `gather_point_i32_r2__avx2`, and it ends in the unrolled loop nest of
/// its rank, which all sets share.
#[macro_export]
macro_rules! kernels {
    ($($tokens:tt)*) => {
        $crate::__private_0_1_0::kernels_impl! { crate = $crate; $($tokens)* }
    };
}

/// Emits maps: conversions that [`View::map`] applies to each element as it is read, in one pass over the bytes.
///
/// ```
/// use gather_core::{Gather, Given, View};
///
/// gather_core::map_kernels! {
///     /// Brightness, from 0 to `full`.
///     pub static BRIGHTNESS = |pixel: [u8; 3], full: f32| -> f32 {
///         let sum: u32 = pixel.iter().map(|&part| u32::from(part)).sum();
///         sum as f32 * full / 765.0
///     };
/// }
///
/// fn main() -> Result<(), gather_core::Error> {
///     let palette = [[0u8, 0, 0], [255, 255, 255], [51, 0, 0]];
///     let (palette, image) = (View::new(&palette, &[3])?, View::new(&[2u8, 1, 1, 0], &[2, 2])?);
///     let grey = Gather::new(0).run(&palette.map(&BRIGHTNESS, (Given::All(15.0),)), &image)?;
///     assert_eq!(grey.as_slice(), [1.0, 15.0, 15.0, 0.0]);
///     Ok(())
/// }
/// ```
///
/// A call has any number of maps, each ended by a `;`. A map is written as a static whose value is a closure:
///
/// - The first argument is the element read. Up to four parameters follow, each a name and a type. Element and result
///   are [`Element`](trait@Element)s; parameters are `Copy + Send + Sync + 'static`.
/// - The body sees only its inputs and global items. A local variable is refused (E0435, whose advice does not apply):
///   make it a parameter. The compiler vectorises the body for each [`Level`] if it is short and has no branches.
///
/// The static is a [`Map`] of these types, with its documentation and the attributes allowed in [`kernels!`]. A
/// static is compiled in its own crate; a `const` in place of it, in each crate that names it.
#[macro_export]
macro_rules! map_kernels {
    ($($tokens:tt)*) => {
        $crate::__private_0_1_0::map_kernels_impl! { crate = $crate; $($tokens)* }
    };
}

/// Emits reductions of your own: how a scatter combines an element and an update, by [`ScatterOperator::reduce_by`],
/// and a bag its rows, by [`EmbeddingBag::reduce_by`].
///
/// ```
/// use gather_core::{ScatterNd, View};
///
/// gather_core::reduce_kernels! {
///     /// Set bits stay set.
///     pub static UNION = |kept: u64, new: u64| -> u64 { kept | new };
/// }
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (sets, ids, bits) = ([1u64, 0, 8], [2u16, 0, 2], [1, 2, 4]);
///     let (sets, ids) = (View::new(&sets, &[3])?, View::new(&ids, &[3, 1])?);
///     let sets = ScatterNd::new().reduce_by(&UNION).run(&sets, &ids, &View::new(&bits, &[3])?)?;
///     assert_eq!(sets.as_slice(), [3, 0, 13]);
///     Ok(())
/// }
/// ```
///
/// A call has any number of reductions, each ended by a `;`. A reduction is written as a static whose value is a
/// closure of two inputs: the kept value and the new one. Both and the result have the same type, an
/// [`Element`](trait@Element). The body sees only its inputs and global items: a local variable is refused (E0435,
/// whose advice does not apply). The compiler vectorises the body for each [`Level`] if it is short and has no
/// branches. The body may be called again with the same inputs.
///
/// The static is a [`Reducer`] of this type, with its documentation and the attributes allowed in [`kernels!`].
#[cfg(any(feature = "scatter", feature = "bags"))]
#[macro_export]
macro_rules! reduce_kernels {
    ($($tokens:tt)*) => {
        $crate::__private_0_1_0::reduce_kernels_impl! { crate = $crate; $($tokens)* }
    };
}

/// Without scatters and bags there are no reductions.
#[cfg(not(any(feature = "scatter", feature = "bags")))]
#[macro_export]
macro_rules! reduce_kernels {
    ($($tokens:tt)*) => {
        compile_error!("reductions need the feature `scatter` or `bags` of gather-core");
    };
}

/// Emits row functions: [`View::rows`] computes a value or another row from each row while it is gathered.
///
/// ```
/// use gather_core::{Gather, Given, View, rows};
///
/// gather_core::row_kernels! {
///     /// Cosine of the angle between a row and a query of length 1, whatever their scale.
///     pub static COSINE = |row: &[f32], query: &[f32]| -> f32 {
///         rows::lanes::dot(row, query) / rows::lanes::sum_of_squares(row).sqrt()
///     };
///     /// The row plus a bias, times a gain.
///     pub static AFFINE = |row: &[f32], out: &mut [f32], gain: &[f32], bias: f32| {
///         for ((out, &value), &gain) in out.iter_mut().zip(row).zip(gain) {
///             *out = (value + bias) * gain;
///         }
///     };
/// }
///
/// fn main() -> Result<(), gather_core::Error> {
///     let table = [3.0f32, 4.0, 0.0, 2.0];
///     let (table, ids) = (View::new(&table, &[2, 2])?, View::new(&[1u8, 0], &[2])?);
///     let gather = Gather::new(0);
///     let cosines = gather.run(&table.rows(&COSINE, (Given::All(&[0.0, 1.0]),)), &ids)?;
///     assert_eq!(cosines.as_slice(), [1.0, 0.8]);
///     let params = (Given::All(&[1.0, 10.0][..]), Given::All(1.0));
///     assert_eq!(gather.run(&table.rows(&AFFINE, params), &ids)?.as_slice(), [1.0, 30.0, 4.0, 50.0]);
///     Ok(())
/// }
/// ```
///
/// A call has any number of row functions, each ended by a `;`. Each is written as a static whose value is a closure:
///
/// - The first input is the row read, `&[T]`. The result is either a value, `-> U`, or a row: the second input
///   `&mut [U]`, which holds zeros when the function is called. `T` and `U` are [`Element`](trait@Element)s.
/// - Up to four parameters follow, each a name and a type: a value that is `Copy + Send + Sync + 'static`, or a slice
///   of such values, `&[V]`. A slice has the length of the row, which is checked before a call runs. With `#[any_len]`
///   before its name a slice has any length; if each index has its own slice, a call states the length by
///   [`Given::PerIndexOf`]. With `#[optional]` a slice may also be empty.
/// - The body sees only its inputs and global items. A local variable is refused (E0435, whose advice does not apply):
///   make it a parameter. The body is compiled for each [`Level`]: functions that it calls should be
///   `#[inline(always)]`, as the functions of [`rows`](mod@rows) are, which also vectorise sums of floats.
///
/// The static is a [`RowFunction`] of these types, with its documentation and the attributes allowed in [`kernels!`].
#[macro_export]
macro_rules! row_kernels {
    ($($tokens:tt)*) => {
        $crate::__private_0_1_0::row_kernels_impl! { crate = $crate; $($tokens)* }
    };
}

/// Emits functions for shapes known at compile time, fast as loops written by hand, with the operators' results and
/// errors.
///
/// [A chapter of the guide](guide::specialize) says when to use them. This page is the reference.
///
/// ```
/// gather_core::specialize! {
///     /// Eight of 32 rows; zeros for ids out of range.
///     pub fn pick = gather(axis = 0, out_of_bounds = zero) (f32[32, 16], i64[8]);
///     /// Rows of any table of this width.
///     pub fn rows = gather(axis = 0) (f32[_, 16], u32[_]);
/// }
///
/// fn main() -> Result<(), gather_core::Error> {
///     let table = [[0.5f32; 16]; 32];
///     assert_eq!(pick_array(&table, &[0, -1, 32, 3, 4, 5, 6, 7])[1..3], [[0.5; 16], [0.0; 16]]);
///     let mut out = [0.0; 32];
///     rows(table.as_flattened(), &[31, 0], &mut out)?;
///     assert_eq!(out, [0.5; 32]);
///     Ok(())
/// }
/// ```
///
/// # Grammar
///
/// ```text
/// call      = (set | function)*
/// set       = attribute* visibility "static" NAME ("=" "[" instance ("," instance)* ","? "]")? ";"
/// instance  = FUNCTION "::" "<" TYPE ("," TYPE)* ">"
/// function  = attribute* visibility "fn" NAME generics? "=" operator "(" (key ("," key)* ","?)? ")"
///             "(" tensor ("," tensor)? ","? ")" ("->" TYPE)? ";"
/// operator  = OPERATOR ("::" PRESET)?
/// key       = "axis" "=" NUMBER | "batch_dims" "=" NUMBER
///           | "out_of_bounds" "=" ("error" | "zero" | "clamp" | "wrap")
///           | "negative_index" "=" ("from_end" | "reject")
///           | "block" "=" "[" size* "]" | "crops_begin" "=" "[" size* "]" | "crops_end" "=" "[" size* "]"
///           | "map" "=" PATH ("(" (NAME ":" TYPE),* ")")?
/// tensor    = TYPE "[" (size | "_")* "]"
/// size      = NUMBER | CONSTANT
/// ```
///
/// - The operators are `gather`, `gather_elements`, `gather_nd` and `batch_to_space`, with their presets, such as
///   `gather::openvino8`. `batch_to_space` has data only.
/// - The allowed attributes are listed in [`kernels!`].
/// - Types of data are [`Element`](trait@Element)s, of indices [`Index`] types. Type parameters follow the name, as in
///   `fn rows<T: Element>`.
/// - The preset `gather_elements::torch` takes indices of the shapes that `gather_elements` takes. PyTorch's own rule
///   for indices without elements is not specialised.
/// - A size is at least 1; a tensor has at most 8 dimensions. `_` is an open size: the first of a tensor follows from
///   the length of its slice, the others are `usize` arguments in order. If one of the others is 0, the length does not
///   determine the first. The first is then the other tensor's size of this dimension if both share it, else 0.
/// - `map` is the path of a [`Map`]. The type of its results follows `->`. The names and types of its parameters are
///   in parentheses: `map = maps::dequantize(scale: f32, zero_point: u8)`. Each is a [`Given`] argument after indices.
/// - `static` makes a set of the kernels of every function that has neither a map nor type parameters. Instances of
///   generic functions are listed: `static MODEL = [rows::<f32>, rows::<u8>];`. Functions with a map have no kernels
///   in the set, since calls with maps know their types and use no [`Registry`].
///
/// # Expansion
///
/// For each declaration a function on slices,
///
/// ```text
/// fn NAME(data: &[T], indices: &[I], <parameters>, <open sizes>, out: &mut [T]) -> Result<(), Error>
/// ```
///
/// and if every size is known, `NAME_array`, which takes arrays and returns one. `NAME_array` returns a `Result` if an
/// index or a parameter of a map can be refused. Both have the documentation and the visibility of the declaration. The
/// set becomes a static: a [`KernelSet`] for [`Registry::with`]. The emitted code is safe and needs no `std`.
///
/// Parameters cannot shadow constants (E0005) or statics (E0530). So no constant or static in scope may have the name
/// of a parameter: `data`, `indices`, `out`, an open size such as `data_dim_1`, or a parameter of the map.
///
/// # Errors
///
/// All mistakes of a call are reported at once, each at its place. The values of constants are checked when they are
/// evaluated, also by `cargo check`. The functions return the errors of the operators, in this order: lengths and open
/// sizes, a map's parameters, then [`Error::IndexOutOfRange`] for the first index out of range in row-major order. A
/// `GATHER_LEVEL` that names no level of this machine is an error of the operators, but not of these functions.
#[macro_export]
macro_rules! specialize {
    ($($tokens:tt)*) => {
        $crate::__private_0_1_0::specialize_impl! { crate = $crate; $($tokens)* }
    };
}
