//! The code of gather-macros as an ordinary library, and random calls of its macros.
//!
//! A crate of procedural macros exports nothing but them, and they run inside the compiler only. So its modules are compiled
//! here once more, at the places that they have there: what they do with any tokens can be tried without a compiler.

#![forbid(unsafe_code)]

#[path = "../../../gather-macros/src/attrs.rs"]
mod attrs;
#[path = "../../../gather-macros/src/check.rs"]
mod check;
#[path = "../../../gather-macros/src/ctxt.rs"]
mod ctxt;
#[path = "../../../gather-macros/src/element.rs"]
mod element;
#[path = "../../../gather-macros/src/emit/mod.rs"]
mod emit;
#[path = "../../../gather-macros/src/grid.rs"]
mod grid;
#[path = "../../../gather-macros/src/kernels.rs"]
mod kernels;
#[path = "../../../gather-macros/src/map.rs"]
mod map;
#[path = "../../../gather-macros/src/name.rs"]
mod name;
#[path = "../../../gather-macros/src/parse.rs"]
mod parse;
#[path = "../../../gather-macros/src/reduce.rs"]
mod reduce;
#[path = "../../../gather-macros/src/rows.rs"]
mod rows;
#[path = "../../../gather-macros/src/specialize/mod.rs"]
mod specialize;

mod tokens;

use arbitrary::Unstructured;
use proc_macro2::TokenStream;
use quote::quote;

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It expanded to items.
    Items,
    /// It was refused, by `compile_error!`s.
    Refused,
    /// It was no tokens.
    NoTokens,
}

/// Expands one drawn call: no panic, and what comes out, errors too, are items.
///
/// # Errors
/// When there are not enough bytes for a call.
pub fn expand(u: &mut Unstructured<'_>) -> arbitrary::Result<Outcome> {
    let which = u.int_in_range(0..=5)?;
    let text = tokens::draw(u, which)?;
    let Ok(call) = text.parse::<TokenStream>() else {
        return Ok(Outcome::NoTokens);
    };
    let expanded = match which {
        0 => kernels::expand(quote!(crate = ::gather_core; #call)),
        1 => map::expand(quote!(crate = ::gather_core; #call)),
        2 => specialize::expand(quote!(crate = ::gather_core; #call)),
        3 => element::expand(call),
        4 => reduce::expand(quote!(crate = ::gather_core; #call)),
        _ => rows::expand(quote!(crate = ::gather_core; #call)),
    };
    // The body of a closure is not parsed, but left to the compiler, which reports on it better.
    if ![1, 4, 5].contains(&which) {
        let items = syn::parse2::<syn::File>(expanded.clone());
        assert!(items.is_ok(), "{:?}: {text}\n{expanded}", items.err());
    }
    let refused = expanded.to_string().contains("compile_error");
    Ok(if refused { Outcome::Refused } else { Outcome::Items })
}
