//! Resolving contiguous indices, eight at a time, in 32 bits.
//!
//! ```text
//! low  = the low 32 bits of four indices         fits = the high bits only repeat the sign (all 0 for unsigned types)
//! r    = low + (dim where low < 0, if negative indices count from the end)
//! ok   = fits and r <= dim - 1, unsigned
//! position = r where ok; else -1 (`Error`, `Zero`, `Wrap`), or 0 below and dim - 1 above (`Clamp`)
//! ```
//!
//! Indices of 64 bits are taken apart into low and high halves. Under `Wrap` those that are not ok are then divided one
//! by one. Tuples of K components are eight tuples at a time, with the sizes and scales of the components repeated in
//! their order. A component out of range is negative after scaling, and so makes its tuple's position -1.

use super::{V128, VECTOR};
use crate::kernels::resolve::{ResolveJob, TupleJob, resolve as one_by_one};
use crate::types::index::{Index, IndexType};
use crate::types::policy::{IndexPolicy, NegativeIndex, OutOfBounds};

/// Indices of a step: two vectors of four.
const EIGHT: usize = 8;

/// Four indices.
#[derive(Clone, Copy)]
struct Indices {
    /// Their low 32 bits.
    low: V128,
    /// All ones where an index is negative and fits in 32 bits.
    negative: V128,
    /// All ones where 32 bits hold the index.
    fits: V128,
    /// All ones where an index is below 0, whether it fits or not.
    below: V128,
}

impl Indices {
    /// Indices of a signed type of at most 32 bits.
    #[inline(always)]
    fn signed(low: V128) -> Self {
        let negative = V128::sign32(low);
        Indices { low, negative, fits: V128::words(-1), below: negative }
    }

    /// Indices of an unsigned type of at most 32 bits.
    #[inline(always)]
    fn unsigned(low: V128) -> Self {
        Indices { low, negative: V128::zero(), fits: V128::words(-1), below: V128::zero() }
    }

    /// Signed indices of 64 bits, in two vectors.
    #[inline(always)]
    fn signed_wide(first: V128, last: V128) -> Self {
        let (low, high) = (V128::even32(first, last), V128::odd32(first, last));
        let negative = V128::sign32(low);
        Indices { low, negative, fits: V128::eq32(high, negative), below: V128::sign32(high) }
    }

    /// Unsigned indices of 64 bits, in two vectors.
    #[inline(always)]
    fn unsigned_wide(first: V128, last: V128) -> Self {
        let (low, high) = (V128::even32(first, last), V128::odd32(first, last));
        Indices { low, negative: V128::zero(), fits: V128::eq32(high, V128::zero()), below: V128::zero() }
    }
}

/// Loads eight indices.
///
/// # Safety
/// `at` reaches eight values of `I`, at any alignment.
#[inline(always)]
unsafe fn load<I: Index>(at: *const I) -> [Indices; 2] {
    let vector = |k: usize| {
        debug_assert!((k + 1) * VECTOR <= EIGHT * size_of::<I>());
        // SAFETY: vector `k` of as many as the eight values take: the caller's promise.
        unsafe { V128::load(at.cast::<u8>().wrapping_add(k * VECTOR)) }
    };
    match I::TYPE.fixed_width() {
        // SAFETY: eight bytes, the caller's promise.
        IndexType::I8 => V128::widen_i16(V128::widen_i8(unsafe { load_eight_bytes(at.cast()) })).map(Indices::signed),
        // SAFETY: as above.
        IndexType::U8 => V128::widen_u16(V128::widen_u8(unsafe { load_eight_bytes(at.cast()) })).map(Indices::unsigned),
        IndexType::I16 => V128::widen_i16(vector(0)).map(Indices::signed),
        IndexType::U16 => V128::widen_u16(vector(0)).map(Indices::unsigned),
        IndexType::I32 => [0, 1].map(vector).map(Indices::signed),
        IndexType::U32 => [0, 1].map(vector).map(Indices::unsigned),
        IndexType::U64 => [0, 2].map(|k| Indices::unsigned_wide(vector(k), vector(k + 1))),
        _ => [0, 2].map(|k| Indices::signed_wide(vector(k), vector(k + 1))),
    }
}

/// Eight bytes, and eight more that are zero.
///
/// # Safety
/// Eight bytes may be read.
#[inline(always)]
unsafe fn load_eight_bytes(from: *const u8) -> V128 {
    let mut bytes = [0; VECTOR];
    // SAFETY: the caller's promise; an array of bytes has no alignment.
    let eight = unsafe { from.cast::<[u8; EIGHT]>().read() };
    bytes[..EIGHT].copy_from_slice(&eight);
    V128::of_bytes(bytes)
}

/// The vectors that four indices are compared with.
#[derive(Clone, Copy)]
struct Bounds {
    /// The vector that is added to negative indices: the size of the axis, or 0.
    from_end: V128,
    /// The last position.
    last: V128,
    /// The position of an index below the axis.
    below: V128,
    /// The position of an index above it.
    above: V128,
}

impl Bounds {
    /// Bounds of lanes whose axes have the given sizes.
    #[inline(always)]
    fn new(dims: [i32; 4], policy: IndexPolicy) -> Self {
        let IndexPolicy { negative, out_of_bounds } = policy;
        let (dim, minus_one) = (V128::of_words(dims), V128::words(-1));
        let last = V128::add32(dim, minus_one);
        let counts = negative == NegativeIndex::FromEnd || out_of_bounds == OutOfBounds::Wrap;
        let clamp = out_of_bounds == OutOfBounds::Clamp;
        Bounds {
            from_end: if counts { dim } else { V128::zero() },
            last,
            below: if clamp { V128::zero() } else { minus_one },
            above: if clamp { last } else { minus_one },
        }
    }

    /// The positions of four indices.
    #[inline(always)]
    fn resolve(self, indices: Indices) -> V128 {
        let r = V128::add32(indices.low, V128::and(indices.negative, self.from_end));
        let inside = V128::eq32(V128::min32(r, self.last), r);
        let instead = V128::select(indices.below, self.below, self.above);
        V128::select(V128::and(inside, indices.fits), r, instead)
    }
}

/// [`ResolveFn`](crate::kernels::resolve::ResolveFn) with vectors.
///
/// # Safety
/// As for [`ResolveFn`](crate::kernels::resolve::ResolveFn).
#[inline(always)]
pub(super) unsafe fn resolve<I: Index>(job: &ResolveJob) -> bool {
    let (mut done, mut out_of_range) = (0, false);
    if job.stride == size_of::<I>() as isize {
        // SAFETY: the caller's promise; the indices are contiguous.
        (done, out_of_range) = unsafe { contiguous::<I>(job) };
        if done == job.n {
            return out_of_range;
        }
    }
    // SAFETY: the caller's promise, for the indices from `done` on.
    out_of_range | unsafe { one_by_one::<I>(&job.rest(done)) }
}

/// [`TuplesFn`](crate::kernels::resolve::TuplesFn) with vectors: of 2, 3 and 4 components.
///
/// # Safety
/// As for [`TuplesFn`](crate::kernels::resolve::TuplesFn).
#[inline(always)]
pub(super) unsafe fn resolve_tuples<I: Index>(job: &TupleJob<'_>, each: &mut dyn FnMut(usize, bool) -> bool) -> bool {
    match job.components.len() {
        // SAFETY: the caller's promise; there are two components.
        2 => unsafe { in_chunks::<I, 2>(job, each) },
        // SAFETY: as above, three.
        3 => unsafe { in_chunks::<I, 3>(job, each) },
        // SAFETY: as above, four.
        4 => unsafe { in_chunks::<I, 4>(job, each) },
        _ => return false,
    }
    true
}

/// Resolves tuples of `K` components in chunks.
///
/// # Safety
/// As for [`resolve_tuples`]; there are `K` components.
#[inline(always)]
unsafe fn in_chunks<I: Index, const K: usize>(job: &TupleJob<'_>, each: &mut dyn FnMut(usize, bool) -> bool) {
    let mut left = *job;
    while let Some(chunk) = left.next_chunk::<I>() {
        // SAFETY: the caller's promise, for some of the tuples.
        let (done, mut out_of_range) = unsafe { tuples::<I, K>(&chunk) };
        if out_of_range && job.policy.out_of_bounds == OutOfBounds::Wrap {
            // SAFETY: the caller's promise; the first `done` have been resolved.
            unsafe { chunk.wrap::<I>(done) };
            out_of_range = false;
        }
        if done < chunk.n {
            // SAFETY: as above, for what is left.
            out_of_range |= unsafe { chunk.resolve_rest::<I>(done) };
        }
        if !each(chunk.n, out_of_range) {
            return;
        }
    }
}

/// Resolves contiguous indices of one component, eight at a time; returns how many, and whether one was out of range
/// (and is not wrapped).
///
/// # Safety
/// As for [`resolve`]; the indices are contiguous.
#[inline(always)]
unsafe fn contiguous<I: Index>(job: &ResolveJob) -> (usize, bool) {
    let (index, bounds) = (job.index.cast::<I>(), Bounds::new([job.dim; 4], job.policy));
    let done = job.n - job.n % EIGHT;
    let mut found = V128::zero();
    for at in (0..done).step_by(EIGHT) {
        // SAFETY: eight of the `n` indices.
        let [first, last] = unsafe { load(index.wrapping_add(at)) }.map(|indices| bounds.resolve(indices));
        found = V128::or(found, V128::or(first, last));
        // SAFETY: `out` has room for `n` positions; these are eight of them.
        unsafe { store_eight(job.out.wrapping_add(at), first, last) };
    }
    let out_of_range = V128::any_negative32(found);
    if out_of_range && job.policy.out_of_bounds == OutOfBounds::Wrap {
        // SAFETY: the caller's promise; the first `done` positions are resolved.
        unsafe { wrap::<I>(job, done) };
        return (done, false);
    }
    (done, out_of_range)
}

/// Writes eight positions.
///
/// # Safety
/// There is room for eight.
#[inline(always)]
unsafe fn store_eight(to: *mut i32, first: V128, last: V128) {
    // SAFETY: the first four.
    unsafe { first.store(to.cast()) };
    // SAFETY: the last four.
    unsafe { last.store(to.wrapping_add(EIGHT / 2).cast()) };
}

/// Wraps the indices whose position is -1 among the first `done`: those that are not in range of their own.
///
/// # Safety
/// As for [`contiguous`], which has resolved these under `OutOfBounds::Wrap`.
#[cold]
unsafe fn wrap<I: Index>(job: &ResolveJob, done: usize) {
    let again = |at| {
        // SAFETY: K3: one of the `n` indices, at any alignment.
        let value = unsafe { job.index.cast::<I>().wrapping_add(at).read_unaligned() };
        // SAFETY: `out` has room for `n` positions.
        unsafe { job.out.wrapping_add(at).write(value.wrap(i64::from(job.dim)) as i32) };
    };
    // SAFETY: the caller's promise.
    unsafe { each_negative(job.out, done, again) };
}

/// Calls `each` on the numbers of the negative positions among the first `n`.
///
/// # Safety
/// `n` positions may be read.
#[inline(always)]
unsafe fn each_negative(positions: *const i32, n: usize, mut each: impl FnMut(usize)) {
    for at in 0..n {
        // SAFETY: one of the `n` positions.
        if unsafe { positions.wrapping_add(at).read() } < 0 {
            each(at);
        }
    }
}

/// Resolves contiguous tuples of `K` components, eight at a time; returns how many tuples, and whether one was out of
/// range.
///
/// # Safety
/// As for [`resolve_tuples`]; there are `K` components.
#[inline(always)]
unsafe fn tuples<I: Index, const K: usize>(job: &TupleJob<'_>) -> (usize, bool) {
    // Lane `lane` of half `h` of vectors `k` of a step holds component `(8 k + 4 h + lane) mod K`.
    let component = |k: usize, h: usize, lane: usize| &job.components[(EIGHT * k + 4 * h + lane) % K];
    let lanes = [0, 1, 2, 3];
    let bounds: [[Bounds; 2]; K] = core::array::from_fn(|k| {
        [0, 1].map(|h| Bounds::new(lanes.map(|lane| component(k, h, lane).dim as i32), job.policy))
    });
    let scales: [[V128; 2]; K] =
        core::array::from_fn(|k| [0, 1].map(|h| V128::of_words(lanes.map(|lane| component(k, h, lane).scale as i32))));

    let index = job.index.cast::<I>();
    let done = job.n - job.n % EIGHT;
    let mut found = V128::zero();
    for at in (0..done).step_by(EIGHT) {
        let mut parts = [[0i32; EIGHT]; K];
        for k in 0..K {
            // SAFETY: eight of the `n * K` indices.
            let indices = unsafe { load(index.wrapping_add(at * K + k * EIGHT)) };
            let [first, last] = [0, 1].map(|h| V128::mul32(bounds[k][h].resolve(indices[h]), scales[k][h]));
            found = V128::or(found, V128::or(first, last));
            // SAFETY: the part has room for eight.
            unsafe { store_eight(parts[k].as_mut_ptr(), first, last) };
        }
        for (lane, components) in parts.as_flattened().chunks_exact(K).enumerate() {
            let sum = components.iter().fold(0i32, |sum, &part| sum.wrapping_add(part));
            let signs = components.iter().fold(0, |signs, &part| signs | part);
            // SAFETY: there is room for `n` positions; `at + lane < done`.
            unsafe { job.rooms[0].wrapping_add(at + lane).write(sum | signs >> 31) };
        }
    }
    (done, V128::any_negative32(found))
}
