//! Calls that were once many times slower than the loop that one would write, each beside its loop.
//!
//! A row has two functions that write the same tensor: ours, and the plain loop, whose bits say what must come out. The
//! loop is what we are timed against, unless the row names another reference: sums of halves are timed against our own
//! sums of `f32`.

mod bags;
#[cfg(feature = "search")]
mod found;
mod gathers;
mod grouped;
pub(crate) mod rows;
mod scatters;
mod short_rows;
mod targets;

use bytemuck::Pod;
use gather_core::Level;

use crate::buffer::Buffer;
use crate::clock;

/// How much of the loop's time we may take at most: as much, except for noise.
pub const WANTED: f64 = 0.9;

/// A row of the table, whose tensors are made when it is run.
pub struct Case {
    /// The name.
    pub name: String,
    make: Box<dyn Fn(Level) -> Row>,
}

impl Case {
    /// A case of a name, which `make` makes for a level.
    pub fn new(name: impl Into<String>, make: impl Fn(Level) -> Row + 'static) -> Self {
        Case { name: name.into(), make: Box::new(make) }
    }

    /// The row at a level.
    #[must_use]
    pub fn row(&self, level: Level) -> Row {
        (self.make)(level)
    }
}

/// Every case.
#[must_use]
pub fn cases() -> Vec<Case> {
    let kinds = [
        bags::cases(),
        gathers::cases(),
        grouped::cases(),
        rows::cases(),
        scatters::cases(),
        short_rows::cases(),
        targets::cases(),
        #[cfg(feature = "search")]
        found::cases(),
    ];
    kinds.into_iter().flatten().collect()
}

/// What is timed, and beside what.
pub struct Row {
    pair: Box<dyn Pair>,
    reference: Option<Box<dyn FnMut()>>,
    /// What the reference is.
    pub beside: &'static str,
    /// The least that reference / ours may be.
    pub wanted: f64,
}

impl Row {
    /// Ours beside the plain loop, each with a tensor of its own that begins with what `begin` holds.
    pub fn new<T: Pod>(
        begin: &[T],
        ours: impl FnMut(&mut [T]) + 'static,
        plain: impl FnMut(&mut [T]) + 'static,
    ) -> Self {
        let outs = [(); 2].map(|()| {
            let mut out = Buffer::zeroed(&[begin.len()]);
            out.as_mut_slice().copy_from_slice(begin);
            out
        });
        let pair = Both { outs, ours: Box::new(ours), plain: Box::new(plain) };
        Row { pair: Box::new(pair), reference: None, beside: "loop", wanted: WANTED }
    }

    /// Timed beside another reference in place of the loop: ours may take `times` its time.
    #[must_use]
    pub fn beside(self, name: &'static str, times: f64, reference: impl FnMut() + 'static) -> Self {
        Row { reference: Some(Box::new(reference)), beside: name, wanted: 1.0 / times, ..self }
    }

    /// Whether one call of each gives the same bits. To be asked before anything else is run.
    #[must_use]
    pub fn agrees(&mut self) -> bool {
        self.run_ours();
        self.plain_agrees()
    }

    /// Runs our call once.
    pub fn run_ours(&mut self) {
        self.pair.ours();
    }

    /// Whether the plain loop gives the bits that [`Row::run_ours`] gave.
    #[must_use]
    pub fn plain_agrees(&mut self) -> bool {
        self.pair.plain();
        self.pair.agree()
    }

    /// Medians in milliseconds of this thread's time: ours, and that of the reference, in turn, round by round.
    #[must_use]
    pub fn time(&mut self, rounds: usize) -> [f64; 2] {
        let mut times = [const { Vec::new() }; 2];
        for _ in 0..rounds.max(1) {
            times[0].push(clock::thread_time(&mut || self.pair.ours()));
            times[1].push(match &mut self.reference {
                Some(reference) => clock::thread_time(reference),
                None => clock::thread_time(&mut || self.pair.plain()),
            });
        }
        times.map(clock::middle)
    }
}

/// Two functions with their outputs.
trait Pair {
    fn ours(&mut self);
    fn plain(&mut self);
    fn agree(&self) -> bool;
}

/// A function that writes a tensor.
type Writes<T> = Box<dyn FnMut(&mut [T])>;

struct Both<T> {
    outs: [Buffer<T>; 2],
    ours: Writes<T>,
    plain: Writes<T>,
}

impl<T: Pod> Pair for Both<T> {
    fn ours(&mut self) {
        (self.ours)(self.outs[0].as_mut_slice());
    }

    fn plain(&mut self) {
        (self.plain)(self.outs[1].as_mut_slice());
    }

    fn agree(&self) -> bool {
        self.outs[0].as_bytes() == self.outs[1].as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_compared_to_the_bit() {
        let row = |value: f32| Row::new(&[0.0f32], move |out| out[0] = value, |out| out[0] = 0.0);
        assert!(row(0.0).agrees() && !row(-0.0).agrees());
    }

    #[test]
    fn names_differ() {
        let mut names: Vec<String> = cases().into_iter().map(|case| case.name).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
