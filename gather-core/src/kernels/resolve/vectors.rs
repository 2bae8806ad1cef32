//! Resolving contiguous indices by vectors, in lanes of 32 bits.
//!
//! ```text
//! low  = the low 32 bits of the indices          fits = the high bits only repeat the sign (all 0 for unsigned types)
//! r    = low + (dim where low < 0, if negative indices count from the end)
//! ok   = fits and r <= dim - 1, unsigned
//! position = r where ok; else -1
//! ```
//!
//! Compilers vectorise the scalar loop of i64 in lanes of 64 bits, which takes twice the steps.
//!
//! With AVX-512, indices of one component are also resolved eight at a time. Moves read each position soon after it was
//! written, and wait longer for stores of 64 bytes (bench `matrix`).

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::nest::plane;
use crate::kernels::resolve::{CHUNK, ChunksArgs, ResolveJob, in_chunks, resolve as one_by_one};
use crate::kernels::words::{IndexWords, Words, is_wide};
use crate::types::index::Index;
use crate::types::policy::KernelPolicy;

#[derive(Clone, Copy)]
pub(crate) struct VectorBounds<W> {
    /// The vector added to negative indices: the size of the axis, or 0.
    from_end: W,
    last: W,
}

impl<W: Words> VectorBounds<W> {
    /// Bounds of lanes of one axis.
    #[inline(always)]
    pub(crate) fn of(level: W::Level, dim: i32, policy: KernelPolicy) -> Self {
        VectorBounds::new(W::splat(level, dim), policy)
    }

    /// Bounds of lanes whose axes have the sizes `dim`.
    #[inline(always)]
    pub(crate) fn new(dim: W, policy: KernelPolicy) -> Self {
        let last = W::plus(dim, W::filled(dim, -1));
        VectorBounds { from_end: if policy.from_end { dim } else { W::filled(dim, 0) }, last }
    }

    /// The positions of indices, in the order of the load; -1 for an index out of range.
    #[inline(always)]
    pub(crate) fn resolve(self, indices: IndexWords<W>) -> W {
        let IndexWords { low, negative, fits } = indices;
        let r = W::plus_where(low, negative, self.from_end);
        let inside = W::both(W::at_most(r, self.last), fits);
        W::select(inside, r, W::filled(self.last, -1))
    }

    /// The mask of valid indices: not negative, and in range.
    #[inline(always)]
    pub(crate) fn positions(self, indices: IndexWords<W>) -> W::Mask {
        W::both(W::at_most(indices.low, self.last), indices.fits)
    }

    /// The positions of `N` contiguous indices, starting at index `at`, in order.
    #[inline(always)]
    pub(crate) fn resolve_at<I: Index>(self, indices: &plane::Indices, at: usize) -> W {
        let positions = self.resolve(indices.load::<I, W>(at, self.last));
        if is_wide::<I>() { W::wide_in_order(positions) } else { positions }
    }
}

/// [`ResolveFn`](crate::kernels::resolve::ResolveFn) with vectors.
pub(crate) struct Resolve<I, W>(PhantomData<(I, W)>);

impl<I: Index, W: Words> LevelFn for Resolve<I, W> {
    type Args<'a> = &'a ResolveJob<'a>;
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(level: Here, job: &ResolveJob<'_>) -> bool {
        match (W::level(level), job.contiguous::<I>()) {
            (Some(level), Some(job)) if job.n() >= W::N => {
                contiguous::<I, W>(&job, VectorBounds::of(level, job.dim(), job.policy()))
            }
            _ => one_by_one::<I>(job),
        }
    }
}

/// [`ChunksFn`](crate::kernels::resolve::ChunksFn) with vectors. Bounds are made once for all chunks, and the vectors
/// of a chunk are unrolled; without both, chunks take as long as blocks.
pub(crate) struct ResolveChunks<I, W>(PhantomData<(I, W)>);

impl<I: Index, W: Words> LevelFn for ResolveChunks<I, W> {
    type Args<'a> = ChunksArgs<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(level: Here, (job, each): ChunksArgs<'_>) {
        let mut done = 0;
        if let Some(vectors) = W::level(level)
            && let Some(job) = job.contiguous::<I>()
        {
            let bounds = VectorBounds::of(vectors, job.dim(), job.policy());
            while job.n() - done >= CHUNK {
                let out_of_range = contiguous::<I, W>(&job.chunk(done, CHUNK), bounds);
                done += CHUNK;
                if !each(CHUNK, out_of_range) {
                    return;
                }
            }
        }
        in_chunks((&job.skip(done), each), level.entry::<Resolve<I, W>>());
    }
}

/// Resolves contiguous indices of one component, `N` or more; returns whether one was out of range.
#[inline(always)]
fn contiguous<I: Index, W: Words>(job: &ResolveJob<'_>, bounds: VectorBounds<W>) -> bool {
    debug_assert!(job.n() >= W::N);
    let mut found = W::filled(bounds.last, 0);
    for step in 0..job.n() / W::N {
        found = W::or(found, one_vector::<I, W>(job, bounds, step * W::N));
    }
    if !job.n().is_multiple_of(W::N) {
        // The last `N` indices overlap the previous `N`.
        found = W::or(found, one_vector::<I, W>(job, bounds, job.n() - W::N));
    }
    W::any_negative(found)
}

/// Resolves a vector of indices, starting at index `at`; returns their positions.
#[inline(always)]
fn one_vector<I: Index, W: Words>(job: &ResolveJob<'_>, bounds: VectorBounds<W>, at: usize) -> W {
    let positions = bounds.resolve_at::<I>(job.indices(), at);
    job.store(at, positions);
    positions
}
