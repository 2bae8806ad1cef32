//! Checks of declarations: attributes against shapes, for numbers that are literals. gather-core checks constants when
//! it evaluates them.

use proc_macro2::Span;
use syn::{Error, Expr, ExprArray, GenericParam, Generics, Ident, Path, Type};

use crate::ctxt::Ctxt;
use crate::name::{self, MAX_PARAMS, MAX_RANK, nearest, readable, suggestion};
use crate::specialize::known::{self, NEGATIVE_INDEX, Op, OutOfBounds, Preset};
use crate::specialize::parse::{Function, Number, Param, Tensor};
use crate::specialize::shapes;

pub(crate) struct Checked {
    pub(crate) op: Op,
    pub(crate) data: Tensor,
    pub(crate) indices: Option<Tensor>,
    pub(crate) attributes: Attributes,
    /// The type of the output, if a map changes it.
    pub(crate) output: Option<Type>,
}

/// The attributes and policies of an operator.
pub(crate) struct Attributes {
    /// Counted from the front.
    pub(crate) axis: usize,
    pub(crate) batch_dims: usize,
    pub(crate) out_of_bounds: OutOfBounds,
    pub(crate) rejects: bool,
    pub(crate) map: Option<Path>,
    /// Parameters of the map.
    pub(crate) params: Vec<Param>,
    /// One entry per dimension.
    pub(crate) block: Vec<Number>,
    pub(crate) begin: Vec<Number>,
    pub(crate) end: Vec<Number>,
    pub(crate) preset: Preset,
}

/// The values of the keys before they are compared with shapes; numbers have a location for errors.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) axis: Option<(i128, Span)>,
    pub(crate) batch_dims: Option<(i128, Span)>,
    pub(crate) out_of_bounds: Option<OutOfBounds>,
    pub(crate) rejects: Option<bool>,
    pub(crate) map: Option<Path>,
    pub(crate) params: Vec<Param>,
    pub(crate) block: Option<(Vec<Number>, Span)>,
    pub(crate) begin: Option<(Vec<Number>, Span)>,
    pub(crate) end: Option<(Vec<Number>, Span)>,
}

/// Checks a declaration; `None` after reporting its mistakes.
pub(crate) fn function(cx: &mut Ctxt, function: &mut Function) -> Option<Checked> {
    let before = cx.count();
    let op = Op::parse(&function.op.to_string()).map_err(|message| cx.error_on(&function.op, message)).ok();
    generics(cx, &function.generics);
    for tensor in &function.tensors {
        sizes(cx, tensor);
    }
    let op = op?;
    let preset = function.preset.as_ref().map_or(Some(Preset::PLAIN), |name| {
        op.preset(&name.to_string()).map_err(|message| cx.error_on(name, message)).ok()
    });
    let given = keys(cx, op, function);
    let tensors = std::mem::take(&mut function.tensors);
    let takes = if op.has_indices() { ("data and indices", 2) } else { ("data, and no indices", 1) };
    if let Some(extra) = tensors.get(takes.1) {
        cx.error_on(&extra.ty, format!("`{}` takes {}", op.name(), takes.0));
    }
    let mut tensors = tensors.into_iter();
    let (data, indices) = (tensors.next(), tensors.next());
    let Some(data) = data else {
        let message = format!("`{}` has no data; give its type and shape, such as `(f32[_, 64])`", op.name());
        cx.error_on(&function.name, message);
        return None;
    };
    element(cx, &data.ty);
    let indices = if op.has_indices() {
        let Some(indices) = indices else {
            let message = format!("`{}` has no indices; give their type and shape, such as `u32[_]`", op.name());
            cx.error_on(&data.ty, message);
            return None;
        };
        index_type(cx, &indices.ty, &function.generics);
        Some(indices)
    } else {
        None
    };
    output(cx, function, given.map.as_ref());
    let preset = preset?;
    let attributes = shapes::attributes(cx, op, preset, given, &data, indices.as_ref(), &function.op)?;
    let output = function.output.take();
    let checked = Checked { op, data, indices, attributes, output };
    if cx.count() == before {
        shapes::output_len(cx, &checked);
    }
    (cx.count() == before).then_some(checked)
}

/// Reports generic parameters that a slice function cannot have.
fn generics(cx: &mut Ctxt, generics: &Generics) {
    for param in &generics.params {
        match param {
            GenericParam::Type(_) => {}
            GenericParam::Const(param) => {
                cx.error_on(param, "sizes are constants of the source, not of a function; use `_`, or a `const`");
            }
            GenericParam::Lifetime(param) => {
                cx.error_on(param, "elements and indices do not borrow; leave the lifetime out");
            }
        }
    }
}

fn sizes(cx: &mut Ctxt, tensor: &Tensor) {
    if tensor.sizes.len() > usize::from(MAX_RANK) {
        let message = format!("a declared tensor has at most {MAX_RANK} dimensions, not {}", tensor.sizes.len());
        cx.push(Error::new(tensor.bracket, message));
    }
    for size in &tensor.sizes {
        match size.value() {
            Some(0) => cx.push(Error::new(size.span(), "a size of 0 leaves nothing to do; sizes are at least 1")),
            Some(value) if value < 0 => cx.push(Error::new(size.span(), format!("{value} is no size"))),
            Some(value) if value > i128::from(i64::MAX) => {
                cx.push(Error::new(size.span(), format!("no tensor has {value} elements (isize::MAX)")));
            }
            _ => {}
        }
    }
}

fn last_name(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last().map(|segment| &segment.ident),
        _ => None,
    }
}

/// Reports a type that is evidently no element.
fn element(cx: &mut Ctxt, ty: &Type) {
    let message = match ty {
        Type::Reference(_) | Type::Ptr(_) => "references and pointers cannot be elements; hold the data itself".into(),
        Type::Tuple(_) => "a tuple has no fixed layout; an element is a number, an array, or a derived type".into(),
        Type::Infer(_) => "the type of the elements cannot be inferred; write it, such as `f32`".into(),
        _ => match last_name(ty) {
            Some(name) if known::NOT_ELEMENTS.iter().any(|other| name == other) => {
                format!("`{}` is not an element; others than numbers derive `gather_core::Element`", readable(ty))
            }
            _ => return,
        },
    };
    cx.error_on(ty, message);
}

/// Reports a type that evidently cannot index.
fn index_type(cx: &mut Ctxt, ty: &Type, generics: &Generics) {
    let known = || name::INDICES.map(|(name, _)| name);
    let is_parameter = |name: &Ident| generics.type_params().any(|param| param.ident == *name);
    let near = match last_name(ty) {
        Some(name) if is_parameter(name) => return,
        Some(name) if known::NOT_INDICES.iter().any(|other| name == other) => String::new(),
        Some(name) => {
            let name = name.to_string();
            // A misspelt index type. Other names may be aliases, which only the compiler knows.
            let looks =
                name.starts_with(['i', 'u']) && name.len() <= 5 && name[1..].chars().all(|c| c.is_ascii_digit());
            match nearest(&name, known()) {
                Some(near) if looks && name.len() > 1 && near != name => suggestion(&name, known()),
                _ => return,
            }
        }
        None => String::new(),
    };
    cx.error_on(ty, format!("`{}` cannot index{near} (use one of {})", readable(ty), known().join(", ")));
}

/// Checks that an output type is given iff there is a map.
fn output(cx: &mut Ctxt, function: &Function, map: Option<&Path>) {
    match (&function.output, map) {
        (None, Some(map)) => {
            let message = "a map needs the type of its results behind the tensors, such as `-> f32`";
            cx.error_on(map, message);
        }
        (Some(ty), None) => cx.error_on(ty, "the output has the type of data, unless a `map` makes another"),
        (Some(ty), Some(_)) => element(cx, ty),
        (None, None) => {}
    }
}

fn keys(cx: &mut Ctxt, op: Op, function: &Function) -> Given {
    let mut given = Given::default();
    let mut seen: Vec<String> = Vec::new();
    let known: Vec<&str> = op.keys().iter().map(|(key, _)| *key).collect();
    for key in &function.keys {
        let name = key.name.to_string();
        if !known.contains(&name.as_str()) {
            let near = suggestion(&name, known.iter().copied());
            let message = format!("`{}` has no attribute `{name}`{near} (it has {})", op.name(), known.join(", "));
            cx.error_on(&key.name, message);
            continue;
        }
        if seen.contains(&name) {
            cx.error_on(&key.name, format!("`{name}` is given twice"));
            continue;
        }
        let span = syn::spanned::Spanned::span(&key.value);
        match name.as_str() {
            "axis" => given.axis = whole(cx, &name, &key.value),
            "batch_dims" => given.batch_dims = whole(cx, &name, &key.value),
            "out_of_bounds" => {
                let values: Vec<_> = OutOfBounds::ALL.iter().map(|&(name, _, policy)| (name, policy)).collect();
                given.out_of_bounds = word(cx, &name, &key.value, &values);
            }
            "negative_index" => given.rejects = word(cx, &name, &key.value, &NEGATIVE_INDEX),
            "map" => {
                given.map = path(cx, &key.value);
                params(cx, &key.params);
                given.params.clone_from(&key.params);
            }
            "block" => given.block = list(cx, op, &name, &key.value).map(|list| (list, span)),
            "crops_begin" => given.begin = list(cx, op, &name, &key.value).map(|list| (list, span)),
            _ => given.end = list(cx, op, &name, &key.value).map(|list| (list, span)),
        }
        seen.push(name);
    }
    for (key, example) in &op.keys()[..op.needed()] {
        if !seen.iter().any(|seen| seen == key) {
            cx.error_on(&function.op, format!("`{}` needs `{key}`, such as `{key} = {example}`", op.name()));
        }
    }
    given
}

fn whole(cx: &mut Ctxt, key: &str, value: &Expr) -> Option<(i128, Span)> {
    match Number::of(value.clone(), &format!("a number, such as `{key} = 0`")) {
        Ok(Number::Literal(value, span)) => return Some((value, span)),
        Ok(Number::Any(_)) => cx.error_on(value, format!("`{key}` cannot be inferred; write a number")),
        Ok(Number::Constant(_)) => {
            cx.error_on(value, format!("`{key}` decides what the loops are, so it is a number, not a constant"));
        }
        Err(error) => cx.push(error),
    }
    None
}

fn word<T: Copy>(cx: &mut Ctxt, key: &str, value: &Expr, known: &[(&str, T)]) -> Option<T> {
    let text = match value {
        Expr::Path(path) => path.path.get_ident().map(Ident::to_string),
        _ => None,
    };
    let text = text.unwrap_or_else(|| readable(value));
    let found = known.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    if found.is_none() {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let near = suggestion(&text, names.iter().copied());
        cx.error_on(value, format!("`{key}` cannot be `{text}`{near} (use one of {})", names.join(", ")));
    }
    found
}

fn path(cx: &mut Ctxt, value: &Expr) -> Option<Path> {
    if let Expr::Path(path) = value {
        return Some(path.path.clone());
    }
    cx.error_on(value, "`map` takes the name of a map, such as `map = maps::convert`");
    None
}

/// Reports parameters of a map that cannot be arguments.
fn params(cx: &mut Ctxt, params: &[Param]) {
    for (at, Param { name, .. }) in params.iter().enumerate() {
        let text = name.to_string();
        if at == MAX_PARAMS {
            cx.error_on(name, format!("a map has at most {MAX_PARAMS} parameters, not {}", params.len()));
        } else if params[..at].iter().any(|other| other.name == *name) {
            cx.error_on(name, format!("`{text}` is given twice"));
        } else if ["data", "indices", "out"].contains(&text.as_str()) || text.contains("_dim_") {
            cx.error_on(name, format!("`{text}` is the name of another argument; take another one here"));
        }
    }
}

fn list(cx: &mut Ctxt, op: Op, key: &str, value: &Expr) -> Option<Vec<Number>> {
    let Expr::Array(ExprArray { elems, .. }) = value else {
        let example = op.keys().iter().find(|(name, _)| *name == key).map_or("[1]", |(_, example)| example);
        cx.error_on(value, format!("`{key}` takes a number for each dimension, such as `{example}`"));
        return None;
    };
    let mut numbers = Vec::new();
    for elem in elems {
        match Number::of(elem.clone(), "a number or a constant") {
            Ok(Number::Any(span)) => cx.push(Error::new(span, format!("`{key}` cannot be inferred; write a number"))),
            Ok(number) => numbers.push(number),
            Err(error) => cx.push(error),
        }
    }
    (numbers.len() == elems.len()).then_some(numbers)
}
