//! Charts of lines, one an engine, over one quantity that changes. Both axes are logarithmic; a line has its name at
//! its end.

use maud::{Markup, html};

use super::engines;
use super::scale::{Log, range, spread};
use super::svg::{Drawing, LETTER, LINE, dot, line, path, text};

/// A chart of lines.
pub struct Lines {
    /// The quantity that changes.
    pub x: Axis,
    /// What is measured.
    pub y: Axis,
    /// The lines, the most important first.
    pub series: Vec<Series>,
    /// Values of x that mean something, with their names.
    pub marked: Vec<(f64, String)>,
}

/// An axis.
pub struct Axis {
    /// What it shows, with its unit.
    pub title: &'static str,
    /// A value's label.
    pub tick: fn(f64) -> String,
}

/// A line.
pub struct Series {
    /// The engine's name.
    pub name: String,
    /// Its points, by x.
    pub points: Vec<(f64, f64)>,
}

/// About the width of a bold letter.
const BOLD: f64 = LETTER + 1.0;
/// The width of the piece of line before a name.
const SAMPLE: f64 = 16.0;

impl Lines {
    /// The chart, laid out for a width.
    #[must_use]
    pub fn draw(&self, width: f64) -> Drawing {
        let height = if width < 600.0 { 330.0 } else { 420.0 };
        let names = self.series.iter().map(|series| series.name.chars().count()).max().unwrap_or(0) as f64;
        let (left, right) = (50.0, width - names * BOLD - SAMPLE - 16.0);
        let (top, bottom) = (3.0 * LINE, height - 2.0 * LINE - 12.0);
        let points = || self.series.iter().flat_map(|series| &series.points);
        let xs = range(points().map(|point| point.0)).unwrap_or((1.0, 2.0));
        let (low, high) = range(points().map(|point| point.1)).unwrap_or((1.0, 2.0));
        let x = Log::new(xs, (left + 6.0, right));
        let y = Log::new((low / 1.2, high * 1.2), (bottom, top));
        let marks = html! {
            (text((8.0, LINE), "soft", "start", self.y.title))
            (self.grid(&x, &y, (left, right), (top, bottom)))
            (self.caches(&x, (left, right), (top, bottom)))
            @for (at, series) in self.series.iter().enumerate().rev() { (self.line(at, series, &x, &y)) }
            (self.names(&y, right, (top, bottom)))
            (text(((left + right) / 2.0, bottom + 2.0 * LINE + 4.0), "soft", "middle", self.x.title))
        };
        Drawing { width, height, marks }
    }

    fn grid(&self, x: &Log, y: &Log, (left, right): (f64, f64), (top, bottom): (f64, f64)) -> Markup {
        html! {
            @for tick in y.ticks(24.0) {
                (line((left, y.at(tick)), (right, y.at(tick)), "grid"))
                (text((left - 6.0, y.at(tick) + 4.5), "soft", "end", &(self.y.tick)(tick)))
            }
            @for tick in x.powers_of_two(56.0) {
                (line((x.at(tick), top), (x.at(tick), bottom), "grid"))
                (text((x.at(tick), bottom + LINE), "soft", "middle", &(self.x.tick)(tick)))
            }
        }
    }

    fn caches(&self, x: &Log, (left, right): (f64, f64), (top, bottom): (f64, f64)) -> Markup {
        let inside = |&&(value, _): &&(f64, String)| x.at(value) > left + 10.0 && x.at(value) < right - 10.0;
        html! {
            @for (value, name) in self.marked.iter().filter(inside) {
                (line((x.at(*value), top - 6.0), (x.at(*value), bottom), "cache"))
                (text((x.at(*value), top - 10.0), "soft", "middle", name))
            }
        }
    }

    fn line(&self, at: usize, series: &Series, x: &Log, y: &Log) -> Markup {
        let class = engines::class(&series.name);
        let places: Vec<_> = series.points.iter().map(|point| (x.at(point.0), y.at(point.1))).collect();
        let says =
            |point: &(f64, f64)| format!("{}: {} at {}", series.name, (self.y.tick)(point.1), (self.x.tick)(point.0));
        html! {
            (path(&places, &class))
            @for (place, point) in places.iter().zip(&series.points) {
                (dot(*place, if at == 0 { 4.0 } else { 3.0 }, &class, &says(point)))
            }
        }
    }

    fn names(&self, y: &Log, right: f64, (top, bottom): (f64, f64)) -> Markup {
        let ends: Vec<f64> =
            self.series.iter().map(|series| series.points.last().map_or(bottom, |end| y.at(end.1))).collect();
        let places = spread(&ends, LINE - 1.0, (top, bottom));
        html! {
            @for (at, (series, place)) in self.series.iter().zip(places).enumerate() {
                (path(&[(right + 8.0, place), (right + 6.0 + SAMPLE, place)], &engines::class(&series.name)))
                (text((right + 10.0 + SAMPLE, place + 4.5), if at == 0 { "strong" } else { "" }, "start", &series.name))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::format;

    #[test]
    fn lines_rise_with_their_values_and_names_do_not_overlap() {
        let series = |name: &str, to| Series { name: name.into(), points: vec![(1.0, 1.0), (4096.0, to)] };
        let axis = || Axis { title: "x", tick: format::plain };
        let chart = Lines {
            x: axis(),
            y: axis(),
            series: vec![series("ours", 16.0), series("other", 15.5), series("third", 4.0)],
            marked: vec![(64.0, "L1".into())],
        };
        for width in [360.0, 1000.0] {
            let markup = chart.draw(width).marks.into_string();
            let height_of = |name: &str| -> f64 {
                let before = markup.split(&format!(">{name}<")).next().expect("the text before the name");
                let y = before.rsplit(" y=\"").next().expect("its place").split('"').next().expect("a number");
                y.parse().expect("a number")
            };
            let [ours, other, third] = ["ours", "other", "third"].map(height_of);
            assert!((ours - other).abs() >= LINE - 1.0, "{ours} {other}");
            assert!(third > other && third > ours, "lower values lie lower");
            assert!(markup.contains(">L1<"));
        }
    }
}
