//! Attributes that callers write: those that may stand on what the macros emit, and the conditions among them.
//!
//! An attribute macro is handed all of the item that it stands on, what a macro put into it too. So only attributes of
//! the language that change no code may stand there. Nobody can give their names to others: the compiler reports that
//! as ambiguous.

use std::collections::{HashMap, HashSet};

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Result, Token, parse_quote};

use crate::ctxt::Ctxt;
use crate::parse::skip_until;

/// The names of the attributes that may stand.
const ALLOWED: [&str; 10] =
    ["doc", "cfg", "cfg_attr", "allow", "expect", "warn", "deny", "forbid", "deprecated", "must_use"];

/// The attributes that come next, except for those that may not stand, which are reported.
pub(crate) fn outer(cx: &mut Ctxt, input: ParseStream<'_>) -> Result<Vec<Attribute>> {
    Ok(allowed(cx, &input.call(Attribute::parse_outer)?))
}

/// Reports the attributes that may not stand; returns the others.
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

/// An attribute without expectations that nothing can fulfil: the compiler does not look for unused items in what a
/// macro of another crate emits. `#[expect(dead_code)]` becomes `#[allow(dead_code)]`.
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

/// Reports an attribute, on `place`, or those that a `cfg_attr` applies.
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

/// The condition of a `cfg_attr`, and what it applies; `None` for what is neither.
fn applied(cfg_attr: &Meta) -> Option<(TokenStream, Vec<Meta>)> {
    let parse = |input: ParseStream<'_>| {
        let condition = skip_until(input, |input| input.peek(Token![,]));
        input.parse::<Option<Token![,]>>()?;
        let applied = Punctuated::<Meta, Token![,]>::parse_terminated(input)?;
        Ok((condition, applied.into_iter().collect()))
    };
    parse.parse2(cfg_attr.require_list().ok()?.tokens.clone()).ok()
}

/// The conditions among attributes, for everything that names what the attributes stand on.
pub(crate) fn conditions(attrs: &[Attribute]) -> TokenStream {
    attrs.iter().flat_map(|attr| condition(&attr.meta)).map(|condition| quote!(#[cfg(#condition)])).collect()
}

/// The condition under which an attribute leaves its item where it is.
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

/// The names of a call's items. Those with conditions may be alternatives of one name, of which one is there: the
/// compiler reports two.
#[derive(Default)]
pub(crate) struct Names(HashMap<String, HashSet<String>>);

impl Names {
    /// Adds a name; whether no other item has it under no condition, or under the same.
    pub(crate) fn insert(&mut self, name: &dyn ToString, attrs: &[Attribute]) -> bool {
        let (condition, others) = (conditions(attrs).to_string(), self.0.entry(name.to_string()).or_default());
        let clash = !others.is_empty() && (condition.is_empty() || others.contains(""));
        !clash && others.insert(condition)
    }
}
