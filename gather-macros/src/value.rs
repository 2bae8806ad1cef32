//! Values of keys: `_`, a list, or an expression.
//!
//! Lists and what stands for nothing else are read here, so that `syn` need not know all expressions of the language: to
//! build that much of it takes users a second.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Result, Token, token};

use crate::parse::skip_until;

/// What stands for a value, up to the next comma.
#[derive(Clone)]
pub(crate) enum Value {
    Any(Token![_]),
    /// `[value, ..]`, and all of it as it stands.
    List(Vec<Value>, TokenStream),
    Expr(Expr),
    Other(TokenStream),
}

impl Parse for Value {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let ends = |input: ParseStream<'_>| input.is_empty() || input.peek(Token![,]);
        if ends(input) {
            return Err(input.error("expected an expression"));
        }
        if input.peek(Token![_]) {
            return input.parse().map(Value::Any);
        }
        let whole = |input: ParseStream<'_>| skip_until(input, ends);
        let ahead = input.fork();
        if ahead.peek(token::Bracket) {
            if let (Ok(list), true) = (list(&ahead), ends(&ahead)) {
                return Ok(Value::List(list, whole(input)));
            }
        } else if let (Ok(expr), false) = (ahead.parse(), ahead.peek(Token![..])) {
            // Where no comma follows, the caller says so.
            input.advance_to(&ahead);
            return Ok(Value::Expr(expr));
        }
        Ok(Value::Other(whole(input)))
    }
}

impl ToTokens for Value {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Value::Any(any) => any.to_tokens(tokens),
            Value::List(_, whole) => whole.to_tokens(tokens),
            Value::Expr(expr) => expr.to_tokens(tokens),
            Value::Other(other) => other.to_tokens(tokens),
        }
    }
}

/// A list in brackets.
fn list(input: ParseStream<'_>) -> Result<Vec<Value>> {
    let content;
    syn::bracketed!(content in input);
    let list = Punctuated::<Value, Token![,]>::parse_terminated(&content)?;
    Ok(list.into_iter().collect())
}
