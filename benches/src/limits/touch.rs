//! Lines in any order: the rate of random lines.

use std::hint::black_box;

use rayon::prelude::*;

use super::stream::{Line, prefetch};
use super::{fastest, parts};
use crate::buffer::Buffer;

/// Lines ahead that are tried; with 0 that is left to the processor.
const DISTANCES: [usize; 6] = [0, 8, 16, 32, 64, 128];

/// A buffer of which some lines are read in some order.
pub(super) struct Touch {
    lines: Buffer<u64>,
    order: Buffer<u32>,
    ahead: usize,
}

impl Touch {
    /// A buffer of a number of lines, and the fastest distance at which to prefetch them.
    ///
    /// # Panics
    /// When `order` names a line that is not there.
    pub(super) fn new(order: Vec<u32>, lines: usize, threads: usize) -> Self {
        assert!(order.iter().all(|&line| (line as usize) < lines), "a line beyond the {lines} of the buffer");
        let mut own = Buffer::aligned(&[order.len()]);
        own.as_mut_slice().copy_from_slice(&order);
        let lines = Buffer::aligned(&[lines * size_of::<Line>() / 8]);
        let mut touch = Touch { lines, order: own, ahead: 0 };
        let best = fastest(DISTANCES.len(), |at| {
            touch.ahead = DISTANCES[at];
            touch.run(threads);
        });
        touch.ahead = DISTANCES[best];
        touch
    }

    /// Reads a word of every line in the order.
    pub(super) fn run(&self, threads: usize) {
        black_box(self.read(threads));
    }

    /// A word of every line in the order, exclusively or-ed.
    fn read(&self, threads: usize) -> u64 {
        let (lines, _) = self.lines.as_slice().as_chunks::<8>();
        let order = self.order.as_slice();
        if threads == 1 {
            return touch(lines, order, self.ahead);
        }
        let jobs: Vec<&[u32]> = parts(order.len(), threads).map(|part| &order[part]).collect();
        jobs.into_par_iter().map(|order| touch(lines, order, self.ahead)).reduce(|| 0, |a, b| a ^ b)
    }
}

fn touch(lines: &[Line], order: &[u32], ahead: usize) -> u64 {
    let mut sum = 0;
    let (now, last) = order.split_at(order.len().saturating_sub(ahead));
    for (&line, &later) in now.iter().zip(&order[ahead.min(order.len())..]) {
        if ahead != 0 {
            prefetch(lines.as_ptr().wrapping_add(later as usize));
        }
        sum ^= lines[line as usize][0];
    }
    for &line in last {
        sum ^= lines[line as usize][0];
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_touched_whatever_the_distance() {
        for len in [0, 1, 7, 300] {
            let order: Vec<u32> = (0..len).rev().collect();
            for threads in [1, 2] {
                let mut touch = Touch::new(order.clone(), len as usize, threads);
                let words = touch.lines.as_mut_slice();
                words.iter_mut().zip(1..).for_each(|(word, number)| *word = number);
                let expected = words.iter().step_by(8).fold(0, |all, word| all ^ word);
                for ahead in DISTANCES {
                    touch.ahead = ahead;
                    assert_eq!(touch.read(threads), expected, "{len} lines, {ahead} ahead");
                }
            }
        }
    }

    #[test]
    #[should_panic = "a line beyond the 2 of the buffer"]
    fn lines_that_are_not_there_are_refused() {
        let _ = Touch::new(vec![2], 2, 1);
    }
}
