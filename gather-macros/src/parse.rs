//! From tokens to the fields of a call, in the order they stand in; what they mean is `check`'s.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, LitInt, Token, Type, Visibility};

/// A call of `kernels!`.
pub(crate) struct Call {
    /// The path of gather-core.
    pub(crate) krate: TokenStream,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) fields: Vec<Field>,
}

/// `key: value;`, the value not looked at yet.
pub(crate) struct Field {
    pub(crate) key: Ident,
    pub(crate) value: TokenStream,
}

/// Parses a call.
pub(crate) fn call(input: TokenStream) -> syn::Result<Call> {
    parse_call.parse2(input)
}

fn parse_call(input: ParseStream<'_>) -> syn::Result<Call> {
    input.parse::<Token![crate]>()?;
    input.parse::<Token![=]>()?;
    let krate = until_semicolon(input)?;
    let attrs = input.call(Attribute::parse_outer)?;
    let vis = input.parse()?;
    input.parse::<Token![static]>()?;
    let name = input.parse()?;
    input.parse::<Token![;]>()?;
    let mut fields = Vec::new();
    while !input.is_empty() {
        let key = input.parse()?;
        input.parse::<Token![:]>()?;
        fields.push(Field { key, value: until_semicolon(input)? });
    }
    Ok(Call { krate, attrs, vis, name, fields })
}

/// The tokens up to the next `;`, which is taken too.
fn until_semicolon(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.peek(Token![;]) {
        if input.is_empty() {
            return Err(input.error("expected `;`"));
        }
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    input.parse::<Token![;]>()?;
    Ok(tokens)
}

/// `[item, item, ..]`
pub(crate) fn list<T: Parse>(value: &TokenStream) -> syn::Result<Vec<T>> {
    let parse = |input: ParseStream<'_>| {
        let content;
        syn::bracketed!(content in input);
        Ok(Punctuated::<T, Token![,]>::parse_terminated(&content)?.into_iter().collect())
    };
    parse.parse2(value.clone())
}

/// An entry of `elements`: attributes, a type, and the width class of a type that the macro does not know.
pub(crate) struct ElementItem {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) ty: Type,
    pub(crate) class: Option<Ident>,
}

impl Parse for ElementItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let ty = input.parse()?;
        let class = if input.parse::<Option<Token![as]>>()?.is_some() { Some(input.parse()?) } else { None };
        Ok(ElementItem { attrs, ty, class })
    }
}

/// The value of `ranks`: `N`, `N..=M`, and `any`, separated by commas.
pub(crate) struct Ranks {
    pub(crate) spans: Vec<(LitInt, LitInt)>,
    pub(crate) any: bool,
}

/// Parses the value of `ranks`.
pub(crate) fn ranks(value: &TokenStream) -> syn::Result<Ranks> {
    let parse = |input: ParseStream<'_>| {
        let mut ranks = Ranks { spans: Vec::new(), any: false };
        while !input.is_empty() {
            if input.peek(Ident) {
                let word: Ident = input.parse()?;
                if word != "any" {
                    return Err(syn::Error::new_spanned(&word, format!("`{word}` is no rank; use 1 to 8 or `any`")));
                }
                ranks.any = true;
            } else {
                let first: LitInt = input.parse()?;
                let last = if input.parse::<Option<Token![..=]>>()?.is_some() { input.parse()? } else { first.clone() };
                ranks.spans.push((first, last));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(ranks)
    };
    parse.parse2(value.clone())
}
