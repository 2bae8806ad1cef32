//! Resolving contiguous tuples of `K` = 2, 3 or 4 components by vectors: `N` at a time, in `K` vectors of `N` lanes.
//!
//! `K` vectors hold the sizes of the axes and `K` the scales, repeated in the order of the components. Shuffles put the
//! scaled components of one axis into one vector, in the order of the tuples, and the `K` vectors are added. A
//! component out of range is negative after scaling, which makes its tuple's position -1. Fewer than `N` tuples are
//! resolved one by one.

#![forbid(unsafe_code)]
// Loops run over numbers: without link-time optimisation, iterator functions may not be inlined.
#![allow(clippy::needless_range_loop)]

use core::marker::PhantomData;

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::resolve::vectors::VectorBounds;
use crate::kernels::resolve::{TupleJob, TuplesArgs};
use crate::kernels::words::{MOST_LANES, Numbers, Words, is_wide};
use crate::types::index::Index;

/// [`TuplesFn`](crate::kernels::resolve::TuplesFn) with vectors, for 2, 3 and 4 components.
pub(crate) struct ResolveTuples<I, W>(PhantomData<(I, W)>);

impl<I: Index, W: Words> LevelFn for ResolveTuples<I, W> {
    type Args<'a> = TuplesArgs<'a>;
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(here: Here, (job, each): TuplesArgs<'_>) -> bool {
        let Some(level) = W::level(here) else { return false };
        match job.components().len() {
            2 => in_chunks::<I, W, 2>(level, job, each),
            3 => in_chunks::<I, W, 3>(level, job, each),
            4 => in_chunks::<I, W, 4>(level, job, each),
            _ => return false,
        }
        true
    }
}

#[inline(always)]
fn in_chunks<I: Index, W: Words, const K: usize>(
    level: W::Level,
    job: &TupleJob<'_>,
    each: &mut dyn FnMut(usize, bool) -> bool,
) {
    let (axes, mut left) = (Axes::<W, K>::new::<I>(level, job), *job);
    while let Some(chunk) = left.next_chunk::<I>() {
        let (done, mut out_of_range) = axes.resolve::<I>(&chunk);
        if done < chunk.n() {
            out_of_range |= chunk.resolve_rest::<I>(done);
        }
        if !each(chunk.n(), out_of_range) {
            return;
        }
    }
}

/// The bounds and scales of the components of tuples, as vectors.
struct Axes<W: Words, const K: usize> {
    level: W::Level,
    bounds: [VectorBounds<W>; K],
    scales: [W; K],
}

impl<W: Words, const K: usize> Axes<W, K> {
    #[inline(always)]
    fn new<I: Index>(level: W::Level, job: &TupleJob<'_>) -> Self {
        let (mut dims, mut factors) = ([0; MOST_LANES], [0; MOST_LANES]);
        for k in 0..K {
            (dims[k], factors[k]) = (job.components()[k].dim as i32, job.components()[k].scale as i32);
        }
        let (dims, factors) = (W::of(level, &dims), W::of(level, &factors));
        let mut bounds = [VectorBounds::new(dims, job.policy()); K];
        let mut scales = [factors; K];
        for k in 0..K {
            let components = W::of(level, &const { TuplePlaces::<K>::of::<I, W>() }.components[k]);
            bounds[k] = VectorBounds::new(W::permuted(dims, components), job.policy());
            scales[k] = W::permuted(factors, components);
        }
        Axes { level, bounds, scales }
    }

    /// Resolves all tuples of a chunk, or none if there are fewer than `N`; returns the number resolved, and whether
    /// one was out of range.
    #[inline(always)]
    fn resolve<I: Index>(&self, job: &TupleJob<'_>) -> (usize, bool) {
        let zero = W::filled(self.scales[0], 0);
        let Some(last) = job.n().checked_sub(W::N) else { return (0, false) };
        let mut found = zero;
        for at in (0..job.n()).step_by(W::N) {
            // The last `N` tuples may overlap the previous `N`.
            let at = at.min(last);
            let mut parts = [zero; K];
            for k in 0..K {
                let indices = job.load::<I, W>(at * K + k * W::N, zero);
                parts[k] = W::times(self.bounds[k].resolve(indices), self.scales[k]);
            }
            let positions = added_up(self.level, parts, const { &TuplePlaces::<K>::of::<I, W>() });
            found = W::or(found, positions);
            job.store(at, positions);
        }
        (job.n(), W::any_negative(found))
    }
}

/// The sums of the components of tuples that are in `K` vectors; -1 if a component is negative.
#[inline(always)]
fn added_up<W: Words, const K: usize>(level: W::Level, parts: [W; K], places: &TuplePlaces<K>) -> W {
    let zero = W::filled(parts[0], 0);
    let (mut sums, mut signs) = (zero, zero);
    for k in 0..K {
        let mut component = parts[0];
        for p in 0..K {
            let lanes = W::of(level, &places.lanes[k][p]);
            // Lanes are constants, for which compilers make few shuffles.
            component = if p == 0 { W::permuted(component, lanes) } else { W::merged(component, parts[p], lanes) };
        }
        sums = W::plus(sums, component);
        signs = W::or(signs, component);
    }
    W::or(sums, W::signs(signs))
}

/// The lanes of the components of tuples in the `K` vectors of a step.
struct TuplePlaces<const K: usize> {
    /// The component in each lane of each vector.
    components: [Numbers; K],
    /// `lanes[component][vector]`: for each tuple, the lane of its component in the result of the earlier vectors; from
    /// `N` on, the lane is in this vector.
    lanes: [[Numbers; K]; K],
}

impl<const K: usize> TuplePlaces<K> {
    /// The places for an index type.
    const fn of<I: Index, W: Words>() -> Self {
        let zeros = [0; MOST_LANES];
        let mut places = TuplePlaces { components: [zeros; K], lanes: [[zeros; K]; K] };
        let mut at = 0;
        while at < K * W::N {
            let (part, component, tuple) = (at / W::N, at % K, at / K);
            let lane = if is_wide::<I>() { W::WIDE_LANES[at % W::N] } else { at % W::N };
            places.components[part][lane] = component as i32;
            let mut p = 0;
            while p < K {
                // Before the component's vector, any lane; after it, the lane to which the component was moved.
                places.lanes[component][p][tuple] = match p {
                    0 => lane,
                    _ if p == part => W::N + lane,
                    _ => tuple,
                } as i32;
                p += 1;
            }
            at += 1;
        }
        places
    }
}
