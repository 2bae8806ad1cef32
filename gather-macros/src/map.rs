//! `map_kernels!`: statics whose values are closures become maps. `reduce_kernels!` and `row_kernels!` use the same
//! parser.
//!
//! As in `kernels!`, the parser reports a mistake and continues at the next map.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Ident, Result, Token, Type, Visibility, token};

use crate::attrs::{self, Names};
use crate::ctxt::Ctxt;
use crate::name::{self, MAX_PARAMS, readable};
use crate::parse::{self, skip_until};

/// The texts of messages about a macro's closures.
pub(crate) struct Form {
    /// The name of the result, such as `map`.
    pub(crate) what: &'static str,
    pub(crate) example: &'static str,
    pub(crate) named: &'static str,
    pub(crate) closure: &'static str,
    /// The advice if there are no inputs.
    pub(crate) no_input: &'static str,
    /// Maximum inputs, if the parser checks them.
    pub(crate) most: Option<usize>,
    /// The end of the message about an input or a result that borrows.
    pub(crate) values: &'static str,
    /// Whether closures are row functions, which may lack a result and have inputs with attributes.
    pub(crate) rows: bool,
}

const MAP: Form = Form {
    what: "map",
    example: "pub static SCALE = |value: u8, scale: f32| -> f32 { f32::from(value) * scale };",
    named: "SCALE",
    closure: "|value: u8, scale: f32| -> f32 { .. }",
    no_input: "name what is read, such as `|value: u8|`",
    most: Some(MAX_PARAMS + 1),
    values: "a map takes and gives values, such as `f32` or `[f32; 16]`; slices are for `row_kernels!`",
    rows: false,
};

/// A static or a constant whose value is a closure.
pub(crate) struct Closure {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    /// `static` or `const`.
    pub(crate) word: TokenTree,
    pub(crate) name: Ident,
    /// For a map: the element, then the parameters.
    pub(crate) inputs: Vec<Input>,
    /// `None` for a row function that writes to a row.
    pub(crate) output: Option<Type>,
    pub(crate) body: TokenTree,
}

/// `name: Type`, or `mut name: Type`.
pub(crate) struct Input {
    /// For a row function: `#[any_len]` or `#[optional]`.
    pub(crate) attr: Option<Ident>,
    pub(crate) mutable: Option<Token![mut]>,
    pub(crate) name: Ident,
    pub(crate) ty: Type,
}

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    expand_as(&MAP, input, |_, krate, map| emit(krate, map))
}

/// The statics made by `emit` from the closures of a call, and the errors.
pub(crate) fn expand_as(
    form: &Form,
    input: TokenStream,
    emit: impl Fn(&mut Ctxt, &TokenStream, &Closure) -> TokenStream,
) -> TokenStream {
    let mut cx = Ctxt::default();
    let call = |input: ParseStream<'_>| call(form, &mut cx, input);
    let call = call.parse2(input);
    let Some((krate, all)) = cx.take(call) else {
        return cx.into_errors();
    };
    let mut names = Names::default();
    let (first, again): (Vec<Closure>, Vec<Closure>) =
        all.into_iter().partition(|closure| names.insert(&closure.name, &closure.attrs));
    for closure in again {
        cx.error_on(&closure.name, format!("`{}` is the name of two {}s", closure.name, form.what));
    }
    let mut statics = TokenStream::new();
    for closure in first {
        if form.rows || owns(&mut cx, form, &closure) {
            statics.extend(emit(&mut cx, &krate, &closure));
        }
    }
    let errors = cx.into_errors();
    quote!(#errors #statics)
}

/// Whether inputs and result are owned values; reports the borrowed ones, since emitted types have no lifetime.
fn owns(cx: &mut Ctxt, form: &Form, Closure { name, inputs, output, .. }: &Closure) -> bool {
    let before = cx.count();
    for input in inputs.iter().filter(|input| borrows(&input.ty)) {
        cx.error_on(&input.ty, format!("`{}` borrows; {}", input.name, form.values));
    }
    if let Some(output) = output.as_ref().filter(|output| borrows(output)) {
        cx.error_on(output, format!("the result of `{name}` borrows; {}", form.values));
    }
    cx.count() == before
}

/// Whether a type has a reference without a lifetime.
pub(crate) fn borrows(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => reference.lifetime.is_none() || borrows(&reference.elem),
        Type::Group(group) => borrows(&group.elem),
        Type::Paren(paren) => borrows(&paren.elem),
        Type::Array(array) => borrows(&array.elem),
        Type::Slice(slice) => borrows(&slice.elem),
        Type::Tuple(tuple) => tuple.elems.iter().any(borrows),
        _ => false,
    }
}

/// `crate = PATH; closures..`
fn call(form: &Form, cx: &mut Ctxt, input: ParseStream<'_>) -> Result<(TokenStream, Vec<Closure>)> {
    let Form { what, example, .. } = form;
    let krate = parse::krate(input)?;
    if input.is_empty() {
        return Err(Error::new(Span::call_site(), format!("there is no {what}; write one, such as `{example}`")));
    }
    let mut closures = Vec::new();
    while !input.is_empty() {
        match closure(form, cx, input) {
            Ok(closure) => closures.extend(closure),
            Err(error) => {
                cx.push(error);
                // Takes at least one token, so that parsing terminates.
                if !input.peek(Token![;]) {
                    skip_until(input, |input| input.peek(Token![;]));
                }
                let _ = input.parse::<Option<Token![;]>>();
            }
        }
    }
    Ok((krate, closures))
}

/// `#[attributes] pub static NAME = |value: T, parameter: P, ..| -> U { body };`; `None` after reporting an error.
fn closure(form: &Form, cx: &mut Ctxt, input: ParseStream<'_>) -> Result<Option<Closure>> {
    let Form { what, example, named, .. } = form;
    let attrs = attrs::outer(cx, input)?;
    let vis: Visibility = input.parse()?;
    let message = || format!("expected `static`: a {what} is written `{example}`");
    let word: TokenTree = match input.parse::<Option<Token![const]>>()? {
        Some(word) => Ident::new("const", word.span).into(),
        None => Ident::new("static", expect::<Token![static]>(input, attrs.last(), message)?.span).into(),
    };
    if let Some(word) = input.parse::<Option<Token![mut]>>()? {
        cx.error_on(word, format!("a {what} cannot be `mut`"));
    }
    let name: Ident = expect(input, Some(&word), || format!("expected the name of the {what}, such as `{named}`"))?;
    if input.peek(Token![:]) {
        let ty = skip_until(input, |input| input.peek(Token![=]) || input.peek(Token![;]));
        cx.error_on(ty, "the macro writes the type of the static; leave it out");
    }
    let _: Token![=] = expect(input, Some(&name), || format!("expected `=` after `{name}`"))?;
    for word in ["move", "async", "const", "static"] {
        let ahead = input.fork();
        if let Ok(TokenTree::Ident(found)) = ahead.parse::<TokenTree>()
            && found == word
        {
            let _ = input.parse::<TokenTree>()?;
            cx.error_on(found, format!("a {what} captures nothing and waits for nothing; leave `{word}` out"));
        }
    }
    let inputs = inputs(form, cx, input, &name)?;
    let message = || format!("expected the type of the result after the inputs of `{name}`, such as `-> f32`");
    let output = if form.rows && input.peek(token::Brace) {
        None
    } else {
        let _: Token![->] = expect(input, Some(&name), message)?;
        Some(ty(input, &name, message)?)
    };
    if !input.peek(token::Brace) {
        let message = format!("expected the body of `{name}` in braces, such as `{{ f32::from(value) }}`");
        return Err(if input.is_empty() { Error::new_spanned(&name, message) } else { input.error(message) });
    }
    let body: TokenTree = input.parse()?;
    if input.parse::<Option<Token![;]>>()?.is_none() {
        let end = if let TokenTree::Group(group) = &body { group.span_close() } else { body.span() };
        cx.push(Error::new(end, format!("expected `;` after the body of `{name}`")));
    }
    Ok(inputs.map(|inputs| Closure { attrs, vis, word, name, inputs, output, body }))
}

/// `|value: T, parameter: P, ..|`; `None` after reporting a malformed input.
fn inputs(form: &Form, cx: &mut Ctxt, input: ParseStream<'_>, name: &Ident) -> Result<Option<Vec<Input>>> {
    let none = || format!("`{name}` has no input; {}", form.no_input);
    if let Some(bars) = input.parse::<Option<Token![||]>>()? {
        cx.error_on(bars, none());
        return Ok(None);
    }
    let message = || format!("expected a closure, such as `{}`", form.closure);
    let bar: Token![|] = expect(input, Some(name), message)?;
    let mut inputs: Vec<Input> = Vec::new();
    let mut all_good = true;
    let mut count = 0;
    while !input.peek(Token![|]) {
        if input.is_empty() {
            return Err(Error::new_spanned(bar, format!("expected `|` after the inputs of `{name}`")));
        }
        count += 1;
        match one_input(form, input, name) {
            Ok(input) => {
                let twice = inputs.iter().any(|other| other.name == input.name);
                if twice {
                    cx.error_on(&input.name, format!("`{}` is named twice", input.name));
                } else if form.most.is_some_and(|most| count == most + 1) {
                    let message =
                        format!("`{name}` has more than {MAX_PARAMS} parameters; make several one tuple or array");
                    cx.error_on(&input.name, message);
                }
                all_good &= !twice && form.most.is_none_or(|most| count <= most);
                inputs.push(input);
            }
            Err(error) => {
                cx.push(error);
                all_good = false;
                while !input.is_empty() && !input.peek(Token![,]) && !input.peek(Token![|]) {
                    input.parse::<TokenTree>()?;
                }
            }
        }
        if input.parse::<Option<Token![,]>>()?.is_none() && !input.is_empty() && !input.peek(Token![|]) {
            return Err(input.error("expected `,` or `|`"));
        }
    }
    let bar: Token![|] = input.parse()?;
    if count == 0 {
        cx.error_on(bar, none());
    }
    Ok((all_good && count > 0).then_some(inputs))
}

fn one_input(form: &Form, input: ParseStream<'_>, map: &Ident) -> Result<Input> {
    let mut attr = None;
    if form.rows {
        for given in Attribute::parse_outer(input)? {
            let word = given.path().get_ident().filter(|word| *word == "any_len" || *word == "optional");
            match (&given.meta, word) {
                (syn::Meta::Path(_), Some(word)) if attr.is_none() => attr = Some(word.clone()),
                _ => {
                    let message = "an input takes one attribute: `#[any_len]`, for a slice that need not be as long as \
                                   the row, or `#[optional]`, for one that may be empty";
                    return Err(Error::new_spanned(given, message));
                }
            }
        }
    }
    let mutable = input.parse()?;
    let message = || "expected a name and a type, such as `scale: f32`".into();
    if input.peek(Token![_]) {
        return Err(input.error(message()));
    }
    let name: Ident = expect(input, Some(map), message)?;
    let message = || format!("`{name}` needs a type, such as `{name}: f32`");
    if !input.peek(Token![:]) {
        return Err(Error::new_spanned(&name, message()));
    }
    let _ = input.parse::<Token![:]>()?;
    let ty = ty(input, &name, message)?;
    Ok(Input { attr, mutable, name, ty })
}

/// A type, unwrapped from the invisible group of another macro.
fn ty(input: ParseStream<'_>, owner: &Ident, message: impl Fn() -> String) -> Result<Type> {
    let start = input.fork();
    let mut ty = input
        .parse()
        .map_err(|_| if start.is_empty() { Error::new_spanned(owner, message()) } else { start.error(message()) })?;
    while let Type::Group(group) = ty {
        ty = *group.elem;
    }
    if matches!(ty, Type::Infer(_)) { Err(Error::new_spanned(ty, message())) } else { Ok(ty) }
}

/// The expected next token. At the end of the input the error is on `before`.
fn expect<T: syn::parse::Parse>(
    input: ParseStream<'_>,
    before: Option<impl quote::ToTokens>,
    message: impl Fn() -> String,
) -> Result<T> {
    let ahead = input.fork();
    if let Ok(token) = ahead.parse() {
        syn::parse::discouraged::Speculative::advance_to(input, &ahead);
        return Ok(token);
    }
    Err(match before {
        Some(before) if input.is_empty() => Error::new_spanned(before, message()),
        _ => input.error(message()),
    })
}

/// Functions with the names of inputs, for the block around the emitted items, and a statement that uses the functions.
/// In a parameter's pattern, constants and statics in scope take precedence. A function hides them, and the parameter
/// hides the function.
pub(crate) fn hiding(inputs: &[Input]) -> [TokenStream; 2] {
    let names: Vec<&Ident> = inputs.iter().map(|input| &input.name).collect();
    [quote!(#(fn #names() {})*), quote!(let _ = (#(#names,)*);)]
}

/// The static of a map, with all other emitted items in its initialiser.
fn emit(krate: &TokenStream, map: &Closure) -> TokenStream {
    let Closure { attrs, vis, word, name, inputs, output, body } = map;
    let ([value, params @ ..], Some(output)) = (inputs.as_slice(), output) else {
        return TokenStream::new();
    };
    let (value_mut, value_name, value_ty) = (&value.mutable, &value.name, &value.ty);
    let (param_muts, param_names): (Vec<_>, Vec<_>) = params.iter().map(|param| (param.mutable, &param.name)).unzip();
    let param_tys: Vec<&Type> = params.iter().map(|param| &param.ty).collect();
    let texts: Vec<String> = param_names.iter().map(|name| name.unraw().to_string()).collect();
    let doc = attrs.iter().any(|attr| attr.path().is_ident("doc")).then(|| {
        let params: Vec<String> =
            params.iter().map(|param| format!("`{}: {}`", param.name.unraw(), readable(&param.ty))).collect();
        let params = match params.as_slice() {
            [] => "without parameters".to_owned(),
            [one] => format!("with the parameter {one}"),
            [all @ .., last] => format!("with the parameters {} and {last}", all.join(", ")),
        };
        let text = format!(" Reads `{}` and writes `{}`, {params}.", readable(value_ty), readable(output));
        quote!(#[doc = ""] #[doc = #text])
    });
    // A type that cannot be a parameter is reported at the parameters.
    let span = param_tys.first().map_or_else(Span::call_site, |ty| ty.span());
    let params = quote_spanned!(span=> (#(#param_tys,)*));
    let (text, private) = (name.unraw().to_string(), name::private(krate));
    let conversion = format_ident!("__Conversion{}", name, span = Span::mixed_site());
    let [functions, used] = hiding(inputs);
    quote! {
        #(#attrs)*
        #doc
        #vis #word #name: #krate::Map<#value_ty, #output, #params> = {
            #functions
            #[allow(non_camel_case_types)]
            enum #conversion {}
            impl #private::Convert for #conversion {
                type In = #value_ty;
                type Out = #output;
                type Params = #params;
                const NAME: &'static #private::core::primitive::str = #text;
                const PARAMS: &'static [&'static #private::core::primitive::str] = &[#(#texts),*];
                #[inline(always)]
                fn convert(
                    #value_mut #value_name: #value_ty,
                    (#(#param_muts #param_names,)*): Self::Params,
                ) -> #output #body
            }
            #used
            #krate::Map::new::<#conversion>()
        };
    }
}
