//! The report as one page, which needs no other file.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::charts::{Chart, svg};
use super::facts::{facts, headlines, warnings};
use super::markdown::METHOD;
use super::model::Report;
use super::record;
use super::tables::{Table, compared, others};

const STYLE: &str = include_str!("style/page.css");

/// The widths that charts are laid out for; the style sheet shows the one that fits.
const WIDE: f64 = 1040.0;
const NARROW: f64 = 368.0;

/// The page.
#[must_use]
pub fn page(report: &Report, charts: &[Chart]) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "gather-core and its peers" }
                style { (PreEscaped(STYLE)) (PreEscaped(svg::STYLE)) }
            }
            body {
                h1 { "gather-core and its peers" }
                @for warning in warnings(report) { p.warning role="alert" { strong { "Warning. " } (warning) } }
                @for text in headlines(report) { p.headline { (text) } }
                dl { @for (name, value) in facts(report) { dt { (name) } dd { (value) } } }
                @for chart in charts { (figure(chart)) }
                @for each in compared(report) { section { h2 { (each.title) } (table(&each)) } }
                @if !report.record.is_empty() {
                    section {
                        h2 { "Measurements of other programs" }
                        p { "Each on the machine and day that it names: pages of " code { "benches/record" } "." }
                        @for each in &report.record {
                            details id=(each.name) {
                                summary { h2 { (each.title) } }
                                div.record { (PreEscaped(record::html(each))) }
                            }
                        }
                    }
                }
                @for each in others(report) { details { summary { h2 { (each.title) } } (table(&each)) } }
                section {
                    h2 { "Method" }
                    @for (about, text) in METHOD.split("\n\n").filter_map(|part| part.split_once("** ")) {
                        p { strong { (about.trim_start_matches('*')) } " " (quoted(text)) }
                    }
                }
            }
        }
    };
    markup.into_string()
}

fn figure(chart: &Chart) -> Markup {
    html! {
        figure id=(chart.name) {
            h2 { (chart.title) }
            div.wide { (chart.rows.draw(WIDE).inline(&chart.title)) }
            div.narrow { (chart.rows.draw(NARROW).inline(&chart.title)) }
            figcaption { (chart.caption) }
        }
    }
}

fn table(table: &Table) -> Markup {
    html! {
        @if !table.remark.is_empty() { p { (quoted(&table.remark)) } }
        div.scrolled tabindex="0" {
            table {
                thead { tr { @for name in &table.head { th { (name) } } } }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (at, cell) in row.iter().enumerate() {
                                @let more = (!cell.more.is_empty()).then_some(&cell.more);
                                @if at == 0 { th scope="row" title=[more] { (cell.text) } }
                                @else if cell.strong { td title=[more] { strong { (cell.text) } } }
                                @else { td title=[more] { (cell.text) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A text in which what stands between backticks is code.
fn quoted(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::charts::charts;
    use crate::report::samples::report;

    #[test]
    fn the_page_needs_no_other_file() {
        let report = report();
        let page = page(&report, &charts(&report));
        for outside in ["http://", "https://", "src=", "href=", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("prefers-color-scheme: dark") && page.contains("width=device-width"));
    }

    #[test]
    fn every_chart_is_there_in_two_widths_and_every_table_once() {
        let report = report();
        let charts = charts(&report);
        let page = page(&report, &charts);
        assert_eq!(page.matches("<svg").count(), 2 * charts.len());
        assert_eq!(page.matches("<table>").count(), compared(&report).len() + others(&report).len());
        assert!(page.contains(">failed<") && page.contains(">wrong<"));
    }

    #[test]
    fn pages_of_the_record_are_folded_and_need_no_other_file() {
        let mut report = report();
        report.record = record::read(&record::folder()).expect("pages with titles");
        let page = page(&report, &charts(&report));
        assert!(!page.contains("href=") && !page.contains("src="));
        for each in &report.record {
            let begin = format!("<details id=\"{}\"><summary><h2>{}</h2></summary>", each.name, each.title);
            assert!(page.contains(&begin), "{begin}");
        }
    }

    #[test]
    fn charts_come_before_the_method_and_warnings_before_all() {
        let mut report = report();
        report.run.loads = vec![9.0];
        let page = page(&report, &charts(&report));
        let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
        let places = ["class=\"warning\"", "class=\"headline\"", "<svg", "<table>", ">Method<"].map(at);
        assert!(places.is_sorted(), "{places:?}");
    }

    #[test]
    fn code_is_set_as_such_and_texts_are_escaped() {
        assert_eq!(quoted("a `b<c` d").into_string(), "a <code>b&lt;c</code> d");
    }
}
