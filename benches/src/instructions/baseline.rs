//! Committed counts, and what is said when they differ.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// How many more instructions than its baseline a call may take, in percent.
pub const TOLERANCE: f64 = 3.0;

const HEAD: &str = "\
# Instructions of one planned call on a small fixed input, counted by callgrind: name, then count.
# They depend on the compiler, not on the processor: another rustc may give other counts.
# Written by `GATHER_BLESS=1 cargo run --release -p gather-benches --bin instructions`; read the diff before you commit it.
";
const TOOLCHAIN: &str = "# toolchain: ";

/// Counts by kernel, and the toolchain they hold for.
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

/// Counts beside their baselines.
pub struct Verdict {
    rows: Vec<Row>,
    toolchains: [String; 2],
}

struct Row {
    name: String,
    baseline: Option<u64>,
    count: Option<u64>,
}

impl Row {
    /// By how many percent the count has grown; `None` where one side is missing.
    fn growth(&self) -> Option<f64> {
        let (baseline, count) = (self.baseline? as f64, self.count? as f64);
        Some((count / baseline - 1.0) * 100.0)
    }

    fn remark(&self) -> &'static str {
        match (self.baseline, self.growth()) {
            (None, _) => "new: bless it",
            (_, None) => "gone: bless it",
            (_, Some(growth)) if growth > TOLERANCE => "MORE",
            (_, Some(growth)) if growth < -TOLERANCE => "fewer: bless it, to keep the gain",
            _ => "",
        }
    }

    /// A kernel without a baseline, or a baseline without a kernel, is not let through: nothing would guard it.
    fn passes(&self) -> bool {
        self.growth().is_some_and(|growth| growth <= TOLERANCE)
    }
}

impl Verdict {
    /// Compares.
    #[must_use]
    pub fn of(baselines: &Baselines, counted: &Baselines) -> Self {
        let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
        let row = |name: &str| Row { name: name.to_owned(), baseline: None, count: None };
        for (name, &count) in &baselines.counts {
            rows.entry(name).or_insert_with(|| row(name)).baseline = Some(count);
        }
        for (name, &count) in &counted.counts {
            rows.entry(name).or_insert_with(|| row(name)).count = Some(count);
        }
        let toolchains = [baselines.toolchain.clone(), counted.toolchain.clone()];
        Verdict { rows: rows.into_values().collect(), toolchains }
    }

    /// Whether no count has grown beyond the tolerance, and every kernel has its baseline.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.rows.iter().all(Row::passes)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
        writeln!(f, "{:<48} {:>10} {:>10} {:>9}", "instructions of a planned call", "baseline", "now", "change")?;
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
        let failed = self.rows.iter().filter(|row| !row.passes()).count();
        if failed == 0 {
            return write!(f, "{} kernels within {TOLERANCE} percent of their baselines", self.rows.len());
        }
        let [before, now] = &self.toolchains;
        writeln!(f, "{failed} of {} kernels outside {TOLERANCE} percent of their baselines", self.rows.len())?;
        if before != now {
            writeln!(f, "the baselines were made by {before}, this is {now}: other compilers give other counts")?;
        }
        write!(f, "if that is meant: GATHER_BLESS=1 cargo run --release -p gather-benches --bin instructions")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(Verdict::of(&before, &counts("a", &[("one", 1029), ("two", 500)])).passes());
        let verdict = Verdict::of(&before, &counts("a", &[("one", 1031), ("two", 1000)]));
        assert!(!verdict.passes());
        let text = verdict.to_string();
        assert!(text.contains("+3.10 %  MORE") && text.contains("1 of 2 kernels"), "{text}");
        assert!(!text.contains("other compilers"), "{text}");
    }

    #[test]
    fn a_missing_side_fails() {
        let one = counts("a", &[("one", 1000)]);
        let both = counts("a", &[("one", 1000), ("two", 1000)]);
        assert!(!Verdict::of(&one, &both).passes());
        assert!(!Verdict::of(&both, &one).passes());
    }

    #[test]
    fn another_compiler_is_named() {
        let text = Verdict::of(&counts("rustc 1", &[("one", 10)]), &counts("rustc 2", &[("one", 20)])).to_string();
        assert!(text.contains("made by rustc 1, this is rustc 2"), "{text}");
    }
}
