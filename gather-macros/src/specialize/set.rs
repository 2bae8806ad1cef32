//! The set of a call: a row for each function whose kernel the dispatcher can use.
//!
//! A function without type parameters has one row. A generic function has a row for each of its instances in the set's
//! list. A function with a map has no row: calls with maps are typed, and use no registry.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Generics, Type};

use crate::ctxt::Ctxt;
use crate::name::{self, readable, suggestion};
use crate::specialize::emit::{Source, number, shape_text};
use crate::specialize::parse::{Function, Instance, Set, Tensor};

/// Reports instances of functions that are undeclared, not generic or mapped, wrong numbers of types, and duplicates.
pub(super) fn check(cx: &mut Ctxt, set: &Set, functions: &[Function]) {
    let mut seen: Vec<String> = Vec::new();
    for Instance { name, types } in &set.instances {
        let Some(function) = functions.iter().find(|function| function.name == *name) else {
            let names: Vec<String> = functions.iter().map(|function| function.name.to_string()).collect();
            let near = suggestion(&name.to_string(), names.iter().map(String::as_str));
            cx.error_on(name, format!("`{name}` is no function of this call{near}"));
            continue;
        };
        let params = function.generics.type_params().count();
        let text = format!("{name}::<{}>", types.iter().map(readable).collect::<Vec<_>>().join(", "));
        if params == 0 {
            cx.error_on(name, format!("`{name}` has no type parameters; it is in the set by itself"));
        } else if function.keys.iter().any(|key| key.name == "map") {
            cx.error_on(name, format!("`{name}` has a map, and calls with maps take no kernels from a set"));
        } else if params != types.len() {
            let s = if params == 1 { "" } else { "s" };
            cx.error_on(name, format!("`{name}` has {params} type parameter{s}, not {}", types.len()));
        } else if seen.contains(&text) {
            cx.error_on(name, format!("`{text}` is listed twice"));
        }
        seen.push(text);
    }
}

pub(super) fn emit(krate: &TokenStream, set: &Set, sources: &[Source<'_>]) -> TokenStream {
    let Set { attrs, vis, name, instances } = set;
    let (private, text) = (name::private(krate), name.unraw().to_string());
    let rows = sources.iter().filter(|source| source.checked.attributes.map.is_none()).flat_map(|source| {
        let Function { name, generics, .. } = source.function;
        let own = generics.params.is_empty().then_some(&[][..]);
        let listed = instances.iter().filter(move |instance| instance.name == *name);
        own.into_iter().chain(listed.map(|instance| &instance.types[..])).map(|types| row(source, types))
    });
    quote! {
        #(#attrs)*
        #vis static #name: #krate::KernelSet = #private::KernelSet::shaped(#text, &[#(#rows),*]);
    }
}

/// The row of a function, with types in place of its parameters.
fn row(source: &Source<'_>, types: &[Type]) -> TokenStream {
    let Function { name, generics, .. } = source.function;
    let private = name::private(source.krate);
    let (declaration, count) = (source.declaration(), number(source.arguments().len()));
    let tensors = source.tensors().map(|(_, tensor)| instance(tensor, generics, types));
    let (types, shapes): (Vec<_>, Vec<_>) = tensors.unzip();
    let (text, conditions) = (format!("{} {}", name.unraw(), shapes.join(" ")), source.conditions());
    let constructor = if source.checked.op.has_indices() { quote!(gather) } else { quote!(batch_to_space) };
    quote!(#conditions {
        #declaration
        #private::ShapedRow::#constructor::<__Declaration, #(#types,)* #count>(#text)
    })
}

/// The type of a tensor, and its shape in words, with types in place of parameters.
fn instance(tensor: &Tensor, generics: &Generics, types: &[Type]) -> (TokenStream, String) {
    let params: Vec<_> = generics.type_params().map(|param| param.ident.to_string()).zip(types).collect();
    let ty = replaced(tensor.ty.to_token_stream(), &params);
    let text = syn::parse2(ty.clone()).map_or_else(|_| tensor.clone(), |ty| Tensor { ty, ..tensor.clone() });
    (ty, shape_text(&text))
}

/// The tokens of a type, with types in place of parameter names. A name after `::` is not a parameter.
fn replaced(tokens: TokenStream, params: &[(String, &Type)]) -> TokenStream {
    let mut is_inside = false;
    tokens
        .into_iter()
        .map(|token| {
            let param = match &token {
                TokenTree::Ident(ident) if !is_inside => params.iter().find(|(name, _)| ident == name),
                _ => None,
            };
            is_inside = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ':');
            match (param, token) {
                (Some((_, ty)), _) => ty.to_token_stream(),
                (None, TokenTree::Group(group)) => {
                    let mut inside = Group::new(group.delimiter(), replaced(group.stream(), params));
                    inside.set_span(group.span());
                    TokenTree::Group(inside).into()
                }
                (None, token) => token.into(),
            }
        })
        .collect()
}
