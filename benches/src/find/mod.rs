//! Calls drawn at random, each beside the plain loop that one would write for it: a search for shapes, strides, types
//! and policies where that loop is faster, or where a call holds much memory of its own.
//!
//! A case is its seed and its number: the same on every machine. Calls of fewer than 64 elements are left to the
//! benchmark `short`; those of rows and nulls, which may be of none, are compared and not timed.

mod bags;
mod draw;
mod gathers;
mod nest;
mod policy;
mod rows;
mod scatters;
mod spaces;

use std::hint::black_box;

pub use draw::Limits;
use draw::{Draw, Place};
use gather_core::Level;

use crate::allocations;
use crate::cliffs::Row;

/// Sizes of the calls that `find_cliffs` times.
pub const LIMITS: Limits = Limits { out: 1 << 21, data: 1 << 22 };

/// Numbers from here on are those of row functions, fused rows, tables of them, and nulls.
pub const ROWS: u64 = 1 << 32;

/// How a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Face {
    /// Planned ahead, into memory of the caller's; by slices where all is row-major.
    Planned,
    /// Unplanned, into memory of the caller's.
    Into,
    /// Unplanned, into a fresh tensor.
    Fresh,
}

impl Face {
    const ALL: [Face; 3] = [Face::Planned, Face::Into, Face::Fresh];

    fn name(self, out: &Place) -> String {
        let name = ["planned", "into", "fresh"][self as usize];
        if out.is_contiguous() { name.into() } else { format!("{name} permuted") }
    }

    /// The bytes that a call allocates for its result.
    fn fresh_bytes<T>(self, len: usize) -> usize {
        if self == Face::Fresh { len * size_of::<T>() } else { 0 }
    }
}

/// Copies a fresh result to where outputs are compared, in the first call alone.
fn checked_once<T: Copy>(first: &mut bool, fresh: &[T], out: &mut [T]) {
    if std::mem::take(first) {
        out.copy_from_slice(fresh);
    }
    black_box(fresh);
}

/// A case.
pub struct Found {
    /// What is called.
    pub name: String,
    /// Bytes of inputs and output.
    pub bytes: usize,
    /// What the plan says.
    pub explained: String,
    /// Whether the output has so few elements, or none, that times say nothing.
    pub thin: bool,
    /// Bytes of a fresh result.
    fresh: usize,
    row: Row,
}

impl From<Found> for Row {
    fn from(found: Found) -> Row {
        found.row
    }
}

impl Found {
    /// The case of a number, at a level. Shapes that come out too small are drawn again.
    #[must_use]
    pub fn new(seed: u64, number: u64, limits: Limits, level: Level) -> Self {
        let mut draw = Draw::new(seed, number, limits, level);
        if number >= ROWS {
            return rows::draw(&mut draw);
        }
        loop {
            let found = match draw.between(0, 9) {
                0..4 => gathers::draw(&mut draw),
                4..7 => scatters::draw(&mut draw),
                7 => bags::draw(&mut draw),
                _ => spaces::draw(&mut draw),
            };
            if let Some(found) = found {
                return found;
            }
        }
    }

    /// The method of the plan; empty where it has none.
    #[must_use]
    pub fn method(&self) -> &str {
        let line = self.explained.lines().find_map(|line| line.trim().strip_prefix("method "));
        line.unwrap_or_default()
    }

    /// Whether both give the same bits, and the most bytes that our call holds beside inputs and output, in a program
    /// that counts them. To be asked before anything else is run.
    #[must_use]
    pub fn check(&mut self) -> (bool, usize) {
        let peak = allocations::peak_of(|| self.row.run_ours());
        (self.row.plain_agrees(), peak.saturating_sub(self.fresh))
    }

    /// The loop's time / ours, and both in milliseconds: medians of rounds.
    #[must_use]
    pub fn time(&mut self, rounds: usize) -> (f64, [f64; 2]) {
        let [ours, plain] = self.row.time(rounds);
        (plain / ours, [ours, plain])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Limits = Limits { out: 1 << 9, data: 1 << 10 };

    #[test]
    fn cases_are_those_of_their_numbers() {
        for number in 0..20 {
            let [once, again] = [(); 2].map(|()| Found::new(3, number, SMALL, Level::Scalar).name);
            assert_eq!(once, again);
        }
        assert_ne!(Found::new(3, 0, SMALL, Level::Scalar).name, Found::new(4, 0, SMALL, Level::Scalar).name);
    }

    #[test]
    fn outputs_agree() {
        for number in (0..300).chain(ROWS..ROWS + 300) {
            let mut found = Found::new(5, number, SMALL, Level::preferred());
            assert!(found.check().0, "5:{number}: {}", found.name);
        }
    }
}
