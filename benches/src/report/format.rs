//! Numbers as tables and charts have them.

/// Three significant digits; whole numbers keep all of theirs.
#[must_use]
pub fn three_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let digits = (2.0 - value.abs().log10().floor()).max(0.0) as usize;
    format!("{value:.digits$}")
}

/// Nanoseconds in the unit that fits.
#[must_use]
pub fn time(nanos: f64) -> String {
    let (value, unit) = match nanos {
        nanos if nanos >= 1e9 => (nanos / 1e9, "s"),
        nanos if nanos >= 1e6 => (nanos / 1e6, "ms"),
        nanos if nanos >= 1e3 => (nanos / 1e3, "µs"),
        nanos => (nanos, "ns"),
    };
    format!("{} {unit}", three_digits(value))
}

/// Bytes in binary units.
#[must_use]
pub fn bytes(bytes: usize) -> String {
    let units = ["B", "KiB", "MiB", "GiB"];
    let power = (0..units.len()).rev().find(|&power| bytes >> (10 * power) > 0).unwrap_or(0);
    let whole = 1usize << (10 * power);
    if bytes.is_multiple_of(whole) {
        format!("{} {}", bytes / whole, units[power])
    } else {
        format!("{} {}", three_digits(bytes as f64 / whole as f64), units[power])
    }
}

/// How many times as fast.
#[must_use]
pub fn times(ratio: f64) -> String {
    if ratio >= 10.0 { format!("{ratio:.0}×") } else { format!("{ratio:.2}×") }
}

/// A tick of an axis: no more digits than it needs.
#[must_use]
pub fn plain(value: f64) -> String {
    let digits = if value >= 1.0 { 10.0 } else { 1000.0 };
    format!("{}", (value * digits).round() / digits)
}

/// `1 thread`, `2 threads`.
#[must_use]
pub fn threads(threads: usize) -> String {
    if threads == 1 { "1 thread".into() } else { format!("{threads} threads") }
}

/// The day of a date in UTC.
#[must_use]
pub fn day(date: &str) -> &str {
    date.split('T').next().unwrap_or_default()
}

/// Names with commas between them, and `and` before the last.
#[must_use]
pub fn listed(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match &names[..] {
        [] => "nothing".into(),
        [one] => (*one).into(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed() {
        assert_eq!([listed(&["a"]), listed(&["a", "b"]), listed(&["a", "b", "c"])], ["a", "a and b", "a, b and c"]);
        assert_eq!(listed(&[] as &[&str]), "nothing");
    }

    #[test]
    fn times_have_three_digits_and_a_unit() {
        assert_eq!(time(45.04), "45.0 ns");
        assert_eq!(time(999.0), "999 ns");
        assert_eq!(time(2_061_000.0), "2.06 ms");
        assert_eq!(time(337_400_000.0), "337 ms");
        assert_eq!(time(1234.0), "1.23 µs");
        assert_eq!(time(2.5e9), "2.50 s");
        assert_eq!(three_digits(0.018_84), "0.0188");
        assert_eq!(three_digits(12345.6), "12346");
        assert_eq!(three_digits(0.0), "0");
    }

    #[test]
    fn bytes_have_binary_units() {
        assert_eq!(bytes(64), "64 B");
        assert_eq!(bytes(4096), "4 KiB");
        assert_eq!(bytes(1536), "1.50 KiB");
        assert_eq!(bytes(256 << 20), "256 MiB");
        assert_eq!(bytes(0), "0 B");
    }

    #[test]
    fn ratios_and_ticks_are_short() {
        assert_eq!([times(2.426), times(0.891), times(21.05)], ["2.43×", "0.89×", "21×"]);
        assert_eq!([plain(0.1), plain(0.5), plain(20.0), plain(1.5)], ["0.1", "0.5", "20", "1.5"]);
        assert_eq!([threads(1), threads(2)], ["1 thread", "2 threads"]);
    }
}
