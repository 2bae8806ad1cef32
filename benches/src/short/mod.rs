//! Short calls beside the loop that one would write instead: few rows, where the cost of the call itself counts.
//!
//! ```text
//! for each batch of calls:  take the next lists of ids, make their views
//!                           [ call once for each list ] timed
//! ```
//!
//! No two calls in a row get the same ids, so neither the branch predictor nor the caches know them. All ways of a
//! call take their lists from one ring: a way never finds the rows in the caches that the way before it has fetched.

mod bags;
mod grid;
mod indexed;
mod loops;
mod ring;
mod scattered;
mod space;

use std::time::{Duration, Instant};

use gather_core::{Error, Layout};
pub use grid::{Limits, Short, Tables, grid};

/// How a call is made. A new way is a variant, its name, and an arm of [`Call::batch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The plain checked loop.
    Loop,
    /// A plan that was made ahead, on slices, whose lengths alone are compared.
    Slices,
    /// A plan that was made ahead, on views that were made ahead.
    Planned,
    /// The same, by a plan for any count of ids, or for any bags.
    AnyCount,
    /// The operator itself, on views that were made ahead.
    Unplanned,
    /// As [`Way::Planned`], for types that are known at run time.
    Dyn,
    /// As [`Way::Unplanned`], for types that are known at run time.
    DynUnplanned,
}

impl Way {
    /// All of them, in the order of columns.
    pub const ALL: &'static [Way] =
        &[Way::Loop, Way::Slices, Way::Planned, Way::AnyCount, Way::Unplanned, Way::Dyn, Way::DynUnplanned];
    /// Those that take views.
    pub(crate) const ON_VIEWS: &'static [Way] =
        &[Way::Loop, Way::Planned, Way::AnyCount, Way::Unplanned, Way::Dyn, Way::DynUnplanned];
    /// Those of calls without a count.
    pub(crate) const WITHOUT_COUNT: &'static [Way] =
        &[Way::Loop, Way::Planned, Way::Unplanned, Way::Dyn, Way::DynUnplanned];

    /// Its name in tables and ids.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Way::Loop => "loop",
            Way::Slices => "slices",
            Way::Planned => "planned",
            Way::AnyCount => "any count",
            Way::Unplanned => "unplanned",
            Way::Dyn => "dyn",
            Way::DynUnplanned => "dyn unplanned",
        }
    }
}

/// Why a call cannot fail.
const LEGAL: &str = "a legal call";

/// A short call with its inputs.
pub trait Call {
    /// The ways that it can be made.
    fn ways(&self) -> &'static [Way];

    /// Calls that share one reading of the clock.
    fn batch_len(&self) -> usize;

    /// Makes `calls` calls, each with the next list of ids, and returns the time of the calls alone.
    fn batch(&mut self, way: Way, calls: usize) -> Duration;

    /// Goes back to the first list of ids.
    fn rewind(&mut self);

    /// The output of the last call.
    fn output(&mut self) -> &mut [f32];
}

/// Times `calls` calls in batches.
pub fn time(call: &mut dyn Call, way: Way, calls: u64) -> Duration {
    let most = call.batch_len() as u64;
    let full = (0..calls / most).map(|_| call.batch(way, most as usize)).sum::<Duration>();
    match calls % most {
        0 => full,
        rest => full + call.batch(way, rest as usize),
    }
}

/// Lists of ids for which the outputs of all ways are compared.
const CHECKED: usize = 64;

/// Holds the output of every way against the loop's, list by list.
///
/// # Errors
/// The way whose output differs.
pub fn check(call: &mut dyn Call) -> Result<(), String> {
    let ways = call.ways();
    let mut outputs = |way| {
        call.rewind();
        let output = |_| {
            // What no table holds, and what sums keep.
            call.output().fill(0.5);
            call.batch(way, 1);
            call.output().iter().map(|value| value.to_bits()).collect::<Vec<u32>>()
        };
        (0..CHECKED).map(output).collect::<Vec<_>>()
    };
    let expected = outputs(Way::Loop);
    match ways.iter().find(|&&way| outputs(way) != expected) {
        Some(way) => Err(format!("{} does not give what the loop gives", way.name())),
        None => Ok(()),
    }
}

/// A row-major layout.
fn layout(shape: &[usize]) -> Layout {
    Layout::contiguous(shape).expect(LEGAL)
}

/// The time of `work`.
fn clock(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The time of a call for each list.
fn each<L>(lists: &[L], mut call: impl FnMut(&L) -> Result<(), Error>) -> Duration {
    clock(|| lists.iter().for_each(|ids| call(std::hint::black_box(ids)).expect(LEGAL)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_gives_what_the_loop_gives() {
        let tables = Tables::default();
        // The large table takes longer to make than all the rest.
        for short in grid().into_iter().filter(|short| !short.name().contains("150MB")) {
            let mut call = short.prepare(&tables);
            assert_eq!(check(&mut *call), Ok(()), "{}", short.name());
        }
    }

    /// A call whose second way is wrong from its second list on.
    struct Wrong {
        list: usize,
        out: [f32; 1],
    }

    impl Call for Wrong {
        fn ways(&self) -> &'static [Way] {
            &[Way::Loop, Way::Planned]
        }

        fn batch_len(&self) -> usize {
            10
        }

        fn batch(&mut self, way: Way, calls: usize) -> Duration {
            self.out = [if way == Way::Planned && self.list > 0 { 2.0 } else { 1.0 }];
            self.list += 1;
            Duration::from_nanos(calls as u64)
        }

        fn rewind(&mut self) {
            self.list = 0;
        }

        fn output(&mut self) -> &mut [f32] {
            &mut self.out
        }
    }

    #[test]
    fn a_wrong_output_is_found() {
        let message = "planned does not give what the loop gives".to_owned();
        assert_eq!(check(&mut Wrong { list: 0, out: [0.0] }), Err(message));
    }

    #[test]
    fn every_call_is_timed() {
        let mut call = Wrong { list: 0, out: [0.0] };
        for (calls, batches) in [(1, 1), (10, 1), (25, 3)] {
            call.rewind();
            assert_eq!(time(&mut call, Way::Loop, calls), Duration::from_nanos(calls));
            assert_eq!(call.list, batches);
        }
    }
}
