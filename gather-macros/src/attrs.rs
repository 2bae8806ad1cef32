//! Attributes written by callers: which of them emitted items may have, and their conditions.
//!
//! An attribute macro receives its whole item, including the code that a macro of this crate put into it. So only
//! built-in attributes that change no code are allowed. Their names cannot be redefined without an ambiguity error.

use std::collections::{HashMap, HashSet};

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Result, Token, parse_quote};

use crate::ctxt::Ctxt;
use crate::parse::skip_until;

const ALLOWED: [&str; 10] =
    ["doc", "cfg", "cfg_attr", "allow", "expect", "warn", "deny", "forbid", "deprecated", "must_use"];

/// Parses outer attributes; reports the disallowed ones, and returns the others.
pub(crate) fn outer(cx: &mut Ctxt, input: ParseStream<'_>) -> Result<Vec<Attribute>> {
    Ok(allowed(cx, &input.call(Attribute::parse_outer)?))
}

/// Reports disallowed attributes; returns the others.
pub(crate) fn allowed(cx: &mut Ctxt, attrs: &[Attribute]) -> Vec<Attribute> {
    let mut good = Vec::new();
    for attr in attrs {
        let before = cx.count();
        check(cx, &attr.meta, attr);
        if cx.count() == before {
            good.extend(fulfilled(attr));
        }
    }
    good
}

/// Replaces expectations that cannot be fulfilled, since the compiler reports no unused items in code emitted by a
/// macro of another crate: `#[expect(dead_code)]` becomes `#[allow(dead_code)]`.
fn fulfilled(attr: &Attribute) -> Vec<Attribute> {
    let never = |lint: &Meta| lint.path().is_ident("dead_code") || lint.path().is_ident("unused");
    let lints = || attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    let Some(lints) = attr.path().is_ident("expect").then(lints).and_then(Result::ok) else {
        return vec![attr.clone()];
    };
    let (reason, lints): (Vec<Meta>, Vec<Meta>) = lints.into_iter().partition(|lint| lint.path().is_ident("reason"));
    let (unused, others): (Vec<Meta>, Vec<Meta>) = lints.into_iter().partition(never);
    let mut attrs = Vec::new();
    if !unused.is_empty() {
        attrs.push(parse_quote!(#[allow(#(#unused),*)]));
    }
    if !others.is_empty() {
        let others = others.iter().chain(&reason);
        attrs.push(parse_quote!(#[expect(#(#others),*)]));
    }
    attrs
}

/// Reports a disallowed attribute, or the disallowed ones that a `cfg_attr` applies, on `place`.
fn check(cx: &mut Ctxt, meta: &Meta, place: &dyn ToTokens) {
    let name = ALLOWED.iter().find(|name| meta.path().is_ident(name));
    match name {
        Some(&"cfg_attr") => {
            let Some((_, attrs)) = applied(meta) else {
                return cx.error_on(place.to_token_stream(), "expected a condition, and attributes behind it");
            };
            attrs.iter().for_each(|meta| check(cx, meta, meta));
        }
        Some(_) => {}
        None => {
            let text = meta.path().to_token_stream().to_string().replace(' ', "");
            cx.error_on(
                place.to_token_stream(),
                format!(
                    "`{text}` cannot stand here: an attribute may rewrite what the macro emits (use one of {})",
                    ALLOWED.join(", ")
                ),
            );
        }
    }
}

/// The condition of a `cfg_attr`, and the attributes that it applies; `None` if the `cfg_attr` is malformed.
fn applied(cfg_attr: &Meta) -> Option<(TokenStream, Vec<Meta>)> {
    let parse = |input: ParseStream<'_>| {
        let condition = skip_until(input, |input| input.peek(Token![,]));
        input.parse::<Option<Token![,]>>()?;
        let applied = Punctuated::<Meta, Token![,]>::parse_terminated(input)?;
        Ok((condition, applied.into_iter().collect()))
    };
    parse.parse2(cfg_attr.require_list().ok()?.tokens.clone()).ok()
}

/// The conditions among attributes, for everything that names their item.
pub(crate) fn conditions(attrs: &[Attribute]) -> TokenStream {
    attrs.iter().flat_map(|attr| condition(&attr.meta)).map(|condition| quote!(#[cfg(#condition)])).collect()
}

/// The conditions under which an attribute keeps its item.
fn condition(meta: &Meta) -> Vec<TokenStream> {
    if meta.path().is_ident("cfg") {
        return meta.require_list().map(|list| list.tokens.clone()).into_iter().collect();
    }
    if !meta.path().is_ident("cfg_attr") {
        return Vec::new();
    }
    let Some((applies, attrs)) = applied(meta) else { return Vec::new() };
    attrs.iter().flat_map(condition).map(|condition| quote!(any(not(#applies), #condition))).collect()
}

/// The names of a call's items. Items may share a name if their conditions differ, since these may exclude each other.
#[derive(Default)]
pub(crate) struct Names(HashMap<String, HashSet<String>>);

impl Names {
    /// Adds a name. `false` if another item has the name, unless both have conditions and the conditions differ.
    pub(crate) fn insert(&mut self, name: &dyn ToString, attrs: &[Attribute]) -> bool {
        let (condition, others) = (conditions(attrs).to_string(), self.0.entry(name.to_string()).or_default());
        let clash = !others.is_empty() && (condition.is_empty() || others.contains(""));
        !clash && others.insert(condition)
    }
}
