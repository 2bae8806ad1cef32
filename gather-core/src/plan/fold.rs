//! Folding: the fewest loops that do the same.
//!
//! 1. Dimensions of size 1 go.
//! 2. Neighbours that are contiguous together in output, data and indices become one.
//! 3. The innermost loop becomes a row of bytes where output and data are contiguous and the index does not move.
//! 4. The loop worth blocking comes last: the innermost with 64 iterations or more, else the longest. The loops that no
//!    index stride moves come next to it, so that they reuse the indices resolved for them.
//! 5. Lanes that walk far through data with one index are cut, where other indices reach the same lines.
//!
//! Contiguous Gather of any rank ends as at most batch x outer x lanes with rows; GatherElements of equal shapes as
//! outer x axis x inner, or less; the rest are nests for what cannot be folded: strided views and trimmed indices.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::kernels::{Loop, Phased};

pub(crate) type Loops = SmallVec<[Loop; 6]>;

/// Folds loops, given outermost first, over elements of `size` bytes (steps 1 to 3); returns the row's bytes.
#[inline(always)]
pub(crate) fn fold(dims: impl Iterator<Item = Loop>, size: usize) -> (Loops, usize) {
    let mut loops = Loops::new();
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
    let mut row = size;
    if let Some(&inner) = loops.last() {
        let step = size as isize;
        if inner.index == 0 && inner.out == step && inner.data == step {
            row = size.saturating_mul(inner.n);
            loops.pop();
        }
    }
    (loops, row)
}

/// Orders loops (step 4), of which there is at least one afterwards. Returns whether an outer loop reuses the lanes'
/// indices.
#[inline]
pub(crate) fn arrange(loops: &mut Loops) -> bool {
    const LONG: usize = 64;
    if loops.len() == 1 {
        return false;
    }
    let lane = (0..loops.len()).rev().max_by_key(|&d| (loops[d].n.min(LONG), d));
    let Some(lane) = lane else {
        loops.push(Loop { n: 1, out: 0, data: 0, index: 0 });
        return false;
    };
    let lane = loops.remove(lane);
    let reuse = lane.index != 0 && loops.iter().any(|l| l.index == 0);
    if reuse {
        // Stable: loops keep their order among those that move the index and among those that do not.
        loops.sort_by_key(|l| l.index == 0);
    }
    loops.push(lane);
    reuse
}

/// The lanes of all coordinates. Sizes of 0 may stand beside others whose product no integer holds.
#[inline]
pub(crate) fn count(loops: &Loops) -> usize {
    loops.iter().fold(1, |lanes, along| lanes.saturating_mul(along.n))
}

/// Lanes of a walk that is cut: their lines of data stay in the caches until the next index comes back to them.
const WALK: usize = 32;
/// Bytes of a step from which on every lane of a walk reads a line of its own, which the hardware does not see coming.
const FAR: usize = 256;
/// Bytes of a line.
const LINE: usize = 64;

/// Cuts lanes that walk far through data, all with one index, into short walks with the loop over indices inside: units
/// are so close together that others find theirs in the same lines. `f32` of a transposed square, indexed along what is then its
/// first axis, in nanoseconds each (2026-11-21, 2-core EPYC of the Zen 4 class; where two figures stand, runs fell around them):
///
/// ```text
/// side         512  1000        1024  2048
/// whole        2.5  0.95         4.3   8.5
/// walks of 8   2.5   3.0         4.0   4.7
///         16   2.0  1.05         4.3   4.8
///         32   1.7  0.95  2.9 or 4.3   3.7
///         64   2.0  0.95         3.0   3.6
/// ```
pub(crate) fn cut_walk(loops: &mut Loops, unit: isize) {
    let [.., indices, walk] = loops.as_slice() else { return };
    let far = walk.data.unsigned_abs() >= FAR && unit.unsigned_abs() < LINE;
    if walk.index != 0 || indices.index == 0 || !far || walk.n < 4 * WALK || walk.n % WALK != 0 {
        return;
    }
    let steps = |step: isize| step.wrapping_mul(WALK as isize);
    let walks = Loop { n: walk.n / WALK, out: steps(walk.out), data: steps(walk.data), index: 0 };
    let at = loops.len() - 2;
    loops[at + 1].n = WALK;
    loops.insert(at, walks);
}

/// Folds the loops of BatchToSpace, given outermost first, over elements of `size` bytes; returns the row's bytes.
pub(crate) fn fold_phased(dims: impl Iterator<Item = Phased>, size: usize) -> (SmallVec<[Phased; 6]>, usize) {
    let mut loops: SmallVec<[Phased; 6]> = SmallVec::new();
    for dim in dims.filter(|dim| dim.n != 1) {
        let dim = plain(dim);
        let n = dim.n as isize;
        match loops.last_mut() {
            Some(outer)
                if outer.block == 1
                    && dim.block == 1
                    && outer.out == dim.out.wrapping_mul(n)
                    && outer.wrap == dim.wrap.wrapping_mul(n) =>
            {
                *outer = Phased { n: outer.n.saturating_mul(dim.n), ..dim };
            }
            _ => loops.push(dim),
        }
    }
    let mut row = size;
    if let Some(&inner) = loops.last() {
        let step = size as isize;
        if inner.block == 1 && inner.out == step && inner.wrap == step {
            row = size.saturating_mul(inner.n);
            loops.pop();
        }
    }
    if loops.is_empty() {
        loops.push(Phased { n: 1, block: 1, phase: 0, out: 0, step: 0, wrap: 0 });
    }
    (loops, row)
}

/// A loop that never carries is a plain one whose step is that of its phases.
fn plain(dim: Phased) -> Phased {
    if dim.block - dim.phase >= dim.n { Phased { block: 1, phase: 0, step: 0, wrap: dim.step, ..dim } } else { dim }
}

/// The greatest common divisor; `gcd(0, b)` is `b`.
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
        // data [2, 3, 10, 5, 4] f32, axis 2, indices [6, 7] i64.
        let dims = [
            l(2, 10080, 2400, 0),
            l(3, 3360, 800, 0),
            l(6, 560, 0, 56),
            l(7, 80, 0, 8),
            l(5, 16, 16, 0),
            l(4, 4, 4, 0),
        ];
        let (mut loops, row) = fold(dims.into_iter(), 4);
        assert_eq!(row, 80);
        assert!(arrange(&mut loops));
        assert_eq!(loops.as_slice(), [l(6, 3360, 800, 0), l(42, 80, 0, 8)]);
    }

    #[test]
    fn lanes_are_counted_without_overflow() {
        assert_eq!(count(&Loops::from_slice(&[l(3, 0, 0, 0), l(5, 0, 0, 0)])), 15);
        assert_eq!(count(&Loops::from_slice(&[l(usize::MAX, 0, 0, 0), l(2, 0, 0, 0), l(0, 0, 0, 0)])), 0);
    }

    #[test]
    fn walks_far_through_data_are_cut_where_other_indices_reach_the_same_lines() {
        // data [8, 256] f32 transposed from [256, 8]: strides 1 and 1024 elements; axis 0, 100 indices.
        let whole = [l(100, 1024, 0, 8), l(256, 4, 4096, 0)];
        let mut loops = Loops::from_slice(&whole);
        cut_walk(&mut loops, 4);
        assert_eq!(loops.as_slice(), [l(8, 128, 131_072, 0), l(100, 1024, 0, 8), l(32, 4, 4096, 0)]);
        // Units a line apart; steps within a few lines; walks that are short, or not whole; one that moves the index.
        for (loops, unit) in [
            (whole, 64),
            ([whole[0], l(256, 4, 64, 0)], 4),
            ([whole[0], l(96, 4, 4096, 0)], 4),
            ([whole[0], l(250, 4, 4096, 0)], 4),
            ([whole[0], l(256, 4, 4096, 8)], 4),
            ([l(100, 1024, 4, 0), whole[1]], 4),
        ] {
            let mut kept = Loops::from_slice(&loops);
            cut_walk(&mut kept, unit);
            assert_eq!(kept.as_slice(), loops);
        }
    }

    #[test]
    fn loops_that_move_the_index_go_outside_those_that_do_not() {
        let mut loops = Loops::from_slice(&[l(3, 4000, 900, 0), l(5, 800, 0, 999), l(100, 8, 0, 8)]);
        assert!(arrange(&mut loops));
        assert_eq!(loops.as_slice(), [l(5, 800, 0, 999), l(3, 4000, 900, 0), l(100, 8, 0, 8)]);
    }

    #[test]
    fn a_short_innermost_loop_gives_way_to_a_long_one() {
        let mut loops = Loops::from_slice(&[l(8192, 8, 0, 16), l(2, 4, 4, 8)]);
        assert!(!arrange(&mut loops));
        assert_eq!(loops.as_slice(), [l(2, 4, 4, 8), l(8192, 8, 0, 16)]);
    }

    #[test]
    fn nothing_left_is_one_lane() {
        let (mut loops, row) = fold([l(1, 4, 4, 8)].into_iter(), 4);
        assert!(!arrange(&mut loops));
        assert_eq!((loops.as_slice(), row), ([l(1, 0, 0, 0)].as_slice(), 4));
    }
}
