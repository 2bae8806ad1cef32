//! Validation: from fields to the grid, with messages about mistakes.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Expr, ExprLit, Ident, Lit, LitInt, Type};

use crate::attrs::{self, Names};
use crate::ctxt::Ctxt;
use crate::grid::{Element, Grid, Index, Size, Width};
use crate::name::{self, readable};
use crate::parse::{self, Call, ElementItem, Field, Rank};

/// Checks a call; reports all errors at once, including the parser's.
pub(crate) fn grid(mut cx: Ctxt, call: &Call) -> Result<Grid, TokenStream> {
    let mut grid = Grid::default();
    let fields = fields(&mut cx, call);
    if let Some(field) = fields[0] {
        elements(&mut cx, field, &mut grid);
    }
    if let Some(field) = fields[1] {
        indices(&mut cx, field, &mut grid);
    }
    if let Some(field) = fields[2] {
        ranks(&mut cx, field, &mut grid);
    }
    if let Some(field) = fields[3] {
        ops(&mut cx, field, &mut grid);
    }
    if let Some(field) = fields[4] {
        widths(&mut cx, field, &mut grid);
    }
    budget(&mut cx, call, &grid);
    cx.finish(grid)
}

/// The fields in the order of [`name::KEYS`]; reports unknown, repeated and missing keys. A misspelt key counts as the
/// key that it resembles, so that its value is checked, too.
fn fields<'a>(cx: &mut Ctxt, call: &'a Call) -> [Option<&'a Field>; name::KEYS.len()] {
    let keys = name::KEYS.map(|(key, _)| key);
    let position = |key: &str| keys.iter().position(|known| *known == key);
    let mut found = [None; name::KEYS.len()];
    let mut misspelt = Vec::new();
    for field in &call.fields {
        let key = field.key.to_string();
        match position(&key) {
            None => {
                let near = name::nearest_key(&key);
                let suggestion = name::did_you_mean(near);
                cx.error_on(&field.key, format!("unknown key `{key}`{suggestion} ({})", name::keys()));
                misspelt.extend(near.and_then(position).map(|at| (at, field)));
            }
            Some(at) if found[at].is_some() => cx.error_on(&field.key, format!("`{key}` is given twice")),
            Some(at) => found[at] = Some(field),
        }
    }
    for (at, field) in misspelt {
        found[at].get_or_insert(field);
    }
    for ((key, example), _) in name::KEYS.iter().zip(&found).take(name::NEEDED).filter(|(_, field)| field.is_none()) {
        cx.error_on(&call.name, format!("`{key}` is missing; add `{key}: {example};`"));
    }
    found
}

fn elements(cx: &mut Ctxt, field: &Field, grid: &mut Grid) {
    let Some(items) = parse::list(cx, field, parse::element) else {
        return;
    };
    let prefix = unused_prefix(field);
    let mut seen = Names::default();
    for item in items {
        let ty = item.ty.to_token_stream();
        if !seen.insert(&ty, &item.attrs) {
            cx.error_on(&item.ty, format!("`{}` is listed twice", readable(&item.ty)));
            continue;
        }
        if is_empty_array(&item.ty) {
            cx.error_on(&item.ty, format!("`{}` has no bytes, so it cannot be an element", readable(&item.ty)));
            continue;
        }
        let Some(width) = width_of(cx, &item, grid) else {
            continue;
        };
        let name = format_ident!("{prefix}{}", grid.elements.len());
        let attrs = attrs::allowed(cx, &item.attrs);
        grid.elements.push(Element { attrs, name, ty, class: item.class, width });
    }
}

/// A prefix of data type names in emitted code. No listed type contains it, since the names are in scope of the types.
fn unused_prefix(field: &Field) -> String {
    let text = field.value.as_ref().map(ToString::to_string).unwrap_or_default();
    let mut prefix = String::from("__ELEMENT");
    while text.contains(&prefix) {
        prefix.push('_');
    }
    prefix
}

/// Whether a type is written as an array of length 0, or of arrays of length 0.
pub(crate) fn is_empty_array(ty: &Type) -> bool {
    let Type::Array(array) = ty else {
        return false;
    };
    let is_zero = |literal: &LitInt| literal.base10_digits() == "0";
    match &array.len {
        Expr::Lit(ExprLit { lit: Lit::Int(len), .. }) if is_zero(len) => true,
        _ => is_empty_array(&array.elem),
    }
}

/// The position of the width of an element, added if it is new; `None` after reporting a mistake.
fn width_of(cx: &mut Ctxt, item: &ElementItem, grid: &mut Grid) -> Option<usize> {
    let known = single_ident(&item.ty).and_then(|ident| name::primitive_bytes(&ident.to_string()));
    let size = match (&item.class, known) {
        (None, Some(bytes)) => Size::Bytes(bytes),
        (Some(class), _) => match name::size(&class.to_string()) {
            Some(size @ Size::Bytes(bytes)) if known.is_none_or(|known| known == bytes) => size,
            Some(Size::Bytes(bytes)) => {
                let ty = readable(&item.ty);
                cx.error_on(class, format!("`{ty}` has {}, not {bytes}", name::bytes(known.unwrap_or_default())));
                return None;
            }
            _ => {
                let classes = name::WIDTHS.map(|(class, _)| class);
                let near = name::suggestion(&class.to_string(), classes);
                cx.error_on(class, format!("unknown width class `{class}`{near} (use one of {})", classes.join(", ")));
                return None;
            }
        },
        (None, None) => {
            if let Some(attr) = item.attrs.first() {
                cx.error_on(attr, "an element with attributes needs a width class, such as `as x32`");
                return None;
            }
            Size::OfElement(grid.elements.len())
        }
    };
    let name = match size {
        Size::Bytes(bytes) => class_name(bytes),
        _ => unique_name(grid, &type_name(&item.ty)),
    };
    Some(add_width(grid, name, size))
}

/// The position of a width, added if it is new.
fn add_width(grid: &mut Grid, name: String, size: Size) -> usize {
    grid.widths.iter().position(|width| width.size == size).unwrap_or_else(|| {
        grid.widths.push(Width { name, size });
        grid.widths.len() - 1
    })
}

fn class_name(bytes: usize) -> String {
    format!("x{}", bytes * 8)
}

/// The last segment of a type's path, or its tokens, in lower case.
fn type_name(ty: &Type) -> String {
    let text = match ty {
        Type::Path(path) => path.path.segments.last().map(|last| last.to_token_stream().to_string()),
        _ => None,
    };
    let text = text.unwrap_or_else(|| ty.to_token_stream().to_string()).replace("r#", "").to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
    words.join("_")
}

/// A name that no width has, and with which no kernel name is ambiguous: `gather_nd_pair` could be `gather` of
/// `nd_pair`, or `gather_nd` of `pair`.
fn unique_name(grid: &Grid, name: &str) -> String {
    let ops = name::ops();
    let tail = |op: &str, other: &'static str| other.strip_prefix(op)?.strip_prefix('_');
    let tails: Vec<&str> = ops.iter().flat_map(|op| ops.iter().filter_map(move |other| tail(op, other))).collect();
    let bare = |name: &str| {
        let behind = |tail: &&str| name.strip_prefix(tail)?.strip_prefix('_');
        tails.iter().find_map(behind).unwrap_or(name).to_owned()
    };
    let taken = |candidate: &str| {
        let same = |width: &Width| bare(&width.name) == bare(candidate);
        grid.widths.iter().any(same) || name::size(&bare(candidate)).is_some()
    };
    (1..)
        .map(|n| if n == 1 { name.to_owned() } else { format!("{name}_{n}") })
        .find(|candidate| !taken(candidate))
        .expect("names are numbered without end")
}

fn indices(cx: &mut Ctxt, field: &Field, grid: &mut Grid) {
    let Some(items) = parse::list(cx, field, parse::index) else {
        return;
    };
    let allowed = name::INDICES.map(|(index, _)| index);
    let mut listed: Vec<&'static str> = Vec::new();
    for ty in items {
        let text = readable(&ty);
        match name::INDICES.iter().find(|(index, _)| *index == text) {
            None => {
                let near = name::suggestion(&text, allowed);
                cx.error_on(&ty, format!("`{text}` cannot index{near} (use one of {})", allowed.join(", ")));
            }
            Some((index, _)) if listed.contains(index) => cx.error_on(&ty, format!("`{text}` is listed twice")),
            Some((index, _)) => listed.push(index),
        }
    }
    // A pointer-sized type shares the representations of the integers of 64 and of 32 bits if both are listed.
    // Otherwise it has its own.
    let shares = |index: &str, width: &str| match index {
        "isize" => format!("i{width}"),
        "usize" => format!("u{width}"),
        fixed => fixed.to_owned(),
    };
    let own = |index: &&'static str| {
        ["64", "32"].iter().any(|width| !listed.contains(&shares(index, width).as_str()))
            || !matches!(*index, "isize" | "usize")
    };
    grid.reprs = listed.iter().copied().filter(own).collect();
    for index in &listed {
        let repr = ["64", "32"].map(|width| {
            let shared = shares(index, width);
            let at = |wanted: &str| grid.reprs.iter().position(|repr| *repr == wanted);
            at(index).or_else(|| at(&shared)).unwrap_or_default()
        });
        grid.indices.push(Index { variant: name::index_variant(index), repr });
    }
}

fn ranks(cx: &mut Ctxt, field: &Field, grid: &mut Grid) {
    let mut any = false;
    for item in parse::ranks(cx, field).unwrap_or_default() {
        match item {
            Rank::Any(word) if any => cx.error_on(word, "`any` is listed twice"),
            Rank::Any(_) => any = true,
            Rank::Span(first, last) => span(cx, &first, last.as_ref(), grid),
        }
    }
    grid.ranks.sort_unstable();
    if any {
        grid.ranks.push(0);
    }
}

/// Adds the ranks `first..=last`, or `first` alone.
fn span(cx: &mut Ctxt, first: &LitInt, last: Option<&LitInt>, grid: &mut Grid) {
    let low = rank(cx, first);
    let high = last.map_or(low, |last| rank(cx, last));
    let (Some(low), Some(high)) = (low, high) else {
        return;
    };
    let tokens = quote!(#first #last);
    if low > high {
        cx.error_on(&tokens, format!("the ranks {low}..={high} are empty; write `{high}..={low}`"));
    }
    let (twice, new): (Vec<u8>, Vec<u8>) = (low..=high).partition(|rank| grid.ranks.contains(rank));
    match twice.as_slice() {
        [] => {}
        [rank] => cx.error_on(&tokens, format!("rank {rank} is listed twice")),
        ranks => {
            let ranks: Vec<String> = ranks.iter().map(u8::to_string).collect();
            cx.error_on(&tokens, format!("ranks {} are listed twice", ranks.join(", ")));
        }
    }
    grid.ranks.extend(new);
}

fn rank(cx: &mut Ctxt, literal: &LitInt) -> Option<u8> {
    const MAX: u8 = name::MAX_RANK;
    match literal.base10_parse::<u8>() {
        Ok(rank @ 1..=MAX) => Some(rank),
        _ => {
            cx.error_on(literal, format!("rank {literal} cannot be unrolled; use 1 to {MAX} (`any` runs the others)"));
            None
        }
    }
}

fn ops(cx: &mut Ctxt, field: &Field, grid: &mut Grid) {
    let Some(items) = parse::list(cx, field, parse::op) else {
        return;
    };
    let mut listed = HashSet::new();
    for op in items {
        let text = op.to_string();
        let names = name::ops();
        if !names.contains(&text.as_str()) {
            let near = name::suggestion(&text, names.iter().copied());
            cx.error_on(&op, format!("unknown operator `{text}`{near} (use one of {})", names.join(", ")));
        } else if !listed.insert(text.clone()) {
            cx.error_on(&op, format!("`{text}` is listed twice"));
        }
    }
    let is_listed = |(op, _): &&(&str, &str)| listed.contains(*op);
    grid.index_ops = name::INDEX_OPS.iter().filter(is_listed).map(|&(_, variant)| variant).collect();
    grid.scatter_ops = name::SCATTER_OPS.iter().filter(is_listed).map(|&(_, variant)| variant).collect();
    grid.space_ops = name::SPACE_OPS.iter().filter(is_listed).map(|&(_, variant)| variant).collect();
}

fn widths(cx: &mut Ctxt, field: &Field, grid: &mut Grid) {
    let mut listed = HashSet::new();
    for width in parse::list(cx, field, parse::width).unwrap_or_default() {
        let text = width.to_string();
        match name::size(&text) {
            Some(_) if !listed.insert(text.clone()) => cx.error_on(&width, format!("`{text}` is listed twice")),
            Some(size) => {
                add_width(grid, text, size);
            }
            None => {
                let known: Vec<&str> = name::WIDTHS.iter().map(|(class, _)| *class).chain([name::ROWS]).collect();
                let near = name::suggestion(&text, known.iter().copied());
                cx.error_on(&width, format!("unknown width `{width}`{near} (use one of {})", known.join(", ")));
            }
        }
    }
}

fn budget(cx: &mut Ctxt, call: &Call, grid: &Grid) {
    let [widths, reprs, ranks] = [grid.widths.len(), grid.reprs.len(), grid.ranks.len()];
    let gathers = if grid.index_ops.is_empty() { 0 } else { widths * reprs * ranks };
    let scatters = if grid.scatter_ops.is_empty() { 0 } else { reprs * ranks };
    let functions = gathers + scatters;
    if functions > name::BUDGET {
        let scatters = if scatters == 0 { String::new() } else { format!(", and {scatters} of scatters") };
        cx.error_on(
            &call.name,
            format!(
                "this set has {functions} kernels for each level, more than {}: {widths} widths x {reprs} index types x \
                 {ranks} ranks{scatters}; list fewer, or split the set",
                name::BUDGET
            ),
        );
    }
}

fn single_ident(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.get_ident(),
        _ => None,
    }
}
