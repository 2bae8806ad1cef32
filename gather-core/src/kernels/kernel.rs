//! Kernels: a loop nest of a rank around the body for a width, an index type and a level.
//!
//! The constructors of a [`Kernel`] take these types and the rank, and nothing else: `entry` and `place` cannot differ
//! (T2). [`KernelSet::new`](crate::KernelSet::new) compares `place` with the kernel's position in the table.

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

/// A gather kernel and its name.
#[derive(Clone, Copy, Debug)]
pub struct IndexEntry {
    pub(crate) name: &'static str,
    pub(crate) run: IndexKernel,
    /// The function that replaces `run` for rows of a size; `None` if there is no such function.
    pub(crate) one_pass: fn(RowSize, Pass) -> Option<IndexKernel>,
}

/// A scatter kernel and its name.
#[derive(Clone, Copy, Debug)]
pub struct ScatterEntry {
    pub(crate) name: &'static str,
    pub(crate) run: IndexKernel,
    /// Resolves indices of the kernel's type, on a machine that has its level (K7).
    pub(crate) resolve: CompiledResolveFn,
}

/// A kernel that rearranges space, and its name.
#[derive(Clone, Copy, Debug)]
pub struct SpaceEntry {
    pub(crate) name: &'static str,
    /// Runs the kernel.
    ///
    /// # Safety
    /// K5 to K7, and K10: the arguments are for the rank, width, level and shape of this kernel.
    pub(crate) run: unsafe fn(&SpaceArgs<'_>),
}

/// A kernel, with its types and rank.
///
/// Invariant T2: `entry` runs the types and rank of `place`. At a fallback level it is always the kernel for rows of
/// any length and loop nests of any rank.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<E> {
    pub(crate) entry: E,
    place: Place,
}

/// The types and the rank of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Bytes per row; `None` for rows of any length, and for scatters.
    pub(crate) bytes: Option<usize>,
    /// The index type; `None` without indices.
    pub(crate) index: Option<IndexType>,
    /// The rank of the loop nest; 0 for any.
    pub(crate) rank: u8,
    pub(crate) level: Level,
}

impl Place {
    /// Equality in constant evaluation.
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
    /// Asserts that the kernel's place is `place`.
    #[track_caller]
    pub(crate) const fn stands_at(&self, place: &Place) {
        assert!(
            self.place.is(place),
            "a kernel of another width, index type, rank or level than its place in the table"
        );
    }
}

impl Kernel<IndexEntry> {
    /// The gather kernel for rows of width `W`, indices `I`, level `L` and loop nests of rank `RANK`.
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
    /// The scatter kernel for indices `I`, level `L` and loop nests of rank `RANK`.
    #[must_use]
    pub const fn scatter<I: Index, L: Isa, const RANK: u8>(name: &'static str) -> Self {
        let run = if L::LEVEL.is_fallback() { scatter::<I, L, 0> } else { scatter::<I, L, RANK> };
        let entry = ScatterEntry { name, run, resolve: resolve::<I, L> };
        Kernel { entry, place: Place { bytes: None, index: Some(I::TYPE), rank: RANK, level: L::LEVEL } }
    }
}

impl Kernel<SpaceEntry> {
    /// The kernel that rearranges space, for rows of width `W`, level `L` and loop nests of rank `RANK`.
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

/// The `one_pass` of a fallback level.
fn no_one_pass(_: RowSize, _: Pass) -> Option<IndexKernel> {
    None
}

/// A gather kernel.
///
/// # Safety
/// As for [`IndexKernel`].
#[inline(never)]
unsafe fn gather<W: IndexWidth, I: Index, L: Isa, const RANK: u8>(args: &IndexArgs<'_>) -> Outcome {
    let nest = const { index_nest(RANK) };
    nest(args, body::<W, I, L>(args))
}

/// A scatter kernel.
///
/// # Safety
/// As for [`IndexKernel`].
#[cfg(feature = "scatter")]
#[inline(never)]
unsafe fn scatter<I: Index, L: Isa, const RANK: u8>(args: &IndexArgs<'_>) -> Outcome {
    let nest = const { index_nest(RANK) };
    nest(args, scatter_body::<I, L>(args))
}

/// Resolves indices of type `I` at level `L`.
///
/// # Safety
/// K7: the machine has the level.
unsafe fn resolve<I: Index, L: Isa>(job: &ResolveJob<'_>) -> bool {
    // SAFETY: K7: by the caller's contract, the machine has the level.
    let level = unsafe { L::of_kernel() };
    level.resolve::<I>()(job)
}

/// A kernel that rearranges space.
///
/// # Safety
/// K6 and K7: rows have width `W`, and the machine has level `L`.
#[inline(never)]
unsafe fn rearrange<W: SpaceWidth, L: Isa, const RANK: u8>(args: &SpaceArgs<'_>) {
    let nest = const { space_nest(RANK) };
    nest(args, space_plane::<W, L>);
}

/// The kernel that pads: fills every row and reads nothing.
pub(crate) static PADDING: SpaceEntry = SpaceEntry { name: "fill", run: pad };

fn pad(args: &SpaceArgs<'_>) {
    space_nest_any(args, padded::fill_plane);
}
