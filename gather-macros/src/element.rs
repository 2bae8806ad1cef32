//! `#[derive(Element)]`: proves that a type is plain bytes, at compile time.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Expr, Field, Fields, Generics, Path, Token, Type};

use crate::ctxt::Ctxt;
use crate::name;

/// Gaps that the padding message gives in bytes: alignments go up to 16 for what can be an element.
const GAPS: usize = 16;

/// Implements `Element`, or says what stands against it.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let mut cx = Ctxt::default();
    let options = Options::parse(&mut cx, &input);
    let reprs = reprs(&mut cx, &input);
    let body = match &input.data {
        Data::Struct(data) => structure(&mut cx, &input, &options, &reprs, &data.fields),
        Data::Enum(_) => enumeration(&mut cx, &input, &options, &reprs),
        Data::Union(_) => {
            cx.error_on(&input.ident, "a union cannot be an element: its bytes may be uninitialised");
            None
        }
    };
    cx.finish(body.unwrap_or_default()).unwrap_or_else(|errors| errors)
}

/// `#[element(zero = EXPR, crate = PATH)]`
struct Options {
    krate: TokenStream,
    zero: Option<Expr>,
}

impl Options {
    fn parse(cx: &mut Ctxt, input: &DeriveInput) -> Self {
        let mut options = Options { krate: quote!(::gather_core), zero: None };
        for attr in input.attrs.iter().filter(|attr| attr.path().is_ident("element")) {
            let result = attr.parse_nested_meta(|meta| {
                if meta.path.is_ident("zero") {
                    options.zero = Some(meta.value()?.parse()?);
                    Ok(())
                } else if meta.path.is_ident("crate") {
                    options.krate = meta.value()?.parse::<Path>()?.into_token_stream();
                    Ok(())
                } else {
                    let key = meta.path.to_token_stream().to_string();
                    let near = name::suggestion(&key, ["zero", "crate"]);
                    Err(meta.error(format!("unknown key `{key}`{near} (the keys are `zero` and `crate`)")))
                }
            });
            cx.take(result);
        }
        options
    }
}

/// The words in `#[repr(..)]`.
fn reprs(cx: &mut Ctxt, input: &DeriveInput) -> Vec<String> {
    let mut words = Vec::new();
    for attr in input.attrs.iter().filter(|attr| attr.path().is_ident("repr")) {
        let list = attr.parse_args_with(Punctuated::<syn::Meta, Token![,]>::parse_terminated);
        for meta in cx.take(list).into_iter().flatten() {
            words.push(meta.path().to_token_stream().to_string());
        }
    }
    words
}

fn structure(
    cx: &mut Ctxt,
    input: &DeriveInput,
    options: &Options,
    reprs: &[String],
    fields: &Fields,
) -> Option<TokenStream> {
    let has = |word: &str| reprs.iter().any(|repr| repr == word);
    if !(has("C") || has("transparent") || has("packed")) {
        cx.error_on(
            &input.ident,
            "an element needs a fixed layout; add `#[repr(C)]`, `#[repr(transparent)]` or `#[repr(C, packed)]`",
        );
    }
    if let Some(param) = input.generics.params.iter().next().filter(|_| !has("transparent")) {
        cx.error_on(
            param,
            "only a `#[repr(transparent)]` element can be generic: the padding of others depends on the parameters",
        );
    }
    if let Some(lifetime) = input.generics.lifetimes().next() {
        cx.error_on(lifetime, "an element cannot borrow; hold the data itself");
    }
    if fields.is_empty() {
        cx.error_on(&input.ident, "a type without bytes cannot be an element");
        return None;
    }
    for field in fields {
        if let Type::Reference(_) | Type::Ptr(_) = field.ty {
            cx.error_on(&field.ty, "references and pointers cannot be elements; hold the data itself");
        }
    }
    let krate = &options.krate;
    let zero = match &options.zero {
        Some(zero) => zero.to_token_stream(),
        None => {
            let values = fields.iter().zip(fields.members()).map(|(field, member)| {
                let ty = &field.ty;
                quote_spanned!(ty.span()=> #member: <#ty as #krate::Element>::ZERO)
            });
            quote!(Self { #(#values),* })
        }
    };
    let proof = if has("transparent") { TokenStream::new() } else { no_padding(krate, &input.ident, fields) };
    let item = implementation(krate, &input.ident, &input.generics, fields.iter(), &zero);
    Some(quote!(#item #proof))
}

/// Compile-time assertions that no byte lies between two fields, or behind the last.
fn no_padding(krate: &TokenStream, ident: &Ident, fields: &Fields) -> TokenStream {
    let core = quote!(#krate::private::core);
    let members: Vec<_> = fields.members().collect();
    let checks = fields.iter().zip(&members).enumerate().map(|(at, (field, member))| {
        let ty = &field.ty;
        let end = match members.get(at + 1) {
            Some(next) => quote!(#core::mem::offset_of!(#ident, #next)),
            None => quote!(#core::mem::size_of::<#ident>()),
        };
        let name = member.to_token_stream().to_string();
        let known = (1..GAPS).map(|gap| {
            let message = message(ident, &name, &gap.to_string());
            quote!(#gap => #core::panic!(#message),)
        });
        let unknown = message(ident, &name, "16 or more");
        quote_spanned! {ty.span()=>
            const _: () = match #end - #core::mem::offset_of!(#ident, #member) - #core::mem::size_of::<#ty>() {
                0 => {}
                #(#known)*
                _ => #core::panic!(#unknown),
            };
        }
    });
    checks.collect()
}

fn message(ident: &Ident, field: &str, bytes: &str) -> String {
    format!(
        "`{ident}` cannot be an element: {bytes} bytes of padding after field `{field}`; add a field that fills them"
    )
}

fn enumeration(cx: &mut Ctxt, input: &DeriveInput, options: &Options, reprs: &[String]) -> Option<TokenStream> {
    const FIXED: [&str; 8] = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"];
    let Data::Enum(data) = &input.data else {
        return None;
    };
    if !reprs.iter().any(|repr| FIXED.contains(&repr.as_str())) {
        cx.error_on(
            &input.ident,
            format!(
                "an enum needs a fixed representation to be an element; add `#[repr(u8)]` (or {})",
                FIXED[1..].join(", ")
            ),
        );
    }
    for variant in data.variants.iter().filter(|variant| !variant.fields.is_empty()) {
        cx.error_on(variant, "an enum with fields cannot be an element: its variants leave bytes uninitialised");
    }
    let Some(zero) = &options.zero else {
        let first = data.variants.first().map_or_else(|| "VARIANT".into(), |variant| variant.ident.to_string());
        cx.error_on(
            &input.ident,
            format!(
                "an enum has no zero of its own; say what `OutOfBounds::Zero` writes: `#[element(zero = {first})]`"
            ),
        );
        return None;
    };
    let variant = match zero {
        Expr::Path(path) => path.path.get_ident().filter(|ident| data.variants.iter().any(|v| v.ident == **ident)),
        _ => None,
    };
    let zero = variant.map_or_else(|| zero.to_token_stream(), |variant| quote!(Self::#variant));
    Some(implementation(&options.krate, &input.ident, &input.generics, [], &zero))
}

/// The impl. Every field's type is bound to be an element, so that one that is not is reported where it stands.
fn implementation<'a>(
    krate: &TokenStream,
    ident: &Ident,
    generics: &Generics,
    fields: impl IntoIterator<Item = &'a Field>,
    zero: &TokenStream,
) -> TokenStream {
    let mut generics = generics.clone();
    let is_generic = generics.type_params().next().is_some();
    let mut asserts = TokenStream::new();
    for (at, field) in fields.into_iter().enumerate() {
        let ty = &field.ty;
        if is_generic {
            generics.make_where_clause().predicates.push(syn::parse_quote!(#ty: #krate::Element));
        } else {
            let name = format_ident!("field_{at}_is_an_element");
            asserts.extend(quote_spanned! {ty.span()=>
                const _: () = {
                    const fn #name<T: #krate::Element>() {}
                    #name::<#ty>()
                };
            });
        }
    }
    let name = ident.to_string();
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    quote! {
        // The fields are elements and nothing lies between them, as asserted beside.
        #[automatically_derived]
        unsafe impl #impl_generics #krate::Element for #ident #ty_generics #where_clause {
            const DTYPE: #krate::DType = #krate::DType::of::<Self>(#name);
            const ZERO: Self = #zero;
        }
        #asserts
    }
}
