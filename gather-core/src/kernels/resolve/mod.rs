//! Resolving indices into positions one by one, in a form that compilers vectorise: the fallback of every level.
//!
//! ```text
//! for each index:
//!     x = index, widened
//!     x += dim if x < 0 and negative indices count from the end
//!     out = x if 0 <= x < dim else -1        (one unsigned comparison)
//! ```
//!
//! The loop has no branch. It returns whether an index is out of range; callers look for the index only in that case.

pub(crate) mod block;
pub(crate) mod check;
#[cfg(target_arch = "x86_64")]
pub(crate) mod tuples;
#[cfg(target_arch = "x86_64")]
pub(crate) mod vectors;

use core::marker::PhantomData;

use crate::kernels::by_level::{ByLevel, by_level, level_pointers};
use crate::kernels::index_rule::IndexRule;
#[cfg(target_arch = "x86_64")]
use crate::kernels::level_fn;
use crate::kernels::nest::args::Component;
use crate::kernels::nest::plane::{Indices, Strip};
use crate::kernels::nest::positions::{BLOCK, Positions};
#[cfg(target_arch = "x86_64")]
use crate::kernels::words::{self, Eight, Words};
use crate::types::index::{Index, IndexType, by_compiled_index};
use crate::types::level::Available;
use crate::types::policy::KernelPolicy;

/// Indices per chunk, whose rows are moved before the next chunk is resolved. With longer chunks, the processor's
/// window does not reach the next moves while it resolves, nor the next indices while it moves (bench `matrix`).
pub(crate) const CHUNK: usize = 64;

/// Resolves the indices of a job, to -1 if out of range; returns whether an index was out of range.
pub(crate) type ResolveFn = fn(&ResolveJob<'_>) -> bool;

/// [`ResolveFn`], compiled for a level.
pub(crate) type CompiledResolveFn = unsafe fn(&ResolveJob<'_>) -> bool;

level_pointers! { fn(&ResolveJob<'_>) -> bool; }

/// Resolves any number of indices, chunk by chunk into the same buffer. After each chunk calls `each(n, out_of_range)`
/// with its number of indices, until `each` returns `false`.
pub(crate) type ChunksFn = for<'a> fn(ChunksArgs<'a>);

/// The job, and the function called after each chunk.
pub(crate) type ChunksArgs<'a> = (&'a ChunksJob<'a>, &'a mut dyn FnMut(usize, bool) -> bool);

/// Resolves tuples and sums their components, in chunks whose positions go to two buffers alternately. After each chunk
/// calls `each(n, out_of_range)` with its number of tuples, until `each` returns `false`; -1 marks a tuple out of
/// range. Returns `false`, and resolves nothing, if the level has no function for the number of components.
pub(crate) type TuplesFn = for<'a> fn(TuplesArgs<'a>) -> bool;

pub(crate) type TuplesArgs<'a> = (&'a TupleJob<'a>, &'a mut dyn FnMut(usize, bool) -> bool);

/// Indices to resolve along an axis, into a buffer with a slot for each index.
#[derive(Clone, Copy)]
pub struct ResolveJob<'p> {
    indices: Indices,
    /// The size of the axis, which fits in `i32` (K2).
    dim: i32,
    policy: KernelPolicy,
    out: *mut i32,
    held: PhantomData<&'p mut [i32]>,
}

impl<'p> ResolveJob<'p> {
    /// The indices of a component of a strip, at most [`BLOCK`](BLOCK), into a buffer.
    #[inline(always)]
    pub(crate) fn new(strip: &Strip<'_>, component: &Component, out: &'p mut Positions) -> Self {
        debug_assert!(strip.n() <= BLOCK);
        ResolveJob::of(strip, component, out)
    }

    #[inline(always)]
    fn of(strip: &Strip<'_>, component: &Component, out: &'p mut Positions) -> Self {
        debug_assert!(i32::try_from(component.dim).is_ok(), "K2: an axis of {}", component.dim);
        let (indices, policy) = (strip.indices(component), strip.spec().policy);
        ResolveJob { indices, dim: component.dim as i32, policy, out: out.as_mut_ptr(), held: PhantomData }
    }

    /// Indices outside any loop nest, at most [`BLOCK`](BLOCK), into a buffer.
    #[inline(always)]
    pub(crate) fn to_positions(indices: Indices, dim: i32, policy: KernelPolicy, out: &'p mut Positions) -> Self {
        assert!(indices.n() <= BLOCK, "a place for each index");
        ResolveJob { indices, dim, policy, out: out.as_mut_ptr(), held: PhantomData }
    }

    /// Indices outside any loop nest, into a slice.
    #[inline(always)]
    pub(crate) fn to_slice(indices: Indices, dim: i32, policy: KernelPolicy, out: &'p mut [i32]) -> Self {
        assert_eq!(indices.n(), out.len(), "a place for each index");
        ResolveJob { indices, dim, policy, out: out.as_mut_ptr(), held: PhantomData }
    }

    #[inline(always)]
    fn contiguous<I: Index>(&self) -> Option<Self> {
        let indices = self.indices.contiguous(size_of::<I>())?;
        Some(ResolveJob { indices, ..*self })
    }

    #[inline(always)]
    pub(crate) fn indices(&self) -> &Indices {
        &self.indices
    }

    #[inline(always)]
    pub(crate) fn n(&self) -> usize {
        self.indices.n()
    }

    #[inline(always)]
    pub(crate) fn dim(&self) -> i32 {
        self.dim
    }

    #[inline(always)]
    pub(crate) fn policy(&self) -> KernelPolicy {
        self.policy
    }

    #[inline(always)]
    pub(crate) fn write(&self, at: usize, position: i32) {
        debug_assert!(at < self.n());
        // SAFETY: callers keep `at < n`, and the constructors require a slot for each of `n` indices.
        unsafe { self.out.wrapping_add(at).write(position) };
    }

    /// Writes a vector of positions to slots `at..at + N`.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn store<W: Words>(&self, at: usize, positions: W) {
        debug_assert!(at + W::N <= self.n());
        // SAFETY: callers keep `at + N <= n`, and the constructors require a slot for each of `n` indices.
        unsafe { positions.store(self.out.wrapping_add(at).cast()) };
    }
}

/// Indices to resolve chunk by chunk, into a buffer for one chunk.
#[derive(Clone, Copy)]
pub struct ChunksJob<'p>(ResolveJob<'p>);

impl<'p> ChunksJob<'p> {
    /// The indices of a component of a strip, of any length.
    #[inline(always)]
    pub(crate) fn new(strip: &Strip<'_>, component: &Component, out: &'p mut Positions) -> Self {
        const { assert!(CHUNK <= BLOCK) };
        ChunksJob(ResolveJob::of(strip, component, out))
    }

    /// The buffer of a chunk's positions: the pointer through which they are written, since a new borrow of the buffer
    /// would invalidate this pointer.
    #[inline(always)]
    pub(crate) fn buffer(&self) -> *const i32 {
        self.0.out
    }

    #[inline(always)]
    fn contiguous<I: Index>(&self) -> Option<Self> {
        self.0.contiguous::<I>().map(ChunksJob)
    }

    #[inline(always)]
    fn n(&self) -> usize {
        self.0.n()
    }

    #[inline(always)]
    fn dim(&self) -> i32 {
        self.0.dim
    }

    #[inline(always)]
    fn policy(&self) -> KernelPolicy {
        self.0.policy
    }

    /// The `n <= CHUNK` indices from `first` on.
    #[inline(always)]
    fn chunk(&self, first: usize, n: usize) -> ResolveJob<'p> {
        debug_assert!(n <= CHUNK);
        ResolveJob { indices: self.0.indices.part(first, n), ..self.0 }
    }

    #[inline(always)]
    fn skip(&self, first: usize) -> ChunksJob<'p> {
        ChunksJob(ResolveJob { indices: self.0.indices.part(first, self.n() - first), ..self.0 })
    }
}

/// Contiguous tuples of contiguous components to resolve and sum. Scales are positive: scale 0 would hide a component
/// out of range.
#[derive(Clone, Copy)]
pub struct TupleJob<'a> {
    index: *const u8,
    n: usize,
    /// Tuples per chunk: at least 1 if `n > 0`.
    chunk: usize,
    components: &'a [Component],
    policy: KernelPolicy,
    /// The buffers for the positions of chunks, used alternately from the first on.
    out: [*mut i32; 2],
}

impl<'a> TupleJob<'a> {
    /// The tuples of a strip, in chunks of at most [`BLOCK`](BLOCK). The plan has found the tuples adjacent.
    #[inline(always)]
    pub(crate) fn new(strip: &Strip<'a>, chunk: usize, out: [&'a mut Positions; 2]) -> Self {
        let [first, second] = out.map(Positions::as_mut_ptr);
        TupleJob::of(strip, chunk, [first, second])
    }

    /// The tuples of a strip as one chunk.
    #[inline(always)]
    pub(crate) fn one_chunk(strip: &Strip<'a>, out: &'a mut Positions) -> Self {
        TupleJob::of(strip, strip.n(), [out.as_mut_ptr(); 2])
    }

    #[inline(always)]
    fn of(strip: &Strip<'a>, chunk: usize, out: [*mut i32; 2]) -> Self {
        let spec = strip.spec();
        debug_assert!(spec.adjacent_tuples && chunk <= BLOCK && (chunk > 0 || strip.n() == 0));
        let (index, n) = (strip.at().index, strip.n());
        TupleJob { index, n, chunk, components: &spec.components, policy: spec.policy, out }
    }

    /// The buffers of chunks' positions, used alternately: the pointers through which they are written, since new
    /// borrows of the buffers would invalidate these pointers.
    #[inline(always)]
    pub(crate) fn buffers(&self) -> [*const i32; 2] {
        self.out.map(<*mut i32>::cast_const)
    }

    #[inline(always)]
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    #[inline(always)]
    pub(crate) fn components(&self) -> &'a [Component] {
        self.components
    }

    #[inline(always)]
    pub(crate) fn policy(&self) -> KernelPolicy {
        self.policy
    }

    /// Takes the next chunk off the remaining tuples, if any remain.
    #[inline(always)]
    pub(crate) fn next_chunk<I: Index>(&mut self) -> Option<Self> {
        if self.n == 0 {
            return None;
        }
        let chunk = TupleJob { n: self.n.min(self.chunk), ..*self };
        self.index = self.index.wrapping_add(chunk.n * self.components.len() * size_of::<I>());
        self.n -= chunk.n;
        self.out = [self.out[1], self.out[0]];
        Some(chunk)
    }

    /// A vector of components of all tuples, starting at component `at`.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn load<I: Index, W: Words>(&self, at: usize, like: W) -> words::IndexWords<W> {
        debug_assert!(at + W::N <= self.n * self.components.len());
        // SAFETY: K3: callers keep the `N` components within the tuples. `like` proves the level.
        unsafe { words::IndexWords::load(like, self.index.cast::<I>().wrapping_add(at)) }
    }

    /// Writes a vector of positions to slots `at..at + N`.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn store<W: Words>(&self, at: usize, positions: W) {
        debug_assert!(at + W::N <= self.n);
        // SAFETY: callers keep `at + N <= n`, and each buffer has a slot for each tuple of a chunk.
        unsafe { positions.store(self.out[0].wrapping_add(at).cast()) };
    }

    /// Resolves one tuple of a chunk, to -1 if a component is out of range; returns whether a component is out of
    /// range.
    #[inline(never)]
    fn resolve_one<I: Index>(&self, at: usize) -> bool {
        debug_assert!(at < self.n && self.n <= self.chunk);
        let first = self.index.cast::<I>().wrapping_add(at * self.components.len());
        let position = self.components.iter().enumerate().try_fold(0i32, |sum, (k, component)| {
            // SAFETY: K3: component `k` of tuple `at`; callers keep `at < n`.
            let value = unsafe { first.wrapping_add(k).read_unaligned() };
            let position = self.policy.resolve(value, component.dim)?;
            Some(sum.wrapping_add((position as i32).wrapping_mul(component.scale as i32)))
        });
        // SAFETY: callers keep `at < n`, and the buffer has a slot for each tuple of a chunk.
        unsafe { self.out[0].wrapping_add(at).write(position.unwrap_or(-1)) };
        position.is_none()
    }

    /// Resolves the tuples of a chunk from `done` on one by one; returns whether a tuple was out of range. Few tuples
    /// remain, so one function serves all levels.
    #[inline(never)]
    pub(crate) fn resolve_rest<I: Index>(&self, done: usize) -> bool {
        (done..self.n).fold(false, |out_of_range, at| out_of_range | self.resolve_one::<I>(at))
    }
}

/// A [`ResolveFn`] for the scalar level.
#[inline(never)]
pub(crate) fn resolve<I: Index>(job: &ResolveJob<'_>) -> bool {
    let rule = IndexRule::new(job.policy, i64::from(job.dim));
    each::<I>(job, move |index: I| {
        let (x, inside) = if const { size_of::<I>() <= 4 } {
            rule.check_narrow(index)
        } else {
            let (x, inside) = rule.check(index);
            (x as i32, inside)
        };
        if inside { x } else { -1 }
    })
}

/// A [`ChunksFn`] for the scalar level.
pub(crate) fn chunks<I: Index>(args: ChunksArgs<'_>) {
    in_chunks(args, resolve::<I>);
}

#[inline(always)]
fn in_chunks((job, each): ChunksArgs<'_>, resolve: ResolveFn) {
    let mut done = 0;
    while done < job.n() {
        let n = (job.n() - done).min(CHUNK);
        let out_of_range = resolve(&job.chunk(done, n));
        done += n;
        if !each(n, out_of_range) {
            return;
        }
    }
}

/// The functions that resolve indices of a type, for callers that depend on neither the type nor the level.
#[derive(Clone, Copy)]
pub struct Resolvers {
    by_level: ByLevel<CompiledResolveFn>,
    /// For axes beyond 32 bits.
    pub(crate) wide: fn(WideJob<'_>) -> bool,
}

impl Resolvers {
    #[inline(always)]
    pub(crate) fn of<I: Index>() -> Self {
        // SAFETY: E1: `resolve` is safe, and `Resolve` compiled for AVX2 is safe on machines with AVX2.
        let by_level: ByLevel<CompiledResolveFn> =
            unsafe { by_level!(resolve::<I>, level_fn::avx2::<vectors::Resolve<I, Eight>>) };
        Resolvers { by_level, wide: resolve_wide::<I> }
    }

    /// The functions for an index type known at run time; `None` if the library does not include the type.
    #[inline(never)]
    pub(crate) fn by_type(index: IndexType) -> Option<Self> {
        by_compiled_index!(index, I => Self::of::<I>())
    }

    #[inline(always)]
    pub(crate) fn at(&self, level: Available) -> ResolveFn {
        self.by_level.at(level)
    }
}

/// A [`ResolveJob`] for an axis of any size.
pub(crate) struct WideJob<'a> {
    indices: Indices,
    dim: i64,
    policy: KernelPolicy,
    out: &'a mut [i64],
}

impl<'a> WideJob<'a> {
    /// Indices outside any loop nest, into a slice.
    pub(crate) fn to_slice(indices: Indices, dim: i64, policy: KernelPolicy, out: &'a mut [i64]) -> Self {
        assert_eq!(indices.n(), out.len(), "a place for each index");
        WideJob { indices, dim, policy, out }
    }
}

/// Resolves the indices of a job, to -1 if out of range; returns whether an index was out of range.
#[inline(never)]
fn resolve_wide<I: Index>(job: WideJob<'_>) -> bool {
    let mut signs = 0;
    for (at, out) in job.out.iter_mut().enumerate() {
        *out = job.policy.resolve(job.indices.read::<I>(at), job.dim).unwrap_or(-1);
        signs |= *out;
    }
    signs < 0
}

/// Applies `map` to every index of a job; returns whether a result was negative.
#[inline(always)]
fn each<I: Index>(job: &ResolveJob<'_>, map: impl Fn(I) -> i32) -> bool {
    let mut signs = 0i32;
    let mut run = |indices: Indices| {
        for at in 0..indices.n() {
            let position = map(indices.read(at));
            signs |= position;
            job.write(at, position);
        }
    };
    match job.indices.contiguous(size_of::<I>()) {
        Some(indices) => run(indices),
        None => run(job.indices),
    }
    signs < 0
}
