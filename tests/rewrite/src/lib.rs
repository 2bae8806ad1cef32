//! An attribute that puts another item in the place of its own. What a derive above it sees is not what is compiled.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering};

use proc_macro::{TokenStream, TokenTree};

/// Replaces the item by the attribute's arguments.
#[proc_macro_attribute]
pub fn becomes(arguments: TokenStream, _: TokenStream) -> TokenStream {
    arguments
}

/// One of the arguments, which commas separate: another one with each call, in turn.
#[proc_macro]
pub fn in_turn(arguments: TokenStream) -> TokenStream {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    let tokens: Vec<TokenTree> = arguments.into_iter().collect();
    let arguments: Vec<&[TokenTree]> = tokens.split(is_comma).collect();
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    arguments[call % arguments.len()].iter().cloned().collect()
}
