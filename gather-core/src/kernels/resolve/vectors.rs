//! Resolving contiguous indices by vectors, in lanes of 32 bits.
//!
//! ```text
//! low  = the low 32 bits of the indices          fits = the high bits only repeat the sign (all 0 for unsigned types)
//! r    = low + (dim where low < 0, if negative indices count from the end)
//! ok   = fits and r <= dim - 1, unsigned
//! position = r where ok; else -1 (`Error`, `Zero`, `Wrap`), or 0 below and dim - 1 above (`Clamp`)
//! ```
//!
//! All policies share the loop: they differ in what is put where an index is not ok. Under `Wrap` such indices are then
//! divided one by one.
//!
//! Compilers vectorise the scalar loop of i64 in lanes of 64 bits, which takes twice as many steps.
//!
//! Indices of one component are resolved eight at a time with AVX-512 too, where they are not gathered by at once: the
//! moves that follow read every position soon after it was written, and wait longer for stores of 64 bytes than for
//! those of 32 (bench `matrix`).

use core::marker::PhantomData;

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::resolve::{CHUNK, ChunksArgs, ResolveJob, in_chunks, resolve as one_by_one};
use crate::kernels::words::{Indices, Words, is_wide};
use crate::types::index::Index;
use crate::types::policy::{IndexPolicy, NegativeIndex, OutOfBounds};

/// The vectors that indices are compared with.
#[derive(Clone, Copy)]
pub(crate) struct Bounds<W> {
    /// The vector that is added to negative indices: the size of the axis, or 0.
    from_end: W,
    /// The last position.
    last: W,
    /// The position of an index below the axis.
    below: W,
    /// The position of an index above it.
    above: W,
}

impl<W: Words> Bounds<W> {
    /// Bounds of lanes of one axis.
    #[inline(always)]
    pub(crate) fn of(level: W::Level, job: &ResolveJob) -> Self {
        Bounds::new(W::splat(level, job.dim), job.policy)
    }

    /// Bounds of lanes whose axes have the sizes `dim`.
    #[inline(always)]
    pub(crate) fn new(dim: W, policy: IndexPolicy) -> Self {
        let IndexPolicy { negative, out_of_bounds } = policy;
        let (zero, minus_one) = (W::filled(dim, 0), W::filled(dim, -1));
        let last = W::plus(dim, minus_one);
        let counts = negative == NegativeIndex::FromEnd || out_of_bounds == OutOfBounds::Wrap;
        let from_end = if counts { dim } else { zero };
        let clamp = out_of_bounds == OutOfBounds::Clamp;
        let (below, above) = if clamp { (zero, last) } else { (minus_one, minus_one) };
        Bounds { from_end, last, below, above }
    }

    /// The positions of indices, in the order of the load.
    #[inline(always)]
    pub(crate) fn resolve(self, indices: Indices<W>) -> W {
        let Indices { low, negative, fits, below } = indices;
        let r = W::plus_where(low, negative, self.from_end);
        let inside = W::both(W::at_most(r, self.last), fits);
        W::select(inside, r, W::select(below, self.below, self.above))
    }

    /// The lanes of valid indices: not negative, and in range.
    #[inline(always)]
    pub(crate) fn positions(self, indices: Indices<W>) -> W::Mask {
        W::both(W::at_most(indices.low, self.last), indices.fits)
    }

    /// The positions of the `N` indices at `index`, in order.
    ///
    /// # Safety
    /// The indices may be read, at any alignment.
    #[inline(always)]
    pub(crate) unsafe fn resolve_at<I: Index>(self, index: *const I) -> W {
        // SAFETY: the caller says that `N` indices may be read.
        let positions = self.resolve(unsafe { Indices::load(self.last, index) });
        if is_wide::<I>() { W::wide_in_order(positions) } else { positions }
    }
}

/// [`ResolveFn`](crate::kernels::resolve::ResolveFn) with vectors.
pub(crate) struct Resolve<I, W>(PhantomData<(I, W)>);

impl<I: Index, W: Words> LevelFn for Resolve<I, W> {
    type Args<'a> = &'a ResolveJob;
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(here: Here, job: &ResolveJob) -> bool {
        if let Some(level) = W::level(here)
            && job.stride == size_of::<I>() as isize
            && job.n >= W::N
        {
            let bounds = Bounds::<W>::of(level, job);
            // SAFETY: the caller's promise; the indices are contiguous.
            return unsafe { contiguous::<I, W>(job, bounds) };
        }
        one_by_one::<I>(job)
    }
}

/// [`ChunksFn`](crate::kernels::resolve::ChunksFn) with vectors: bounds are made once for all chunks, and the vectors of
/// a chunk unrolled. Without that, chunks take as long as blocks.
pub(crate) struct ResolveChunks<I, W>(PhantomData<(I, W)>);

impl<I: Index, W: Words> LevelFn for ResolveChunks<I, W> {
    type Args<'a> = ChunksArgs<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(level: Here, (job, each): ChunksArgs<'_>) {
        let mut done = 0;
        if let Some(vectors) = W::level(level)
            && job.stride == size_of::<I>() as isize
        {
            let bounds = Bounds::<W>::of(vectors, job);
            while job.n - done >= CHUNK {
                // SAFETY: the caller's promise; the indices are contiguous, and a chunk is whole vectors.
                let out_of_range = unsafe { contiguous::<I, W>(&job.chunk(done, CHUNK), bounds) };
                done += CHUNK;
                if !each(CHUNK, out_of_range) {
                    return;
                }
            }
        }
        let resolve = level.entry::<Resolve<I, W>>();
        in_chunks((&job.chunk(done, job.n - done), each), resolve);
    }
}

/// Resolves contiguous indices of one component; returns whether one was out of range (and is not wrapped).
///
/// # Safety
/// As for [`ResolveFn`](crate::kernels::resolve::ResolveFn); the indices are contiguous, and `N` or more.
#[inline(always)]
unsafe fn contiguous<I: Index, W: Words>(job: &ResolveJob, bounds: Bounds<W>) -> bool {
    debug_assert!(job.n >= W::N);
    let mut found = W::filled(bounds.last, 0);
    for step in 0..job.n / W::N {
        // SAFETY: the caller's promise; whole vectors of the `n` indices.
        found = W::or(found, unsafe { one_vector::<I, W>(job, bounds, step * W::N) });
    }
    if !job.n.is_multiple_of(W::N) {
        // SAFETY: as above. The last ones share some with those before.
        found = W::or(found, unsafe { one_vector::<I, W>(job, bounds, job.n - W::N) });
    }
    let out_of_range = W::any_negative(found);
    if out_of_range && job.policy.out_of_bounds == OutOfBounds::Wrap {
        // SAFETY: the caller's promise; the positions are resolved.
        unsafe { wrap::<I>(job) };
        return false;
    }
    out_of_range
}

/// Resolves a vector of indices, from index `at` on; returns their positions.
///
/// # Safety
/// As for [`contiguous`]; `at + N <= n`.
#[inline(always)]
unsafe fn one_vector<I: Index, W: Words>(job: &ResolveJob, bounds: Bounds<W>, at: usize) -> W {
    // SAFETY: `N` of the `n` indices.
    let positions = unsafe { bounds.resolve_at(job.index.cast::<I>().wrapping_add(at)) };
    // SAFETY: `out` has room for `n` positions; these are `N` of them.
    unsafe { positions.store(job.out.wrapping_add(at).cast()) };
    positions
}

/// Wraps the indices whose position is -1: those that are not in range of their own.
///
/// # Safety
/// As for [`contiguous`], which has resolved these under `OutOfBounds::Wrap`.
#[cold]
#[inline(never)]
unsafe fn wrap<I: Index>(job: &ResolveJob) {
    for at in 0..job.n {
        // SAFETY: one of the `n` positions.
        if unsafe { job.out.wrapping_add(at).read() } < 0 {
            // SAFETY: K3: one of the `n` indices, at any alignment.
            let value = unsafe { job.index.cast::<I>().wrapping_add(at).read_unaligned() };
            // SAFETY: `out` has room for `n` positions.
            unsafe { job.out.wrapping_add(at).write(value.wrap(i64::from(job.dim)) as i32) };
        }
    }
}
