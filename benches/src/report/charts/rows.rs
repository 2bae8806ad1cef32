//! Charts with a row for each workload: bars and dots over one logarithmic axis.
//!
//! Where there is room a row has its label on the left and its note on the right. On a telephone both stand above the
//! marks.

use maud::{Markup, html};

use super::scale::Log;
use super::svg::{Drawing, LETTER, LINE, dot, line, rect, text};

/// A chart of rows.
pub struct Rows {
    /// The rows, in groups with a name each.
    pub groups: Vec<(String, Vec<Row>)>,
    /// What the axis shows, with its unit.
    pub axis: &'static str,
    /// A tick's label.
    pub tick: fn(f64) -> String,
    /// The value that others are relative to, if there is one: it gets a line.
    pub base: Option<f64>,
    /// What the marks mean.
    pub legend: Vec<(Mark, String)>,
}

/// A row.
pub struct Row {
    /// What it is about.
    pub label: String,
    /// Its result.
    pub note: String,
    /// The marks, the lowest first.
    pub marks: Vec<Mark>,
}

/// A mark. Classes are those of the style sheet.
#[derive(Clone)]
pub enum Mark {
    /// From one value to another.
    Bar(f64, f64, String),
    /// A thin line from one value to another.
    Span(f64, f64),
    /// A dot of a class and a radius, and what it says when it is pointed at.
    Dot(f64, String, f64, String),
    /// A line across the row.
    Tick(f64, String),
}

/// The class of an engine's marks, which has one colour in every chart. The style sheet knows the engines by name;
/// those that it does not know are grey.
#[must_use]
pub(super) fn class(engine: &str) -> String {
    format!("engine e-{}", key(engine))
}

/// The same for an engine called from Rust or through Python: `onnxruntime` of ONNX Runtime.
#[must_use]
pub(crate) fn key(engine: &str) -> String {
    engine.to_lowercase().replace(' ', "")
}

impl Mark {
    /// A dot for an engine.
    pub(super) fn dot(value: f64, engine: &str, radius: f64, says: String) -> Mark {
        Mark::Dot(value, class(engine), radius, says)
    }

    fn values(&self) -> [f64; 2] {
        match *self {
            Mark::Bar(from, to, _) | Mark::Span(from, to) => [from, to],
            Mark::Dot(value, ..) | Mark::Tick(value, _) => [value, value],
        }
    }

    /// The mark in the row whose middle is at `y`.
    fn draw(&self, axis: impl Fn(f64) -> f64, y: f64) -> Markup {
        match self {
            Mark::Bar(from, to, class) => rect((axis(*from), y - 5.0), (axis(*to), y + 5.0), class),
            Mark::Span(from, to) => line((axis(*from), y), (axis(*to), y), "span"),
            Mark::Dot(value, class, radius, says) => dot((axis(*value), y), *radius, class, says),
            Mark::Tick(value, class) => line((axis(*value), y - 8.0), (axis(*value), y + 8.0), class),
        }
    }
}

/// Where things are.
struct Layout {
    width: f64,
    narrow: bool,
    /// The plot's left and right end.
    plot: (f64, f64),
    row: f64,
}

const GROUP: f64 = 26.0;

impl Rows {
    /// The chart, laid out for a width.
    #[must_use]
    pub fn draw(&self, width: f64) -> Drawing {
        let layout = self.layout(width);
        let axis = self.log(&layout);
        let (legend, below) = self.legend(width);
        let top = below + 2.0 * LINE;
        let rows: usize = self.groups.iter().map(|(_, rows)| rows.len()).sum();
        let bottom = top + self.groups.len() as f64 * GROUP + rows as f64 * layout.row + 4.0;
        let marks = html! {
            (legend)
            (self.grid(&axis, &layout, top, bottom))
            (self.rows(&axis, &layout, top))
        };
        Drawing { width, height: bottom + 2.0 * LINE + 10.0, marks }
    }

    fn all_rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|(_, rows)| rows)
    }

    fn layout(&self, width: f64) -> Layout {
        let longest =
            |of: fn(&Row) -> &str| self.all_rows().map(|row| of(row).chars().count()).max().unwrap_or(0) as f64;
        if width < 600.0 {
            return Layout { width, narrow: true, plot: (24.0, width - 24.0), row: 44.0 };
        }
        let (labels, notes) = (longest(|row| &row.label), longest(|row| &row.note));
        let plot = (labels * LETTER + 40.0, width - notes * LETTER - 26.0);
        Layout { width, narrow: false, plot, row: 22.0 }
    }

    fn log(&self, layout: &Layout) -> Log {
        let values = self.all_rows().flat_map(|row| &row.marks).flat_map(Mark::values).chain(self.base);
        let (low, high) = values.fold((f64::MAX, 0.0), |(low, high), value| (value.min(low), value.max(high)));
        Log::new((low / 1.15, high * 1.15), layout.plot)
    }

    /// What the marks mean, and how far down that reaches.
    fn legend(&self, width: f64) -> (Markup, f64) {
        let (mut x, mut y) = (8.0, LINE);
        let entry = |(mark, says): &(Mark, String)| {
            let needs = 26.0 + says.chars().count() as f64 * LETTER;
            if x > 8.0 && x + needs > width {
                (x, y) = (8.0, y + LINE + 3.0);
            }
            let (from, middle) = (x, y - 4.5);
            x += needs + 14.0;
            html! {
                (mark.draw(|value| from + 18.0 * value, middle))
                (text((from + 24.0, y), "soft", "start", says))
            }
        };
        let entries: Vec<Markup> = self.legend.iter().map(entry).collect();
        (html! { @for entry in &entries { (entry) } }, if entries.is_empty() { 0.0 } else { y })
    }

    fn grid(&self, axis: &Log, layout: &Layout, top: f64, bottom: f64) -> Markup {
        let middle = (layout.plot.0 + layout.plot.1) / 2.0;
        html! {
            @for tick in axis.ticks(44.0) {
                (line((axis.at(tick), top), (axis.at(tick), bottom), "grid"))
                @for y in [top - 6.0, bottom + LINE] {
                    (text((axis.at(tick), y), "soft", "middle", &(self.tick)(tick)))
                }
            }
            @if let Some(base) = self.base {
                (line((axis.at(base), top), (axis.at(base), bottom), "axis"))
            }
            (text((middle.min(layout.width / 2.0 + 200.0), bottom + 2.0 * LINE + 3.0), "soft", "middle", self.axis))
        }
    }

    fn rows(&self, axis: &Log, layout: &Layout, top: f64) -> Markup {
        let mut y = top;
        let mut markups = Vec::new();
        for (name, rows) in &self.groups {
            markups.push(text((8.0, y + LINE + 2.0), "group", "start", name));
            y += GROUP;
            for row in rows {
                markups.push(row.draw(axis, layout, y));
                y += layout.row;
            }
        }
        html! { @for markup in &markups { (markup) } }
    }
}

impl Row {
    fn draw(&self, axis: &Log, layout: &Layout, y: f64) -> Markup {
        let middle = if layout.narrow { y + 29.0 } else { y + layout.row / 2.0 };
        let words = if layout.narrow { y + 14.0 } else { middle + 4.5 };
        let left = if layout.narrow { 8.0 } else { 16.0 };
        html! {
            (text((left, words), "", "start", &self.label))
            @for mark in &self.marks { (mark.draw(|value| axis.at(value), middle)) }
            (text((layout.width - 8.0, words), "strong", "end", &self.note))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::peers::peers;
    use crate::report::charts::svg::STYLE;
    use crate::report::format;
    use crate::report::model::LIMIT;

    fn chart() -> Rows {
        let row = |label: &str, ratio| Row {
            label: label.into(),
            note: format::times(ratio),
            marks: vec![Mark::Bar(1.0, ratio, "ours".into()), Mark::Dot(0.5, "other".into(), 5.0, "loop".into())],
        };
        Rows {
            groups: vec![("gather".into(), vec![row("take", 2.0), row("rows", 4.0)])],
            axis: "times as fast",
            tick: format::plain,
            base: Some(1.0),
            legend: vec![(Mark::Bar(0.0, 1.0, "ours".into()), "gather-core".into()); 3],
        }
    }

    #[test]
    fn rows_fit_into_the_height_and_the_width() {
        for width in [360.0, 1000.0] {
            let drawing = chart().draw(width);
            let markup = drawing.marks.into_string();
            for (attribute, limit) in
                [("y=\"", drawing.height), ("cy=\"", drawing.height), ("x=\"", width), ("cx=\"", width)]
            {
                for value in markup.split(attribute).skip(1).filter_map(|rest| rest.split('"').next()) {
                    let value: f64 = value.parse().expect("a number");
                    assert!((0.0..=limit).contains(&value), "{attribute}{value} of {limit}");
                }
            }
            assert!(markup.contains(">2.00×<") && markup.contains(">rows<"), "{markup}");
        }
        assert!(chart().draw(360.0).height > chart().draw(1000.0).height);
    }

    #[test]
    fn a_longer_bar_is_wider() {
        let markup = chart().draw(1000.0).marks.into_string();
        let widths: Vec<f64> = markup
            .split("<rect class=\"ours\"")
            .skip(4)
            .filter_map(|rest| rest.split("width=\"").nth(1)?.split('"').next()?.parse().ok())
            .collect();
        // On a logarithmic axis twice the doubling.
        assert!((widths[1] / widths[0] - 2.0).abs() < 0.01, "{widths:?}");
    }

    #[test]
    fn every_engine_has_a_colour_of_its_own_in_both_schemes() {
        let (light, dark) = STYLE.split_once("@media").expect("two schemes");
        for scheme in [light, dark] {
            let colour = |name: &str| {
                let rule = format!(".chart .e-{name} {{ color: ");
                let found = scheme.split(&*rule).nth(1).and_then(|rest| rest.split(';').next());
                found.unwrap_or_else(|| panic!("{name} has no colour")).to_owned()
            };
            let (peers, engines) = (peers(), ["NumPy", "PyTorch", "JAX", LIMIT].map(key));
            let names = peers.iter().map(|peer| peer.name()).chain(engines.iter().map(|name| &**name));
            let colours: HashSet<String> = names.map(colour).collect();
            assert_eq!(colours.len(), peers.len() + engines.len(), "{colours:?}");
        }
    }
}
