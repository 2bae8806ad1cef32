//! Procedural macros of gather-core: `kernels!`, which emits named sets of kernels, `map_kernels!`, which emits conversions,
//! and `#[derive(Element)]`.
//!
//! Use them through gather-core, which re-exports both. The way of a call of `kernels!`:
//!
//! ```text
//! tokens -> parse (fields) -> check (grid, all errors at once) -> emit (nests, kernels, table)
//! ```
#![forbid(unsafe_code)]

mod check;
mod ctxt;
mod element;
mod emit;
mod grid;
mod map;
mod name;
mod parse;
#[cfg(test)]
mod snapshots;

use proc_macro::TokenStream;

/// Emits a set of kernels; see `gather_core::kernels!`, which forwards to it with the path of the crate.
#[proc_macro]
pub fn kernels(input: TokenStream) -> TokenStream {
    expand_kernels(input.into()).into()
}

/// Emits maps; see `gather_core::map_kernels!`, which forwards to it with the path of the crate.
#[proc_macro]
pub fn map_kernels(input: TokenStream) -> TokenStream {
    map::expand(input.into()).into()
}

/// The derive of gather-core, which re-exports and documents it.
#[proc_macro_derive(Element, attributes(element))]
pub fn derive_element(input: TokenStream) -> TokenStream {
    element::expand(input.into()).into()
}

/// `kernels!` over the streams that tests can make.
fn expand_kernels(input: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let mut cx = ctxt::Ctxt::default();
    let Some(call) = parse::call(&mut cx, input) else {
        return cx.into_errors();
    };
    match check::grid(cx, &call) {
        Ok(grid) => emit::set(&call, &grid),
        Err(errors) => {
            let empty = emit::empty_set(&call);
            quote::quote! { #errors #empty }
        }
    }
}
