//! Pages of the record on the report: what programs beside `cargo bench` have measured.

use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::model::RecordPage;

/// The pages, in the order of the report.
const PAGES: [&str; 9] = ["requests", "servers", "bags", "tables", "rows", "short", "levels", "limits", "weight"];

/// Where they are.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("record")
}

/// Reads the pages.
///
/// # Errors
/// A page cannot be read, or has no title.
pub fn read(folder: &Path) -> Result<Vec<RecordPage>, String> {
    let page = |name: &str| {
        let path = folder.join(name).with_extension("md");
        let at = |error: &str| format!("{}: {error}", path.display());
        let text = fs::read_to_string(&path).map_err(|error| at(&error.to_string()))?;
        let (title, text) =
            text.strip_prefix("# ").and_then(|text| text.split_once('\n')).ok_or_else(|| at("no title"))?;
        Ok(RecordPage { name: name.into(), title: title.into(), text: text.into() })
    };
    PAGES.into_iter().map(page).collect()
}

/// A page's text as HTML: headings are one level lower, tables can be scrolled, and links are plain words, since the
/// files that they lead to are not there.
#[must_use]
pub fn html(page: &RecordPage) -> String {
    let mut text = String::new();
    html::push_html(&mut text, Parser::new_ext(&page.text, Options::ENABLE_TABLES).flat_map(shown));
    text
}

/// What is shown of a piece of Markdown.
fn shown(event: Event<'_>) -> Vec<Event<'_>> {
    match event {
        Event::Start(Tag::Heading { level, id, classes, attrs }) => {
            vec![Event::Start(Tag::Heading { level: lower(level), id, classes, attrs })]
        }
        Event::End(TagEnd::Heading(level)) => vec![Event::End(TagEnd::Heading(lower(level)))],
        Event::Start(Tag::Table(columns)) => {
            let begin = CowStr::Borrowed(r#"<div class="scrolled" tabindex="0">"#);
            vec![Event::Html(begin), Event::Start(Tag::Table(columns))]
        }
        Event::End(TagEnd::Table) => vec![Event::End(TagEnd::Table), Event::Html(CowStr::Borrowed("</div>"))],
        Event::Start(Tag::Link { .. } | Tag::Image { .. }) | Event::End(TagEnd::Link | TagEnd::Image) => vec![],
        Event::Html(text) | Event::InlineHtml(text) => vec![Event::Text(text)],
        other => vec![other],
    }
}

fn lower(level: HeadingLevel) -> HeadingLevel {
    HeadingLevel::try_from(level as usize + 1).unwrap_or(HeadingLevel::H6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_record_are_read_and_need_no_other_file() {
        let pages = read(&folder()).expect("pages with titles");
        assert_eq!(pages.len(), PAGES.len());
        for page in &pages {
            let html = html(page);
            for outside in ["href=", "src=", "<h1", "<h2"] {
                assert!(!html.contains(outside), "{}: {outside}", page.name);
            }
            let rule = |line: &&str| line.starts_with('|') && line.chars().all(|each| "|-: ".contains(each));
            let tables = page.text.lines().filter(rule).count();
            assert_eq!(html.matches("<table>").count(), tables, "{}", page.name);
            assert_eq!(html.matches(r#"<div class="scrolled""#).count(), tables, "{}", page.name);
        }
    }

    #[test]
    fn texts_cannot_be_markup() {
        let text = "## A\n\nsee [b](b.md) <script>\n\n<p onclick=x>\n\n| c | d |\n|---|---|\n| `1` | **3** |\n";
        let html = html(&RecordPage { name: "x".into(), title: "X".into(), text: text.into() });
        assert!(html.starts_with("<h3>A</h3>\n<p>see b &lt;script&gt;</p>\n"), "{html}");
        assert!(!html.contains("<p onclick") && html.contains("<strong>3</strong></td></tr>"), "{html}");
    }

    #[test]
    fn folders_without_them_are_told() {
        let nowhere = std::env::temp_dir().join("gather-no-record");
        assert!(read(&nowhere).is_err_and(|why| why.contains("requests.md")));
    }
}
