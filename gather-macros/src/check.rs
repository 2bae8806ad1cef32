//! From fields to the grid: what is allowed, and what is said about what is not.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Ident, LitInt, Type};

use crate::ctxt::Ctxt;
use crate::grid::{Element, Grid, Index, Unit, Width};
use crate::name;
use crate::parse::{self, Call, ElementItem, Field};

/// The most functions that one call may emit for the index operators: one and a half times the built-in set, which
/// takes about 15 seconds to compile.
const BUDGET: usize = 4096;
/// The most loops that a nest is unrolled for.
const MAX_RANK: u8 = 8;
/// Levels that kernels are emitted for.
const LEVELS: usize = 2;

/// Checks a call; all errors at once.
pub(crate) fn grid(call: &Call) -> Result<Grid, TokenStream> {
    let mut cx = Ctxt::default();
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

/// The fields in the order of [`name::KEYS`]; reports unknown, repeated and missing ones.
fn fields<'a>(cx: &mut Ctxt, call: &'a Call) -> [Option<&'a Field>; 5] {
    let mut found = [None; 5];
    for field in &call.fields {
        let key = field.key.to_string();
        match name::KEYS.iter().position(|known| *known == key) {
            None => {
                let near = name::suggestion(&key, name::KEYS);
                let allowed = name::KEYS[..4].join("`, `");
                cx.error_on(&field.key, format!("unknown key `{key}`{near} (the keys are `{allowed}`)"));
            }
            Some(at) if found[at].is_some() => cx.error_on(&field.key, format!("`{key}` is given twice")),
            Some(at) => found[at] = Some(field),
        }
    }
    for (key, _) in name::KEYS.iter().zip(&found).take(4).filter(|(_, field)| field.is_none()) {
        cx.error_on(&call.name, format!("`{key}` is missing; add `{key}: ..;`"));
    }
    found
}

fn elements(cx: &mut Ctxt, field: &Field, grid: &mut Grid) {
    let Some(items) = list::<ElementItem>(cx, field) else {
        return;
    };
    let mut seen = HashSet::new();
    for item in items {
        let ty = item.ty.to_token_stream();
        if !seen.insert(ty.to_string()) {
            cx.error_on(&item.ty, format!("`{}` is listed twice", readable(&item.ty)));
            continue;
        }
        let Some(unit) = unit_of(cx, &item, grid) else {
            continue;
        };
        let attrs = item.attrs.iter().map(ToTokens::to_token_stream).collect();
        grid.elements.push(Element { attrs, ty, unit });
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
                cx.error_on(class, format!("`{ty}` has {} bytes, not {bytes}", known.unwrap_or_default()));
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

/// A name that no unit has yet.
fn unique_name(grid: &Grid, name: &str) -> String {
    let taken =
        |candidate: &str| grid.units.iter().any(|unit| unit.name == candidate) || name::width(candidate).is_some();
    (1..)
        .map(|n| if n == 1 { name.to_owned() } else { format!("{name}_{n}") })
        .find(|candidate| !taken(candidate))
        .expect("names are numbered without end")
}

fn indices(cx: &mut Ctxt, field: &Field, grid: &mut Grid) {
    let Some(items) = list::<Type>(cx, field) else {
        return;
    };
    let allowed = name::INDICES.map(|(index, _)| index);
    let mut listed: Vec<&'static str> = Vec::new();
    for ty in items {
        let text = readable(&ty);
        match name::INDICES.iter().find(|(index, _)| *index == text) {
            None => cx.error_on(&ty, format!("`{text}` cannot index; use one of {}", allowed.join(", "))),
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
    let Some(ranks) = cx.take(parse::ranks(&field.value)) else {
        return;
    };
    if ranks.spans.is_empty() && !ranks.any {
        cx.error_on(&field.key, "`ranks` is empty; name at least one rank, such as `1..=4`");
    }
    for (first, last) in &ranks.spans {
        let (Some(low), Some(high)) = (rank(cx, first), rank(cx, last)) else {
            continue;
        };
        if low > high {
            cx.error_on(first, format!("the ranks {low}..={high} are empty; the first must not exceed the last"));
        }
        for rank in low..=high {
            if grid.ranks.contains(&rank) {
                cx.error_on(first, format!("rank {rank} is listed twice"));
            } else {
                grid.ranks.push(rank);
            }
        }
    }
    grid.ranks.sort_unstable();
    if ranks.any {
        grid.ranks.push(0);
    }
}

fn rank(cx: &mut Ctxt, literal: &LitInt) -> Option<u8> {
    match literal.base10_parse::<u8>() {
        Ok(rank @ 1..=MAX_RANK) => Some(rank),
        _ => {
            cx.error_on(
                literal,
                format!("rank {literal} cannot be unrolled; use 1 to {MAX_RANK} (`any` runs the others)"),
            );
            None
        }
    }
}

fn ops(cx: &mut Ctxt, field: &Field, grid: &mut Grid) {
    let Some(items) = list::<Ident>(cx, field) else {
        return;
    };
    let mut listed = HashSet::new();
    for op in items {
        let text = op.to_string();
        let names = name::OPS.map(|(op, _)| op);
        if !names.contains(&text.as_str()) {
            let near = name::suggestion(&text, names);
            cx.error_on(&op, format!("unknown operator `{text}`{near} (use {})", names.join(", ")));
        } else if !listed.insert(text.clone()) {
            cx.error_on(&op, format!("`{text}` is listed twice"));
        }
    }
    grid.index_ops = name::OPS[..3].iter().copied().filter(|(op, _)| listed.contains(*op)).collect();
    grid.batch_to_space = listed.contains(name::OPS[3].0);
}

fn units(cx: &mut Ctxt, field: &Field, grid: &mut Grid) {
    for unit in list::<Ident>(cx, field).unwrap_or_default() {
        match name::width(&unit.to_string()) {
            Some(width) => drop(add_unit(grid, class_name(width), width)),
            None => {
                let known = name::WIDTHS.map(|(class, _)| class).join(", ");
                cx.error_on(&unit, format!("unknown unit `{unit}`; use one of {known}, rows"));
            }
        }
    }
}

fn budget(cx: &mut Ctxt, call: &Call, grid: &Grid) {
    let factors = [grid.index_ops.len(), grid.units.len(), grid.words.len(), grid.ranks.len(), LEVELS];
    let functions: usize = factors.iter().product();
    if functions > BUDGET {
        let [ops, units, words, ranks, levels] = factors;
        cx.error_on(
            &call.name,
            format!(
                "this set has {functions} kernels, more than {BUDGET}: {ops} operators x {units} widths x {words} index \
                 types x {ranks} ranks x {levels} levels; list fewer, or split the set"
            ),
        );
    }
}

/// The items of a list that may not be empty; `None` after reporting what is wrong.
fn list<T: syn::parse::Parse>(cx: &mut Ctxt, field: &Field) -> Option<Vec<T>> {
    let items = cx.take(parse::list::<T>(&field.value))?;
    if items.is_empty() {
        cx.error_on(&field.key, format!("`{}` is empty; list at least one", field.key));
        return None;
    }
    Some(items)
}

fn single_ident(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.get_ident(),
        _ => None,
    }
}

/// A type as its author wrote it, more or less.
fn readable(ty: &Type) -> String {
    quote!(#ty).to_string().replace(" :: ", "::").replace("< ", "<").replace(" <", "<").replace(" >", ">")
}
