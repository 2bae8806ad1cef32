//! Resolving indices into positions one by one, in a form that compilers vectorise. Every level falls back to it.
//!
//! ```text
//! for each index:
//!     x = index, widened
//!     x += dim if x < 0 and negative indices count from the end
//!     out = x if 0 <= x < dim else -1        (one unsigned comparison)
//! ```
//!
//! The loop has no branch: whether an index was out of range is found once for all of them, and which one it was is
//! looked for only when there is one.

pub(crate) mod block;
pub(crate) mod check;
#[cfg(target_arch = "x86_64")]
pub(crate) mod tuples;
#[cfg(target_arch = "x86_64")]
pub(crate) mod vectors;

use crate::kernels::args::{Component, IndexArgs};
use crate::kernels::by_level::{ByLevel, by_level, level_pointers};
use crate::kernels::index_rule::IndexRule;
#[cfg(target_arch = "x86_64")]
use crate::kernels::level_fn;
#[cfg(target_arch = "x86_64")]
use crate::kernels::words::Eight;
use crate::types::index::{Index, IndexType, by_index};
use crate::types::level::Available;
use crate::types::policy::{IndexPolicy, OutOfBounds};

/// Indices of a chunk, whose rows are moved before the next chunk is resolved. In longer chunks the processor does not
/// see the loads of the next rows while it resolves, nor their indices while it moves (bench `matrix`).
pub(crate) const CHUNK: usize = 64;

/// Resolves the indices of a job; returns whether one was out of range (-1 stands for it then).
///
/// # Safety
/// K3 and K7; `job.out` has room for `job.n`.
pub(crate) type ResolveFn = fn(&ResolveJob) -> bool;
level_pointers! { ResolveFn, unsafe fn(&ResolveJob) -> bool; }

/// Resolves indices, any number of them, chunk by chunk into the same buffer: calls `each` on the number of every
/// chunk's indices and on whether one of them was out of range, for as long as `each` returns `true`.
///
/// # Safety
/// K3 and K7; `job.out` has room for a chunk.
pub(crate) type ChunksFn = for<'a> fn(ChunksArgs<'a>);

/// The job, and what is called after each chunk.
pub(crate) type ChunksArgs<'a> = (&'a ResolveJob, &'a mut dyn FnMut(usize, bool) -> bool);

/// Resolves tuples and adds their components up, in chunks, whose positions go to two buffers by turns. After each
/// chunk `each` is called with its length and whether a tuple was out of range (-1 stands for it then), up to the
/// first call that returns `false`. Returns `false`, and resolves nothing, where the level has no algorithm for as many
/// components.
///
/// # Safety
/// K2, K3 and K7; each buffer has `job.chunk` places.
pub(crate) type TuplesFn = for<'a> fn(TuplesArgs<'a>) -> bool;

/// The job, and what is called after each chunk.
pub(crate) type TuplesArgs<'a> = (&'a TupleJob<'a>, &'a mut dyn FnMut(usize, bool) -> bool);

/// Indices to resolve: `n` of one component, `stride` bytes apart, into `out`.
#[derive(Clone, Copy)]
pub struct ResolveJob {
    pub(crate) index: *const u8,
    pub(crate) stride: isize,
    pub(crate) n: usize,
    /// K2: the size of the axis, which fits.
    pub(crate) dim: i32,
    pub(crate) policy: IndexPolicy,
    pub(crate) out: *mut i32,
}

impl ResolveJob {
    /// `n` indices of a component from `index` on, along the inner loop.
    #[inline(always)]
    pub(crate) fn new(out: *mut i32, args: &IndexArgs<'_>, component: &Component, index: *const u8, n: usize) -> Self {
        debug_assert!(i32::try_from(component.dim).is_ok(), "K2: an axis of {}", component.dim);
        ResolveJob {
            index: index.wrapping_offset(component.index),
            stride: args.inner().index,
            n,
            dim: component.dim as i32,
            policy: args.spec.policy,
            out,
        }
    }

    /// The `n` indices from `first` on, to be resolved into the same room.
    #[inline(always)]
    pub(crate) fn chunk(&self, first: usize, n: usize) -> ResolveJob {
        ResolveJob { index: self.index.wrapping_offset(self.stride.wrapping_mul(first as isize)), n, ..*self }
    }
}

/// Tuples to be resolved and added up: `n` of them, contiguous, their components too. Every scale is positive: of an
/// axis without a stride, a component out of range would scale to 0.
#[derive(Clone, Copy)]
pub struct TupleJob<'a> {
    pub(crate) index: *const u8,
    pub(crate) n: usize,
    /// Tuples that are resolved at a time: at least one, if there are any.
    pub(crate) chunk: usize,
    pub(crate) components: &'a [Component],
    pub(crate) policy: IndexPolicy,
    /// Where the positions of chunks go, by turns, from the first room on.
    pub(crate) rooms: [*mut i32; 2],
}

impl TupleJob<'_> {
    /// Takes the next chunk off what is left, if anything is.
    #[inline(always)]
    pub(crate) fn next_chunk<I: Index>(&mut self) -> Option<Self> {
        if self.n == 0 {
            return None;
        }
        let chunk = TupleJob { n: self.n.min(self.chunk), ..*self };
        self.index = self.index.wrapping_add(chunk.n * self.components.len() * size_of::<I>());
        self.n -= chunk.n;
        self.rooms = [self.rooms[1], self.rooms[0]];
        Some(chunk)
    }

    /// Resolves one tuple; returns whether a component was out of range (-1 stands for the tuple then).
    ///
    /// # Safety
    /// `at < n`, whose components may be read as `I`; there is room for `n`.
    #[inline(never)]
    unsafe fn resolve_one<I: Index>(&self, at: usize) -> bool {
        debug_assert!(at < self.n);
        let first = self.index.cast::<I>().wrapping_add(at * self.components.len());
        let position = self.components.iter().enumerate().try_fold(0i32, |sum, (k, component)| {
            // SAFETY: the caller's promise.
            let value = unsafe { first.wrapping_add(k).read_unaligned() };
            let position = self.policy.resolve(value, component.dim)?;
            Some(sum.wrapping_add((position as i32).wrapping_mul(component.scale as i32)))
        });
        // SAFETY: the caller's promise.
        unsafe { self.rooms[0].wrapping_add(at).write(position.unwrap_or(-1)) };
        position.is_none()
    }

    /// Resolves the tuples after the first `done` one by one; returns whether one was out of range. These are few, so
    /// that one function serves all levels.
    ///
    /// # Safety
    /// K2 and K3 for the tuples; there is room for `n`.
    #[inline(never)]
    pub(crate) unsafe fn resolve_rest<I: Index>(&self, done: usize) -> bool {
        let mut out_of_range = false;
        for at in done..self.n {
            // SAFETY: the caller's promise.
            out_of_range |= unsafe { self.resolve_one::<I>(at) };
        }
        out_of_range
    }

    /// Resolves those of the first `done` tuples again that have a component out of range, one by one: under
    /// `OutOfBounds::Wrap` all are then in range.
    ///
    /// # Safety
    /// K2 and K3 for the tuples; their positions have been written.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn wrap<I: Index>(&self, done: usize) {
        debug_assert!(self.policy.out_of_bounds == OutOfBounds::Wrap && done <= self.n);
        for at in 0..done {
            // SAFETY: the buffer holds `done` positions.
            if unsafe { self.rooms[0].wrapping_add(at).read() } < 0 {
                // SAFETY: the caller's promise; `at < done <= n`.
                unsafe { self.resolve_one::<I>(at) };
            }
        }
    }
}

/// A [`ResolveFn`] for the scalar level.
#[inline(never)]
pub(crate) fn resolve<I: Index>(job: &ResolveJob) -> bool {
    let rule = IndexRule::new(job.policy.negative, i64::from(job.dim));
    let check = move |index: I| {
        let (x, inside) = if const { size_of::<I>() <= 4 } {
            rule.check_narrow(index)
        } else {
            let (x, inside) = rule.check(index);
            (x as i32, inside)
        };
        if inside { x } else { -1 }
    };
    match job.policy.out_of_bounds {
        // SAFETY: the caller's promise.
        OutOfBounds::Error | OutOfBounds::Zero => unsafe { each::<I>(job, check) },
        // SAFETY: the caller's promise.
        OutOfBounds::Clamp => unsafe { each::<I>(job, move |index| rule.clamp(index) as i32) },
        // SAFETY: the caller's promise.
        OutOfBounds::Wrap => unsafe { each::<I>(job, move |index| rule.wrap(index) as i32) },
    }
}

/// A [`ChunksFn`] for the scalar level.
pub(crate) fn chunks<I: Index>(args: ChunksArgs<'_>) {
    in_chunks(args, resolve::<I>);
}

/// Resolves indices chunk by chunk, each by `resolve`.
#[inline(always)]
fn in_chunks((job, each): ChunksArgs<'_>, resolve: ResolveFn) {
    let mut done = 0;
    while done < job.n {
        let n = (job.n - done).min(CHUNK);
        let out_of_range = resolve(&job.chunk(done, n));
        done += n;
        if !each(n, out_of_range) {
            return;
        }
    }
}

/// The function that resolves indices of a type, for callers that know neither it nor the level.
#[derive(Clone, Copy)]
pub struct Resolvers {
    by_level: ByLevel<unsafe fn(&ResolveJob) -> bool>,
    /// For axes beyond 32 bits.
    pub(crate) wide: fn(&WideJob) -> bool,
}

impl Resolvers {
    /// Those of an index type.
    #[inline(always)]
    pub(crate) fn of<I: Index>() -> Self {
        let by_level: ByLevel<unsafe fn(&ResolveJob) -> bool> =
            by_level!(resolve::<I>, level_fn::avx2::<vectors::Resolve<I, Eight>>);
        Resolvers { by_level, wide: resolve_wide::<I> }
    }

    /// Those of an index type that is known at run time.
    pub(crate) fn by_type(index: IndexType) -> Self {
        by_index!(index, I => Self::of::<I>())
    }

    /// A [`ResolveFn`] for a level.
    #[inline(always)]
    pub(crate) fn at(&self, level: Available) -> ResolveFn {
        self.by_level.at(level)
    }
}

/// As [`ResolveJob`], for an axis of any size.
#[derive(Clone, Copy)]
pub(crate) struct WideJob {
    pub(crate) index: *const u8,
    pub(crate) stride: isize,
    pub(crate) n: usize,
    pub(crate) dim: i64,
    pub(crate) policy: IndexPolicy,
    pub(crate) out: *mut i64,
}

/// Resolves the indices of a job; returns whether one was out of range (-1 stands for it then).
#[inline(never)]
fn resolve_wide<I: Index>(job: &WideJob) -> bool {
    let mut signs = 0;
    for at in 0..job.n {
        let index: *const I = job.index.wrapping_offset(job.stride.wrapping_mul(at as isize)).cast();
        // SAFETY: the caller promises `n` readable values `stride` apart; this is the one at `at`.
        let value = unsafe { index.read_unaligned() };
        let position = job.policy.resolve(value, job.dim).unwrap_or(-1);
        signs |= position;
        // SAFETY: `at < n`, and `out` has room for `n`.
        unsafe { job.out.wrapping_add(at).write(position) };
    }
    signs < 0
}

/// Maps every index of a block; returns whether a result was negative.
///
/// # Safety
/// As for [`resolve`].
#[inline(always)]
unsafe fn each<I: Index>(job: &ResolveJob, map: impl Fn(I) -> i32) -> bool {
    let mut signs = 0i32;
    let contiguous = job.stride == size_of::<I>() as isize;
    if contiguous {
        let index = job.index.cast::<I>();
        for at in 0..job.n {
            // SAFETY: the caller promises `n` readable values `stride` apart, here one after the other.
            let value = unsafe { index.wrapping_add(at).read_unaligned() };
            let position = map(value);
            signs |= position;
            // SAFETY: `at < n`, and `out` has room for `n`.
            unsafe { job.out.wrapping_add(at).write(position) };
        }
    } else {
        let mut index = job.index;
        for at in 0..job.n {
            // SAFETY: the caller promises `n` readable values `stride` apart; this is the one at `at`.
            let value = unsafe { index.cast::<I>().read_unaligned() };
            let position = map(value);
            signs |= position;
            // SAFETY: `at < n`, and `out` has room for `n`.
            unsafe { job.out.wrapping_add(at).write(position) };
            index = index.wrapping_offset(job.stride);
        }
    }
    signs < 0
}
