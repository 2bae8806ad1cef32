//! What tables say about a set of times.

/// The middle and the spread of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// The greatest.
    pub max: f64,
    /// How many lie outside of the quartiles by more than 1.5 times the distance between them (Tukey's fences).
    pub outliers: usize,
}

impl Summary {
    /// Summarises times in any order; `None` if there are none.
    #[must_use]
    pub fn of(times: &[f64]) -> Option<Self> {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let [q1, median, q3] = [0.25, 0.5, 0.75].map(|part| quantile(&sorted, part));
        let fence = 1.5 * (q3 - q1);
        let outliers = sorted.iter().filter(|&&time| time < q1 - fence || time > q3 + fence).count();
        Some(Summary { n: sorted.len(), min, q1, median, q3, max, outliers })
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
        assert_eq!((summary.n, summary.min, summary.max, summary.outliers), (4, 1.0, 4.0, 0));
        assert_eq!(summary.spread(), 60.0);
    }

    #[test]
    fn a_time_beyond_the_fences_is_an_outlier_and_moves_no_quartile() {
        let summary = Summary::of(&[10.0, 10.0, 11.0, 11.0, 12.0, 12.0, 90.0]).expect("seven times");
        assert_eq!((summary.median, summary.max, summary.outliers), (11.0, 90.0, 1));
        // The fences are 10.5 - 2.25 and 12 + 2.25: what lies on one is within.
        assert_eq!(Summary::of(&[8.25, 10.5, 10.5, 11.0, 12.0, 12.0, 14.25]).map(|summary| summary.outliers), Some(0));
    }

    #[test]
    fn few_times_are_enough_and_none_are_not() {
        assert_eq!(Summary::of(&[]), None);
        let one = Summary::of(&[5.0]).expect("one time");
        assert_eq!((one.min, one.q1, one.median, one.q3, one.max, one.outliers), (5.0, 5.0, 5.0, 5.0, 5.0, 0));
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
