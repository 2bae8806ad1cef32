//! `kernels!`: a set of kernels, or all errors of a call.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{check, ctxt, emit, parse};

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut cx = ctxt::Ctxt::default();
    let Some(call) = parse::call(&mut cx, input) else {
        return cx.into_errors();
    };
    match check::grid(cx, &call) {
        Ok(grid) => emit::set(&call, &grid),
        Err(errors) => {
            let empty = emit::empty_set(&call);
            quote! { #errors #empty }
        }
    }
}
