//! The charts: what is drawn (here and in `figures`), of what kind (`rows`, `lines`), in which colours (`engines`),
//! out of which marks (`svg`, `scale`).

pub(crate) mod engines;
mod figures;
pub mod lines;
pub mod rows;
pub mod scale;
pub mod svg;

use lines::Lines;
use rows::Rows;
use svg::Drawing;

use super::model::{Report, Section};

/// A chart.
pub struct Chart {
    /// The name of its file.
    pub name: String,
    /// What it shows, in a line.
    pub title: String,
    /// How to read it.
    pub caption: String,
    figure: Figure,
}

enum Figure {
    Rows(Rows),
    Lines(Lines),
}

impl Chart {
    /// The chart, laid out for a width.
    #[must_use]
    pub fn draw(&self, width: f64) -> Drawing {
        match &self.figure {
            Figure::Rows(rows) => rows.draw(width),
            Figure::Lines(lines) => lines.draw(width),
        }
    }
}

/// The charts for which a report has measurements.
#[must_use]
pub fn charts(report: &Report) -> Vec<Chart> {
    let ratios = Section::COMPARED.into_iter().flat_map(|section| {
        report.run.threads.iter().filter_map(move |&threads| figures::ratio(report, section, threads))
    });
    let others = [
        figures::throughput(report),
        figures::scaling(report),
        figures::row_bytes(report),
        figures::table_bytes(report),
        figures::latency(report),
    ];
    ratios.chain(others.into_iter().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::report;

    #[test]
    fn there_is_a_chart_for_what_was_measured_and_for_nothing_else() {
        let mut report = report();
        let names = |report: &Report| charts(report).into_iter().map(|chart| chart.name).collect::<Vec<_>>();
        assert_eq!(
            names(&report),
            ["ratio-1", "ratio-2", "throughput", "threads", "row-bytes", "table-bytes", "latency"]
        );
        report.run.threads = vec![1];
        report.results.retain(|result| result.threads == 1 && !result.workload.starts_with("row_bytes"));
        assert_eq!(names(&report), ["ratio-1", "throughput", "table-bytes", "latency"]);
        report.results.clear();
        assert!(charts(&report).is_empty());
    }

    #[test]
    fn charts_are_drawn_at_every_width() {
        for chart in charts(&report()) {
            for width in [360.0, 1000.0] {
                let drawing = chart.draw(width);
                assert!(drawing.height > 50.0 && drawing.marks.into_string().contains("gather"), "{}", chart.name);
            }
        }
    }
}
