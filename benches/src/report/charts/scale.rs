//! Axes: from values to places, and the places of ticks.

/// A logarithmic axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Log {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Log {
    /// An axis that puts the values from `low` to `high` on the places from `from` to `to`.
    #[must_use]
    pub fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        Log { low, high, from, to }
    }

    /// The place of a value. A value outside of the axis is put at its end.
    #[must_use]
    pub fn at(&self, value: f64) -> f64 {
        let part = (value.clamp(self.low, self.high) / self.low).ln() / (self.high / self.low).ln();
        self.from + (self.to - self.from) * part
    }

    /// Round values at least `gap` apart: 1, 2 and 5 of each decade, or fewer, or only powers of ten.
    #[must_use]
    pub fn ticks(&self, gap: f64) -> Vec<f64> {
        let fits = |ticks: &Vec<f64>| ticks.windows(2).all(|pair| (self.at(pair[1]) - self.at(pair[0])).abs() >= gap);
        let steps: [&[f64]; 3] = [&[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
        let decades = steps.iter().map(|steps| self.multiples(10.0, steps));
        decades.into_iter().find(fits).unwrap_or_else(|| self.multiples(1000.0, &[1.0]))
    }

    /// The multiples of powers of a base that lie on the axis.
    fn multiples(&self, base: f64, steps: &[f64]) -> Vec<f64> {
        let exponent = |value: f64| value.log(base).floor() as i32;
        // Powers below 1 are not exact: a value that is off by a rounding error still lies on the axis.
        let on_axis = |value: &f64| *value >= self.low * (1.0 - 1e-9) && *value <= self.high * (1.0 + 1e-9);
        let powers = exponent(self.low)..=exponent(self.high) + 1;
        let ticks = powers.flat_map(|power| steps.iter().map(move |step| step * base.powi(power)));
        ticks.filter(on_axis).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_logarithmic_axis_is_the_geometric_mean() {
        let axis = Log::new((1.0, 100.0), (50.0, 250.0));
        assert_eq!((axis.at(1.0), axis.at(100.0)), (50.0, 250.0));
        assert!((axis.at(10.0) - 150.0).abs() < 1e-9);
        assert_eq!((axis.at(0.1), axis.at(1e9)), (50.0, 250.0));
        let upwards = Log::new((1.0, 100.0), (250.0, 50.0));
        assert!((upwards.at(10.0) - 150.0).abs() < 1e-9);
    }

    #[test]
    fn ticks_are_round_and_have_room() {
        let near = |ticks: Vec<f64>, expected: &[f64]| {
            assert_eq!(ticks.len(), expected.len(), "{ticks:?}");
            assert!(ticks.iter().zip(expected).all(|(tick, value)| (tick / value - 1.0).abs() < 1e-9), "{ticks:?}");
        };
        near(Log::new((0.5, 20.0), (0.0, 400.0)).ticks(20.0), &[0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        near(Log::new((0.5, 200.0), (0.0, 150.0)).ticks(35.0), &[1.0, 10.0, 100.0]);
        near(Log::new((0.001, 0.1), (0.0, 100.0)).ticks(50.0), &[0.001, 0.01, 0.1]);
    }
}
