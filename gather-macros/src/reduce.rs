//! `reduce_kernels!`: statics whose values are closures of two inputs become reductions.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Type;
use syn::ext::IdentExt;

use crate::ctxt::Ctxt;
use crate::map::{Closure, Form, expand_as, hiding};
use crate::name::{self, readable};

const REDUCTION: Form = Form {
    what: "reduction",
    example: "pub static MAX_ABS = |kept: f32, new: f32| -> f32 { if new.abs() > kept.abs() { new } else { kept } };",
    named: "MAX_ABS",
    closure: "|kept: f32, new: f32| -> f32 { .. }",
    no_input: "name what is kept and what is new, such as `|kept: f32, new: f32|`",
    most: None,
    values: "a reduction takes and gives values, such as `f32`",
    rows: false,
};

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    expand_as(&REDUCTION, input, emit)
}

/// The static of a reduction, with all other emitted items in its initialiser.
fn emit(cx: &mut Ctxt, krate: &TokenStream, reduction: &Closure) -> TokenStream {
    let Closure { attrs, vis, word, name, inputs, output, body } = reduction;
    let ([kept, new], Some(output)) = (inputs.as_slice(), output) else {
        let found = inputs.len();
        let what = "a reduction has two: what is kept, and what is new";
        let at = inputs.get(2).map_or(name, |third| &third.name);
        cx.error_on(at, format!("`{name}` has {found} input{}; {what}", if found == 1 { "" } else { "s" }));
        return TokenStream::new();
    };
    let ty = &kept.ty;
    for other in [&new.ty, output] {
        if is_number(ty) && is_number(other) && readable(other) != readable(ty) {
            let (ty, found) = (readable(ty), readable(other));
            cx.error_on(
                other,
                format!("`{name}` reduces `{ty}`: both inputs and the result have this type, not `{found}`"),
            );
            return TokenStream::new();
        }
    }
    let doc = attrs.iter().any(|attr| attr.path().is_ident("doc")).then(|| {
        let text = format!(" Reduces `{}`.", readable(ty));
        quote!(#[doc = ""] #[doc = #text])
    });
    let (kept_mut, kept_name, new_mut, new_name) = (&kept.mutable, &kept.name, &new.mutable, &new.name);
    // A type can be written in several ways, so the compiler compares types that are not numbers.
    let new_ty = &new.ty;
    let (text, private) = (name.unraw().to_string(), name::private(krate));
    let combination = format_ident!("__Reduction{}", name, span = Span::mixed_site());
    let [functions, used] = hiding(inputs);
    quote! {
        #(#attrs)*
        #doc
        #vis #word #name: #krate::Reducer<#ty> = {
            #functions
            #[allow(non_camel_case_types)]
            enum #combination {}
            impl #private::Combine for #combination {
                type Item = #ty;
                const NAME: &'static #private::core::primitive::str = #text;
                #[inline(always)]
                fn combine(#kept_mut #kept_name: #ty, #new_mut #new_name: #new_ty) -> #output #body
            }
            #used
            #krate::Reducer::new::<#combination>()
        };
    }
}

/// Whether a type is a number type known by name.
fn is_number(ty: &Type) -> bool {
    let text = ty.to_token_stream().to_string();
    text != "bool" && name::primitive_bytes(&text).is_some()
}
