//! Committed counts, and the report when they differ.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::limits::Limits;

/// How many more instructions than its baseline a call may take, in percent.
pub const TOLERANCE: f64 = 3.0;

const HEAD: &str = "\
# Instructions of one call on a small fixed input, counted by callgrind: name, then count.
# Calls are planned ahead unless their names say otherwise.
# Counts depend on the compiler, not on the processor: another rustc may give other counts.
# Written by `GATHER_BLESS=1 cargo run --profile bench --no-default-features -p gather-benches --bin instructions`.
# Read the diff before you commit it.
";
const TOOLCHAIN: &str = "# toolchain: ";

/// Counts by call, and the toolchain that they hold for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baselines {
    /// The compiler and the architecture.
    pub toolchain: String,
    /// Instructions of each call.
    pub counts: BTreeMap<String, u64>,
}

impl fmt::Display for Baselines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}{TOOLCHAIN}{}", self.toolchain)?;
        self.counts.iter().try_for_each(|(name, count)| writeln!(f, "{name} {count}"))
    }
}

impl FromStr for Baselines {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut baselines = Baselines { toolchain: String::new(), counts: BTreeMap::new() };
        for (at, line) in text.lines().enumerate() {
            if let Some(toolchain) = line.strip_prefix(TOOLCHAIN) {
                baselines.toolchain = toolchain.to_owned();
            } else if !line.starts_with('#') && !line.is_empty() {
                let entry = line.split_once(' ').and_then(|(name, count)| Some((name.to_owned(), count.parse().ok()?)));
                let (name, count) = entry.ok_or_else(|| format!("line {}: no name and count: {line}", at + 1))?;
                baselines.counts.insert(name, count);
            }
        }
        Ok(baselines)
    }
}

/// Counts beside their baselines and limits.
pub struct Verdict {
    rows: Vec<Row>,
    toolchains: [String; 2],
    /// Whether limits count.
    enforced: bool,
}

struct Row {
    name: String,
    baseline: Option<u64>,
    count: Option<u64>,
    limit: Option<u64>,
}

impl Row {
    /// The growth of the count in percent; `None` if one side is missing.
    fn growth(&self) -> Option<f64> {
        let (baseline, count) = (self.baseline? as f64, self.count? as f64);
        Some((count / baseline - 1.0) * 100.0)
    }

    /// The limit, where the count is over it.
    fn over(&self) -> Option<u64> {
        self.limit.filter(|&limit| self.count.is_some_and(|count| count > limit))
    }

    fn remark(&self) -> String {
        let change = match (self.baseline, self.growth()) {
            (None, _) => "new: bless it",
            (_, None) => "gone: bless it",
            (_, Some(growth)) if growth > TOLERANCE => "MORE",
            (_, Some(growth)) if growth < -TOLERANCE => "fewer: bless it, to keep the gain",
            _ => "",
        };
        let limit = self.over().map(|limit| format!("over the limit of {limit}"));
        [change.to_owned(), limit.unwrap_or_default()].join("  ").trim().to_owned()
    }

    /// A kernel without a baseline fails, and so does a baseline without a kernel: nothing would guard it.
    fn passes(&self) -> bool {
        self.growth().is_some_and(|growth| growth <= TOLERANCE)
    }
}

impl Verdict {
    /// Compares.
    #[must_use]
    pub fn of(baselines: &Baselines, counted: &Baselines, limits: &Limits<'_>) -> Self {
        let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
        let row = |name: &str| Row { name: name.to_owned(), baseline: None, count: None, limit: limits.of(name) };
        for (name, &count) in &baselines.counts {
            rows.entry(name).or_insert_with(|| row(name)).baseline = Some(count);
        }
        for (name, &count) in &counted.counts {
            rows.entry(name).or_insert_with(|| row(name)).count = Some(count);
        }
        let toolchains = [baselines.toolchain.clone(), counted.toolchain.clone()];
        Verdict { rows: rows.into_values().collect(), toolchains, enforced: limits.enforced }
    }

    /// Whether no count has grown beyond the tolerance, every kernel has its baseline, and no limit that counts is
    /// passed.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.rows.iter().all(Row::passes) && (!self.enforced || self.over() == 0)
    }

    /// How many counts are over their limits.
    fn over(&self) -> usize {
        self.rows.iter().filter(|row| row.over().is_some()).count()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
        writeln!(f, "{:<48} {:>10} {:>10} {:>9}", "instructions of a call", "baseline", "now", "change")?;
        for row in &self.rows {
            let growth = row.growth().map_or("-".to_owned(), |growth| format!("{growth:+.2} %"));
            let line = format!(
                "{:<48} {:>10} {:>10} {growth:>9}  {}",
                row.name,
                number(row.baseline),
                number(row.count),
                row.remark()
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        if self.over() > 0 {
            let why = if self.enforced { "this fails the gate" } else { "no limit fails the gate yet" };
            writeln!(f, "over their limits: {} calls; {why}", self.over())?;
        }
        let failed = self.rows.iter().filter(|row| !row.passes()).count();
        if failed == 0 {
            return write!(f, "{} calls within {TOLERANCE} percent of their baselines", self.rows.len());
        }
        let [before, now] = &self.toolchains;
        writeln!(f, "{failed} of {} calls outside {TOLERANCE} percent of their baselines", self.rows.len())?;
        if before != now {
            writeln!(f, "the baselines were made by {before}, this is {now}: other compilers give other counts")?;
        }
        let command = "cargo run --profile bench --no-default-features -p gather-benches --bin instructions";
        write!(f, "to accept these counts: GATHER_BLESS=1 {command}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Limits<'static> = Limits { most: &[], enforced: true };

    fn counts(toolchain: &str, list: &[(&str, u64)]) -> Baselines {
        let counts = list.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
        Baselines { toolchain: toolchain.to_owned(), counts }
    }

    #[test]
    fn what_is_written_is_read() {
        let written = counts("rustc 1.95.0 on x86_64", &[("gather/take", 10), ("gather_nd/k2", 2_000_000)]);
        assert_eq!(written.to_string().parse(), Ok(written));
    }

    #[test]
    fn a_line_without_a_count_is_refused() {
        assert_eq!(
            "# head\ngather/take\n".parse::<Baselines>(),
            Err("line 2: no name and count: gather/take".to_owned())
        );
        assert!("gather/take ten".parse::<Baselines>().is_err());
    }

    #[test]
    fn growth_beyond_the_tolerance_fails_and_names_the_kernel() {
        let before = counts("a", &[("one", 1000), ("two", 1000)]);
        assert!(Verdict::of(&before, &counts("a", &[("one", 1029), ("two", 500)]), &NONE).passes());
        let verdict = Verdict::of(&before, &counts("a", &[("one", 1031), ("two", 1000)]), &NONE);
        assert!(!verdict.passes());
        let text = verdict.to_string();
        assert!(text.contains("+3.10 %  MORE") && text.contains("1 of 2 calls"), "{text}");
        assert!(!text.contains("other compilers"), "{text}");
    }

    #[test]
    fn a_missing_side_fails() {
        let one = counts("a", &[("one", 1000)]);
        let both = counts("a", &[("one", 1000), ("two", 1000)]);
        assert!(!Verdict::of(&one, &both, &NONE).passes());
        assert!(!Verdict::of(&both, &one, &NONE).passes());
    }

    #[test]
    fn another_compiler_is_named() {
        let [before, now] = [counts("rustc 1", &[("one", 10)]), counts("rustc 2", &[("one", 20)])];
        let text = Verdict::of(&before, &now, &NONE).to_string();
        assert!(text.contains("made by rustc 1, this is rustc 2"), "{text}");
    }

    #[test]
    fn a_count_over_its_limit_is_told_and_fails_where_limits_count() {
        let same = counts("a", &[("one", 250), ("two", 251)]);
        for enforced in [false, true] {
            let limits = Limits { most: &[("one", 249), ("two", 251)], enforced };
            let verdict = Verdict::of(&same, &same, &limits);
            assert_eq!(verdict.passes(), !enforced, "{enforced}");
            let text = verdict.to_string();
            assert!(text.contains("over the limit of 249") && text.contains("over their limits: 1"), "{text}");
        }
        let limits = Limits { most: &[("one", 250), ("three", 1)], enforced: true };
        assert!(Verdict::of(&same, &same, &limits).passes());
    }
}
