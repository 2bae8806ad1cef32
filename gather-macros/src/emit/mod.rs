//! From the grid to tokens: a static whose initialiser holds everything, so that nothing leaks and the types that a
//! caller names are resolved where they stand.

mod nest;
mod shim;
mod table;

use proc_macro2::TokenStream;
use quote::quote;

use crate::grid::Grid;
use crate::parse::Call;

/// The levels: names in kernels' names, types, and the attributes of what needs them.
const LEVELS: [(&str, &str); 2] = [("scalar", "Scalar"), ("avx2", "Avx2")];

/// The attributes of a kernel of a level.
fn level_attrs(level: &str) -> TokenStream {
    match level {
        "avx2" => quote!(#[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx2")]),
        _ => TokenStream::new(),
    }
}

/// The set that a call asks for.
pub(crate) fn set(call: &Call, grid: &Grid) -> TokenStream {
    let nests = nest::nests(grid);
    let claims = shim::width_claims(grid);
    let kernels = shim::kernels(grid);
    let table = table::table(&call.name, grid);
    wrap(call, &quote!(#claims #nests #kernels #table))
}

/// A set without kernels, for a call with errors: what uses the static does not fail again.
pub(crate) fn empty_set(call: &Call) -> TokenStream {
    wrap(call, &table::table(&call.name, &Grid::default()))
}

fn wrap(call: &Call, body: &TokenStream) -> TokenStream {
    let Call { krate, attrs, vis, name, .. } = call;
    quote! {
        #(#attrs)*
        #[allow(non_snake_case, unused_qualifications)]
        #vis static #name: #krate::KernelSet = {
            use #krate::private as __g;
            #body
        };
    }
}
