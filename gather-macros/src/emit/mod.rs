//! Emission: from the grid to tokens of a static, with all other items in its initialiser. So the caller's scope gets
//! no other name, and the caller's types are resolved where they are written.
//!
//! Nothing emitted is unsafe. gather-core compares the table with its kernels in constant evaluation.
//!
//! Emitted code names items of gather-core by their full paths. An alias inside the initialiser would hide a caller's
//! item of the same name.

mod kernels;
mod table;

pub(crate) use kernels::at;

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

pub(crate) fn set(call: &Call, grid: &Grid) -> TokenStream {
    let private = name::private(&call.krate);
    let source = Source { grid, private: &private };
    let (data_types, table) = (kernels::data_types(source), table::table(&call.name, source));
    wrap(call, &quote!(#data_types #table))
}

/// A set without kernels, for a call with errors, so that uses of the static cause no further errors.
pub(crate) fn empty_set(call: &Call) -> TokenStream {
    let private = name::private(&call.krate);
    wrap(call, &table::table(&call.name, Source { grid: &Grid::default(), private: &private }))
}

fn wrap(call: &Call, body: &TokenStream) -> TokenStream {
    let Call { krate, attrs, vis, name, .. } = call;
    quote! {
        #(#attrs)*
        #[allow(unused_qualifications)]
        #vis static #name: #krate::KernelSet = {
            #body
        };
    }
}
