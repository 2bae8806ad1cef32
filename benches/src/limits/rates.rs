//! The rates of the machine: streams and random lines, in each cache and beyond all of them.

use std::time::Duration;

use super::stream::{Stream, Way};
use super::touch::Touch;
use crate::buffer::LINE;
use crate::clock::median;
use crate::machine::Machine;
use crate::random::Random;

/// Bytes of buffers that are beyond the caches: at least this number, and a multiple of the largest cache.
const BEYOND: (usize, usize) = (256 << 20, 8);

/// How long one rate is measured.
const BUDGET: Duration = Duration::from_millis(60);

/// What is measured, in the order of [`Rates::gigabytes`].
pub const NAMES: [&str; 4] = ["read", "write", "non-temporal write", "lines at random"];

/// The rates of buffers of one size.
pub struct Rates {
    /// `L1`, `L2`, `L3`, `memory`.
    pub name: String,
    /// Bytes of the buffer.
    pub bytes: usize,
    /// Gigabytes a second: read in order, written in order, written in order by non-temporal stores, read line by
    /// line in no order.
    pub gigabytes: [f64; 4],
}

/// The rates of a number of threads together: in buffers of half of each cache, and in one that is beyond the caches.
///
/// # Errors
/// A text: the system does not describe itself.
pub fn rates(threads: usize) -> Result<Vec<Rates>, String> {
    let caches = Machine::here()?.caches;
    let largest = caches.iter().map(|cache| cache.bytes).max().unwrap_or(0);
    let memory = ("memory".to_owned(), BEYOND.0.max(BEYOND.1 * largest));
    let halves = caches.into_iter().map(|cache| (cache.name, cache.bytes / 2));
    Ok(halves.chain([memory]).map(|(name, bytes)| of(name, bytes, threads)).collect())
}

fn of(name: String, bytes: usize, threads: usize) -> Rates {
    let lines = bytes / LINE;
    let rate = |call: &mut dyn FnMut()| bytes as f64 / (median(call, BUDGET) * 1e6);
    let stream = |read, write, non_temporal, ahead| {
        let mut stream = Stream::of(read, write, Way { non_temporal, ahead, in_turn: false });
        rate(&mut || stream.run(threads))
    };
    let read = [0, 16, 64].map(|ahead| stream(lines, 0, false, ahead)).into_iter().fold(0.0, f64::max);
    let [write, past] = [false, true].map(|non_temporal| stream(0, lines, non_temporal, 0));
    let order = Random::new(3).permutation(lines).into_iter().map(|line| line as u32).collect();
    let touch = Touch::new(order, lines, threads);
    Rates { name, bytes, gigabytes: [read, write, past, rate(&mut || touch.run(threads))] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_a_small_buffer_are_numbers() {
        let rates = of("L1".into(), 16 << 10, 1);
        assert_eq!((&*rates.name, rates.bytes), ("L1", 16 << 10));
        assert!(rates.gigabytes.iter().all(|rate| rate.is_finite() && *rate > 0.0), "{:?}", rates.gigabytes);
    }
}
