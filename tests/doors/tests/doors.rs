//! The list of the doors: every public function of gather-core, and the test that goes through it. A function that is
//! not on the list fails the test. So does an entry whose function or test is gone.

mod list;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, ImplItem, Item, ItemImpl, Meta, TraitItem, Type, UseTree, Visibility};

use self::list::{Door, listed};

/// Traits whose implementations are functions that a caller finds under another name.
const CONVERSIONS: [&str; 3] = ["From", "FromIterator", "TryFrom"];

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources of gather-core") {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn parse(path: &Path) -> syn::File {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names that a `use` tree brings in.
fn names(tree: &UseTree, found: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => names(&path.tree, found),
        UseTree::Name(name) => drop(found.insert(name.ident.to_string())),
        UseTree::Rename(name) => drop(found.insert(name.rename.to_string())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| names(tree, found)),
        UseTree::Glob(_) => panic!("lib.rs names what it exports"),
    }
}

fn has_glob(tree: &UseTree) -> bool {
    tree.to_token_stream().to_string().contains('*')
}

fn has(attributes: &[Attribute], path: &str, token: Option<&str>) -> bool {
    attributes.iter().any(|attribute| match (&attribute.meta, token) {
        (Meta::List(list), Some(token)) => list.path.is_ident(path) && list.tokens.to_string() == token,
        (meta, None) => meta.path().is_ident(path),
        _ => false,
    })
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    has(attributes, "doc", Some("hidden"))
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The names that stand after `pub .. keyword` in tokens, at any depth.
fn public(keyword: &str, tokens: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let word = |at: usize| match tokens.get(at) {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
        _ => None,
    };
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            public(keyword, group.stream(), found);
        }
        if word(at).as_deref() != Some("pub") {
            continue;
        }
        let skipped = (at + 1..).take_while(|&at| matches!(word(at).as_deref(), Some("const" | "unsafe"))).count();
        if word(at + 1 + skipped).as_deref() == Some(keyword)
            && let Some(name) = word(at + 2 + skipped)
        {
            found.push(name);
        }
    }
}

/// The names of `pub static A, B = ..`, or of such constants, in tokens.
fn public_values(tokens: TokenStream, found: &mut Vec<String>) {
    let mut tokens = tokens.into_iter().peekable();
    let mut public = false;
    while let Some(token) = tokens.next() {
        let TokenTree::Ident(word) = &token else { continue };
        if public && (word == "static" || word == "const") {
            let names =
                tokens.by_ref().take_while(|token| !matches!(token, TokenTree::Punct(end) if end.as_char() == '='));
            found.extend(names.filter(|token| matches!(token, TokenTree::Ident(_))).map(|name| name.to_string()));
        }
        public = word == "pub";
    }
}

/// Collects the doors of the crate, by name.
struct Collector {
    exported: BTreeSet<String>,
    doors: BTreeSet<String>,
}

impl Collector {
    /// An item of the crate, or of a public module.
    fn item(&mut self, item: &Item, module: Option<&str>) {
        match item {
            Item::Fn(item)
                if is_public(&item.vis)
                    && let Some(module) = module =>
            {
                self.doors.insert(format!("{module}::{}", item.sig.ident));
            }
            // Functions that a module re-exports, by their lower-case names.
            Item::Use(item)
                if is_public(&item.vis)
                    && let Some(module) = module
                    && !has_glob(&item.tree) =>
            {
                let mut found = BTreeSet::new();
                names(&item.tree, &mut found);
                let functions = found.iter().filter(|name| name.starts_with(char::is_lowercase));
                self.doors.extend(functions.map(|function| format!("{module}::{function}")));
            }
            Item::Trait(item)
                if is_public(&item.vis)
                    && let Some(module) = module
                    && !is_hidden(&item.attrs) =>
            {
                for function in &item.items {
                    if let TraitItem::Fn(function) = function
                        && !is_hidden(&function.attrs)
                    {
                        self.doors.insert(format!("{module}::{}::{}", item.ident, function.sig.ident));
                    }
                }
            }
            Item::Fn(item) if is_public(&item.vis) && self.exported.contains(&item.sig.ident.to_string()) => {
                self.doors.insert(item.sig.ident.to_string());
            }
            Item::Impl(item) => self.implementation(item),
            Item::Trait(item) if self.exported.contains(&item.ident.to_string()) => {
                for function in &item.items {
                    if let TraitItem::Fn(function) = function
                        && !is_hidden(&function.attrs)
                    {
                        self.doors.insert(format!("{}::{}", item.ident, function.sig.ident));
                    }
                }
            }
            Item::Mod(item) if !has(&item.attrs, "cfg", Some("test")) => {
                item.content.iter().flat_map(|(_, items)| items).for_each(|item| self.item(item, module));
            }
            Item::Macro(item) => {
                let mut found = Vec::new();
                if let Some(name) = &item.ident {
                    if has(&item.attrs, "macro_export", None) && !has(&item.attrs, "doc", Some("hidden")) {
                        self.doors.insert(format!("{name}!"));
                    }
                    public("fn", item.mac.tokens.clone(), &mut found);
                    self.doors.extend(found.iter().map(|function| format!("{name}!::{function}")));
                } else if let Some(module) = module {
                    public_values(item.mac.tokens.clone(), &mut found);
                    public("fn", item.mac.tokens.clone(), &mut found);
                    self.doors.extend(found.iter().map(|name| format!("{module}::{name}")));
                } else {
                    // An enum that a macro declares, with its methods.
                    let mut owners = Vec::new();
                    public("enum", item.mac.tokens.clone(), &mut owners);
                    public("fn", item.mac.tokens.clone(), &mut found);
                    for owner in owners.iter().filter(|owner| self.exported.contains(*owner)) {
                        self.doors.extend(found.iter().map(|function| format!("{owner}::{function}")));
                    }
                }
            }
            _ => {}
        }
    }

    fn implementation(&mut self, item: &ItemImpl) {
        let Type::Path(path) = &*item.self_ty else { return };
        let name = path.path.segments.last().expect("a type has a name").ident.to_string();
        if !self.exported.contains(&name) {
            return;
        }
        if let Some(path) = item.trait_.as_ref().map(|implemented| &implemented.0) {
            let conversion = path.segments.last().expect("a trait has a name");
            if CONVERSIONS.iter().any(|known| conversion.ident == known) {
                let text = conversion.to_token_stream().to_string().replace(' ', "");
                self.doors.insert(format!("{name}: {text}"));
            }
            return;
        }
        for function in &item.items {
            match function {
                ImplItem::Fn(function) if is_public(&function.vis) && !is_hidden(&function.attrs) => {
                    self.doors.insert(format!("{name}::{}", function.sig.ident));
                }
                ImplItem::Macro(item) => {
                    let mut found = Vec::new();
                    public("fn", item.mac.tokens.clone(), &mut found);
                    self.doors.extend(found.iter().map(|function| format!("{name}::{function}")));
                }
                _ => {}
            }
        }
    }
}

/// Every door of gather-core, by name.
fn doors() -> BTreeSet<String> {
    let root = folder("../../gather-core/src");
    let mut exported = BTreeSet::new();
    for item in parse(&root.join("lib.rs")).items {
        if let Item::Use(item) = item
            && is_public(&item.vis)
        {
            names(&item.tree, &mut exported);
        }
    }
    assert!(exported.contains("View") && exported.contains("gather"), "lib.rs exports {exported:?}");
    let mut collector = Collector { exported, doors: BTreeSet::new() };
    let mut files = Vec::new();
    sources(&root, &mut files);
    for path in files {
        let module = if path.ends_with("rows/lanes.rs") {
            Some("rows::lanes")
        } else {
            ["maps", "rows"].into_iter().find(|module| path.parent() == Some(&*root.join(module)))
        };
        parse(&path).items.iter().for_each(|item| collector.item(item, module));
    }
    collector.doors
}

/// The tests of this crate and every word of their files, by module.
fn tests() -> BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)> {
    fn words(tokens: TokenStream, found: &mut BTreeSet<String>) {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => drop(found.insert(ident.to_string())),
                TokenTree::Group(group) => words(group.stream(), found),
                _ => {}
            }
        }
    }
    let mut files = Vec::new();
    sources(&folder("tests"), &mut files);
    // Files that no module lists are not compiled.
    let declared: BTreeSet<String> = parse(&folder("tests/main.rs"))
        .items
        .into_iter()
        .filter_map(|item| if let Item::Mod(item) = item { Some(item.ident.to_string()) } else { None })
        .collect();
    let module = |path: &Path| path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
    let read = |path: &PathBuf| {
        let file = parse(path);
        let mut all = BTreeSet::new();
        words(file.to_token_stream(), &mut all);
        let tests = file.items.iter().filter_map(|item| match item {
            Item::Fn(item) if has(&item.attrs, "test", None) => Some(item.sig.ident.to_string()),
            _ => None,
        });
        (module(path), (tests.collect(), all))
    };
    files.iter().filter(|path| declared.contains(&module(path))).map(read).collect()
}

#[test]
fn every_door_has_a_test() {
    let doors = doors();
    let listed_once: BTreeMap<&str, &Door> = listed().map(|(name, door)| (*name, door)).collect();
    assert_eq!(listed_once.len(), listed().count(), "a door is listed twice");
    let new: Vec<&String> = doors.iter().filter(|door| !listed_once.contains_key(door.as_str())).collect();
    assert!(new.is_empty(), "doors without an entry in `doors/list`: {new:#?}");
    let gone: Vec<&&str> = listed_once.keys().filter(|door| !doors.contains(**door)).collect();
    assert!(gone.is_empty(), "entries without a door: {gone:#?}");
    let tests = tests();
    for (name, door) in listed_once {
        let Door::Test(test) = door else { continue };
        let (module, function) = test.split_once("::").expect("a module and a function");
        let (functions, words) = tests.get(module).unwrap_or_else(|| panic!("{name}: no module {module}"));
        assert!(functions.contains(function), "{name}: there is no test {test}");
        let last = name.rsplit("::").next().expect("a name").trim_end_matches('!');
        let word = last.split(": ").last().and_then(|word| word.split('<').next()).expect("a name").to_lowercase();
        // Settings are made in what the tests share.
        let known = words.iter().chain(&tests["common"].1).any(|known| known.to_lowercase() == word);
        assert!(known || name.contains(": "), "{name}: {module} does not name it");
    }
}
