//! From the grid to tokens: a static whose initialiser holds everything. So nothing leaks, and the types that a caller
//! names are resolved where they stand.
//!
//! Emitted code names items of gather-core by their full paths. An alias inside the initialiser would hide a caller's
//! item of the same name.

mod kernel_fn;
mod table;

pub(crate) use kernel_fn::at;

use proc_macro2::TokenStream;
use quote::quote;

use crate::grid::Grid;
use crate::name;
use crate::parse::Call;

/// A grid, and the path of the module of gather-core that emitted code uses.
#[derive(Clone, Copy)]
struct Source<'a> {
    grid: &'a Grid,
    private: &'a TokenStream,
}

/// The set that a call asks for.
pub(crate) fn set(call: &Call, grid: &Grid) -> TokenStream {
    let private = name::private(&call.krate);
    let source = Source { grid, private: &private };
    let claims = kernel_fn::width_claims(source);
    let kernels = kernel_fn::kernels(source);
    let table = table::table(&call.name, source);
    wrap(call, &quote!(#claims #kernels #table))
}

/// A set without kernels, for a call with errors: what uses the static does not fail again.
pub(crate) fn empty_set(call: &Call) -> TokenStream {
    let private = name::private(&call.krate);
    wrap(call, &table::table(&call.name, Source { grid: &Grid::default(), private: &private }))
}

fn wrap(call: &Call, body: &TokenStream) -> TokenStream {
    let Call { krate, attrs, vis, name, .. } = call;
    quote! {
        #(#attrs)*
        #[allow(non_snake_case, unused_qualifications)]
        #vis static #name: #krate::KernelSet = {
            #body
        };
    }
}
