//! An attribute that puts another item in the place of its own. What a derive above it sees is not what is compiled.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering};

use proc_macro::{Group, TokenStream, TokenTree};

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

/// The item as it is, the first time. The compiler calls it once for each place that names the item.
#[proc_macro_attribute]
pub fn once(_: TokenStream, item: TokenStream) -> TokenStream {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    assert_eq!(CALLS.fetch_add(1, Ordering::Relaxed), 0, "what the attribute stands on is named twice");
    item
}

/// The item, with one literal in place of another one wherever that stands: `exchanges(this, that)`.
#[proc_macro_attribute]
pub fn exchanges(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments: Vec<TokenTree> = arguments.into_iter().collect();
    let [from, _, to] = arguments.as_slice() else { panic!("two literals") };
    exchanged(item, from, to)
}

fn exchanged(tokens: TokenStream, from: &TokenTree, to: &TokenTree) -> TokenStream {
    let exchange = |token: TokenTree| match token {
        TokenTree::Group(group) => {
            let mut inside = Group::new(group.delimiter(), exchanged(group.stream(), from, to));
            inside.set_span(group.span());
            inside.into()
        }
        token if token.to_string() == from.to_string() => to.clone(),
        token => token,
    };
    tokens.into_iter().map(exchange).collect()
}
