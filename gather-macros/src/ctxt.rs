//! Error collection: a macro call reports all of its mistakes at once, each on its token.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

#[derive(Default)]
pub(crate) struct Ctxt {
    errors: Vec<syn::Error>,
}

impl Ctxt {
    /// Reports a mistake on its tokens.
    pub(crate) fn error_on(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.errors.push(syn::Error::new_spanned(tokens, message));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        self.errors.push(error);
    }

    pub(crate) fn count(&self) -> usize {
        self.errors.len()
    }

    /// The value of a parse; `None` after reporting its error.
    pub(crate) fn take<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// `value` if there are no errors, else all errors as `compile_error!`s.
    pub(crate) fn finish<T>(self, value: T) -> Result<T, TokenStream> {
        if self.errors.is_empty() { Ok(value) } else { Err(self.into_errors()) }
    }

    pub(crate) fn into_errors(self) -> TokenStream {
        self.errors.into_iter().map(syn::Error::into_compile_error).collect()
    }
}
