//! From fields to the grid: what is allowed, and what is said about what is not.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, ExprLit, Ident, Lit, LitInt, Type};

use crate::ctxt::Ctxt;
use crate::grid::{Element, Grid, Index, Unit, Width};
use crate::name::{self, readable};
use crate::parse::{self, Call, ElementItem, Field, Rank};

/// The most functions that one call may emit for the index operators: one and a half times the built-in set, which
/// takes about 10 seconds to compile.
const BUDGET: usize = 1296;
/// Levels that kernels are emitted for.
const LEVELS: usize = 2;

/// Checks a call; all errors at once, with those that the parser found.
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
        units(&mut cx, field, &mut grid);
    }
    budget(&mut cx, call, &grid);
    cx.finish(grid)
}

/// The fields in the order of [`name::KEYS`]; reports unknown, repeated and missing ones. A misspelt key stands for the
/// one that it resembles, so that its value is looked at too.
fn fields<'a>(cx: &mut Ctxt, call: &'a Call) -> [Option<&'a Field>; 5] {
    let keys = name::KEYS.map(|(key, _)| key);
    let position = |key: &str| keys.iter().position(|known| *known == key);
    let mut found = [None; 5];
    let mut misspelt = Vec::new();
    for field in &call.fields {
        let key = field.key.to_string();
        match position(&key) {
            None => {
                let near = name::suggestion(&key, keys);
                cx.error_on(&field.key, format!("unknown key `{key}`{near} ({})", name::keys()));
                misspelt.extend(name::nearest(&key, keys).and_then(position).map(|at| (at, field)));
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
    let mut seen = HashSet::new();
    for item in items {
        let ty = item.ty.to_token_stream();
        if !seen.insert(ty.to_string()) {
            cx.error_on(&item.ty, format!("`{}` is listed twice", readable(&item.ty)));
            continue;
        }
        if is_empty_array(&item.ty) {
            cx.error_on(&item.ty, format!("`{}` has no bytes, so it cannot be an element", readable(&item.ty)));
            continue;
        }
        let Some(unit) = unit_of(cx, &item, grid) else {
            continue;
        };
        let attrs = item.attrs.iter().map(ToTokens::to_token_stream).collect();
        grid.elements.push(Element { attrs, ty, class: item.class, unit });
    }
}

/// Whether a type is written as an array of 0, or of such arrays.
fn is_empty_array(ty: &Type) -> bool {
    let Type::Array(array) = ty else {
        return false;
    };
    let is_zero = |literal: &LitInt| literal.base10_digits() == "0";
    match &array.len {
        Expr::Lit(ExprLit { lit: Lit::Int(len), .. }) if is_zero(len) => true,
        _ => is_empty_array(&array.elem),
    }
}

/// The position of the unit that moves an element; a new one for a type of unknown width.
fn unit_of(cx: &mut Ctxt, item: &ElementItem, grid: &mut Grid) -> Option<usize> {
    let known = single_ident(&item.ty).and_then(|ident| name::primitive_bytes(&ident.to_string()));
    let width = match (&item.class, known) {
        (None, Some(bytes)) => Width::Bytes(bytes),
        (Some(class), _) => match name::width(&class.to_string()) {
            Some(width @ Width::Bytes(bytes)) if known.is_none_or(|known| known == bytes) => width,
            Some(Width::Bytes(bytes)) => {
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
            Width::SizeOf(grid.elements.len())
        }
    };
    let name = match width {
        Width::SizeOf(_) => unique_name(grid, &type_name(&item.ty)),
        _ => class_name(width),
    };
    Some(add_unit(grid, name, width))
}

/// The position of a unit, added where it is new.
fn add_unit(grid: &mut Grid, name: String, width: Width) -> usize {
    grid.units.iter().position(|unit| unit.width == width).unwrap_or_else(|| {
        grid.units.push(Unit { name, width });
        grid.units.len() - 1
    })
}

fn class_name(width: Width) -> String {
    match width {
        Width::Bytes(bytes) => format!("x{}", bytes * 8),
        Width::SizeOf(_) | Width::Rows => "rows".into(),
    }
}

/// The last segment of a type's path, or its tokens, in lower case.
fn type_name(ty: &Type) -> String {
    let text = match ty {
        Type::Path(path) => path.path.segments.last().map(|last| last.to_token_stream().to_string()),
        _ => None,
    };
    let text = text.unwrap_or_else(|| ty.to_token_stream().to_string()).to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
    words.join("_")
}

/// A name that no unit has yet, nor would have behind an operator: `gather` of `nd_pair` is not `gather_nd` of `pair`.
fn unique_name(grid: &Grid, name: &str) -> String {
    let ops = name::OPS.map(|(op, _)| op);
    let tail = |op: &str, other: &'static str| other.strip_prefix(op)?.strip_prefix('_');
    let tails: Vec<&str> = ops.iter().flat_map(|op| ops.iter().filter_map(move |other| tail(op, other))).collect();
    let bare = |name: &str| {
        let behind = |tail: &&str| name.strip_prefix(tail)?.strip_prefix('_');
        tails.iter().find_map(behind).unwrap_or(name).to_owned()
    };
    let taken = |candidate: &str| {
        let same = |unit: &Unit| bare(&unit.name) == bare(candidate);
        grid.units.iter().any(same) || name::width(&bare(candidate)).is_some()
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
    // Pointer-sized types share the word of the type of their width, where that is listed.
    let shares = |index: &str, width: &str| match index {
        "isize" => format!("i{width}"),
        "usize" => format!("u{width}"),
        fixed => fixed.to_owned(),
    };
    let own = |index: &&'static str| {
        ["64", "32"].iter().any(|width| !listed.contains(&shares(index, width).as_str()))
            || !matches!(*index, "isize" | "usize")
    };
    grid.words = listed.iter().copied().filter(own).collect();
    for index in &listed {
        let word = ["64", "32"].map(|width| {
            let shared = shares(index, width);
            let at = |wanted: &str| grid.words.iter().position(|word| *word == wanted);
            at(index).or_else(|| at(&shared)).unwrap_or_default()
        });
        let variant = name::INDICES.iter().find(|(name, _)| name == index).map_or("", |(_, variant)| variant);
        grid.indices.push(Index { variant, word });
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

/// Adds the ranks from one literal to another, or that of the only one.
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
        let names = name::OPS.map(|(op, _)| op);
        if !names.contains(&text.as_str()) {
            let near = name::suggestion(&text, names);
            cx.error_on(&op, format!("unknown operator `{text}`{near} (use one of {})", names.join(", ")));
        } else if !listed.insert(text.clone()) {
            cx.error_on(&op, format!("`{text}` is listed twice"));
        }
    }
    grid.index_ops =
        name::OPS[..3].iter().filter(|(op, _)| listed.contains(*op)).map(|&(_, variant)| variant).collect();
    grid.batch_to_space = listed.contains(name::OPS[3].0);
}

fn units(cx: &mut Ctxt, field: &Field, grid: &mut Grid) {
    let mut listed = HashSet::new();
    for unit in parse::list(cx, field, parse::unit).unwrap_or_default() {
        let text = unit.to_string();
        match name::width(&text) {
            Some(_) if !listed.insert(text.clone()) => cx.error_on(&unit, format!("`{text}` is listed twice")),
            Some(width) => {
                add_unit(grid, class_name(width), width);
            }
            None => {
                let known: Vec<&str> = name::WIDTHS.iter().map(|(class, _)| *class).chain(["rows"]).collect();
                let near = name::suggestion(&text, known.iter().copied());
                cx.error_on(&unit, format!("unknown unit `{unit}`{near} (use one of {})", known.join(", ")));
            }
        }
    }
}

fn budget(cx: &mut Ctxt, call: &Call, grid: &Grid) {
    let factors = [grid.units.len(), grid.words.len(), grid.ranks.len(), LEVELS];
    let functions: usize = factors.iter().product();
    if functions > BUDGET && !grid.index_ops.is_empty() {
        let [units, words, ranks, levels] = factors;
        cx.error_on(
            &call.name,
            format!(
                "this set has {functions} kernels, more than {BUDGET}: {units} widths x {words} index types x \
                 {ranks} ranks x {levels} levels; list fewer, or split the set"
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
