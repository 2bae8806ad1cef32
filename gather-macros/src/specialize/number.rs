//! Sizes and entries of attributes.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, ExprUnary, Lit, Result, UnOp};

use crate::value::Value;

/// A number, a constant, or `_`.
#[derive(Clone)]
pub(crate) enum Number {
    Any(Span),
    Literal(i128, Span),
    Constant(TokenStream),
}

impl Number {
    pub(crate) fn span(&self) -> Span {
        match self {
            Number::Any(span) | Number::Literal(_, span) => *span,
            Number::Constant(expr) => expr.span(),
        }
    }

    /// The value, where the macro knows it.
    pub(crate) fn value(&self) -> Option<i128> {
        if let Number::Literal(value, _) = self { Some(*value) } else { None }
    }

    /// What stands for a number in a value.
    ///
    /// # Errors
    /// On the value, when it is neither a number nor a constant nor `_`.
    pub(crate) fn of(value: &Value, what: &str) -> Result<Self> {
        let constant = match value {
            Value::Any(any) => return Ok(Number::Any(any.span())),
            Value::List(..) => false,
            Value::Expr(expr) => match literal(expr) {
                Some(literal) => return Ok(Number::Literal(literal?, expr.span())),
                None => is_constant(expr),
            },
            Value::Other(tokens) => is_block(tokens.clone()),
        };
        let tokens = value.to_token_stream();
        if constant && !has_lone_keyword(tokens.clone()) {
            return Ok(Number::Constant(tokens));
        }
        Err(Error::new_spanned(tokens, format!("expected {what}")))
    }
}

/// The value of a literal, with a sign or without.
fn literal(expr: &Expr) -> Option<Result<i128>> {
    match expr {
        Expr::Group(group) => literal(&group.expr),
        Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) => Some(int.base10_parse()),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match literal(expr)? {
            Ok(value) => Some(Ok(-value)),
            error => Some(error),
        },
        _ => None,
    }
}

/// Whether an expression may be a constant of a whole number.
fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Group(group) => is_constant(&group.expr),
        // Of a block `syn` may know no more than its tokens.
        Expr::Verbatim(tokens) => is_block(tokens.clone()),
        Expr::Path(_) | Expr::Block(_) | Expr::Paren(_) | Expr::Binary(_) | Expr::Call(_) => true,
        _ => false,
    }
}

/// Whether tokens are a block: braces and nothing else.
fn is_block(tokens: TokenStream) -> bool {
    let mut tokens = tokens.into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(group)), None) => match group.delimiter() {
            Delimiter::Brace => true,
            // A macro has handed the block over.
            Delimiter::None => is_block(group.stream()),
            _ => false,
        },
        _ => false,
    }
}

/// Whether `crate` or `super` stands alone somewhere. That names no constant, and the compiler would ask for a macro's
/// `!` after it.
fn has_lone_keyword(tokens: TokenStream) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let found = match token {
            TokenTree::Group(group) => has_lone_keyword(group.stream()),
            TokenTree::Ident(ident) if ident == "crate" || ident == "super" => {
                !matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == ':')
            }
            _ => false,
        };
        if found {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_alone_are_no_sizes() {
        let size = |text: &str| Number::of(&syn::parse_str(text).unwrap(), "a size");
        for alone in ["crate", "super", "(crate)", "crate + 1", "{ super }"] {
            assert_eq!(size(alone).err().map(|error| error.to_string()), Some("expected a size".into()), "{alone}");
        }
        for constant in ["crate::ROWS", "super::super::ROWS + 1", "{ crate::rows() }", "ROWS", "{ let n = 2; n * 8 }"] {
            assert!(matches!(size(constant), Ok(Number::Constant(_))), "{constant}");
        }
    }
}
