//! The report as markdown.

use std::fmt::Write;

use super::facts::{facts, headlines, warnings};
use super::model::Report;
use super::tables::{Cell, Table, compared, others};

/// How it was measured, in words: paragraphs that begin with what they are about.
pub const METHOD: &str = include_str!("method.md");

/// The report without charts: the headline, the machine, the tables, the method.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let mut text = format!("# gather-core and its peers\n\n{}", head(report));
    // Writing to a string does not fail.
    for (name, value) in facts(report) {
        let _ = writeln!(text, "- {name}: {value}");
    }
    for table in compared(report).iter().chain(&others(report)) {
        let _ = write!(text, "\n## {}\n\n{}", table.title, self::table(table));
    }
    text + "\n## Method\n\n" + METHOD
}

/// Warnings and the headline, which is what a terminal shows.
#[must_use]
pub fn head(report: &Report) -> String {
    let warnings = warnings(report).into_iter().map(|warning| format!("> **Warning.** {warning}\n\n"));
    warnings.chain(headlines(report).into_iter().map(|text| text + "\n\n")).collect()
}

fn table(table: &Table) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let mut text = if table.remark.is_empty() { String::new() } else { format!("{}\n\n", table.remark) };
    text += &line(&mut table.head.iter().map(|name| escaped(name)));
    text += &format!("|{}\n", "---|".repeat(table.head.len()));
    for row in &table.rows {
        text += &line(&mut row.iter().map(cell));
    }
    text
}

fn cell(cell: &Cell) -> String {
    let text = escaped(&cell.text);
    if cell.strong { format!("**{text}**") } else { text }
}

/// A text that cannot end its cell or its line.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::report;

    #[test]
    fn rows_have_as_many_cells_as_the_head() {
        for table in compared(&report()).into_iter().chain(others(&report())) {
            let markdown = super::table(&table);
            let lines = markdown.lines().filter(|line| line.starts_with('|'));
            let counts: Vec<usize> = lines.map(|line| line.replace("\\|", "").matches('|').count()).collect();
            assert_eq!(counts.len(), table.rows.len() + 2);
            assert!(counts.iter().all(|&count| count == table.head.len() + 1), "{markdown}");
        }
    }

    #[test]
    fn what_would_break_a_cell_is_escaped() {
        let cells = vec![Cell { text: "a | b\n c".into(), strong: true, ..Cell::default() }];
        let table = Table { title: String::new(), remark: "Note.".into(), head: vec!["x".into()], rows: vec![cells] };
        assert_eq!(super::table(&table), "Note.\n\n| x |\n|---|\n| **a \\| b c** |\n");
    }

    #[test]
    fn the_report_names_machine_method_and_failures() {
        let text = markdown(&report());
        for part in ["# gather-core", "- machine: Test CPU", "**Right first.**", "| broken | failed | signal 11 |"] {
            assert!(text.contains(part), "{part}");
        }
        assert_eq!(text.matches("## Times of gathers, ").count(), 2);
        assert!(head(&report()).starts_with("On gathers gather-core is "));
        assert!(!text.contains("Warning"));
        let mut report = report();
        report.run.loads = vec![9.0];
        assert!(head(&report).starts_with("> **Warning.** The machine was loaded."));
    }
}
