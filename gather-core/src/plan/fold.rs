//! Folding of loops: the fewest loops with the same effect.
//!
//! 1. Drop dimensions of size 1.
//! 2. Merge adjacent dimensions that are contiguous together in output, data and indices.
//! 3. Turn the innermost loop into a row if output and data are contiguous and the index does not move.
//! 4. Make the loop that is worth blocking the inner loop: the innermost with 64 iterations or more, else the longest,
//!    unless a method prefers a short one. Loops without an index stride come next to it, and reuse its indices.
//! 5. Cut inner loops with long steps, or move them outside, if other loops revisit their cache lines. The lines are
//!    in data with one index, or in an output larger than the inner caches.
//!
//! Contiguous Gather of any rank becomes at most batch x outer x indices with rows; GatherElements of equal shapes
//! becomes at most outer x axis x inner. Strided views and trimmed indices fold less.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::kernels::{BlockLoop, LINE, Loop, Step};
use crate::types::order::sort_by_key;

pub(crate) type Loops = SmallVec<[Loop; 6]>;
pub(crate) type BlockLoops = SmallVec<[BlockLoop; 6]>;

/// Folds loops, given outermost first, with strides in elements (steps 1 to 3). Returns the row's elements.
#[inline(always)]
pub(crate) fn fold(dims: impl Iterator<Item = Loop>) -> (Loops, usize) {
    let mut loops = Loops::new();
    let row = fold_into(&mut loops, dims);
    (loops, row)
}

/// [`fold`] into the empty loops of a plan, which avoids a move.
#[inline(always)]
pub(crate) fn fold_into(loops: &mut Loops, dims: impl Iterator<Item = Loop>) -> usize {
    merge_into(loops, dims);
    let mut row = 1;
    if let Some(&inner) = loops.last()
        && inner.index == 0
        && inner.out == 1
        && inner.data == 1
    {
        row = inner.n;
        loops.pop();
    }
    row
}

/// Steps 1 and 2 of [`fold`], into empty loops.
#[inline(always)]
pub(crate) fn merge_into(loops: &mut Loops, dims: impl Iterator<Item = Loop>) {
    for dim in dims.filter(|dim| dim.n != 1) {
        let n = dim.n as isize;
        match loops.last_mut() {
            Some(outer)
                if outer.out == dim.out.wrapping_mul(n)
                    && outer.data == dim.data.wrapping_mul(n)
                    && outer.index == dim.index.wrapping_mul(n) =>
            {
                *outer = Loop { n: outer.n.saturating_mul(dim.n), ..dim };
            }
            _ => loops.push(dim),
        }
    }
}

/// Orders the loops of a gather (step 4); afterwards there is at least one loop. The last loop stays inside if
/// `stays(last, reuse)`, where `reuse` is whether another loop revisits its indices. Returns whether another loop
/// revisits the indices of the new inner loop.
#[inline]
pub(crate) fn arrange(loops: &mut Loops, stays: impl FnOnce(&Loop, bool) -> bool) -> bool {
    if loops.len() == 1 {
        return false;
    }
    put_inside(loops, |_| true, stays);
    reuse_indices(loops)
}

/// Moves loops without an index stride next to an inner loop with one. Returns whether there are any.
#[inline]
fn reuse_indices(loops: &mut Loops) -> bool {
    let Some((inner, others)) = loops.split_last_mut() else { return false };
    let reuse = inner.index != 0 && others.iter().any(|l| l.index == 0);
    if reuse {
        // Stable: loops keep their order among those with, and among those without, an index stride.
        sort_by_key(others, |l| usize::from(l.index == 0));
    }
    reuse
}

/// Makes the loop that is worth blocking the inner loop; afterwards there is at least one loop. The last loop stays if
/// it `may` and `stays(last, reuse)`, where `reuse` is whether another loop revisits its indices. Otherwise the
/// innermost loop that `may` with 64 iterations or more becomes the inner one, else the longest that `may`.
#[inline]
pub(crate) fn put_inside(loops: &mut Loops, may: impl Fn(usize) -> bool, stays: impl FnOnce(&Loop, bool) -> bool) {
    const LONG: usize = 64;
    let Some((last, others)) = loops.split_last() else {
        loops.push(Loop::ONCE);
        return;
    };
    if may(others.len()) && stays(last, others.iter().any(|l| l.index == 0)) {
        return;
    }
    let longest = (0..loops.len()).rev().filter(|&d| may(d)).max_by_key(|&d| (loops[d].n.min(LONG), d));
    if let Some(inner) = longest {
        let inner = loops.remove(inner);
        loops.push(inner);
    }
}

/// The number of coordinates. Saturates: sizes of 0 may occur with others whose product overflows.
#[inline]
pub(crate) fn count(loops: &[Loop]) -> usize {
    loops.iter().fold(1, |rows, along| rows.saturating_mul(along.n))
}

/// Preferred iterations of a cut inner loop: their lines of data stay in the caches until the next index revisits them
/// (bench `matrix`).
const CUT: usize = 32;
/// Step of data in bytes from which the hardware prefetcher is assumed not to follow rows.
const FAR: usize = 256;

/// Minimum bytes of an output whose lines leave the caches before another loop revisits them.
const FAR_APART: usize = 128 << 10;
/// Minimum iterations of a loop to become the inner one in place of a longer loop.
const SHORT: usize = 4;

/// Cuts an inner loop with long steps if other loops revisit its cache lines. In data: one index moves through lines
/// in which other indices find their positions too. In the output: other loops write the remainder of its lines.
///
/// If no cut divides such a loop, the longest of the other loops becomes the inner one. `reused` is whether an outer
/// loop revisits the inner loop's indices. Returns the value of `reused` for the new loops.
pub(crate) fn block_strided_loop(loops: &mut Loops, stride: isize, reused: bool) -> bool {
    let [.., indices, inner] = loops.as_slice() else { return reused };
    let (inner, around) = (*inner, loops.len() - 2);
    let (step, far) = (inner.out.unsigned_abs(), inner.data.unsigned_abs() >= FAR);
    let through_data = far && stride.unsigned_abs() < LINE && inner.index == 0 && indices.index != 0;
    let through_output = step >= LINE && step.saturating_mul(inner.n) >= FAR_APART;
    let shares_lines = |along: &Loop| along.out.unsigned_abs() < LINE;
    let at = if through_output { loops[..=around].iter().position(shares_lines) } else { None };
    let Some(at) = at.or(through_data.then_some(around)) else { return reused };
    // Chunks of equal length. A loop that moves only the index stays whole: a plan for any count may change its size.
    let is_whole = inner.data == 0 && inner.index != 0;
    let mut lengths = core::iter::once(CUT).chain((CUT / 2..=2 * CUT).rev());
    if let Some(cut) = lengths.find(|&cut| inner.n.is_multiple_of(cut)).filter(|cut| !is_whole && inner.n >= 4 * cut) {
        let steps = |step: isize| step.wrapping_mul(cut as isize);
        let outer =
            Loop { n: inner.n / cut, out: steps(inner.out), data: steps(inner.data), index: steps(inner.index) };
        loops[around + 1].n = cut;
        loops.insert(at, outer);
        return reused;
    }
    let longest = (at..=around).filter(|&d| shares_lines(&loops[d])).max_by_key(|&d| loops[d].n);
    let Some(longest) = longest.filter(|&d| through_output && loops[d].n >= SHORT) else { return reused };
    let inside = loops.remove(longest);
    loops.pop();
    loops.insert(at, inner);
    loops.push(inside);
    reuse_indices(loops)
}

/// Adds `along`, a loop of an operator that rearranges space, as the inner loop, or merges it into the last loop. A
/// loop without blocks merges with a loop of whole blocks inside it if `outer.wrap == along.period().times(blocks)`:
/// for example, channels with the rows of an image in blocks.
#[inline]
pub(crate) fn push_block(loops: &mut BlockLoops, along: BlockLoop) {
    if along.n == 1 {
        return;
    }
    let along = plain(along);
    let ends = |outer: &BlockLoop, blocks| outer.wrap == along.period().times(blocks as isize);
    match loops.last_mut() {
        Some(outer) if outer.block == 1 && along.blocks().is_some_and(|blocks| ends(outer, blocks)) => {
            *outer = BlockLoop { n: outer.n.saturating_mul(along.n), ..along };
        }
        _ => loops.push(along),
    }
}

/// Turns the innermost loop, over elements of `size` bytes, into a row if both tensors are contiguous; afterwards
/// there is at least one loop. Returns the row's bytes.
#[inline]
pub(crate) fn take_row(loops: &mut BlockLoops, size: usize) -> usize {
    let one = Step { out: size as isize, data: size as isize };
    let row = match loops.last() {
        Some(inner) if inner.block == 1 && inner.wrap == one => inner.n,
        _ => 1,
    };
    if row != 1 {
        loops.pop();
    }
    if loops.is_empty() {
        loops.push(BlockLoop::ONCE);
    }
    row.saturating_mul(size)
}

/// Turns a loop that stays in one block into a loop without blocks, with the step between positions in a block.
fn plain(dim: BlockLoop) -> BlockLoop {
    if dim.block - dim.phase >= dim.n {
        BlockLoop { block: 1, phase: 0, step: Step::NONE, wrap: dim.step, ..dim }
    } else {
        dim
    }
}

/// Calls `visit` at every coordinate of the loops, the last loop fastest.
#[inline]
pub(crate) fn for_each<P: Copy>(loops: &[Loop], at: P, step: impl Fn(P, &Loop) -> P + Copy, visit: &mut impl FnMut(P)) {
    match loops {
        [] => visit(at),
        [first, rest @ ..] => for_each_of(first, rest, at, step, visit),
    }
}

fn for_each_of<P: Copy>(
    first: &Loop,
    rest: &[Loop],
    mut at: P,
    step: impl Fn(P, &Loop) -> P + Copy,
    visit: &mut impl FnMut(P),
) {
    for _ in 0..first.n {
        for_each(rest, at, step, visit);
        at = step(at, first);
    }
}

/// The greatest common divisor; `gcd(0, b) == b`.
pub(crate) fn gcd(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn l(n: usize, out: isize, data: isize, index: isize) -> Loop {
        Loop { n, out, data, index }
    }

    #[test]
    fn contiguous_gather_folds_to_outer_and_lanes_with_rows() {
        // data [2, 3, 10, 5, 4], axis 2, indices [6, 7].
        let dims =
            [l(2, 2520, 600, 0), l(3, 840, 200, 0), l(6, 140, 0, 7), l(7, 20, 0, 1), l(5, 4, 4, 0), l(4, 1, 1, 0)];
        let (mut loops, row) = fold(dims.into_iter());
        assert_eq!(row, 20);
        assert!(arrange(&mut loops, |_, _| false));
        assert_eq!(loops.as_slice(), [l(6, 840, 200, 0), l(42, 20, 0, 1)]);
    }

    #[test]
    fn rows_are_counted_without_overflow() {
        assert_eq!(count(&Loops::from_slice(&[l(3, 0, 0, 0), l(5, 0, 0, 0)])), 15);
        assert_eq!(count(&Loops::from_slice(&[l(usize::MAX, 0, 0, 0), l(2, 0, 0, 0), l(0, 0, 0, 0)])), 0);
    }

    #[test]
    fn loops_with_long_steps_are_cut_where_other_indices_reach_the_same_lines() {
        // data [8, 256] f32 transposed from [256, 8]: strides 1 and 1024 elements; axis 0, 100 indices.
        let whole = [l(100, 1024, 0, 8), l(256, 4, 4096, 0)];
        let mut loops = Loops::from_slice(&whole);
        assert!(!block_strided_loop(&mut loops, 4, false));
        assert_eq!(loops.as_slice(), [l(8, 128, 131_072, 0), l(100, 1024, 0, 8), l(32, 4, 4096, 0)]);
        // Positions a line apart; steps within a few lines; short loops, or no divisor; a loop that moves the index.
        for (loops, stride) in [
            (whole, 64),
            ([whole[0], l(256, 4, 64, 0)], 4),
            ([whole[0], l(96, 4, 4096, 0)], 4),
            ([whole[0], l(251, 4, 4096, 0)], 4),
            ([whole[0], l(256, 4, 4096, 8)], 4),
            ([l(100, 1024, 4, 0), whole[1]], 4),
        ] {
            let mut kept = Loops::from_slice(&loops);
            assert!(!block_strided_loop(&mut kept, stride, false));
            assert_eq!(kept.as_slice(), loops);
        }
    }

    #[test]
    fn loops_with_long_steps_through_a_large_output_are_cut_or_go_outside() {
        let cut = |loops: &[Loop], reused: bool| {
            let mut loops = Loops::from_slice(loops);
            (block_strided_loop(&mut loops, 16, reused), loops.to_vec())
        };
        let (slots, rows) = (l(25, 16, 0, 2), l(30_654, 400, 112, 0));
        let parts = [l(786, 15_600, 4368, 0), slots, l(39, 400, 112, 0)];
        assert_eq!(cut(&[slots, rows], true), (true, parts.to_vec()));
        // All loops that share lines stay inside.
        let (pairs, long) = (l(4, 8, 0, 4), l(8192, 128, 256, 512));
        let parts = [l(256, 4096, 8192, 16_384), slots, pairs, l(32, 128, 256, 512)];
        assert_eq!(cut(&[slots, pairs, long], false), (false, parts.to_vec()));
        // No cut divides a prime number of steps: the longest of the other loops goes inside, if it is long enough.
        let prime = l(206_081, 96, 192, 128);
        assert_eq!(cut(&[pairs, slots, prime], false), (false, vec![prime, pairs, slots]));
        assert_eq!(cut(&[pairs, prime], false), (false, vec![prime, pairs]));
        assert_eq!(cut(&[l(3, 8, 0, 4), prime], false), (false, vec![l(3, 8, 0, 4), prime]));
        // A loop that moves only the index is not cut either.
        let listed = l(8192, 96, 0, 128);
        assert_eq!(cut(&[pairs, slots, listed], false), (false, vec![listed, pairs, slots]));
        // The index is revisited for every step that does not move it.
        let still = l(206_081, 96, 192, 0);
        assert_eq!(cut(&[slots, still], false), (true, vec![still, slots]));
        // A small output; steps within a line; no loop that shares lines.
        for kept in [[slots, l(256, 400, 112, 0)], [slots, l(30_654, 48, 112, 0)], [rows, l(30_655, 400, 112, 0)]] {
            assert_eq!(cut(&kept, false), (false, kept.to_vec()));
        }
    }

    #[test]
    fn loops_that_move_the_index_go_outside_those_that_do_not() {
        let mut loops = Loops::from_slice(&[l(3, 4000, 900, 0), l(5, 800, 0, 999), l(100, 8, 0, 8)]);
        assert!(arrange(&mut loops, |_, _| false));
        assert_eq!(loops.as_slice(), [l(5, 800, 0, 999), l(3, 4000, 900, 0), l(100, 8, 0, 8)]);
    }

    #[test]
    fn a_short_innermost_loop_gives_way_to_a_long_one() {
        let mut loops = Loops::from_slice(&[l(8192, 8, 0, 16), l(2, 4, 4, 8)]);
        assert!(!arrange(&mut loops, |_, _| false));
        assert_eq!(loops.as_slice(), [l(2, 4, 4, 8), l(8192, 8, 0, 16)]);
    }

    #[test]
    fn a_short_innermost_loop_that_is_worth_it_stays() {
        for outer_index in [2, 0] {
            let whole = [l(8192, 2, 100, outer_index), l(2, 1, 0, 1)];
            let mut loops = Loops::from_slice(&whole);
            let comes_back = outer_index == 0;
            assert_eq!(arrange(&mut loops, |inner, reuse| inner.n == 2 && reuse == comes_back), comes_back);
            assert_eq!(loops.as_slice(), whole);
        }
    }

    #[test]
    fn nothing_left_is_one_row() {
        let (mut loops, row) = fold([l(1, 4, 4, 8)].into_iter());
        assert!(!arrange(&mut loops, |_, _| false));
        assert_eq!((loops.as_slice(), row), ([l(1, 0, 0, 0)].as_slice(), 1));
    }
}
