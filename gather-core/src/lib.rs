//! Gather-type tensor operators: Gather, GatherElements, GatherNd and BatchToSpace, exactly as their specifications say.
//!
//! ```
//! use gather_core::{Gather, OutOfBounds, View};
//!
//! let table = [0.0f32, 0.1, 1.0, 1.1, 2.0, 2.1];
//! let ids = [2i64, 0, -1, 7];
//! let rows = Gather::new(0)
//!     .out_of_bounds(OutOfBounds::Zero)
//!     .run(&View::new(&table, &[3, 2])?, &View::new(&ids, &[4])?)?;
//! assert_eq!(rows.shape(), [4, 2]);
//! assert_eq!(rows.as_slice(), [2.0, 2.1, 0.0, 0.1, 2.0, 2.1, 0.0, 0.0]);
//! # Ok::<(), gather_core::Error>(())
//! ```
//!
//! # The pieces
//!
//! - An operator is a small value that holds its attributes: [`Gather`], [`GatherElements`], [`GatherNd`],
//!   [`BatchToSpace`]. Presets such as [`Gather::openvino8`] or [`GatherNd::tensorflow`] follow one specification each.
//! - Tensors are borrowed as [`View`]s of any strides and come back as [`Tensor`]s, a `Vec` with a shape; `run_into`
//!   writes to a [`ViewMut`] of yours, `run_uninit` to memory that holds no values yet.
//! - A [`Plan`] does once what depends on shapes; [`Plan::explain`] says what it will do.
//! - Types known only at run time go through [`DynView`], [`DynTensor`] and a [`Registry`] of kernels.
//! - [`Gather::run_map`] converts while it gathers, by a [`Map`]: one of [`maps`], or yours, made by [`map_kernels!`].
//! - `#[derive(Element)]` and [`kernels!`] give your own plain types kernels as good as the built-in ones.
//!
//! The [`guide`] has chapters on [types of your own](guide::custom_types) and on [plans](guide::plans).
//!
//! Bits are moved, never converted unless a map does: NaN payloads and -0.0 survive. Bad input gives a typed [`Error`] with
//! numbers, never a panic.
//!
//! # Features
//!
//! `std` (default): run-time detection of instruction sets. `rayon` (default): threads from the caller's pool.
//! `huge-pages` (default): on Linux, huge pages for fresh outputs of 4 MiB and more. `half`: `f16` and `bf16`.
//! `num-complex`: `Complex<f32>` and `Complex<f64>`. Without `std` the crate needs `alloc`.

#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(target_pointer_width = "16")]
compile_error!("gather-core needs pointers of 32 or 64 bits");

extern crate alloc;
// Emitted code names this crate by its path.
extern crate self as gather_core;

mod alloc_out;
mod asserts;
mod cloned;
#[cfg(feature = "rayon")]
mod crew;
mod dispatch;
mod dynamic;
mod element;
mod error;
mod exec;
pub mod guide;
mod index;
mod kernels;
mod level;
mod map;
pub mod maps;
mod ops;
mod pages;
mod plan;
#[doc(hidden)]
pub mod private;
mod registry;
mod shape;
mod tensor;
mod threads;
mod view;

/// Implements [`Element`](trait@Element) for a plain type, after proving at compile time that it is one.
///
/// For a `Copy` type that is
///
/// - a struct with `#[repr(C)]`, `#[repr(C, packed)]` or `#[repr(transparent)]`, all of whose fields are elements, without
///   padding; with `#[repr(transparent)]` it may be generic; or
/// - an enum without fields whose representation is fixed: `#[repr(u8)]`, `u16`, `u32`, `u64`, `i8`, `i16`, `i32` or `i64`.
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
/// `#[element(..)]` on the type takes two keys, each once:
///
/// - `zero = EXPR`: [`Element::ZERO`](trait@Element), which is what [`OutOfBounds::Zero`] writes: any constant expression of
///   the type. A struct has one of its fields' zeros without it; an enum needs it, and may name a variant alone.
/// - `crate = PATH`: where this crate is, `::gather_core` unless it is said.
///
/// [A chapter of the guide](guide::custom_types#what-is-refused-and-why) says what is refused, and why.
pub use gather_macros::Element;

pub use crate::dynamic::{DynTensor, DynView};
pub use crate::element::{DType, Element};
pub use crate::error::{Argument, Error, Op};
pub use crate::index::{Index, IndexType};
pub use crate::kernels::KernelSet;
pub use crate::level::Level;
pub use crate::map::{Map, Param, Params};
pub use crate::ops::{
    BatchToSpace, Gather, GatherElements, GatherNd, NegativeIndex, OutOfBounds, Par, batch_to_space, gather,
    gather_elements, gather_nd,
};
pub use crate::plan::{CopyPlan, Explain, Plan, Strategy};
pub use crate::registry::{KernelInfo, KernelKey, Registry};
pub use crate::shape::{Layout, Shape};
pub use crate::tensor::Tensor;
pub use crate::view::{View, ViewMut};

/// Emits a named set of kernels: every data type x index type x rank x operator that is listed.
///
/// The static is a [`KernelSet`] for [`Registry::with`]. [A chapter of the guide](guide::custom_types#a-set-of-kernels) walks
/// through a call; this is the reference.
///
/// ```
/// # #[derive(Clone, Copy, gather_core::Element)]
/// # #[repr(C)]
/// # pub struct Point([f32; 3]);
/// # #[derive(Clone, Copy, gather_core::Element)]
/// # #[repr(C)]
/// # pub struct Rgba([u8; 4]);
/// gather_core::kernels! {
///     /// Kernels for points and colours.
///     pub static DRAWING;
///     elements: [Point, Rgba as x32];
///     indices: [i32, i64];
///     ranks: 1..=4, any;
///     ops: [gather, gather_elements, gather_nd, batch_to_space];
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
///          | "units"    ":" "[" unit    ("," unit)*    ","? "]" ";"
/// element  = attribute* TYPE ("as" width)?
/// width    = "x8" | "x16" | "x32" | "x64" | "x128"
/// index    = "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "isize" | "usize"
/// rank     = NUMBER | NUMBER "..=" NUMBER | "any"
/// op       = "gather" | "gather_elements" | "gather_nd" | "batch_to_space"
/// unit     = width | "rows"
/// ```
///
/// The fields stand in any order, each once; all but `units` must be there, and no list is empty or names a thing twice.
///
/// - `elements`: types that implement [`Element`](trait@Element). Those of one width class share kernels. `bool`, `f32`,
///   `f64` and the integers of fixed width have their class by name, others by `as`, and a class of another size than the
///   type's is an error. A type without a class gets kernels of its own size. Attributes such as `#[cfg(..)]` hold for all
///   that names the type, and need a class.
/// - `indices`: index types. `isize` and `usize` share the kernels of the integers of their width where those are listed for
///   both 64 and 32 bits.
/// - `ranks`: nest ranks from 1 to 8 that are unrolled; a nest rank is the number of loops that are left after folding. `any`
///   adds kernels that run every other rank; without it, those run on the built-in kernels.
/// - `ops`: the operators.
/// - `units`: widths to emit kernels for besides those of the elements, for slices that fold to them. `rows` stands for rows of
///   any length; it is there for the built-in set, whose kernels move the rows of every set.
///
/// # Errors
///
/// All mistakes of a call are reported at once, each where it stands. A call is refused when it has operators on indices
/// and widths x index types x ranks x levels (2) exceed 1,296.
///
/// # What is emitted
///
/// One static with the attributes and the visibility of the call, and nothing beside it: nests, kernels and the table stand in
/// its initialiser, where the types that the call names mean what they mean around it. It needs no standard library, and
/// finds this crate under any name. A kernel is a function of its own, named for what it does, such as
/// `gather_point_i32_r2__avx2`.
#[macro_export]
macro_rules! kernels {
    ($($tokens:tt)*) => {
        $crate::private::kernels_impl! { crate = $crate; $($tokens)* }
    };
}

/// Emits maps: conversions that [`Gather::run_map`] applies to each element on its way, in one pass over the bytes.
///
/// ```
/// use gather_core::{Gather, Param, View};
///
/// gather_core::map_kernels! {
///     /// Brightness, from 0 to `full`.
///     pub static BRIGHTNESS = |pixel: [u8; 3], full: f32| -> f32 {
///         let sum: u32 = pixel.iter().map(|&part| u32::from(part)).sum();
///         sum as f32 * full / 765.0
///     };
/// }
///
/// let palette = [[0u8, 0, 0], [255, 255, 255], [51, 0, 0]];
/// let (palette, image) = (View::new(&palette, &[3])?, View::new(&[2u8, 1, 1, 0], &[2, 2])?);
/// let grey = Gather::new(0).run_map(&BRIGHTNESS, &palette, &image, (Param::Value(15.0),))?;
/// assert_eq!(grey.as_slice(), [1.0, 15.0, 15.0, 0.0]);
/// # Ok::<(), gather_core::Error>(())
/// ```
///
/// A call names any number of maps, each ended by a `;`. One is written as a static whose value is a closure:
///
/// - first the element that is read, then up to four parameters, each a name and a type; the types of the first and of the
///   result are [`Element`]s, those of parameters `Copy + Send + Sync + 'static`;
/// - the body sees nothing but them and what is global. It should be short and without branches for the compiler to
///   vectorise it, which it does for each [`Level`].
///
/// The static is a [`Map`] of these types, under the documentation and attributes that stand before it.
#[macro_export]
macro_rules! map_kernels {
    ($($tokens:tt)*) => {
        $crate::private::map_kernels_impl! { crate = $crate; $($tokens)* }
    };
}
