//! The layers of gather-core: what a module names with `crate::` lies on its own layer or below it.
//!
//! The sources are parsed, so that nothing is missed: `use` trees, paths in code and types, and the tokens of macros.
//! Documentation and `#[cfg(test)]` items do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Meta, UseTree};

/// The layers, top to bottom, each with the top-level modules that stand on it.
const LAYERS: [(&str, &[&str]); 9] = [
    ("lib", &["", "guide", "maps", "private", "rows"]),
    ("specialize", &["specialize"]),
    ("ops", &["ops"]),
    ("call", &["call"]),
    ("exec", &["exec"]),
    ("plan", &["plan"]),
    ("kernels", &["kernels"]),
    ("tensor", &["tensor"]),
    ("types", &["types"]),
];

/// The rooms of a layer that is looked into, top to bottom, by the names of its modules. `mod.rs`, which gathers them
/// for other layers, stands above all.
const ROOMS: [(&str, &[&str]); 2] = [
    (
        "call",
        &["space", "scatter", "bag", "gather", "cloned", "attributes", "operator", "plan_type", "checks", "source"],
    ),
    (
        "kernels",
        &[
            "registry",
            "select",
            "builtin",
            "table",
            "shaped",
            "info",
            "kernel",
            "convert",
            "loops",
            "bodies",
            "v128",
            "levels",
            "space",
            "reduce",
            "columns_avx2",
            "moves",
            "resolve",
            "remap",
            "nest",
            "index_rule",
            "words",
            "x86",
            "prefetch",
            "vector",
            "by_level",
            "level_fn",
        ],
    ),
];

/// A module by the names that lead to it from the crate root.
type Module = Vec<String>;

/// A place that names something of this crate.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mention {
    path: Vec<String>,
    line: usize,
}

/// Collects what a file names of its crate.
struct Mentions {
    module: Module,
    found: Vec<Mention>,
}

impl Mentions {
    fn of(module: &[String], source: &str) -> Vec<Mention> {
        let file = syn::parse_file(source).unwrap_or_else(|error| panic!("{module:?}: {error}"));
        let mut mentions = Mentions { module: module.to_vec(), found: Vec::new() };
        mentions.visit_file(&file);
        mentions.found
    }

    /// Notes a path if it leads into this crate: from the root, or relative to the module.
    fn note(&mut self, path: &[String], line: usize) {
        let Some((first, rest)) = path.split_first() else { return };
        let path = match first.as_str() {
            "crate" | "gather_core" => rest.to_vec(),
            "super" => {
                let ups = path.iter().take_while(|name| *name == "super").count();
                let Some(kept) = self.module.len().checked_sub(ups) else { return };
                [&self.module[..kept], &path[ups..]].concat()
            }
            "self" if !rest.is_empty() => [&self.module[..], rest].concat(),
            _ => return,
        };
        self.found.push(Mention { path, line });
    }

    fn note_tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: &Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.note_tree(&with(&path.ident), &path.tree),
            UseTree::Name(name) => self.note(&with(&name.ident), name.ident.span().start().line),
            UseTree::Rename(name) => self.note(&with(&name.ident), name.ident.span().start().line),
            UseTree::Glob(glob) => self.note(before, glob.star_token.spans[0].start().line),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.note_tree(before, tree)),
        }
    }

    /// Notes every path in the tokens of a macro, `use` trees among them.
    fn note_tokens(&mut self, before: &[String], tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            let TokenTree::Ident(first) = &tokens[at] else {
                if let TokenTree::Group(group) = &tokens[at] {
                    self.note_tokens(&[], group.stream());
                }
                at += 1;
                continue;
            };
            let mut path = [before, &[first.to_string()]].concat();
            at += 1;
            while at + 2 < tokens.len() && is_path_separator(&tokens[at..]) {
                match &tokens[at + 2] {
                    TokenTree::Ident(next) => path.push(next.to_string()),
                    TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                        self.note_tokens(&path, group.stream());
                        path.clear();
                    }
                    _ => break,
                }
                at += 3;
            }
            if path.len() > 1 {
                self.note(&path, first.span().start().line);
            }
        }
    }
}

fn is_path_separator(tokens: &[TokenTree]) -> bool {
    let colon = |at: usize| matches!(&tokens[at], TokenTree::Punct(punct) if punct.as_char() == ':');
    let joint = matches!(&tokens[0], TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint);
    colon(0) && joint && colon(1)
}

impl<'ast> Visit<'ast> for Mentions {
    fn visit_item(&mut self, item: &'ast Item) {
        if !only_in_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.note_tree(&[], &item.tree);
    }

    // `pub(in path)` is no arrow.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.note_tokens(&[], list.tokens.clone());
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1 {
            self.note(&names, path.segments[0].ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let mut names: Vec<String> = mac.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1 {
            names.last_mut().expect("a macro has a name").push('!');
            self.note(&names, mac.path.segments[0].ident.span().start().line);
        }
        self.note_tokens(&[], mac.tokens.clone());
    }
}

fn only_in_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        matches!(&attribute.meta, Meta::List(list) if list.path.is_ident("cfg") && list.tokens.to_string() == "test")
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Every source file of gather-core with its module.
fn sources() -> Vec<(Module, PathBuf)> {
    fn walk(folder: &Path, module: &[String], found: &mut Vec<(Module, PathBuf)>) {
        for entry in std::fs::read_dir(folder).expect("the sources of gather-core") {
            let path = entry.expect("an entry of the folder").path();
            let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            let inner = [module, std::slice::from_ref(&name)].concat();
            if path.is_dir() {
                walk(&path, &inner, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push((if name == "mod" || name == "lib" { module.to_vec() } else { inner }, path));
            }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../gather-core/src"), &[], &mut found);
    found.sort();
    found
}

/// The layer of a module, counted from the top.
fn layer(module: &[String]) -> usize {
    let top = module.first().map_or("", |name| name.as_str());
    LAYERS
        .iter()
        .position(|(_, modules)| modules.contains(&top))
        .unwrap_or_else(|| panic!("`{top}` stands on no layer: add it to LAYERS or move it"))
}

/// The module that a path leads to: its longest beginning that is one.
fn target(path: &[String], modules: &BTreeSet<Module>) -> Module {
    let len = (0..=path.len()).rev().find(|&len| modules.contains(&path[..len])).expect("the root is a module");
    path[..len].to_vec()
}

/// The room of a module of a layer, counted from the top.
fn room(rooms: &[&str], module: &[String]) -> usize {
    let Some(name) = module.get(1) else { return 0 };
    1 + rooms.iter().position(|room| room == name).unwrap_or_else(|| panic!("`{name}` is no room: add it to ROOMS"))
}

fn name(module: &[String]) -> String {
    if module.is_empty() { "lib".into() } else { module.join("::") }
}

/// Modules that lead to each other, in groups of two or more.
fn circles(arrows: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<BTreeSet<Module>> {
    let reached = |from: &Module| {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            open.extend(arrows.get(module).into_iter().flatten().filter(|to| reached.insert((*to).clone())));
        }
        reached
    };
    let reach: BTreeMap<&Module, BTreeSet<Module>> = arrows.keys().map(|module| (module, reached(module))).collect();
    let circle = |module: &Module| {
        let back = |other: &&Module| reach.get(other).is_some_and(|reached| reached.contains(module));
        reach[module].iter().filter(back).cloned().collect::<BTreeSet<_>>()
    };
    arrows.keys().map(circle).filter(|circle| circle.len() > 1).collect()
}

#[test]
fn arrows_between_layers_point_down() {
    let sources = sources();
    let modules: BTreeSet<Module> = sources.iter().map(|(module, _)| module.clone()).collect();
    let mut arrows: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    let mut upward = Vec::new();
    for (module, path) in &sources {
        let text = std::fs::read_to_string(path).expect("a source file");
        for mention in Mentions::of(module, &text) {
            let (from, path) = (name(module), mention.path.join("::"));
            let to = target(&mention.path, &modules);
            if layer(&to) < layer(module) {
                upward.push(format!("{from}, line {}: names {path} of {}", mention.line, name(&to)));
            }
            if to != *module {
                arrows.entry(module.clone()).or_default().insert(to);
            }
        }
    }
    let mut between: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (from, to) in arrows.iter().flat_map(|(from, tos)| tos.iter().map(move |to| (from, to))) {
        *between.entry((layer(from), layer(to))).or_default() += 1;
    }
    for ((from, to), count) in between.iter().filter(|((from, to), _)| from != to) {
        println!("{:>8} -> {:<8} {count:>4}", LAYERS[*from].0, LAYERS[*to].0);
    }
    let across = |circle: &&BTreeSet<Module>| circle.iter().any(|m| layer(m) != layer(circle.first().expect("two")));
    let circles = circles(&arrows);
    let circles: Vec<String> = circles
        .iter()
        .filter(across)
        .map(|circle| circle.iter().map(|module| name(module)).collect::<Vec<_>>().join(", "))
        .collect();
    let total: usize = between.values().sum();
    println!("{total} arrows among {} modules, {} up", modules.len(), upward.len());
    assert!(total > modules.len(), "too few arrows: were the sources read?");
    assert!(upward.is_empty(), "{} arrows point up:\n{}", upward.len(), upward.join("\n"));
    assert!(circles.is_empty(), "circles among layers:\n{}", circles.join("\n"));
}

#[test]
fn arrows_between_rooms_point_down() {
    let sources = sources();
    let modules: BTreeSet<Module> = sources.iter().map(|(module, _)| module.clone()).collect();
    for (layer, rooms) in ROOMS {
        let (mut arrows, mut upward) = (BTreeSet::new(), Vec::new());
        for (module, path) in sources.iter().filter(|(module, _)| module.first().is_some_and(|top| top == layer)) {
            let text = std::fs::read_to_string(path).expect("a source file");
            for mention in Mentions::of(module, &text) {
                let to = target(&mention.path, &modules);
                if to.first().is_none_or(|top| top != layer) || to.get(1) == module.get(1) {
                    continue;
                }
                // A name of `mod.rs` itself, such as a function, is one of the room on top.
                if room(rooms, &to) < room(rooms, module) && !is_shared(layer, &mention.path) {
                    let (from, path) = (name(module), mention.path.join("::"));
                    upward.push(format!("{from}, line {}: names {path}", mention.line));
                }
                arrows.insert((module.get(1).cloned(), to.get(1).cloned()));
            }
        }
        println!("{layer}: {} arrows among {} rooms, {} up", arrows.len(), rooms.len(), upward.len());
        assert!(arrows.len() > rooms.len(), "too few arrows: were the sources read?");
        assert!(upward.is_empty(), "{} arrows inside {layer} point up:\n{}", upward.len(), upward.join("\n"));
    }
}

/// Whether a name of a layer's `mod.rs` is there for its rooms: what they all share.
fn is_shared(layer: &str, path: &[String]) -> bool {
    let shared: &[&str] = match layer {
        "call" => &["Sealed"],
        _ => &[],
    };
    match path {
        // The macro `kernels!`, which has the name of the layer.
        [_] => layer == "kernels",
        _ => shared.contains(&path[1].as_str()),
    }
}

#[test]
fn every_way_to_name_a_module_is_seen() {
    let source = r#"
        //! [`crate::doc::Comment`]
        use crate::a::{b, c::{self, D as E}, f::*};
        use gather_core::g;
        use super::h::I;
        pub(in crate::not_this) struct J<T: crate::k::L>(self::m::N, T);
        #[derive(crate::o::P)]
        fn q() -> crate::r::S { crate::t!(crate::u::v); super::super::w::x() }
        macro_rules! y { () => { use $crate::z::{aa, bb::cc}; <$crate::dd::Ee as super::Ff>::gg() } }
        #[cfg(test)]
        mod tests { use crate::not_this; }
    "#;
    let module = ["plan".to_owned(), "own".to_owned()];
    let found: Vec<String> = Mentions::of(&module, source).iter().map(|mention| mention.path.join("::")).collect();
    let expected = [
        "a::b",
        "a::c::self",
        "a::c::D",
        "a::f",
        "g",
        "plan::h::I",
        "k::L",
        "plan::own::m::N",
        "o::P",
        "r::S",
        "t!",
        "u::v",
        "w::x",
        "z::aa",
        "z::bb::cc",
        "dd::Ee",
        "plan::Ff",
    ];
    let sorted = |names: Vec<String>| names.into_iter().collect::<BTreeSet<_>>();
    assert_eq!(sorted(found), sorted(expected.map(str::to_owned).to_vec()));
}

#[test]
fn circles_are_found() {
    let module = |name: &str| vec![name.to_owned()];
    let to = |names: &[&str]| names.iter().map(|name| module(name)).collect::<BTreeSet<_>>();
    let arrows = [("a", to(&["b", "d"])), ("b", to(&["c"])), ("c", to(&["a"])), ("d", to(&["e"]))];
    let arrows = arrows.into_iter().map(|(from, to)| (module(from), to)).collect();
    assert_eq!(circles(&arrows), BTreeSet::from([to(&["a", "b", "c"])]));
}
