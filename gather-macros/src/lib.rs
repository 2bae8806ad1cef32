//! Procedural macros of gather-core: `kernels!` emits sets of kernels, `map_kernels!` maps, `reduce_kernels!`
//! reductions, `row_kernels!` row functions, `specialize!` functions for known shapes, and `#[derive(Element)]` impls.
//!
//! Use them through gather-core, which re-exports them. How `kernels!` expands:
//!
//! ```text
//! tokens -> parse (fields) -> check (grid, all errors at once) -> emit (kernels, table)
//! ```
#![forbid(unsafe_code)]

mod attrs;
mod check;
mod ctxt;
mod element;
mod emit;
mod grid;
mod kernels;
mod loop_nest;
mod map;
mod name;
mod parse;
mod reduce;
mod rows;
#[cfg(test)]
mod snapshots;
mod specialize;

use proc_macro::{Literal, TokenStream, TokenTree};

/// Emits a set of kernels; see `gather_core::kernels!`, which forwards to it with the path of the crate.
#[proc_macro]
pub fn kernels(input: TokenStream) -> TokenStream {
    kernels::expand(input.into()).into()
}

/// Emits maps; see `gather_core::map_kernels!`, which forwards to it with the path of the crate.
#[proc_macro]
pub fn map_kernels(input: TokenStream) -> TokenStream {
    map::expand(input.into()).into()
}

/// Emits reductions; see `gather_core::reduce_kernels!`, which forwards to it with the path of the crate.
#[proc_macro]
pub fn reduce_kernels(input: TokenStream) -> TokenStream {
    reduce::expand(input.into()).into()
}

/// Emits row functions; see `gather_core::row_kernels!`, which forwards to it with the path of the crate.
#[proc_macro]
pub fn row_kernels(input: TokenStream) -> TokenStream {
    rows::expand(input.into()).into()
}

/// Emits functions for shapes known at compile time; see `gather_core::specialize!`, which forwards to it with the
/// path of the crate.
#[proc_macro]
pub fn specialize(input: TokenStream) -> TokenStream {
    specialize::expand(input.into()).into()
}

/// Emits the unrolled loop nests of every rank, which the kernels of all sets call. gather-core expands it once. The
/// nests are safe code over types in scope of the call.
#[doc(hidden)]
#[proc_macro]
pub fn loop_nests(input: TokenStream) -> TokenStream {
    loop_nest::expand(input.into(), name::MAX_RANK).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// A limit of the macros as a number, such as `limit!(max_rank)`. gather-core takes its own limits from here.
#[doc(hidden)]
#[proc_macro]
pub fn limit(input: TokenStream) -> TokenStream {
    let name = input.to_string();
    let limit = match name.as_str() {
        "max_rank" => name::MAX_RANK.into(),
        "max_params" => name::MAX_PARAMS,
        "levels" => name::LEVELS.len(),
        "index_types" => name::INDICES.len(),
        "ops" => name::ops().len(),
        _ => panic!("`{name}` is no limit"),
    };
    TokenTree::from(Literal::usize_suffixed(limit)).into()
}

/// The derive of gather-core, which re-exports and documents it.
#[proc_macro_derive(Element, attributes(element))]
pub fn derive_element(input: TokenStream) -> TokenStream {
    element::expand(input.into()).into()
}
