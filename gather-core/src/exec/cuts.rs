//! Cuts of a loop nest into chunks that threads share.

#![forbid(unsafe_code)]

use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

use crate::exec::threads::parallel_for;
use crate::kernels::{Outcome, start_of_part};

/// Runs `n` chunks on up to `tasks` threads: `run(chunk, worker)`.
pub(super) fn share(tasks: usize, n: usize, run: impl Fn(usize, usize) -> Outcome + Sync) -> Outcome {
    let complete = AtomicBool::new(true);
    parallel_for(tasks, n, |chunk, worker| _ = complete.fetch_and(run(chunk, worker).is_complete(), Ordering::Relaxed));
    Outcome::complete_if(complete.into_inner())
}

/// Number of ranges that each loop of a nest is cut into. A chunk is one range of each loop.
pub(super) struct Cuts(SmallVec<[usize; 6]>);

impl Cuts {
    /// Cuts loops of the given lengths, outermost first, into about `chunks` chunks. Cuts only the first loop with
    /// `n >= chunks`, or else several from the outermost on.
    pub(super) fn new(lengths: impl Iterator<Item = usize> + Clone, chunks: usize) -> Self {
        let alone = lengths.clone().position(|n| n >= chunks);
        let mut left = chunks;
        let parts = lengths.enumerate().map(|(d, n)| {
            let parts = if alone.is_none_or(|alone| alone == d) { left.min(n) } else { 1 };
            left = left.div_ceil(parts);
            parts
        });
        Cuts(parts.collect())
    }

    pub(super) fn chunks(&self) -> usize {
        self.0.iter().product()
    }

    /// Maximum iterations per chunk of loop `d` of length `n`.
    pub(super) fn longest(&self, d: usize, n: usize) -> usize {
        n.div_ceil(self.0[d])
    }

    /// The iterations of loop `d` of length `n` in a chunk.
    pub(super) fn range(&self, chunk: usize, d: usize, n: usize) -> Range<usize> {
        let inner: usize = self.0[d + 1..].iter().product();
        let (part, parts) = (chunk / inner % self.0[d], self.0[d]);
        start_of_part(n, part, parts)..start_of_part(n, part + 1, parts)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::Cuts;

    /// Number of chunks that contain each coordinate of the loops.
    fn counts(lengths: &[usize], pieces: usize) -> Vec<usize> {
        let cuts = Cuts::new(lengths.iter().copied(), pieces);
        let mut counts = vec![0; lengths.iter().product()];
        for piece in 0..cuts.chunks() {
            let ranges: Vec<_> = lengths.iter().enumerate().map(|(d, &n)| cuts.range(piece, d, n)).collect();
            assert!(ranges.iter().all(|range| !range.is_empty()), "{lengths:?} in {pieces}: an empty piece");
            for (at, count) in counts.iter_mut().enumerate() {
                let mut left = at;
                let inside = lengths.iter().zip(&ranges).rev().all(|(&n, range)| {
                    let coordinate = left % n;
                    left /= n;
                    range.contains(&coordinate)
                });
                *count += usize::from(inside);
            }
        }
        counts
    }

    #[test]
    fn every_coordinate_is_in_one_piece() {
        for lengths in [&[1][..], &[7], &[64], &[1, 1], &[3, 5], &[2, 9, 4], &[1, 30, 2, 1], &[5, 1, 6]] {
            for pieces in [1, 2, 3, 4, 7, 8, 20, 64, 1000] {
                assert!(counts(lengths, pieces).iter().all(|&count| count == 1), "{lengths:?} in {pieces}");
            }
        }
    }

    #[test]
    fn loops_are_cut_into_as_many_pieces_as_are_wanted_or_more() {
        let pieces = |lengths: &[usize], pieces| Cuts::new(lengths.iter().copied(), pieces).chunks();
        assert_eq!(pieces(&[2, 1 << 20], 8), 8);
        assert_eq!(pieces(&[usize::MAX], 8), 8);
        assert_eq!(pieces(&[3, 5], 8), 9);
        assert_eq!(pieces(&[3, 5], 100), 15);
        assert_eq!(pieces(&[1, 1], 4), 1);
    }

    #[test]
    fn lengths_near_the_greatest_are_cut_without_overflow() {
        let cuts = Cuts::new([usize::MAX].into_iter(), 3);
        assert_eq!(cuts.range(0, 0, usize::MAX).start, 0);
        assert_eq!(cuts.range(1, 0, usize::MAX), usize::MAX / 3..usize::MAX / 3 * 2);
        assert_eq!(cuts.range(2, 0, usize::MAX).end, usize::MAX);
    }
}
