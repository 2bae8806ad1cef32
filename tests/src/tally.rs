//! Counts of conformance cases: what passed, by source; what failed; what was skipped, and why.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fmt;

use crate::cases::Case;
use crate::faces::Outcome;

/// The source of the cases that this repository generates itself. All others come from outside.
pub const OWN: &str = "oracle";

/// Counts of outcomes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cases that passed, by source.
    pub passed: BTreeMap<String, usize>,
    /// A line for each case that failed.
    pub failed: Vec<String>,
    /// Cases that were skipped, by reason and operator.
    pub skipped: BTreeMap<&'static str, BTreeMap<String, usize>>,
}

impl Tally {
    /// Counts a case.
    pub fn count(&mut self, case: &Case, outcome: Outcome) {
        match outcome {
            Outcome::Passed => *self.passed.entry(case.source.clone()).or_default() += 1,
            Outcome::Failed(message) => {
                self.failed.push(format!("{} ({} {}): {message}", case.id, case.op, case.profile));
            }
            Outcome::Skipped(reason) => {
                *self.skipped.entry(reason).or_default().entry(case.op.clone()).or_default() += 1;
            }
        }
    }

    /// Adds the counts of another.
    pub fn add(&mut self, other: Tally) {
        for (source, count) in other.passed {
            *self.passed.entry(source).or_default() += count;
        }
        self.failed.extend(other.failed);
        for (reason, ops) in other.skipped {
            let sum = self.skipped.entry(reason).or_default();
            ops.into_iter().for_each(|(op, count)| *sum.entry(op).or_default() += count);
        }
    }

    /// How many cases from outside passed.
    #[must_use]
    pub fn from_outside(&self) -> usize {
        self.passed.iter().filter(|(source, _)| *source != OWN).map(|(_, count)| count).sum()
    }

    /// How many cases of our own oracle passed.
    #[must_use]
    pub fn from_oracle(&self) -> usize {
        self.passed.get(OWN).copied().unwrap_or(0)
    }

    /// `N passed, M failed, K skipped`.
    #[must_use]
    pub fn line(&self) -> String {
        let passed: usize = self.passed.values().sum();
        let skipped: usize = self.skipped.values().flat_map(BTreeMap::values).sum();
        format!("{passed} passed, {} failed, {skipped} skipped", self.failed.len())
    }
}

/// Names with their counts, such as `seed 40, tf 104`.
fn list<'a>(counts: impl Iterator<Item = (&'a String, &'a usize)>) -> String {
    counts.map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
}

/// The sources of the cases that passed, what was skipped and why, and the total.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outside = self.passed.iter().filter(|(source, _)| *source != OWN);
        writeln!(f, "passed, from outside: {} ({})", self.from_outside(), list(outside))?;
        writeln!(f, "passed, from our own oracle: {}", self.from_oracle())?;
        for (reason, ops) in &self.skipped {
            writeln!(f, "skipped: {}, {reason} ({})", ops.values().sum::<usize>(), list(ops.iter()))?;
        }
        write!(f, "total: {}", self.line())
    }
}
