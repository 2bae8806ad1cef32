//! Kernels: a loop nest of a rank around the body for a width, an index type and a level.
//!
//! A [`Kernel`] is made of these types and its rank, and of nothing else. So the function, what runs in its place in
//! one pass, and what it says of itself cannot differ. [`KernelSet::new`](crate::KernelSet::new) compares what it says
//! with where it stands.

use crate::kernels::bodies::IndexWidth;
use crate::kernels::bodies::padded;
use crate::kernels::bodies::rearranged::SpaceWidth;
use crate::kernels::bodies::rearranged::space_plane;
#[cfg(feature = "scatter")]
use crate::kernels::bodies::scatter_body;
use crate::kernels::bodies::{Pass, body, one_pass_of};
use crate::kernels::levels::Isa;
use crate::kernels::loops::{index_nest, space_nest, space_nest_any};
use crate::kernels::moves::Rows;
use crate::kernels::moves::placed::RowSize;
use crate::kernels::nest::args::{IndexArgs, IndexKernel, Outcome};
use crate::kernels::resolve::{CompiledResolveFn, ResolveJob};
use crate::kernels::space::args::SpaceArgs;
use crate::types::index::{Index, IndexType};
use crate::types::level::Level;

/// A kernel of the gathers under its name.
#[derive(Clone, Copy, Debug)]
pub struct IndexEntry {
    /// The kernel's name.
    pub(crate) name: &'static str,
    /// The function.
    pub(crate) run: IndexKernel,
    /// The functions that run rows of a size in its place, in one pass.
    pub(crate) one_pass: fn(RowSize, Pass) -> Option<IndexKernel>,
}

/// A kernel of the scatters under its name.
#[derive(Clone, Copy, Debug)]
pub struct ScatterEntry {
    /// The kernel's name.
    pub(crate) name: &'static str,
    /// The function.
    pub(crate) run: IndexKernel,
    /// Resolves indices of the kernel's type, on a machine that has its level (K7).
    pub(crate) resolve: CompiledResolveFn,
}

/// A kernel of the operators that rearrange space under its name.
#[derive(Clone, Copy, Debug)]
pub struct SpaceEntry {
    /// The kernel's name.
    pub(crate) name: &'static str,
    /// The function.
    ///
    /// # Safety
    /// K5 to K7, and K10: the arguments are for a kernel of its rank, width, level and shape.
    pub(crate) run: unsafe fn(&SpaceArgs<'_>),
}

/// A kernel, and what it is a kernel of.
///
/// Invariant T2: `entry` runs what `place` says. At a level that is a fallback it does so by the kernel for rows of any
/// length and any rank, whatever the place.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<E> {
    pub(crate) entry: E,
    place: Place,
}

/// The types and the rank of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Bytes of its rows; `None` for rows of any length, and for scatters.
    pub(crate) bytes: Option<usize>,
    /// Its index type; `None` for what has no indices.
    pub(crate) index: Option<IndexType>,
    /// The rank of its loop nest; 0 for any.
    pub(crate) rank: u8,
    pub(crate) level: Level,
}

impl Place {
    /// Whether two are equal, in constant evaluation.
    const fn is(&self, other: &Place) -> bool {
        let same_bytes = match (self.bytes, other.bytes) {
            (Some(own), Some(other)) => own == other,
            (None, None) => true,
            _ => false,
        };
        let same_index = match (self.index, other.index) {
            (Some(own), Some(other)) => own as usize == other as usize,
            (None, None) => true,
            _ => false,
        };
        same_bytes && same_index && self.rank == other.rank && self.level as usize == other.level as usize
    }
}

impl<E> Kernel<E> {
    /// Asserts that the kernel is one of `place`.
    #[track_caller]
    pub(crate) const fn stands_at(&self, place: &Place) {
        assert!(
            self.place.is(place),
            "a kernel of another width, index type, rank or level than its place in the table"
        );
    }
}

impl Kernel<IndexEntry> {
    /// The gathers' kernel for rows of the width `W`, the indices `I`, the level `L` and loop nests of a rank.
    #[must_use]
    pub const fn gather<W: IndexWidth, I: Index, L: Isa, const RANK: u8>(name: &'static str) -> Self {
        let entry = if L::LEVEL.is_fallback() {
            IndexEntry { name, run: gather::<Rows, I, L, 0>, one_pass: no_one_pass }
        } else {
            IndexEntry { name, run: gather::<W, I, L, RANK>, one_pass: one_pass_of::<W, I, L> }
        };
        Kernel { entry, place: Place { bytes: W::BYTES, index: Some(I::TYPE), rank: RANK, level: L::LEVEL } }
    }
}

#[cfg(feature = "scatter")]
impl Kernel<ScatterEntry> {
    /// The scatters' kernel for the indices `I`, the level `L` and loop nests of a rank.
    #[must_use]
    pub const fn scatter<I: Index, L: Isa, const RANK: u8>(name: &'static str) -> Self {
        let run = if L::LEVEL.is_fallback() { scatter::<I, L, 0> } else { scatter::<I, L, RANK> };
        let entry = ScatterEntry { name, run, resolve: resolve::<I, L> };
        Kernel { entry, place: Place { bytes: None, index: Some(I::TYPE), rank: RANK, level: L::LEVEL } }
    }
}

impl Kernel<SpaceEntry> {
    /// The kernel of the operators that rearrange space, for rows of the width `W`, the level `L` and loop nests of a
    /// rank.
    #[must_use]
    pub const fn rearrange<W: SpaceWidth, L: Isa, const RANK: u8>(name: &'static str) -> Self {
        let entry = if L::LEVEL.is_fallback() {
            SpaceEntry { name, run: rearrange::<Rows, L, 0> }
        } else {
            SpaceEntry { name, run: rearrange::<W, L, RANK> }
        };
        Kernel { entry, place: Place { bytes: W::BYTES, index: None, rank: RANK, level: L::LEVEL } }
    }
}

/// The function of one pass of a level that is a fallback.
fn no_one_pass(_: RowSize, _: Pass) -> Option<IndexKernel> {
    None
}

/// A gather's kernel.
///
/// # Safety
/// As for [`IndexKernel`].
#[inline(never)]
unsafe fn gather<W: IndexWidth, I: Index, L: Isa, const RANK: u8>(args: &IndexArgs<'_>) -> Outcome {
    let nest = const { index_nest(RANK) };
    nest(args, body::<W, I, L>(args))
}

/// A scatter's kernel.
///
/// # Safety
/// As for [`IndexKernel`].
#[cfg(feature = "scatter")]
#[inline(never)]
unsafe fn scatter<I: Index, L: Isa, const RANK: u8>(args: &IndexArgs<'_>) -> Outcome {
    let nest = const { index_nest(RANK) };
    nest(args, scatter_body::<I, L>(args))
}

/// Resolves indices of a type at a level.
///
/// # Safety
/// K7: the machine has the level.
unsafe fn resolve<I: Index, L: Isa>(job: &ResolveJob<'_>) -> bool {
    // SAFETY: the caller says that the machine has the level.
    let level = unsafe { L::of_kernel() };
    level.resolve::<I>()(job)
}

/// A kernel of the operators that rearrange space.
///
/// # Safety
/// K6 and K7: rows have the width, and the machine the level.
#[inline(never)]
unsafe fn rearrange<W: SpaceWidth, L: Isa, const RANK: u8>(args: &SpaceArgs<'_>) {
    let nest = const { space_nest(RANK) };
    nest(args, space_plane::<W, L>);
}

/// The kernel that pads: it fills every row and reads nothing.
pub(crate) static PADDING: SpaceEntry = SpaceEntry { name: "fill", run: pad };

/// Fills the rows of a loop nest.
fn pad(args: &SpaceArgs<'_>) {
    space_nest_any(args, padded::fill_plane);
}
