//! What tables say about a set of times.

use serde::{Deserialize, Serialize};

/// The middle and the spread of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many times there are.
    pub n: usize,
    /// The least.
    pub min: f64,
    /// The first quartile: a quarter lies below.
    pub q1: f64,
    /// Half lies below.
    pub median: f64,
    /// The third quartile: three quarters lie below.
    pub q3: f64,
}

impl Summary {
    /// Summarises times in any order; `None` if there are none.
    #[must_use]
    pub fn of(times: &[f64]) -> Option<Self> {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let &min = sorted.first()?;
        let [q1, median, q3] = [0.25, 0.5, 0.75].map(|part| quantile(&sorted, part));
        Some(Summary { n: sorted.len(), min, q1, median, q3 })
    }

    /// The distance between the quartiles, in percent of the median.
    #[must_use]
    pub fn spread(&self) -> f64 {
        (self.q3 - self.q1) / self.median * 100.0
    }
}

/// The value below which a part of the sorted values lies, interpolated between its neighbours.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let at = part * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

/// The geometric mean; `None` of nothing.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.into_iter().fold((0u32, 0.0), |(count, sum), value| (count + 1, sum + value.ln()));
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_values_in_proportion() {
        let summary = Summary::of(&[4.0, 1.0, 3.0, 2.0]).expect("four times");
        assert_eq!((summary.q1, summary.median, summary.q3), (1.75, 2.5, 3.25));
        assert_eq!((summary.n, summary.min), (4, 1.0));
        assert_eq!(summary.spread(), 60.0);
    }

    #[test]
    fn few_times_are_enough_and_none_are_not() {
        assert_eq!(Summary::of(&[]), None);
        let one = Summary::of(&[5.0]).expect("one time");
        assert_eq!((one.min, one.q1, one.median, one.q3), (5.0, 5.0, 5.0, 5.0));
    }

    #[test]
    fn geometric_means_weigh_twice_and_half_alike() {
        let mean = geometric_mean([0.5, 2.0]).expect("two values");
        assert!((mean - 1.0).abs() < 1e-12, "{mean}");
        let mean = geometric_mean([1.0, 10.0, 100.0]).expect("three values");
        assert!((mean - 10.0).abs() < 1e-12, "{mean}");
        assert_eq!(geometric_mean([]), None);
    }
}
