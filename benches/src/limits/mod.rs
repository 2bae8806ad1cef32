//! What the machine allows: the limit of a workload, measured beside it.
//!
//! ```text
//! limit = max(time of its compulsory bytes as streams, time of its distinct lines in its own order)
//! ```
//!
//! Compulsory are the lines of the indices, each read once, the distinct lines of data that the actual indices touch,
//! each read once, and the lines of the output, each written once. `stream` moves as many lines of buffers of just
//! these sizes, in order, in the fastest of some ways: with and without non-temporal stores, reading and writing in
//! turn or one after the other. A store that first has to fetch its line takes longer, so the memory that such a store
//! moves twice is counted by the clock. `touch` reads one word of each distinct line of data, in the order in which
//! the indices name them first, with the fastest of some prefetch distances: random lines with as many misses under
//! way as the machine allows.
//!
//! What the limit assumes:
//!
//! - Each line is moved once. A kernel that follows the order of the indices visits a line again for another index, and
//!   may miss it again: 4 Mi elements out of 64 MiB are 4 Mi visits to 1 Mi lines. The limit counts 1 Mi.
//! - Both times are of warm buffers, call after call. A workload that fits in a cache is limited by that cache's rate.
//! - Nothing has to be computed. A workload that is bound by instructions, such as a table in registers or in the
//!   first-level cache, may be far from this limit of the memory. The ratio says how far.
//! - Streams and random lines overlap perfectly: the limit is the greater of the two times, and not their sum.
//! - It is the best of what was tried. A kernel that does better shows that more should be tried.

mod lines;
pub mod rates;
mod stream;
mod touch;

use lines::Lines;
use stream::Stream;
use touch::Touch;

use crate::buffer::LINE;
use crate::case::Case;

/// What limits a workload, ready to be timed.
pub struct Limit {
    stream: Stream,
    touch: Touch,
    threads: usize,
}

impl Limit {
    /// Counts the lines of a case, makes buffers for them, and finds the fastest ways for a number of threads.
    #[must_use]
    pub fn new(case: &Case, threads: usize) -> Self {
        let lines = Lines::of(case);
        Limit {
            stream: Stream::new(lines.index_lines + lines.order.len(), lines.output_lines, threads),
            touch: Touch::new(lines.order, lines.data_lines, threads),
            threads,
        }
    }

    /// The two calls whose times are to be compared: the compulsory bytes as streams, and the distinct lines of data in
    /// the order of the indices. The limit is the time of that which takes longer.
    #[must_use]
    pub fn calls(self) -> [Box<dyn FnMut()>; 2] {
        let Limit { mut stream, touch, threads } = self;
        [Box::new(move || stream.run(threads)), Box::new(move || touch.run(threads))]
    }
}

/// A call on one thread that reads and writes bytes in order, in the fastest of some ways: what limits a call
/// that reads some tensors once and writes others once.
pub fn streams(read: usize, write: usize) -> impl FnMut() {
    let mut stream = Stream::new(read.div_ceil(LINE), write.div_ceil(LINE), 1);
    move || stream.run(1)
}

/// Contiguous parts of a slice, as many as there are threads. None is empty unless the slice has fewer lines.
fn parts(len: usize, threads: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..threads).map(move |part| part * len / threads..(part + 1) * len / threads)
}

/// The index of the fastest call: the least of three times each, after one that is not timed.
fn fastest(count: usize, mut call: impl FnMut(usize)) -> usize {
    const TIMES: usize = 3;
    let mut least = |at| {
        call(at);
        let mut time = || {
            let start = std::time::Instant::now();
            call(at);
            start.elapsed()
        };
        (0..TIMES).map(|_| time()).min().expect("timed more than once")
    };
    let times: Vec<_> = (0..count).map(&mut least).collect();
    (0..count).min_by_key(|&at| times[at]).expect("something to choose from")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::WORKLOADS;

    #[test]
    fn parts_are_the_whole() {
        for (len, threads) in [(0, 2), (1, 2), (7, 3), (64, 4)] {
            let all: Vec<usize> = parts(len, threads).flatten().collect();
            assert_eq!(all, (0..len).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_fastest_is_found() {
        let nap = |at: usize| std::thread::sleep(std::time::Duration::from_millis([9, 1, 5][at]));
        assert_eq!(fastest(3, nap), 1);
    }

    #[test]
    fn every_call_of_a_limit_runs() {
        let small = WORKLOADS.iter().find(|workload| workload.name.contains("small")).expect("a small workload");
        let case = Case::new(small);
        for threads in [1, 2] {
            for mut call in Limit::new(&case, threads).calls() {
                call();
            }
        }
    }
}
