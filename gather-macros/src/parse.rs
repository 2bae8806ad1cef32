//! Parsing: from tokens to the fields of a call, in source order; `check` interprets them.
//!
//! The parser reports a mistake and continues at the next entry or field, so that one mistake does not hide the next.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Error, Ident, LitInt, Result, Token, Type, Visibility, token};

use crate::attrs;
use crate::ctxt::Ctxt;
use crate::name;

pub(crate) struct Call {
    pub(crate) krate: TokenStream,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) fields: Vec<Field>,
}

/// `key: value;`
pub(crate) struct Field {
    pub(crate) key: Ident,
    /// Unparsed; `None` after reporting that the value is missing.
    pub(crate) value: Option<TokenStream>,
}

/// Parses a call; `None`, after reporting the reason, if not even the name of the set can be parsed.
pub(crate) fn call(cx: &mut Ctxt, input: TokenStream) -> Option<Call> {
    let parse = |input: ParseStream<'_>| {
        let mut call = header(cx, input)?;
        while !input.is_empty() {
            call.fields.extend(field(cx, input));
        }
        Ok(call)
    };
    let call = parse.parse2(input);
    cx.take(call)
}

/// `crate = PATH; #[attributes] pub static NAME;`
fn header(cx: &mut Ctxt, input: ParseStream<'_>) -> Result<Call> {
    let krate = krate(input)?;
    let attrs = attrs::outer(cx, input)?;
    let vis: Visibility = input.parse()?;
    if !input.peek(Token![static]) {
        let message = "expected `static`: a call begins with the name of its set, as in `pub static KERNELS;`";
        return Err(match attrs.last() {
            Some(attr) if input.is_empty() => Error::new_spanned(attr, message),
            _ => input.error(message),
        });
    }
    let word: Token![static] = input.parse()?;
    if let Some(word) = input.parse::<Option<Token![mut]>>()? {
        cx.error_on(word, "a set of kernels cannot be `mut`");
    }
    if !input.peek(Ident) {
        let message = "expected the name of the set, as in `pub static KERNELS;`";
        return Err(if input.is_empty() { Error::new_spanned(word, message) } else { input.error(message) });
    }
    let name: Ident = input.parse()?;
    if input.peek(Token![:]) {
        let ty = skip_until(input, |input| input.peek(Token![;]));
        cx.error_on(ty, "the macro writes the type of the static; leave it out");
    }
    if input.parse::<Option<Token![;]>>()?.is_none() {
        cx.error_on(&name, format!("expected `;` after `{name}`"));
    }
    Ok(Call { krate, attrs, vis, name, fields: Vec::new() })
}

/// `crate = PATH;`, which the macros of gather-core pass.
pub(crate) fn krate(input: ParseStream<'_>) -> Result<TokenStream> {
    input.parse::<Token![crate]>()?;
    input.parse::<Token![=]>()?;
    let krate = skip_until(input, |input| input.peek(Token![;]));
    input.parse::<Token![;]>()?;
    Ok(krate)
}

/// The next field; `None` after reporting the tokens in its place.
fn field(cx: &mut Ctxt, input: ParseStream<'_>) -> Option<Field> {
    if !input.peek(Ident::peek_any) {
        let error = input.error(format!("expected a key ({})", name::keys()));
        cx.push(error);
        // Takes at least one token, so that parsing terminates.
        skip_until(input, |input| input.peek(Token![;]));
        let _ = input.parse::<Option<Token![;]>>();
        return None;
    }
    let key = cx.take(input.call(Ident::parse_any))?;
    if input.peek(Token![:]) && !input.peek(Token![::]) {
        let _ = input.parse::<Token![:]>();
    } else {
        let message = format!("expected `:` after `{key}`");
        if input.is_empty() {
            cx.error_on(&key, message);
        } else {
            cx.push(input.error(message));
        }
        if input.is_empty() || input.parse::<Option<Token![;]>>().ok().flatten().is_some() {
            return Some(Field { key, value: None });
        }
        // `key = value` and `key value` are accepted, too.
        let _ = input.parse::<Option<Token![=]>>();
    }
    let value = value(cx, input, &key);
    Some(Field { key, value })
}

/// The tokens up to and including the next `;`, or up to the next field if a `;` is missing.
fn value(cx: &mut Ctxt, input: ParseStream<'_>, key: &Ident) -> Option<TokenStream> {
    let next_field =
        |input: ParseStream<'_>| input.peek(Ident::peek_any) && input.peek2(Token![:]) && !input.peek2(Token![::]);
    let mut tokens = Vec::new();
    while !input.peek(Token![;]) && !input.is_empty() && !next_field(input) {
        tokens.extend(input.parse::<TokenTree>());
    }
    if input.parse::<Option<Token![;]>>().ok().flatten().is_none() {
        let message = format!("expected `;` after the value of `{key}`");
        match tokens.last() {
            None => {
                cx.error_on(key, format!("`{key}` has no value; write `{key}: {};`", name::example(&key.to_string())));
                return None;
            }
            Some(TokenTree::Group(group)) => cx.push(Error::new(group.span_close(), message)),
            Some(last) => cx.push(Error::new(last.span(), message)),
        }
        // A comma in place of the `;` is not part of the value.
        tokens.pop_if(|last| matches!(last, TokenTree::Punct(punct) if punct.as_char() == ','));
    }
    Some(tokens.into_iter().collect())
}

/// Takes at least one token, then all tokens up to the first at which `end` holds.
pub(crate) fn skip_until(input: ParseStream<'_>, end: impl Fn(ParseStream<'_>) -> bool) -> TokenStream {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && (tokens.is_empty() || !end(input)) {
        tokens.extend(input.parse::<TokenTree>());
    }
    tokens
}

/// `[item, item, ..]`; `None` after reporting that it is missing or empty.
pub(crate) fn list<T>(cx: &mut Ctxt, field: &Field, item: fn(ParseStream<'_>) -> Result<T>) -> Option<Vec<T>> {
    let (key, value) = (&field.key, field.value.as_ref()?);
    let example = name::example(&key.to_string());
    let parse = |input: ParseStream<'_>| {
        if !input.peek(token::Bracket) {
            let message = format!("`{key}` takes a list in square brackets, such as `{example}`");
            return Err(if value.is_empty() { Error::new_spanned(key, message) } else { value_error(input, message) });
        }
        let content;
        syn::bracketed!(content in input);
        if content.is_empty() {
            cx.error_on(key, format!("`{key}` is empty; list at least one, such as `{example}`"));
        }
        let items = items(cx, &content, item);
        if !input.is_empty() {
            let rest: TokenStream = input.parse()?;
            cx.error_on(rest, format!("nothing can follow the list of `{key}`; put all entries between its brackets"));
        }
        Ok(items)
    };
    let items = parse.parse2(value.clone());
    cx.take(items)
}

/// An error on a whole value.
fn value_error(input: ParseStream<'_>, message: String) -> Error {
    input.parse::<TokenStream>().map_or_else(|error| error, |value| Error::new_spanned(value, message))
}

/// The well-formed entries of a comma-separated list.
fn items<T>(cx: &mut Ctxt, input: ParseStream<'_>, item: fn(ParseStream<'_>) -> Result<T>) -> Vec<T> {
    let mut items = Vec::new();
    while !input.is_empty() {
        let ahead = input.fork();
        match item(&ahead) {
            Ok(item) => {
                input.advance_to(&ahead);
                items.push(item);
                if !input.is_empty() && !input.peek(Token![,]) {
                    cx.push(input.error("expected `,` before this"));
                }
            }
            Err(error) => cx.push(error),
        }
        skip_entry(input);
        let _ = input.parse::<Option<Token![,]>>();
    }
    items
}

/// Skips to the comma after an entry; commas between `<` and `>` belong to the entry.
fn skip_entry(input: ParseStream<'_>) {
    let mut depth = 0u32;
    while !input.is_empty() && (depth > 0 || !input.peek(Token![,])) {
        match input.parse() {
            Ok(TokenTree::Punct(punct)) if punct.as_char() == '<' => depth += 1,
            Ok(TokenTree::Punct(punct)) if punct.as_char() == '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
}

/// An entry of `elements`: attributes, a type, and the width class of a type unknown to the macro.
pub(crate) struct ElementItem {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) ty: Type,
    pub(crate) class: Option<Ident>,
}

pub(crate) fn element(input: ParseStream<'_>) -> Result<ElementItem> {
    let attrs = input.call(Attribute::parse_outer)?;
    let ty = index(input)?;
    let class = match input.parse::<Option<Token![as]>>()? {
        Some(_) => Some(plain_name(input, "expected a width class, such as `x32`")?),
        None => None,
    };
    Ok(ElementItem { attrs, ty, class })
}

/// A type, unwrapped from the invisible group of another macro.
pub(crate) fn index(input: ParseStream<'_>) -> Result<Type> {
    let start = input.fork();
    let mut ty = input.parse().map_err(|_| start.error("expected a type, such as `i32`"))?;
    while let Type::Group(group) = ty {
        ty = *group.elem;
    }
    Ok(ty)
}

pub(crate) fn op(input: ParseStream<'_>) -> Result<Ident> {
    plain_name(input, "expected the name of an operator, such as `gather`")
}

pub(crate) fn width(input: ParseStream<'_>) -> Result<Ident> {
    plain_name(input, "expected a width, such as `x32` or `rows`")
}

fn plain_name(input: ParseStream<'_>, message: &str) -> Result<Ident> {
    if input.peek(Ident) && !input.peek2(Token![::]) { input.parse() } else { Err(input.error(message)) }
}

pub(crate) enum Rank {
    /// `any`
    Any(Ident),
    /// `N` or `N..=M`
    Span(LitInt, Option<LitInt>),
}

/// Parses the value of `ranks`: `N`, `N..=M`, and `any`, separated by commas.
pub(crate) fn ranks(cx: &mut Ctxt, field: &Field) -> Option<Vec<Rank>> {
    let value = field.value.as_ref()?;
    if value.is_empty() {
        cx.error_on(&field.key, "`ranks` is empty; name at least one rank, such as `1..=4`");
    }
    let parse = |input: ParseStream<'_>| {
        if input.peek(token::Bracket) {
            return Err(value_error(input, "ranks stand without brackets, as in `1..=4, any`".into()));
        }
        Ok(items(cx, input, rank))
    };
    let ranks = parse.parse2(value.clone());
    cx.take(ranks)
}

fn rank(input: ParseStream<'_>) -> Result<Rank> {
    if input.peek(Ident) {
        let word: Ident = input.parse()?;
        if word == "any" {
            return Ok(Rank::Any(word));
        }
        let near = name::suggestion(&word.to_string(), ["any"]);
        return Err(Error::new_spanned(
            &word,
            format!("`{word}` is no rank{near} (use 1 to {} or `any`)", name::MAX_RANK),
        ));
    }
    if !input.peek(LitInt) {
        let message = format!("expected a rank: 1 to {}, a range such as `1..=4`, or `any`", name::MAX_RANK);
        return Err(input.error(message));
    }
    let first: LitInt = input.parse()?;
    if !input.peek(Token![..]) {
        return Ok(Rank::Span(first, None));
    }
    let mut tokens = first.to_token_stream();
    if input.peek(Token![..=]) {
        tokens.extend(input.parse::<Token![..=]>()?.into_token_stream());
        return match input.parse() {
            Ok(last) => Ok(Rank::Span(first, Some(last))),
            Err(_) => Err(Error::new_spanned(
                tokens,
                format!("this range has no last rank; write `{first}..={}`", name::MAX_RANK),
            )),
        };
    }
    tokens.extend(input.parse::<Token![..]>()?.into_token_stream());
    let end: Option<LitInt> = if input.peek(LitInt) { Some(input.parse()?) } else { None };
    let last = end.as_ref().map_or(Some(name::MAX_RANK), |end| end.base10_parse::<u8>().ok()?.checked_sub(1));
    tokens.extend(end.map(ToTokens::into_token_stream));
    let last = last.unwrap_or(name::MAX_RANK);
    Err(Error::new_spanned(tokens, format!("a range of ranks includes its last; write `{first}..={last}`")))
}
