//! The sites of mutants: expressions that can be written otherwise.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ReturnType, Type, UnOp};

use crate::since::Changed;

/// A source file: where it stands in the repository, and its text.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A place of a source that a mutant replaces.
pub(crate) struct Site {
    /// The number of the source.
    pub(crate) source: usize,
    pub(crate) line: usize,
    /// The lines of the function that it stands in.
    pub(crate) function: RangeInclusive<usize>,
    /// Bytes of the source's text. Where it is empty, the mutant is a statement put in.
    pub(crate) range: Range<usize>,
    pub(crate) mutated: String,
}

/// The Rust files of gather-core below some folders, in the order of their paths.
pub(crate) fn sources(root: &Path, under: &[String]) -> Result<Vec<Source>, Box<dyn Error>> {
    let mut files = Vec::new();
    let mut left: Vec<_> = under.iter().map(|folder| root.join("gather-core/src").join(folder)).collect();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                left.push(entry?.path());
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    let source =
        |path: PathBuf| Ok(Source { text: fs::read_to_string(&path)?, path: path.strip_prefix(root)?.to_path_buf() });
    files.into_iter().map(source).collect()
}

/// All sites of some sources.
pub(crate) fn find(sources: &[Source]) -> Result<Vec<Site>, Box<dyn Error>> {
    let mut sites = Vec::new();
    for (source, Source { path, text }) in sources.iter().enumerate() {
        let file = syn::parse_file(text).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut found = Found { source, text, function: 0..=0, sites: &mut sites };
        found.visit_file(&file);
    }
    Ok(sites)
}

/// Keeps the sites in functions that have a changed line.
pub(crate) fn keep_changed(sites: &mut Vec<Site>, sources: &[Source], changed: &Changed) {
    let meet = |a: &RangeInclusive<usize>, b: &RangeInclusive<usize>| a.start() <= b.end() && b.start() <= a.end();
    sites.retain(|site| {
        let lines = changed.get(&sources[site.source].path);
        lines.is_some_and(|lines| lines.iter().any(|lines| meet(lines, &site.function)))
    });
}

/// `count` sites that do not overlap, drawn with a seed, in the order of the draw.
pub(crate) fn draw(mut sites: Vec<Site>, count: usize, seed: u64) -> Vec<Site> {
    let mut state = seed;
    let mut taken: BTreeMap<usize, Vec<Range<usize>>> = BTreeMap::new();
    let mut drawn = Vec::new();
    while drawn.len() < count && !sites.is_empty() {
        // SplitMix64; the bias of the remainder is far below what 200 draws can show.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let site = sites.swap_remove(((z ^ (z >> 31)) % sites.len() as u64) as usize);
        let ranges = taken.entry(site.source).or_default();
        if ranges.iter().all(|range| range.end <= site.range.start || site.range.end <= range.start) {
            ranges.push(site.range.clone());
            drawn.push(site);
        }
    }
    drawn
}

/// What a source's text becomes with its mutants in place, those of `drawn` whose numbers are not `None`.
pub(crate) fn mutate(number: usize, text: &str, drawn: &[Option<Site>]) -> String {
    let mut here: Vec<_> = drawn.iter().enumerate().filter_map(|(n, site)| Some((n, site.as_ref()?))).collect();
    here.retain(|(_, site)| site.source == number);
    here.sort_by_key(|(_, site)| site.range.start);
    let (mut mutated, mut from) = (String::new(), 0);
    for (n, Site { range, mutated: instead, .. }) in here {
        mutated.push_str(&text[from..range.start]);
        let original = &text[range.clone()];
        mutated.push_str(&if range.is_empty() {
            format!(" if crate::mutant::is({n}) {{ {instead} }} ")
        } else {
            format!("(if crate::mutant::is({n}) {{ {instead} }} else {{ {original} }})")
        });
        from = range.end;
    }
    mutated + &text[from..]
}

/// Collects sites. What constants hold is left out: they cannot ask which mutant runs.
struct Found<'a> {
    source: usize,
    text: &'a str,
    /// The lines of the function that is visited.
    function: RangeInclusive<usize>,
    sites: &'a mut Vec<Site>,
}

impl Found<'_> {
    fn text(&self, of: &impl syn::spanned::Spanned) -> &str {
        &self.text[of.span().byte_range()]
    }

    fn site(&mut self, whole: &Expr, mutated: String) {
        let (range, line) = (whole.span().byte_range(), whole.span().start().line);
        if !self.text[range.clone()].contains('\n') {
            self.sites.push(Site { source: self.source, line, function: self.function.clone(), range, mutated });
        }
    }

    /// The sites of a function, and of those in it.
    fn function(&mut self, whole: &impl syn::spanned::Spanned, output: &ReturnType, block: &syn::Block) {
        let lines = whole.span().start().line..=whole.span().end().line;
        let around = std::mem::replace(&mut self.function, lines);
        self.returns(output, block);
        visit::visit_block(self, block);
        self.function = around;
    }

    /// A mutant that returns at the begin of a function.
    fn returns(&mut self, output: &ReturnType, block: &syn::Block) {
        let value = match output {
            ReturnType::Default => "return;",
            ReturnType::Type(_, ty) => match &**ty {
                Type::Path(path) if path.path.is_ident("bool") => "return true;",
                Type::Path(path) if path.path.is_ident("usize") => "return 1;",
                Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option") => {
                    "return None;"
                }
                Type::Path(path) if self.text(path).ends_with("Result<(), Error>") => "return Ok(());",
                _ => return,
            },
        };
        if !block.stmts.is_empty() {
            let span = block.brace_token.span.open();
            let (at, line) = (span.byte_range().end, span.start().line);
            let function = self.function.clone();
            self.sites.push(Site { source: self.source, line, function, range: at..at, mutated: value.into() });
        }
    }
}

/// What takes the place of an operator.
fn instead(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Lt(_) => "<=",
        BinOp::Le(_) => "<",
        BinOp::Gt(_) => ">=",
        BinOp::Ge(_) => ">",
        BinOp::Eq(_) => "!=",
        BinOp::Ne(_) => "==",
        BinOp::And(_) => "||",
        BinOp::Or(_) => "&&",
        BinOp::Add(_) => "-",
        BinOp::Sub(_) | BinOp::Mul(_) => "+",
        BinOp::Div(_) => "*",
        BinOp::Rem(_) => "/",
        BinOp::BitAnd(_) => "|",
        BinOp::BitOr(_) | BinOp::BitXor(_) => "&",
        BinOp::Shl(_) => ">>",
        BinOp::Shr(_) => "<<",
        BinOp::AddAssign(_) => "-=",
        BinOp::SubAssign(_) | BinOp::MulAssign(_) => "+=",
        BinOp::BitOrAssign(_) => "&=",
        BinOp::BitAndAssign(_) => "|=",
        _ => return None,
    })
}

impl<'ast> Visit<'ast> for Found<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            // A chain with `let` cannot be written in parentheses.
            Expr::Binary(binary) if !self.text(expr).contains("let ") => {
                if let Some(op) = instead(&binary.op) {
                    let mutated = format!("{} {op} {}", self.text(&*binary.left), self.text(&*binary.right));
                    self.site(expr, mutated);
                }
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_) | UnOp::Neg(_)) => {
                self.site(expr, self.text(&*unary.expr).to_owned());
            }
            Expr::Const(_) | Expr::Repeat(_) => return,
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if item.sig.constness.is_none() {
            self.function(item, &item.sig.output, &item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if item.sig.constness.is_none() {
            self.function(item, &item.sig.output, &item.block);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test =
            |attribute: &syn::Attribute| attribute.path().is_ident("cfg") && self.text(attribute).contains("test");
        if !item.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}

    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}

    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}

    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}

    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}

    fn visit_type(&mut self, _: &'ast Type) {}

    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
}
