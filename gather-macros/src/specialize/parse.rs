//! Parsing: from tokens to declarations; `check` interprets them.
//!
//! The parser reports a mistake and continues at the next function, so that one mistake does not hide the next.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    AngleBracketedGenericArguments, Attribute, Error, Expr, GenericArgument, Generics, Ident, Lit, Path, Result, Token,
    Type, UnOp, Visibility, parse_quote, token,
};

use crate::attrs;
use crate::ctxt::Ctxt;
use crate::parse::{krate, skip_until};

/// A well-formed declaration.
pub(crate) const EXAMPLE: &str = "pub fn embed = gather(axis = 0) (f32[_, 64], u32[_]);";

/// A call of `specialize!`.
pub(crate) struct Call {
    pub(crate) krate: TokenStream,
    pub(crate) set: Option<Set>,
    pub(crate) functions: Vec<Function>,
}

/// The static with the kernels of a call.
pub(crate) struct Set {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) instances: Vec<Instance>,
}

/// `NAME::<TYPE, ..>`: an instance of a generic function.
pub(crate) struct Instance {
    pub(crate) name: Ident,
    pub(crate) types: Vec<Type>,
}

/// `#[attributes] pub fn NAME<..> = OP::PRESET(key = value, ..) (TENSOR, TENSOR) -> TYPE;`
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    pub(crate) op: Ident,
    pub(crate) preset: Option<Ident>,
    pub(crate) keys: Vec<Key>,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) output: Option<Type>,
}

/// `key = value`, or `map = PATH(parameter, ..)`
pub(crate) struct Key {
    pub(crate) name: Ident,
    pub(crate) value: Expr,
    pub(crate) params: Vec<Param>,
}

/// `NAME: TYPE`: a parameter of a map.
#[derive(Clone)]
pub(crate) struct Param {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
}

/// `TYPE[size, ..]`
#[derive(Clone)]
pub(crate) struct Tensor {
    pub(crate) ty: Type,
    pub(crate) sizes: Vec<Number>,
    pub(crate) bracket: Span,
}

/// A number, a constant, or `_`.
#[derive(Clone)]
pub(crate) enum Number {
    Any(Span),
    Literal(i128, Span),
    Constant(Box<Expr>),
}

impl Number {
    pub(crate) fn span(&self) -> Span {
        match self {
            Number::Any(span) | Number::Literal(_, span) => *span,
            Number::Constant(expr) => expr.span(),
        }
    }

    /// The value of a literal.
    pub(crate) fn value(&self) -> Option<i128> {
        if let Number::Literal(value, _) = self { Some(*value) } else { None }
    }

    /// The size denoted by an expression.
    ///
    /// # Errors
    /// On the expression, if it is neither a number nor a constant nor `_`.
    pub(crate) fn of(expr: Expr, what: &str) -> Result<Self> {
        let span = expr.span();
        let literal = |expr: &Expr| match expr {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Int(int) => Some(int.base10_parse::<i128>()),
                _ => None,
            },
            _ => None,
        };
        let constant = match &expr {
            Expr::Infer(_) => return Ok(Number::Any(span)),
            Expr::Group(group) => return Number::of((*group.expr).clone(), what),
            Expr::Lit(_) => match literal(&expr) {
                Some(value) => return Ok(Number::Literal(value?, span)),
                None => false,
            },
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => match literal(&unary.expr) {
                Some(value) => return Ok(Number::Literal(-value?, span)),
                None => false,
            },
            Expr::Path(_) | Expr::Block(_) | Expr::Paren(_) | Expr::Binary(_) | Expr::Call(_) => {
                !has_lone_keyword(expr.to_token_stream())
            }
            _ => false,
        };
        if constant {
            return Ok(Number::Constant(Box::new(expr)));
        }
        Err(Error::new_spanned(expr, format!("expected {what}")))
    }
}

/// Whether a `crate` or `super` has no path after it. Such a keyword is no constant, and the compiler would expect a
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

/// Parses a call; `None` after reporting the reason.
pub(crate) fn call(cx: &mut Ctxt, input: TokenStream) -> Option<Call> {
    let parse = |input: ParseStream<'_>| {
        let krate = krate(input)?;
        if input.is_empty() {
            let message = format!("there is no function; declare one, such as `{EXAMPLE}`");
            return Err(Error::new(Span::call_site(), message));
        }
        let mut call = Call { krate, set: None, functions: Vec::new() };
        while !input.is_empty() {
            if let Err(error) = item(cx, input, &mut call) {
                cx.push(error);
                if !input.peek(Token![;]) {
                    skip_until(input, |input| input.peek(Token![;]));
                }
                let _ = input.parse::<Option<Token![;]>>();
            }
        }
        Ok(call)
    };
    let call = parse.parse2(input);
    cx.take(call)
}

fn item(cx: &mut Ctxt, input: ParseStream<'_>, call: &mut Call) -> Result<()> {
    let attrs = attrs::outer(cx, input)?;
    let vis: Visibility = input.parse()?;
    if input.parse::<Option<Token![static]>>()?.is_some() {
        let name: Ident = input.parse()?;
        let (instances, what) = match input.parse::<Option<Token![=]>>()? {
            Some(_) => (instances(cx, input)?, "the list of functions"),
            None => (Vec::new(), "the name of the set"),
        };
        semicolon(input, what, name.span())?;
        if call.set.is_some() {
            cx.error_on(&name, "a call has one set of kernels");
        }
        call.set.get_or_insert(Set { attrs, vis, name, instances });
        return Ok(());
    }
    if !input.peek(Token![fn]) {
        let message = format!("expected `fn`: a function is declared as in `{EXAMPLE}`");
        return Err(match attrs.last() {
            Some(attr) if input.is_empty() => Error::new_spanned(attr, message),
            _ => input.error(message),
        });
    }
    input.parse::<Token![fn]>()?;
    call.functions.extend(function(cx, input, attrs, vis)?);
    Ok(())
}

/// The generic functions of a set, in brackets.
fn instances(cx: &mut Ctxt, input: ParseStream<'_>) -> Result<Vec<Instance>> {
    let what = "functions with their types in square brackets, such as `[embed::<f32>]`";
    if !input.peek(token::Bracket) {
        return Err(input.error(format!("expected {what}")));
    }
    let content;
    syn::bracketed!(content in input);
    let list = Punctuated::<Instance, Token![,]>::parse_terminated.parse2(content.parse()?);
    Ok(cx.take(list).into_iter().flatten().collect())
}

impl Parse for Instance {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let what = "expected a generic function with its types, such as `embed::<f32>`";
        let name: Ident = input.parse().map_err(|error| Error::new(error.span(), what))?;
        if !input.peek(Token![::]) {
            return Err(if input.is_empty() { Error::new_spanned(&name, what) } else { input.error(what) });
        }
        let mut types = Vec::new();
        for arg in AngleBracketedGenericArguments::parse_turbofish(input)?.args {
            match arg {
                GenericArgument::Type(ty) => types.push(ty),
                other => return Err(Error::new_spanned(other, "expected a type, such as `f32`")),
            }
        }
        Ok(Instance { name, types })
    }
}

fn semicolon(input: ParseStream<'_>, what: &str, end: Span) -> Result<()> {
    if input.parse::<Option<Token![;]>>()?.is_some() {
        return Ok(());
    }
    let message = format!("expected `;` after {what}");
    Err(if input.is_empty() { Error::new(end, message) } else { input.error(message) })
}

/// The tokens after `fn`; `None` after reporting mistakes in them.
fn function(cx: &mut Ctxt, input: ParseStream<'_>, attrs: Vec<Attribute>, vis: Visibility) -> Result<Option<Function>> {
    let name: Ident = input.parse()?;
    let mut generics: Generics = input.parse()?;
    generics.where_clause = input.parse()?;
    if !input.peek(Token![=]) {
        let message = format!("expected `=` after `{name}`: a function is declared as in `{EXAMPLE}`");
        return Err(if input.is_empty() { Error::new_spanned(&name, message) } else { input.error(message) });
    }
    input.parse::<Token![=]>()?;
    let op: Ident = input.call(Ident::parse_any)?;
    let preset = if input.parse::<Option<Token![::]>>()?.is_some() { Some(input.parse::<Ident>()?) } else { None };
    let attributes = parenthesized(input, "the attributes of the operator in parentheses, such as `(axis = 0)`")?;
    let tensors = parenthesized(input, "the tensors in parentheses, such as `(f32[_, 64], u32[_])`")?;
    let output = if input.parse::<Option<Token![->]>>()?.is_some() { Some(ty(input)?) } else { None };
    semicolon(input, "the declaration", name.span())?;
    let keys = Punctuated::<Key, Token![,]>::parse_terminated.parse2(attributes);
    let tensors = (|input: ParseStream<'_>| Ok(tensors_of(cx, input))).parse2(tensors);
    let (keys, tensors) = (cx.take(keys), cx.take(tensors).flatten());
    let (Some(keys), Some(tensors)) = (keys, tensors) else { return Ok(None) };
    let keys = keys.into_iter().collect();
    Ok(Some(Function { attrs, vis, name, generics, op, preset, keys, tensors, output }))
}

fn parenthesized(input: ParseStream<'_>, what: &str) -> Result<TokenStream> {
    if !input.peek(token::Paren) {
        return Err(input.error(format!("expected {what}")));
    }
    let content;
    syn::parenthesized!(content in input);
    content.parse()
}

impl Parse for Key {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.call(Ident::parse_any)?;
        if !input.peek(Token![=]) {
            let message = format!("expected a value, as in `{name} = ..`");
            return Err(if input.is_empty() { Error::new_spanned(&name, message) } else { input.error(message) });
        }
        let equals: Token![=] = input.parse()?;
        if input.is_empty() || input.peek(Token![,]) {
            return Err(Error::new_spanned(equals, format!("expected a value, as in `{name} = ..`")));
        }
        if name == "map" && has_params(input) {
            let path = input.call(Path::parse_mod_style)?;
            let content;
            syn::parenthesized!(content in input);
            let params = Punctuated::<Param, Token![,]>::parse_terminated(&content)?;
            return Ok(Key { name, value: parse_quote!(#path), params: params.into_iter().collect() });
        }
        Ok(Key { name, value: input.parse()?, params: Vec::new() })
    }
}

/// Whether parentheses follow a path.
fn has_params(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.call(Path::parse_mod_style).is_ok() && ahead.peek(token::Paren)
}

impl Parse for Param {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let what = "expected a parameter of the map with its type, such as `scale: f32`";
        let name: Ident = input.parse().map_err(|error| Error::new(error.span(), what))?;
        if !input.peek(Token![:]) {
            return Err(if input.is_empty() { Error::new_spanned(&name, what) } else { input.error(what) });
        }
        input.parse::<Token![:]>()?;
        Ok(Param { name, ty: ty(input)? })
    }
}

/// The tensors; `None` after reporting mistakes in them.
fn tensors_of(cx: &mut Ctxt, input: ParseStream<'_>) -> Option<Vec<Tensor>> {
    let (mut tensors, mut all_good) = (Vec::new(), true);
    while !input.is_empty() {
        match tensor(cx, input) {
            Ok(Some(tensor)) => tensors.push(tensor),
            Ok(None) => all_good = false,
            Err(error) => {
                cx.push(error);
                all_good = false;
                if !input.is_empty() && !input.peek(Token![,]) {
                    skip_until(input, |input| input.peek(Token![,]));
                }
            }
        }
        if !input.is_empty() && input.parse::<Option<Token![,]>>().ok().flatten().is_none() {
            cx.push(input.error("expected `,` between the tensors"));
            let _ = input.parse::<TokenStream>();
            return None;
        }
    }
    all_good.then_some(tensors)
}

fn tensor(cx: &mut Ctxt, input: ParseStream<'_>) -> Result<Option<Tensor>> {
    let ty = ty(input)?;
    if !input.peek(token::Bracket) {
        let text = ty.to_token_stream();
        let message = format!("expected the shape of the tensor in square brackets, such as `{text}[_, 64]`");
        return Err(if input.is_empty() { Error::new_spanned(ty, message) } else { input.error(message) });
    }
    let content;
    let bracket = syn::bracketed!(content in input).span.join();
    let mut sizes = Vec::new();
    let mut all_good = true;
    for size in Punctuated::<Expr, Token![,]>::parse_terminated(&content)? {
        match Number::of(size, "a size: a number, a constant, or `_`") {
            Ok(size) => sizes.push(size),
            Err(error) => {
                cx.push(error);
                all_good = false;
            }
        }
    }
    Ok(all_good.then_some(Tensor { ty, sizes, bracket }))
}

/// A type, unwrapped from the invisible group of another macro.
fn ty(input: ParseStream<'_>) -> Result<Type> {
    let start = input.fork();
    let mut ty = input.parse().map_err(|_| start.error("expected a type, such as `f32`"))?;
    while let Type::Group(group) = ty {
        ty = *group.elem;
    }
    Ok(ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_alone_are_no_sizes() {
        let size = |text: &str| Number::of(syn::parse_str(text).unwrap(), "a size");
        for alone in ["crate", "super", "(crate)", "crate + 1", "{ super }"] {
            assert_eq!(size(alone).err().map(|error| error.to_string()), Some("expected a size".into()), "{alone}");
        }
        for constant in ["crate::ROWS", "super::super::ROWS + 1", "{ crate::rows() }", "ROWS"] {
            assert!(matches!(size(constant), Ok(Number::Constant(_))), "{constant}");
        }
    }
}
