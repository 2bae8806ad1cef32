//! `#[derive(Element)]`: proves at compile time that a type is plain bytes.
//!
//! The derive sees tokens, and tokens prove nothing. A name may be an alias, a path may lead to a doctored copy of
//! gather-core, and an attribute below the derive may rewrite the type. So the tokens serve for good messages only.
//! The proof is a chain of method calls, emitted with the impl, in which the compiler infers the types:
//!
//! - `|Self { a: _, b: _ }: Self|` compiles only for a struct with exactly these fields;
//! - `numbers` takes a proof that the trait's `Number` is an element, checks that it is built in, and makes later
//!   fields consist of it;
//! - `field` takes `|value: Self| value.a` and a proof that its result is an element, and adds up the sizes;
//! - `phantom` takes `|value: Self| value.a`, whose result is a `PhantomData` of `core`, without bytes;
//! - `tag` takes `|value: Self| value as _` (compiles only for a fieldless enum). It compares the sizes, and reads the
//!   bytes of a value, `__SAMPLE`;
//! - `dtype` compares the sum with the size of the type, and returns the `DTYPE` that every impl must have;
//! - `holds_for` evaluates this `DTYPE`. So does a function (`number_of`) to which every `DType` made for the type
//!   points, so no program has a `DType` of the type without the proof.
//!
//! The chain begins at an item of the implemented trait. So the proof does not depend on the path to the trait. Nor
//! does it depend on other paths: the other types of gather-core enter the chain only through the signatures of
//! methods.
//!
//! Sizes do not show the padding of an enum: below the derive, `repr(u32)` may have become `repr(u8, align(4))`.
//! Constant evaluation shows it: reading an uninitialised byte of `__SAMPLE`, a literal variant, is an error.

use std::collections::HashSet;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Expr, Field, Fields, GenericParam, Member, Path, Token, Type, Variant};

use crate::check::is_empty_array;
use crate::ctxt::Ctxt;
use crate::name::{self, readable};

/// Implements `Element`, or reports the reasons against it.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let mut cx = Ctxt::default();
    let mut options = Options::parse(&mut cx, &input);
    options.has_zero |= misplaced(&mut cx, &input.data);
    let reprs = reprs(&input);
    let body = match &input.data {
        Data::Struct(data) => structure(&mut cx, &input, &options, &reprs, &data.fields),
        Data::Enum(_) => enumeration(&mut cx, &input, &options, &reprs),
        Data::Union(_) => {
            cx.error_on(&input.ident, "a union cannot be an element: its bytes may be uninitialised");
            TokenStream::new()
        }
    };
    let (errors, body) = match cx.finish(body) {
        Ok(body) => (TokenStream::new(), body),
        Err(errors) => (errors, stand_in(&input, &options)),
    };
    quote!(#errors #body)
}

/// `#[element(zero = EXPR, crate = PATH)]`
struct Options {
    krate: TokenStream,
    /// The built-in number type that values consist of.
    numbers: Option<Type>,
    zero: Option<Expr>,
    /// Whether `zero` is given: right, wrong, misspelt, or perhaps in a misplaced attribute.
    has_zero: bool,
}

impl Options {
    /// The path of the module that emitted code may name.
    fn private(&self) -> TokenStream {
        name::private(&self.krate)
    }

    fn element(&self) -> TokenStream {
        let private = self.private();
        quote!(#private::Element)
    }

    fn parse(cx: &mut Ctxt, input: &DeriveInput) -> Self {
        let mut options = Options { krate: quote!(::gather_core), numbers: None, zero: None, has_zero: false };
        let (mut has_crate, mut has_numbers) = (false, None);
        for attr in element_attrs(&input.attrs) {
            let result = attr.parse_nested_meta(|meta| {
                let key = meta.path.to_token_stream().to_string();
                match key.as_str() {
                    "zero" => {
                        if options.has_zero {
                            cx.error_on(&meta.path, "`zero` is given twice");
                        }
                        options.has_zero = true;
                        options.zero = option::<Expr>(cx, &meta, "a value, such as `zero = VARIANT`");
                    }
                    "numbers" => {
                        if has_numbers.is_some() {
                            cx.error_on(&meta.path, "`numbers` is given twice");
                        }
                        has_numbers = Some(meta.path.clone());
                        options.numbers = option::<Type>(cx, &meta, "a built-in type, such as `numbers = f32`");
                    }
                    "crate" => {
                        if has_crate {
                            cx.error_on(&meta.path, "`crate` is given twice");
                        }
                        has_crate = true;
                        let path =
                            option::<Imported>(cx, &meta, "the path of gather-core, such as `crate = ::gather_core`");
                        options.krate = path.map_or_else(|| quote!(::gather_core), |path| path.0.into_token_stream());
                    }
                    _ => {
                        let near = name::suggestion(&key, ["zero", "numbers", "crate"]);
                        let keys = "the keys are `zero`, `numbers` and `crate`";
                        cx.error_on(&meta.path, format!("unknown key `{key}`{near} ({keys})"));
                        options.has_zero |= near.contains("zero");
                        skip_value(&meta);
                    }
                }
                Ok(())
            });
            cx.take(result);
        }
        if let Some(path) = &has_numbers {
            if !matches!(input.data, Data::Struct(_)) {
                cx.error_on(path, "a struct alone is made of numbers");
            } else if options.has_zero {
                cx.error_on(path, "`numbers` and `zero` exclude each other: the zero is that of the numbers");
            }
        }
        options
    }
}

/// A path from which `use` can import: it has no generic arguments and no segment `Self`.
struct Imported(Path);

impl Parse for Imported {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let path = input.call(Path::parse_mod_style)?;
        match path.segments.iter().find(|segment| segment.ident == "Self") {
            Some(segment) => Err(syn::Error::new_spanned(segment, "`Self` is no crate")),
            None => Ok(Self(path)),
        }
    }
}

/// The value of a key; `None` after reporting that it is missing, or not of kind `what`.
fn option<T: Parse>(cx: &mut Ctxt, meta: &ParseNestedMeta<'_>, what: &str) -> Option<T> {
    let Ok(input) = meta.value() else {
        let key = meta.path.to_token_stream();
        cx.error_on(&meta.path, format!("`{key}` needs {what}"));
        skip_value(meta);
        return None;
    };
    let start = input.fork();
    let value = input.parse::<T>().map_err(|_| start.error(format!("expected {what}")));
    if value.is_err() {
        skip_value(meta);
    }
    cx.take(value)
}

/// Skips to the comma after a value.
fn skip_value(meta: &ParseNestedMeta<'_>) {
    while !meta.input.is_empty() && !meta.input.peek(Token![,]) {
        let _ = meta.input.parse::<proc_macro2::TokenTree>();
    }
}

fn element_attrs(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("element"))
}

/// Reports attributes on fields and variants; returns whether there are any.
fn misplaced(cx: &mut Ctxt, data: &Data) -> bool {
    let on_fields = |fields: &Fields| fields.iter().map(|field| (field.attrs.clone(), "field")).collect::<Vec<_>>();
    let places = match data {
        Data::Struct(data) => on_fields(&data.fields),
        Data::Union(data) => on_fields(&Fields::Named(data.fields.clone())),
        Data::Enum(data) => {
            let variants = data.variants.iter();
            let places = variants.map(|variant| [vec![(variant.attrs.clone(), "variant")], on_fields(&variant.fields)]);
            places.flatten().flatten().collect()
        }
    };
    let mut found = false;
    for (attrs, place) in &places {
        for attr in element_attrs(attrs) {
            cx.error_on(attr, format!("`#[element(..)]` belongs to the type, not to a {place}"));
            found = true;
        }
    }
    found
}

/// The words in `#[repr(..)]`. The compiler reports anything else in it.
fn reprs(input: &DeriveInput) -> Vec<String> {
    let lists = input.attrs.iter().filter(|attr| attr.path().is_ident("repr"));
    let parse = |attr: &Attribute| attr.parse_args_with(Punctuated::<syn::Meta, Token![,]>::parse_terminated).ok();
    lists.filter_map(parse).flatten().map(|meta| meta.path().to_token_stream().to_string()).collect()
}

fn structure(cx: &mut Ctxt, input: &DeriveInput, options: &Options, reprs: &[String], fields: &Fields) -> TokenStream {
    let has = |word: &str| reprs.iter().any(|repr| repr == word);
    if !(has("C") || has("transparent")) {
        cx.error_on(
            &input.ident,
            "an element needs a fixed layout; add `#[repr(C)]`, `#[repr(transparent)]` or `#[repr(C, packed)]`",
        );
    }
    let generic = |param: &&GenericParam| !matches!(param, GenericParam::Lifetime(_)) && !has("transparent");
    for param in input.generics.params.iter().filter(generic) {
        cx.error_on(
            param,
            "only a `#[repr(transparent)]` element can be generic: the padding of others depends on the parameters",
        );
    }
    for lifetime in input.generics.lifetimes() {
        cx.error_on(lifetime, "an element cannot borrow; hold the data itself");
    }
    if fields.iter().all(is_phantom) {
        cx.error_on(&input.ident, "a type without bytes cannot be an element");
    }
    for field in fields.iter().filter(|field| is_empty_array(&field.ty)) {
        let text = readable(&field.ty);
        cx.error_on(&field.ty, format!("`{text}` has no bytes, so it cannot be an element"));
    }
    for name in fields.iter().filter_map(|field| field.ident.as_ref()).filter(|&name| name == "_") {
        cx.error_on(name, "a field of an element has a name");
    }
    for field in fields.iter().filter(|field| is_pointer(field)) {
        cx.error_on(&field.ty, "references and pointers cannot be elements; hold the data itself");
    }
    let zero = options.zero.as_ref().map_or_else(|| zeros(options, fields), ToTokens::to_token_stream);
    implementation(input, options, fields.iter(), [&zero, &TokenStream::new()], &steps(options, fields))
}

/// The value with every field zero. For a field that is no element, its tokens cause the same error as the tokens in
/// [`steps`], so that the compiler shows the error once.
fn zeros(options: &Options, fields: &Fields) -> TokenStream {
    let (element, private) = (options.element(), options.private());
    let values = fields.iter().map(|field| {
        if is_phantom(field) {
            quote_spanned!(field.ty.span()=> #private::core::marker::PhantomData)
        } else {
            quote_spanned!(field.ty.span()=> <_ as #element>::ZERO)
        }
    });
    let members = fields.members();
    quote!(Self { #(#members: #values),* })
}

/// The steps of the proof, one per field.
fn steps(options: &Options, fields: &Fields) -> TokenStream {
    let (private, element, value) = (options.private(), options.element(), value());
    let numbers = options.numbers.as_ref().map(|ty| quote_spanned!(ty.span()=> .numbers(<_ as #element>::__PROOF)));
    let steps = fields.iter().zip(fields.members()).map(|(field, member)| {
        if is_phantom(field) {
            return quote_spanned!(field.ty.span()=> .phantom(|#value: Self| #value.#member));
        }
        let name = match &member {
            Member::Named(name) => name.unraw().to_string(),
            Member::Unnamed(at) => at.index.to_string(),
        };
        quote_spanned! {field.ty.span()=>
            .field(
                |#value: Self| #value.#member,
                <_ as #element>::__PROOF,
                #name,
                #private::offset_of!(Self, #member),
            )
        }
    });
    numbers.into_iter().chain(steps).collect()
}

/// Whether a field is written as a `PhantomData`. The proof accepts no other type for such a field.
fn is_phantom(field: &Field) -> bool {
    let mut ty = &field.ty;
    while let Type::Group(group) = ty {
        ty = &group.elem;
    }
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "PhantomData"))
}

/// The parameter of emitted closures. Its name is hygienic, but a parameter is a pattern, in which a constant in scope
/// takes precedence. So [`implementation`] declares a function of this name around the closures: the function hides
/// constants, and the parameter hides the function.
fn value() -> Ident {
    Ident::new("__value", Span::mixed_site())
}

/// Whether a field is a reference or a pointer, possibly inside an invisible group of another macro.
fn is_pointer(field: &Field) -> bool {
    let mut ty = &field.ty;
    while let Type::Group(group) = ty {
        ty = &group.elem;
    }
    matches!(ty, Type::Reference(_) | Type::Ptr(_))
}

fn enumeration(cx: &mut Ctxt, input: &DeriveInput, options: &Options, reprs: &[String]) -> TokenStream {
    const FIXED: [(&str, usize); 8] =
        [("u8", 1), ("u16", 2), ("u32", 4), ("u64", 8), ("i8", 1), ("i16", 2), ("i32", 4), ("i64", 8)];
    let Data::Enum(data) = &input.data else {
        return TokenStream::new();
    };
    let repr = FIXED.iter().find(|(fixed, _)| reprs.iter().any(|repr| repr == fixed));
    if repr.is_none() {
        cx.error_on(
            &input.ident,
            format!(
                "an enum needs a fixed representation to be an element; add `#[repr(u8)]` (or {})",
                FIXED.map(|(fixed, _)| fixed)[1..].join(", ")
            ),
        );
    }
    for variant in data.variants.iter().filter(|variant| !variant.fields.is_empty()) {
        let (ident, fields) = (&variant.ident, &variant.fields);
        cx.error_on(
            quote!(#ident #fields),
            "an enum with fields cannot be an element: its variants leave bytes uninitialised",
        );
    }
    for param in &input.generics.params {
        cx.error_on(param, "an enum with parameters cannot be an element; write an enum for each of their values");
    }
    let first = data.variants.iter().find(|variant| variant.fields.is_empty());
    if !options.has_zero {
        let first = first.map_or_else(|| "VARIANT".into(), |variant| variant.ident.to_string());
        cx.error_on(
            &input.ident,
            format!(
                "an enum has no zero of its own; say what `OutOfBounds::Zero` writes: `#[element(zero = {first})]`"
            ),
        );
    }
    let variant = match &options.zero {
        Some(Expr::Path(path)) => {
            path.path.get_ident().filter(|ident| data.variants.iter().any(|v| v.ident == **ident))
        }
        _ => None,
    };
    let zero = variant.map_or_else(|| options.zero.to_token_stream(), |variant| quote!(Self::#variant));
    // In braces, so that the path names a variant and not a constant.
    let sample = first.map(|Variant { ident, .. }| quote!(const __SAMPLE: Self = Self::#ident {};));
    let bytes = Literal::usize_unsuffixed(repr.map_or(0, |(_, bytes)| *bytes));
    let (value, name) = (value(), input.ident.unraw().to_string());
    let step = quote_spanned!(input.ident.span()=> .tag(|#value: Self| #value as _, #bytes, #name));
    implementation(input, options, [], [&zero, &sample.into_token_stream()], &step)
}

/// The impl. Its `DTYPE` is the proof, which the compiler checks on evaluation. For a type that is not generic, an
/// emitted item evaluates `DTYPE`; for a generic type, each use with its arguments does.
fn implementation<'a>(
    input: &DeriveInput,
    options: &Options,
    bounded: impl IntoIterator<Item = &'a Field>,
    [zero, sample]: [&TokenStream; 2],
    steps: &TokenStream,
) -> TokenStream {
    let (ident, element, private) = (&input.ident, options.element(), options.private());
    let name = ident.unraw().to_string();
    // Begins at `u8`, not at the type itself: if the type is not `Copy`, the error would appear twice.
    let begin = quote_spanned!(ident.span()=> <#private::u8 as #element>::__PROOF);
    let mut generics = input.generics.clone();
    let mut used = TokenStream::new();
    if generics.params.is_empty() {
        used = quote_spanned!(ident.span()=> #[allow(deprecated)] const _: () = #begin.holds_for::<#ident>(););
    } else {
        // The bounds `Element` that are added to the parameters make the type `Copy`. With a `PhantomData`, a
        // parameter need not be an element: then bounds on the type itself replace the bounds `Element` on parameters.
        let (phantoms, bounded): (Vec<&Field>, Vec<&Field>) = bounded.into_iter().partition(|field| is_phantom(field));
        let params = input.generics.type_params().map(|param| param.ident.to_token_stream());
        let params = params.filter(|_| phantoms.is_empty());
        let mut seen = HashSet::new();
        let types = params.chain(bounded.into_iter().map(|field| field.ty.to_token_stream()));
        let types = types.filter(|ty| seen.insert(ty.to_string()));
        let bounds = types.map(|ty| -> syn::WherePredicate { syn::parse_quote!(#ty: #element) });
        let clause = generics.make_where_clause();
        clause.predicates.extend(bounds);
        if !phantoms.is_empty() {
            clause.predicates.push(may_be_an_element(input, &private));
        }
    }
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let own = || quote_spanned!(ident.span()=> Self);
    let number = options.numbers.as_ref().map_or_else(own, ToTokens::to_token_stream);
    let number = quote_spanned!(ident.span()=> type Number = #number;);
    let members = match &input.data {
        Data::Struct(data) => data.fields.members().collect(),
        Data::Enum(_) | Data::Union(_) => Vec::new(),
    };
    let all = (!members.is_empty()).then(|| quote!(let _ = |Self { #(#members: _),* }: Self| ();));
    let dtype = quote_spanned!(ident.span()=> #begin.begin::<Self>() #steps.dtype(#name));
    let value = value();
    quote! {
        // `DTYPE` proves that the fields are elements and that there is no padding.
        #[automatically_derived]
        #[allow(deprecated, unused_qualifications)]
        unsafe impl #impl_generics #element for #ident #ty_generics #where_clause {
            const DTYPE: #private::DType = {
                #[allow(dead_code)]
                fn #value() {}
                #all
                #dtype
            };
            #number
            const ZERO: Self = #zero;
            #sample
        }
        #used
    }
}

/// The bounds `Copy + Send + Sync + 'static` on the type itself, for types whose parameters' bounds do not imply them.
fn may_be_an_element(input: &DeriveInput, private: &TokenStream) -> syn::WherePredicate {
    let (ident, (_, ty_generics, _)) = (&input.ident, input.generics.split_for_impl());
    let marker = quote!(#private::core::marker);
    syn::parse_quote!(#ident #ty_generics: #marker::Copy + #marker::Send + #marker::Sync + 'static)
}

/// A placeholder impl next to errors, so that uses of the type cause no further errors. Empty for a type with
/// references, pointers or lifetimes: its impl would not compile.
fn stand_in(input: &DeriveInput, options: &Options) -> TokenStream {
    let (ident, element, private) = (&input.ident, options.element(), options.private());
    let pointer = match &input.data {
        Data::Struct(data) => data.fields.iter().any(is_pointer),
        Data::Enum(_) | Data::Union(_) => false,
    };
    if pointer || input.generics.lifetimes().next().is_some() {
        return TokenStream::new();
    }
    let mut generics = input.generics.clone();
    if !generics.params.is_empty() {
        generics.make_where_clause().predicates.push(may_be_an_element(input, &private));
    }
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        #[allow(deprecated, unused_qualifications)]
        unsafe impl #impl_generics #element for #ident #ty_generics #where_clause {
            const DTYPE: #private::DType = <#private::u8 as #element>::DTYPE;
            type Number = Self;
            const ZERO: Self = #private::core::panic!();
        }
    }
}
