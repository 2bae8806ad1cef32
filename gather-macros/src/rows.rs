//! `row_kernels!`: statics whose values are closures of a whole row become row functions.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Type, TypeGroup, TypeParen, TypeReference};

use crate::ctxt::Ctxt;
use crate::map::{Closure, Form, Input, borrows, expand_as, hiding};
use crate::name::{self, MAX_PARAMS, readable};

const ROWS: Form = Form {
    what: "row function",
    example: "pub static DOT = |row: &[f32], query: &[f32]| -> f32 { rows::lanes::dot(row, query) };",
    named: "DOT",
    closure: "|row: &[f32], query: &[f32]| -> f32 { .. }",
    no_input: "name the row that is read, such as `|row: &[f32]|`",
    most: None,
    values: "a row function takes values and slices, and gives values",
    rows: true,
};

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    expand_as(&ROWS, input, emit)
}

enum Kind<'a> {
    /// `&[T]`
    Slice(&'a Type),
    /// `&mut [T]`
    MutSlice(&'a Type),
    Value,
    /// Another reference, or one with a lifetime.
    Other,
}

/// A type without the parentheses and the invisible groups of other macros around it.
fn peeled(ty: &Type) -> &Type {
    match ty {
        Type::Group(TypeGroup { elem, .. }) | Type::Paren(TypeParen { elem, .. }) => peeled(elem),
        _ => ty,
    }
}

fn kind(ty: &Type) -> Kind<'_> {
    match peeled(ty) {
        Type::Reference(TypeReference { lifetime: None, mutability, elem, .. }) => match (peeled(elem), mutability) {
            (Type::Slice(slice), None) => Kind::Slice(&slice.elem),
            (Type::Slice(slice), Some(_)) => Kind::MutSlice(&slice.elem),
            _ => Kind::Other,
        },
        Type::Reference(_) | Type::Slice(_) => Kind::Other,
        _ => Kind::Value,
    }
}

/// The row, the output if it is a row too, and the parameters.
struct Signature<'a> {
    row: &'a Type,
    out: Option<(&'a Input, &'a Type)>,
    params: &'a [Input],
}

/// The signature of a row function; `None` after reporting every mistake in it.
fn signature<'a>(cx: &mut Ctxt, function: &'a Closure) -> Option<Signature<'a>> {
    let Closure { name, inputs, output, .. } = function;
    let (first, rest) = inputs.split_first()?;
    let mut good = true;
    let mut error = |at: &dyn ToTokens, message: String| {
        cx.error_on(at, message);
        good = false;
    };
    let row = if let Kind::Slice(row) = kind(&first.ty) {
        Some(row)
    } else {
        error(&first.ty, format!("`{name}` reads rows: its first input is a slice, such as `{}: &[f32]`", first.name));
        None
    };
    let (out, params) = match rest.split_first() {
        Some((out, params)) if let Kind::MutSlice(ty) = kind(&out.ty) => (Some((out, ty)), params),
        _ => (None, rest),
    };
    match (out, output) {
        (Some(_), Some(output)) => {
            error(output, format!("`{name}` writes its result to `out`; leave `-> {}` out", readable(output)));
        }
        (None, None) => {
            let result = "`-> f32` for a value, or `out: &mut [f32]` behind the row for a row";
            error(name, format!("`{name}` has no result; add {result}"));
        }
        (None, Some(output)) if !matches!(kind(output), Kind::Value) => {
            error(output, format!("the result of `{name}` is a value; for a row add `out: &mut [f32]` behind the row"));
        }
        _ => {}
    }
    if let Some(more) = params.get(MAX_PARAMS) {
        error(&more.name, format!("`{name}` has more than {MAX_PARAMS} parameters; make several one tuple or array"));
    }
    for param in params {
        let kind = match kind(&param.ty) {
            Kind::Slice(elem) if borrows(elem) => Kind::Other,
            Kind::Value if borrows(&param.ty) => Kind::Other,
            kind => kind,
        };
        match kind {
            Kind::MutSlice(_) => error(
                &param.ty,
                format!(
                    "`{}` cannot be written to: the one row of results stands behind the row that is read",
                    param.name
                ),
            ),
            Kind::Other => error(
                &param.ty,
                format!("`{}` is a value, such as `f32`, or a slice without a lifetime, such as `&[f32]`", param.name),
            ),
            Kind::Slice(_) | Kind::Value => {}
        }
    }
    let rows = [Some(first), out.map(|(out, _)| out)].into_iter().flatten();
    let values = params.iter().filter(|param| matches!(kind(&param.ty), Kind::Value));
    for input in rows.chain(values) {
        if let Some(attr) = &input.attr {
            error(attr, format!("`#[{attr}]` stands before a parameter that is a slice"));
        }
    }
    row.filter(|_| good).map(|row| Signature { row, out, params })
}

/// The static of a row function, with all other emitted items in its initialiser.
fn emit(cx: &mut Ctxt, krate: &TokenStream, function: &Closure) -> TokenStream {
    let Some(Signature { row, out, params }) = signature(cx, function) else {
        return TokenStream::new();
    };
    let Closure { attrs, vis, word, name, inputs, output, body } = function;
    let (text, private) = (name.unraw().to_string(), name::private(krate));
    let kinds = params.iter().map(|param| match kind(&param.ty) {
        Kind::Slice(ty) => {
            let kind = match &param.attr {
                None => "Slice",
                Some(attr) if attr == "any_len" => "AnySlice",
                Some(_) => "OptionalSlice",
            };
            let kind = format_ident!("{kind}");
            quote!(#krate::rows::#kind<#ty>)
        }
        _ => param.ty.to_token_stream(),
    });
    // A type that cannot be a parameter is reported at the parameters.
    let span = params.first().map_or_else(Span::call_site, |param| param.ty.span());
    let kinds = quote_spanned!(span=> (#(#kinds,)*));
    let names = params.iter().map(|param| {
        let (mutable, name) = (&param.mutable, &param.name);
        quote!(#mutable #name)
    });
    let texts = params.iter().map(|param| param.name.unraw().to_string());
    let (row_mut, row_name) = (&inputs[0].mutable, &inputs[0].name);
    let args = quote!((#(#names,)*): <Self::Params as #private::RowParams>::Args<'_>);
    let (doc_of, method, out_ty) = match (out, output) {
        (Some((out, ty)), _) => {
            let (out_mut, out_name) = (&out.mutable, &out.name);
            let method = quote! {
                fn write(#row_mut #row_name: &[#row], #out_mut #out_name: &mut [#ty], #args) #body
            };
            ("a row", method, ty)
        }
        (None, Some(ty)) => ("a value", quote!(fn value(#row_mut #row_name: &[#row], #args) -> #ty #body), ty),
        (None, None) => return TokenStream::new(),
    };
    let doc = attrs.iter().any(|attr| attr.path().is_ident("doc")).then(|| {
        let (row, out) = (readable(row), readable(out_ty));
        let text = format!(" Reads a row of `{row}`, and gives {doc_of} of `{out}`{}.", listed(params));
        quote!(#[doc = ""] #[doc = #text])
    });
    let one = out.is_none();
    let function = format_ident!("__Row{}", name, span = Span::mixed_site());
    let [functions, used] = hiding(inputs);
    quote! {
        #(#attrs)*
        #doc
        #vis #word #name: #krate::RowFunction<#row, #out_ty, #kinds> = {
            #functions
            #[allow(non_camel_case_types)]
            enum #function {}
            impl #private::Rowwise for #function {
                type In = #row;
                type Out = #out_ty;
                type Params = #kinds;
                const NAME: &'static #private::core::primitive::str = #text;
                const PARAMS: &'static [&'static #private::core::primitive::str] = &[#(#texts),*];
                const ONE: #private::core::primitive::bool = #one;
                #[inline(always)]
                #method
            }
            #used
            #krate::RowFunction::new::<#function>()
        };
    }
}

/// The parameters, for the documentation.
fn listed(params: &[Input]) -> String {
    let params: Vec<String> =
        params.iter().map(|param| format!("`{}: {}`", param.name.unraw(), readable(&param.ty))).collect();
    match params.as_slice() {
        [] => String::new(),
        [one] => format!(", with the parameter {one}"),
        [all @ .., last] => format!(", with the parameters {} and {last}", all.join(", ")),
    }
}
