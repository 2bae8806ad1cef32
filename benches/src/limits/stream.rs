//! Lines in order: the rate of streams.

use rayon::prelude::*;

use super::{fastest, parts};
use crate::buffer::Buffer;

/// A line of memory as words.
pub(super) type Line = [u64; 8];

/// Lines that are read, or written, before the other stream has its turn: a page.
const TURN: usize = 64;

/// How lines are moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// Stores are non-temporal.
    pub(super) non_temporal: bool,
    /// Lines ahead at which reads are prefetched; with 0 that is left to the processor.
    pub(super) ahead: usize,
    /// Reads and writes take turns, instead of all writes following all reads.
    pub(super) in_turn: bool,
}

/// Every way.
fn ways() -> impl Iterator<Item = Way> {
    let choices = [false, true].into_iter().flat_map(|non_temporal| [0, 16, 64].map(|ahead| (non_temporal, ahead)));
    choices.flat_map(|(non_temporal, ahead)| [false, true].map(|in_turn| Way { non_temporal, ahead, in_turn }))
}

/// Two buffers, one of which is read and the other written.
pub(super) struct Stream {
    read: Buffer<u64>,
    write: Buffer<u64>,
    way: Way,
}

impl Stream {
    /// Buffers of a number of lines, and the fastest way to move them.
    pub(super) fn new(read: usize, write: usize, threads: usize) -> Self {
        let ways: Vec<Way> = ways().collect();
        let mut stream = Self::of(read, write, ways[0]);
        let best = fastest(ways.len(), |at| {
            stream.way = ways[at];
            stream.run(threads);
        });
        stream.way = ways[best];
        stream
    }

    /// Buffers of a number of lines that are moved in a given way.
    pub(super) fn of(read: usize, write: usize, way: Way) -> Self {
        let [read, write] = [read, write].map(|lines| Buffer::aligned(&[lines * size_of::<Line>() / 8]));
        Stream { read, write, way }
    }

    /// Moves every line once.
    pub(super) fn run(&mut self, threads: usize) {
        let (way, isa) = (self.way, Isa::here());
        let (read, _) = self.read.as_slice().as_chunks::<8>();
        let (mut rest, _) = self.write.as_mut_slice().as_chunks_mut::<8>();
        if threads == 1 {
            return isa.pass(way, read, rest);
        }
        let mut jobs = Vec::with_capacity(threads);
        for (reads, writes) in parts(read.len(), threads).zip(parts(rest.len(), threads)) {
            let (write, others) = rest.split_at_mut(writes.len());
            jobs.push((&read[reads], write));
            rest = others;
        }
        jobs.into_par_iter().for_each(|(read, write)| isa.pass(way, read, write));
    }
}

/// The loops of an instruction set that the machine has.
#[derive(Clone, Copy)]
struct Isa {
    read: unsafe fn(&[Line], usize) -> u64,
    write: unsafe fn(&mut [Line], u64),
    write_past: unsafe fn(&mut [Line], u64),
}

impl Isa {
    /// The widest.
    fn here() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") {
            return Isa { read: x86::read_avx512, write: x86::write_avx512, write_past: x86::write_past_avx512 };
        } else if is_x86_feature_detected!("avx2") {
            return Isa { read: x86::read_avx2, write: x86::write_avx2, write_past: x86::write_past_avx2 };
        }
        Isa { read, write, write_past: write }
    }

    /// Reads lines and writes lines.
    fn pass(self, way: Way, mut from: &[Line], mut to: &mut [Line]) {
        let turns = if way.in_turn { from.len().max(to.len()).div_ceil(TURN).max(1) } else { 1 };
        let store = if way.non_temporal { self.write_past } else { self.write };
        let mut sum = 0;
        for turn in 0..turns {
            let [reads, writes] = [from.len(), to.len()].map(|left| left.div_ceil(turns - turn));
            let (now, later) = from.split_at(reads);
            from = later;
            // SAFETY: `here` chooses functions whose instructions the machine has.
            sum ^= unsafe { (self.read)(now, way.ahead) };
            let (now, later) = to.split_at_mut(writes);
            to = later;
            // SAFETY: as above.
            unsafe { store(now, turn as u64 + 1) };
        }
        std::hint::black_box(sum);
        fence();
    }
}

/// All words, one xor the other.
fn read(lines: &[Line], _: usize) -> u64 {
    lines.as_flattened().iter().fold(0, |all, word| all ^ word)
}

/// Writes a value to every word.
#[inline(always)]
fn write(lines: &mut [Line], value: u64) {
    lines.fill([value; 8]);
}

/// Asks for a line, wherever it is.
#[inline(always)]
pub(super) fn prefetch(line: *const Line) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint and accesses no memory.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// Waits for non-temporal stores.
fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has SSE.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _mm256_loadu_si256, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_storeu_si256, _mm256_stream_si256,
        _mm256_xor_si256, _mm512_loadu_si512, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_storeu_si512,
        _mm512_stream_si512, _mm512_xor_si512,
    };

    use super::{Line, prefetch};

    #[target_feature(enable = "avx512f")]
    pub(super) fn read_avx512(lines: &[Line], ahead: usize) -> u64 {
        // Four sums, so that none waits for the one before.
        let mut sums = [_mm512_setzero_si512(); 4];
        let (fours, rest) = lines.as_chunks::<4>();
        for four in fours {
            for (sum, line) in sums.iter_mut().zip(four) {
                if ahead != 0 {
                    prefetch(std::ptr::from_ref(line).wrapping_add(ahead));
                }
                // SAFETY: a line has 64 bytes.
                let words = unsafe { _mm512_loadu_si512(line.as_ptr().cast()) };
                *sum = _mm512_xor_si512(*sum, words);
            }
        }
        let sum = sums.into_iter().fold(_mm512_setzero_si512(), |all, sum| _mm512_xor_si512(all, sum));
        let mut words = [0; 8];
        // SAFETY: there are 64 bytes.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), sum) };
        super::read(&[words], 0) ^ super::read(rest, 0)
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn write_avx512(lines: &mut [Line], value: u64) {
        super::write(lines, value);
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn write_past_avx512(lines: &mut [Line], value: u64) {
        let value = _mm512_set1_epi64(value as i64);
        for line in lines {
            let line = std::ptr::from_mut(line);
            debug_assert_eq!(line.addr() % size_of::<Line>(), 0);
            // SAFETY: a line has 64 bytes, and those of aligned buffers begin with a line of the cache.
            unsafe { _mm512_stream_si512(line.cast(), value) };
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn read_avx2(lines: &[Line], ahead: usize) -> u64 {
        let mut sums = [_mm256_setzero_si256(); 4];
        let (pairs, rest) = lines.as_chunks::<2>();
        for pair in pairs {
            if ahead != 0 {
                prefetch(pair.as_ptr().wrapping_add(ahead));
                prefetch(pair.as_ptr().wrapping_add(ahead + 1));
            }
            let (halves, _) = pair.as_flattened().as_chunks::<4>();
            for (sum, half) in sums.iter_mut().zip(halves) {
                // SAFETY: half a line has 32 bytes.
                let words = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
                *sum = _mm256_xor_si256(*sum, words);
            }
        }
        let sum = sums.into_iter().fold(_mm256_setzero_si256(), |all, sum| _mm256_xor_si256(all, sum));
        let mut words = [0; 8];
        // SAFETY: there are 64 bytes, half of which are written.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), sum) };
        super::read(&[words], 0) ^ super::read(rest, 0)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn write_avx2(lines: &mut [Line], value: u64) {
        super::write(lines, value);
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn write_past_avx2(lines: &mut [Line], value: u64) {
        let value = _mm256_set1_epi64x(value as i64);
        let (halves, _) = lines.as_flattened_mut().as_chunks_mut::<4>();
        for half in halves {
            let half = std::ptr::from_mut(half);
            debug_assert_eq!(half.addr() % 32, 0);
            // SAFETY: half a line has 32 bytes, and aligned buffers begin with a line of the cache.
            unsafe { _mm256_stream_si256(half.cast(), value) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way reads and writes every line, whatever the number of threads.
    #[test]
    fn all_lines_are_moved() {
        for (reads, writes) in [(0, 0), (1, 0), (0, 3), (5, 1000), (1000, 7), (640, 640)] {
            for (way, threads) in ways().flat_map(|way| [1, 2, 3].map(|threads| (way, threads))) {
                let mut stream = Stream::of(reads, writes, way);
                stream.run(threads);
                let unwritten = stream.write.as_slice().iter().filter(|&&word| word == 0).count();
                assert_eq!(unwritten, 0, "{way:?}, {threads} threads, {writes} lines");
            }
        }
    }

    #[test]
    fn sums_have_every_word() {
        let lines: Vec<Line> = (0..11).map(|line| std::array::from_fn(|word| 1 << (line * 5 + word % 5))).collect();
        let all = lines.as_flattened().iter().fold(0, |all, word| all ^ word);
        // SAFETY: `here` chooses what the machine has.
        assert_eq!(unsafe { (Isa::here().read)(&lines, 2) }, all);
        assert_eq!(read(&lines, 0), all);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: as just detected.
            assert_eq!(unsafe { x86::read_avx2(&lines, 2) }, all);
        }
    }
}
