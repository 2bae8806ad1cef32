//! Attributes against shapes, and the shape of the output.

use proc_macro2::{Ident, Span};
use quote::{ToTokens, quote};
use syn::{Error, Type};

use crate::ctxt::Ctxt;
use crate::name::readable;
use crate::specialize::check::{Attributes, Checked, Given};
use crate::specialize::known::{self, Op, OutOfBounds, Preset};
use crate::specialize::parse::{Number, Tensor};

/// The attributes of an operator; `None` after reporting mismatches.
pub(crate) fn attributes(
    cx: &mut Ctxt,
    op: Op,
    preset: Preset,
    given: Given,
    data: &Tensor,
    indices: Option<&Tensor>,
    place: &Ident,
) -> Option<Attributes> {
    let before = cx.count();
    let mut attributes = Attributes {
        axis: 0,
        batch_dims: 0,
        out_of_bounds: given.out_of_bounds.unwrap_or(if preset.zeros { OutOfBounds::Zero } else { OutOfBounds::Error }),
        rejects: given.rejects.unwrap_or(preset.rejects),
        map: given.map.clone(),
        params: given.params.clone(),
        block: Vec::new(),
        begin: Vec::new(),
        end: Vec::new(),
        preset,
    };
    if let Some((axis, span)) = given.axis {
        attributes.axis = normalized_axis(cx, axis, span, data.sizes.len());
    }
    match (op, indices) {
        (Op::Gather, Some(indices)) => gather(cx, &mut attributes, &given, data, indices),
        (Op::GatherElements, Some(indices)) => gather_elements(cx, &attributes, data, indices),
        (Op::GatherNd, Some(indices)) => gather_nd(cx, &mut attributes, &given, data, indices),
        _ => blocks(cx, &mut attributes, given, data, place),
    }
    // Missing attributes have been reported.
    let is_whole = op.has_indices() || attributes.block.len() == data.sizes.len();
    (cx.count() == before && is_whole).then_some(attributes)
}

fn normalized_axis(cx: &mut Ctxt, axis: i128, span: Span, rank: usize) -> usize {
    let signed = rank as i128;
    if !(-signed..signed).contains(&axis) {
        let message = match rank {
            0 => format!("axis {axis} of data without dimensions; there is none"),
            _ => format!("axis {axis} lies outside data of rank {rank}; use -{rank} to {}", rank - 1),
        };
        cx.push(Error::new(span, message));
        return 0;
    }
    axis.rem_euclid(signed) as usize
}

/// The batch dimensions, in `0..=max`; negative ones count from `rank`.
fn batch_dims(cx: &mut Ctxt, given: &Given, rank: usize, max: usize, why: &str) -> usize {
    let Some((batch_dims, span)) = given.batch_dims else { return 0 };
    let from_front = if batch_dims < 0 { batch_dims + rank as i128 } else { batch_dims };
    if !(0..=max as i128).contains(&from_front) {
        let message = format!("batch_dims {batch_dims} lies beyond {why}; use 0 to {max}");
        cx.push(Error::new(span, message));
        return 0;
    }
    from_front as usize
}

/// Reports batch dimensions of different sizes.
fn batch_sizes(cx: &mut Ctxt, batch_dims: usize, data: &Tensor, indices: &Tensor) {
    for (dim, (d, i)) in data.sizes.iter().zip(&indices.sizes).enumerate().take(batch_dims) {
        if let (Some(d), Some(i_value)) = (d.value(), i.value())
            && d != i_value
        {
            let message = format!("batch dimension {dim} has {d} elements in data and {i_value} in indices");
            cx.push(Error::new(i.span(), message));
        }
    }
}

fn gather(cx: &mut Ctxt, attributes: &mut Attributes, given: &Given, data: &Tensor, indices: &Tensor) {
    let rank = indices.sizes.len();
    if attributes.preset.lists && rank > 1 {
        let message = format!("`gather::torch` takes indices of rank 1, not {rank}");
        cx.push(Error::new(indices.bracket, message));
    }
    let max = attributes.axis.min(rank);
    let why = if rank < attributes.axis { "the rank of indices" } else { "the axis" };
    attributes.batch_dims = batch_dims(cx, given, rank, max, why);
    batch_sizes(cx, attributes.batch_dims, data, indices);
}

fn gather_elements(cx: &mut Ctxt, attributes: &Attributes, data: &Tensor, indices: &Tensor) {
    let (rank, got) = (data.sizes.len(), indices.sizes.len());
    if rank != got {
        let message = format!("indices have rank {got}; `gather_elements` takes the rank of data, {rank}");
        return cx.push(Error::new(indices.bracket, message));
    }
    for (dim, (d, i)) in data.sizes.iter().zip(&indices.sizes).enumerate() {
        let (Some(d), Some(value)) = (d.value(), i.value()) else { continue };
        if dim != attributes.axis && (value > d || attributes.preset.equal && value != d) {
            let than = if attributes.preset.equal { "not the" } else { "more than the" };
            let message = format!("dimension {dim} of indices has {value} elements, {than} {d} of data");
            cx.push(Error::new(i.span(), message));
        }
    }
}

fn gather_nd(cx: &mut Ctxt, attributes: &mut Attributes, given: &Given, data: &Tensor, indices: &Tensor) {
    let (rank, Some((len, outer))) = (data.sizes.len(), indices.sizes.split_last()) else {
        let message = "indices of `gather_nd` have rank 1 or more: the last dimension is the components of a tuple";
        return cx.push(Error::new(indices.bracket, message));
    };
    let max = if attributes.preset.no_batch { 0 } else { outer.len().min(rank) };
    let why = if attributes.preset.no_batch { "what ONNX GatherND-11 has" } else { "data or the tuples" };
    attributes.batch_dims = batch_dims(cx, given, 0, max, why);
    batch_sizes(cx, attributes.batch_dims, data, indices);
    let most = rank - attributes.batch_dims;
    match len {
        Number::Any(span) => {
            let message =
                "the components of a tuple cannot be inferred: they decide what the loops are; write a number";
            cx.push(Error::new(*span, message));
        }
        Number::Constant(expr) => {
            let message = "the components of a tuple decide what the loops are, so they are a number, not a constant";
            cx.error_on(expr, message);
        }
        Number::Literal(len, span) => {
            if *len > most as i128 {
                let message = format!("a tuple of {len} components in data with {most} axes to index; use 1 to {most}");
                cx.push(Error::new(*span, message));
            }
        }
    }
}

fn blocks(cx: &mut Ctxt, attributes: &mut Attributes, given: Given, data: &Tensor, place: &Ident) {
    let rank = data.sizes.len();
    if rank < 2 {
        return cx.error_on(place, format!("`batch_to_space` takes data of rank 2 or more, not {rank}"));
    }
    let zeros = || (vec![Number::Literal(0, Span::call_site()); rank], Span::call_site());
    let Some(block) = given.block else { return };
    let lists = [
        ("block", block),
        ("crops_begin", given.begin.unwrap_or_else(zeros)),
        ("crops_end", given.end.unwrap_or_else(zeros)),
    ];
    let mut all_good = true;
    for (key, (list, span)) in &lists {
        if list.len() != rank {
            let message =
                format!("`{key}` has {} entries for data of rank {rank}; write one for each dimension", list.len());
            cx.push(Error::new(*span, message));
            all_good = false;
            continue;
        }
        let least = i128::from(*key == "block");
        for (dim, entry) in list.iter().enumerate() {
            let Some(value) = entry.value() else { continue };
            if value < least || value > i128::from(i64::MAX) {
                cx.push(Error::new(entry.span(), format!("{value} in `{key}`; use {least} or more")));
                all_good = false;
            } else if dim == 0 && value != least {
                let message = format!("the first entry of `{key}` is for the batch, which has none; write {least}");
                cx.push(Error::new(entry.span(), message));
                all_good = false;
            }
        }
    }
    let [block, begin, end] = lists.map(|(_, (list, _))| list);
    if all_good {
        blocks_divide(cx, &block, data);
        crops_leave(cx, [&block, &begin, &end], data);
    }
    (attributes.block, attributes.begin, attributes.end) = (block, begin, end);
}

fn blocks_divide(cx: &mut Ctxt, block: &[Number], data: &Tensor) {
    let product = block.iter().try_fold(1i128, |product, block| product.checked_mul(block.value()?));
    if let (Some(product), Some(batch)) = (product, data.sizes[0].value())
        && batch % product != 0
    {
        let message = format!("blocks of {product} images do not divide the batch of {batch}");
        cx.push(Error::new(data.sizes[0].span(), message));
    }
}

fn crops_leave(cx: &mut Ctxt, [block, begin, end]: [&[Number]; 3], data: &Tensor) {
    for dim in 1..data.sizes.len() {
        let values = [&data.sizes[dim], &block[dim], &begin[dim], &end[dim]].map(Number::value);
        let [Some(size), Some(block), Some(before), Some(after)] = values else { continue };
        let whole = size.saturating_mul(block);
        if before + after >= whole {
            let message =
                format!("crops of {before} and {after} leave nothing of the {whole} elements of dimension {dim}");
            let place = if before == 0 { &end[dim] } else { &begin[dim] };
            cx.push(Error::new(place.span(), message));
        }
    }
}

/// A size of the output: an expression, and its value if all numbers in it are literals.
pub(crate) struct OutputSize {
    pub(crate) tokens: proc_macro2::TokenStream,
    /// The size as the documentation writes it.
    pub(crate) text: String,
    pub(crate) value: Option<i128>,
    pub(crate) is_open: bool,
}

impl OutputSize {
    pub(crate) fn of(number: &Number) -> Self {
        match number {
            Number::Any(_) => OutputSize { tokens: quote!(_), text: "_".into(), value: None, is_open: true },
            Number::Literal(value, _) => Self::known(*value),
            Number::Constant(expr) => {
                OutputSize { tokens: quote!({ #expr }), text: readable(expr), value: None, is_open: false }
            }
        }
    }

    /// The expression for the beginning of a block, in parentheses: in braces it would be a statement.
    fn first(&self) -> proc_macro2::TokenStream {
        let tokens = &self.tokens;
        if self.value.is_some() { quote!(#tokens) } else { quote!((#tokens)) }
    }

    fn known(value: i128) -> Self {
        let tokens = proc_macro2::Literal::i128_unsuffixed(value).into_token_stream();
        OutputSize { tokens, text: value.to_string(), value: Some(value), is_open: false }
    }
}

pub(crate) fn output(checked: &Checked) -> Vec<OutputSize> {
    let Checked { op, data, indices, attributes, .. } = checked;
    let indices: &[Number] = indices.as_ref().map_or(&[], |indices| &indices.sizes);
    let Attributes { axis, batch_dims, .. } = attributes;
    // A dimension common to both tensors may be open in one.
    let shared = |dim: usize| if matches!(data.sizes[dim], Number::Any(_)) { &indices[dim] } else { &data.sizes[dim] };
    let sizes: Vec<&Number> = match op {
        Op::Gather => {
            let before = (0..*axis).map(|dim| if dim < *batch_dims { shared(dim) } else { &data.sizes[dim] });
            before.chain(&indices[*batch_dims..]).chain(data.sizes.get(axis + 1..).unwrap_or_default()).collect()
        }
        Op::GatherElements => indices.iter().collect(),
        Op::GatherNd => {
            let Some((len, outer)) = indices.split_last() else { return Vec::new() };
            let components = len.value().and_then(|len| usize::try_from(len).ok()).unwrap_or(0);
            let tuples = outer.iter().enumerate().map(|(dim, i)| if dim < *batch_dims { shared(dim) } else { i });
            tuples.chain(data.sizes.get(batch_dims + components..).unwrap_or_default()).collect()
        }
        Op::BatchToSpace => return space_output(data, attributes),
    };
    let sizes: Vec<OutputSize> = sizes.into_iter().map(OutputSize::of).collect();
    if attributes.preset.flattens && *batch_dims > 1 { flattened(sizes, *batch_dims) } else { sizes }
}

/// `sizes` with the first `count` dimensions flattened to one.
fn flattened(mut sizes: Vec<OutputSize>, count: usize) -> Vec<OutputSize> {
    let rest = sizes.split_off(count);
    let value = sizes.iter().try_fold(1i128, |product, size| product.checked_mul(size.value?));
    let tokens = sizes.iter().map(|size| &size.tokens);
    let merged = value.map_or_else(
        || OutputSize {
            tokens: quote!({ 1 #(* #tokens)* }),
            text: sizes.iter().map(|size| size.text.clone()).collect::<Vec<_>>().join(" * "),
            value: None,
            is_open: sizes.iter().any(|size| size.is_open),
        },
        OutputSize::known,
    );
    [merged].into_iter().chain(rest).collect()
}

fn space_output(data: &Tensor, attributes: &Attributes) -> Vec<OutputSize> {
    let Attributes { block, begin, end, .. } = attributes;
    let size = |dim: usize| -> OutputSize {
        let own = OutputSize::of(&data.sizes[dim]);
        let entries = [&block[dim], &begin[dim], &end[dim]].map(OutputSize::of);
        let [by, before, after] = &entries;
        if own.is_open {
            return own;
        }
        if let (Some(own), Some(by), Some(before), Some(after)) = (own.value, by.value, before.value, after.value) {
            return OutputSize::known(own * by - before - after);
        }
        let crops = [before, after].into_iter().filter(|crop| crop.value != Some(0));
        let crops: Vec<_> = crops.collect();
        let (own_tokens, by_tokens) = (own.first(), &by.tokens);
        let crop_tokens = crops.iter().map(|crop| &crop.tokens);
        let mut text = format!("{} * {}", own.text, by.text);
        crops.iter().for_each(|crop| text += &format!(" - {}", crop.text));
        OutputSize {
            tokens: quote!({ #own_tokens * #by_tokens #(- #crop_tokens)* }),
            text,
            value: None,
            is_open: false,
        }
    };
    let batch = OutputSize::of(&data.sizes[0]);
    let product = block.iter().try_fold(1i128, |product, block| product.checked_mul(block.value()?));
    let first = match (batch.value, product) {
        _ if batch.is_open => batch,
        (Some(batch), Some(product)) if product > 0 => OutputSize::known(batch / product),
        _ => {
            let blocks = block.iter().map(OutputSize::of).filter(|block| block.value != Some(1));
            let blocks: Vec<OutputSize> = blocks.collect();
            let (own, by) = (batch.first(), blocks.iter().map(|block| &block.tokens));
            let mut text = batch.text.clone();
            blocks.iter().for_each(|block| text += &format!(" / {}", block.text));
            OutputSize { tokens: quote!({ #own #(/ #by)* }), text, value: None, is_open: false }
        }
    };
    [first].into_iter().chain((1..data.sizes.len()).map(size)).collect()
}

/// Reports a tensor with more elements or bytes than a tensor can have. Sizes unknown to the macro count as 1.
pub(crate) fn output_len(cx: &mut Ctxt, checked: &Checked) {
    const MOST: u128 = i64::MAX as u128;
    let bytes = |ty: &Type| match ty {
        Type::Path(path) => path.path.get_ident().map_or(1, |name| known::bytes(&name.to_string())),
        _ => 1,
    };
    let len = |values: &mut dyn Iterator<Item = Option<i128>>| {
        values.fold(1u128, |len, value| len.saturating_mul(value.unwrap_or(1).max(1) as u128))
    };
    for (what, tensor) in [("data has", Some(&checked.data)), ("indices have", checked.indices.as_ref())] {
        let Some(tensor) = tensor else { continue };
        let len = len(&mut tensor.sizes.iter().map(Number::value)).saturating_mul(bytes(&tensor.ty));
        if len > MOST {
            cx.push(Error::new(tensor.bracket, format!("{what} more bytes than a tensor can have (isize::MAX)")));
        }
    }
    let ty = checked.output.as_ref().unwrap_or(&checked.data.ty);
    let len = len(&mut output(checked).iter().map(|size| size.value)).saturating_mul(bytes(ty));
    if len > MOST {
        let place = checked.indices.as_ref().map_or(checked.data.bracket, |indices| indices.bracket);
        cx.push(Error::new(place, "the output has more bytes than a tensor can have (isize::MAX)"));
    }
}
