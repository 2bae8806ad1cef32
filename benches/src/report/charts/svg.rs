//! The marks that charts are made of.
//!
//! Charts are markup with classes, written by the same crate that writes the page and coloured by one style sheet.
//! `plotters` and crates like it write colours and sizes into every mark. Such a drawing does not follow the reader's
//! light or dark scheme, and its letters become too small on a telephone. Here each chart is laid out for the width it
//! is shown at.

use maud::{Markup, PreEscaped, html};

/// The colours of charts, in both schemes.
pub const STYLE: &str = include_str!("../style/charts.css");

/// The height of a line of text.
pub const LINE: f64 = 17.0;
/// About the width of a letter.
pub const LETTER: f64 = 6.9;

/// A laid out chart.
pub struct Drawing {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// Its marks.
    pub marks: Markup,
}

impl Drawing {
    /// The chart as part of a page that has the style sheet. `label` is for those who cannot see it.
    #[must_use]
    pub fn inline(&self, label: &str) -> Markup {
        let frame = format!("0 0 {} {}", self.width, place(self.height));
        html! {
            svg.chart viewBox=(frame) width=(self.width) height=(place(self.height)) role="img" aria-label=(label) {
                (self.marks)
            }
        }
    }

    /// The chart as a file, with a background, a title above and a remark below.
    #[must_use]
    pub fn file(&self, title: &str, remark: &str) -> String {
        let (above, below) = (34.0, 28.0);
        let height = place(self.height + above + below);
        let frame = format!("0 0 {} {height}", self.width);
        let markup = html! {
            svg.chart xmlns="http://www.w3.org/2000/svg" viewBox=(frame) width=(self.width) height=(height) role="img" {
                title { (title) }
                style { (PreEscaped(STYLE)) }
                (rect((0.0, 0.0), (self.width, height), "paper"))
                (text((8.0, 22.0), "title", "start", title))
                g transform=(format!("translate(0 {above})")) { (self.marks) }
                (text((8.0, height - 11.0), "soft", "start", remark))
            }
        };
        markup.into_string()
    }
}

/// A coordinate, rounded to tenths: no eye sees more.
fn place(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// A line.
#[must_use]
pub fn line((x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) -> Markup {
    html! { line class=(class) x1=(place(x1)) y1=(place(y1)) x2=(place(x2)) y2=(place(y2)) {} }
}

/// A rectangle by two corners.
#[must_use]
pub fn rect((x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) -> Markup {
    let (x, y) = (place(x1.min(x2)), place(y1.min(y2)));
    html! { rect class=(class) x=(x) y=(y) width=(place((x2 - x1).abs())) height=(place((y2 - y1).abs())) {} }
}

/// A dot with what it says when it is pointed at.
#[must_use]
pub fn dot((x, y): (f64, f64), radius: f64, class: &str, says: &str) -> Markup {
    html! { circle class=(class) cx=(place(x)) cy=(place(y)) r=(radius) { title { (says) } } }
}

/// A text; `anchor` is `start`, `middle` or `end`.
#[must_use]
pub fn text((x, y): (f64, f64), class: &str, anchor: &str, text: &str) -> Markup {
    html! { text class=(class) x=(place(x)) y=(place(y)) text-anchor=(anchor) { (text) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_places_rounded() {
        let markup = text((1.26, 2.0), "soft", "end", "a < b & \"c\"").into_string();
        assert_eq!(markup, r#"<text class="soft" x="1.3" y="2" text-anchor="end">a &lt; b &amp; &quot;c&quot;</text>"#);
    }

    #[test]
    fn rectangles_are_drawn_from_either_side() {
        let forth = rect((10.0, 0.0), (30.0, 5.0), "bar").into_string();
        assert_eq!(forth, rect((30.0, 5.0), (10.0, 0.0), "bar").into_string());
        assert!(forth.contains(r#"x="10""#) && forth.contains(r#"width="20""#), "{forth}");
    }

    #[test]
    fn files_stand_alone() {
        let drawing = Drawing { width: 100.0, height: 50.0, marks: line((0.0, 0.0), (1.0, 1.0), "grid") };
        let file = drawing.file("Title & more", "remark");
        assert!(file.starts_with("<svg ") && file.contains("http://www.w3.org/2000/svg") && file.contains("<style>"));
        assert!(file.contains("prefers-color-scheme") && file.contains("Title &amp; more"));
        assert!(!drawing.inline("label").into_string().contains("<style>"));
    }
}
