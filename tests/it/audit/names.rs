//! The names that `gather-core/UNSAFE.md` lists, against the sources: unsafe traits, invariants, and what is public for
//! emitted code alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, TraitItem, UseTree};

use super::{root, sources};

type Names = BTreeSet<String>;

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rows of a table of UNSAFE.md, by the beginning of its head: the cells of each.
fn table(head: &str) -> Vec<Vec<String>> {
    let text = read(&root().join("gather-core/UNSAFE.md"));
    let (_, rows) = text.split_once(head).unwrap_or_else(|| panic!("no table {head}"));
    let rows = rows.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// The names in a cell, which stand in backticks: `a::{b, c}` is `a::b` and `a::c`.
fn names(cell: &str) -> Vec<String> {
    let names = cell.split('`').skip(1).step_by(2);
    names
        .flat_map(|name| match name.split_once("::{") {
            Some((owner, items)) => {
                let items = items.trim_end_matches('}').split(", ");
                items.map(|item| format!("{owner}::{item}")).collect()
            }
            None => vec![name.to_owned()],
        })
        .collect()
}

/// The first cells of a table.
fn listed(head: &str) -> Names {
    table(head).iter().flat_map(|row| names(&row[0])).collect()
}

/// The sources of gather-core by their names in UNSAFE.md.
fn core() -> BTreeMap<String, String> {
    let src = root().join("gather-core/src");
    let name = |path: &Path| path.strip_prefix(&src).expect("a source").to_str().expect("a name").replace('\\', "/");
    sources(&src).iter().map(|path| (name(path), read(path))).collect()
}

/// The traits that a text declares as unsafe, or implements so, outside of its tests.
fn unsafe_traits(text: &str) -> Names {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = code.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    let code = lines.collect::<Vec<_>>().join(" ");
    let last = |path: &str| path.trim_end_matches(':').rsplit("::").next().unwrap_or_default().to_owned();
    let ident = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').next().map(last);
    let of = |part: &str| match (part.strip_prefix("trait "), part.strip_prefix("impl")) {
        (Some(name), _) => ident(name),
        (_, Some(implemented)) => {
            let mut depth = 0;
            let end = implemented.find(|c| {
                depth += i32::from(c == '<') - i32::from(c == '>');
                depth == 0 && c != '>'
            });
            ident(implemented[end.unwrap_or(0)..].trim_start())
        }
        _ => None,
    };
    code.split("unsafe ").skip(1).filter_map(of).filter(|name| !name.is_empty()).collect()
}

#[test]
fn the_table_of_unsafe_traits_is_that_of_the_sources() {
    let found: BTreeSet<(String, String)> = core()
        .iter()
        .flat_map(|(file, text)| unsafe_traits(text).into_iter().map(|name| (name, file.clone())))
        .collect();
    let mut written = BTreeSet::new();
    for row in table("| trait | in |") {
        let traits = names(&row[0]).into_iter().map(|name| name.rsplit("::").next().unwrap_or_default().to_owned());
        let files = names(&row[1]);
        written.extend(traits.flat_map(|name| files.iter().map(move |file| (name.clone(), file.clone()))));
    }
    assert_eq!(written, found, "the table of UNSAFE.md on the left, the sources on the right");
}

/// The invariants of a cell, such as `V1 to V4, X1`.
fn invariants(cell: &str) -> Vec<String> {
    let number = |name: &str| name[1..].parse::<u32>().unwrap_or_else(|_| panic!("{name:?} in {cell:?}"));
    let one = |part: &str| match part.split_once(" to ") {
        Some((first, last)) => (number(first)..=number(last)).map(|n| format!("{}{n}", &first[..1])).collect(),
        None => vec![format!("{}{}", &part[..1], number(part))],
    };
    cell.split(", ").flat_map(one).collect()
}

/// The words of a text that are names of invariants. Code in backticks has others, such as `F32`.
fn invariants_of(text: &str) -> Names {
    let words = text.split('`').step_by(2).flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
    let is_one = |word: &&str| match word.split_at_checked(1) {
        Some((letter, number)) => letter.chars().all(|c| c.is_ascii_uppercase()) && number.parse::<u32>().is_ok(),
        None => false,
    };
    words.filter(is_one).map(str::to_owned).collect()
}

#[test]
fn invariants_are_written_where_the_table_says() {
    let core = core();
    let mut known = Names::new();
    for row in table("| invariants | about |") {
        let places = names(&row[2]);
        let in_place = |file: &str| places.iter().any(|place| file == place || file.starts_with(&format!("{place}/")));
        let ids: Names = invariants(&row[0]).into_iter().collect();
        for place in &places {
            let text = core.iter().filter(|(file, _)| *file == place || file.starts_with(&format!("{place}/")));
            let text: String = text.map(|(_, text)| text.as_str()).collect();
            assert!(!invariants_of(&text).is_disjoint(&ids), "{place} has none of {ids:?}");
        }
        let text: String = core.iter().filter(|(file, _)| in_place(file)).map(|(_, text)| text.as_str()).collect();
        let stated = invariants_of(&text);
        let missing: Vec<&String> = ids.difference(&stated).collect();
        assert!(missing.is_empty(), "{missing:?} do not stand in {places:?}");
        known.extend(ids);
    }
    for (file, text) in &core {
        let mut arguments = String::new();
        let mut in_one = false;
        for line in text.lines().map(str::trim) {
            in_one = line.starts_with("// SAFETY:") || in_one && line.starts_with("//");
            if in_one {
                arguments.extend([line, "\n"]);
            }
        }
        let unknown: Vec<String> = invariants_of(&arguments).difference(&known).cloned().collect();
        assert!(unknown.is_empty(), "{file} argues by {unknown:?}, which UNSAFE.md does not know");
    }
}

/// The names that a `use` brings in.
fn used(tree: &UseTree, names: &mut Names) {
    match tree {
        UseTree::Path(path) => used(&path.tree, names),
        UseTree::Name(name) => drop(names.insert(name.ident.to_string())),
        UseTree::Rename(rename) => drop(names.insert(rename.rename.to_string())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| used(tree, names)),
        _ => panic!("a name for each item"),
    }
}

#[test]
fn the_table_of_what_emitted_code_names_is_that_of_the_sources() {
    let file = syn::parse_file(&read(&root().join("gather-core/src/private.rs"))).expect("a source");
    let mut found = Names::new();
    for item in file.items {
        let Item::Use(item) = item else { panic!("private.rs names items of other modules") };
        used(&item.tree, &mut found);
    }
    assert_eq!(listed("| named by emitted code |"), found, "UNSAFE.md on the left, private.rs on the right");
}

/// What the documentation hides, but modules: `Owner::item` for what stands in a trait or an `impl`.
#[derive(Default)]
struct Hidden {
    names: Names,
    owner: String,
}

impl Hidden {
    fn add(&mut self, attributes: &[Attribute], name: &syn::Ident) {
        let is_hidden = |attribute: &Attribute| {
            attribute.path().is_ident("doc") && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "hidden")
        };
        if attributes.iter().any(is_hidden) {
            let owner = if self.owner.is_empty() { String::new() } else { format!("{}::", self.owner) };
            self.names.insert(format!("{owner}{name}"));
        }
    }
}

impl Visit<'_> for Hidden {
    fn visit_item(&mut self, item: &Item) {
        match item {
            Item::Fn(item) => self.add(&item.attrs, &item.sig.ident),
            Item::Struct(item) => self.add(&item.attrs, &item.ident),
            Item::Enum(item) => self.add(&item.attrs, &item.ident),
            Item::Trait(item) => self.add(&item.attrs, &item.ident),
            Item::Const(item) => self.add(&item.attrs, &item.ident),
            Item::Static(item) => self.add(&item.attrs, &item.ident),
            Item::Type(item) => self.add(&item.attrs, &item.ident),
            Item::Macro(item) => item.ident.iter().for_each(|name| self.add(&item.attrs, name)),
            _ => {}
        }
        let owner = match item {
            Item::Trait(item) => item.ident.to_string(),
            Item::Impl(item) => match &*item.self_ty {
                syn::Type::Path(path) => path.path.segments.last().expect("a name").ident.to_string(),
                _ => String::new(),
            },
            _ => String::new(),
        };
        let outside = std::mem::replace(&mut self.owner, owner);
        visit::visit_item(self, item);
        self.owner = outside;
    }

    fn visit_trait_item(&mut self, item: &TraitItem) {
        match item {
            TraitItem::Const(item) => self.add(&item.attrs, &item.ident),
            TraitItem::Fn(item) => self.add(&item.attrs, &item.sig.ident),
            TraitItem::Type(item) => self.add(&item.attrs, &item.ident),
            _ => {}
        }
    }

    fn visit_impl_item(&mut self, item: &ImplItem) {
        match item {
            ImplItem::Const(item) => self.add(&item.attrs, &item.ident),
            ImplItem::Fn(item) => self.add(&item.attrs, &item.sig.ident),
            _ => {}
        }
    }
}

#[test]
fn the_table_of_other_hidden_items_is_that_of_the_sources() {
    let mut hidden = Hidden::default();
    for folder in ["gather-core/src", "gather-macros/src"] {
        for path in sources(&root().join(folder)) {
            hidden.visit_file(&syn::parse_file(&read(&path)).expect("a source"));
        }
    }
    let re_exported = listed("| named by emitted code |");
    let found: Names = hidden.names.difference(&re_exported).cloned().collect();
    assert_eq!(listed("| hidden elsewhere |"), found, "UNSAFE.md on the left, the sources on the right");
}
