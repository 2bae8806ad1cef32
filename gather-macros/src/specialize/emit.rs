//! Emission: from a checked declaration to a function on slices, and one on arrays if every size is known.
//!
//! Emitted code holds only the declaration, as a constant of a type inside the function. The loops are functions of
//! gather-core, generic over this type.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Ident, Type};

use crate::attrs;
use crate::emit::at;
use crate::name::{self, readable};
use crate::specialize::check::Checked;
use crate::specialize::known::{Op, OutOfBounds};
use crate::specialize::parse::{Function, Number, Param, Tensor};
use crate::specialize::shapes::{self, OutputSize};

/// A declaration and the inputs of its functions.
pub(crate) struct Source<'a> {
    pub(crate) krate: &'a TokenStream,
    pub(crate) function: &'a Function,
    pub(crate) checked: &'a Checked,
}

pub(crate) fn functions(source: &Source<'_>) -> TokenStream {
    let output = shapes::output(source.checked);
    let (slices, arrays) = (source.on_slices(&output), source.on_arrays(&output));
    quote!(#slices #arrays)
}

impl Source<'_> {
    /// The conditions of the declaration, for every item that names its function.
    pub(super) fn conditions(&self) -> TokenStream {
        attrs::conditions(&self.function.attrs)
    }

    fn output_type(&self) -> &Type {
        self.checked.output.as_ref().unwrap_or(&self.checked.data.ty)
    }

    /// Whether indices can be refused.
    fn refuses_indices(&self) -> bool {
        self.checked.op.has_indices() && self.checked.attributes.out_of_bounds == OutOfBounds::Error
    }

    fn params(&self) -> &[Param] {
        &self.checked.attributes.params
    }

    pub(super) fn tensors(&self) -> impl Iterator<Item = (&'static str, &Tensor)> {
        let Checked { data, indices, .. } = self.checked;
        [("data", data)].into_iter().chain(indices.as_ref().map(|indices| ("indices", indices)))
    }

    /// The arguments for open sizes: all but the first of each tensor.
    pub(super) fn arguments(&self) -> Vec<Ident> {
        let mut arguments = Vec::new();
        for (name, tensor) in self.tensors() {
            let open = tensor.sizes.iter().enumerate().filter(|(_, size)| matches!(size, Number::Any(_)));
            arguments.extend(open.skip(1).map(|(dim, _)| format_ident!("{name}_dim_{dim}")));
        }
        arguments
    }

    /// The type `__Declaration`. If it has constants, they are checked when the function is compiled, not at its first
    /// call.
    fn checked_declaration(&self) -> TokenStream {
        let (declaration, private) = (self.declaration(), name::private(self.krate));
        let Checked { attributes, .. } = self.checked;
        let numbers = self.tensors().flat_map(|(_, tensor)| &tensor.sizes);
        let mut numbers = numbers.chain(&attributes.block).chain(&attributes.begin).chain(&attributes.end);
        let check = numbers
            .any(|number| matches!(number, Number::Constant(_)))
            .then(|| quote!(const _: #private::Declared = <__Declaration as #private::Declaration>::DECLARED;));
        quote!(#declaration #check)
    }

    /// The type `__Declaration` with its impl of `Declaration`.
    pub(super) fn declaration(&self) -> TokenStream {
        let private = name::private(self.krate);
        let Checked { op, data, indices, attributes, .. } = self.checked;
        let constructor = format_ident!("{}", op.name());
        let (data, indices) = (sizes(&private, &data.sizes), indices.as_ref().map(|i| sizes(&private, &i.sizes)));
        let (axis, batch_dims) = (number(attributes.axis), number(attributes.batch_dims));
        let arguments = match op {
            Op::Gather => quote!(#data, #indices, #axis, #batch_dims),
            Op::GatherElements => quote!(#data, #indices, #axis),
            Op::GatherNd => quote!(#data, #indices, #batch_dims),
            Op::BatchToSpace => {
                let [block, begin, end] =
                    [&attributes.block, &attributes.begin, &attributes.end].map(|list| entries(list));
                quote!(#data, #block, #begin, #end)
            }
        };
        // The compiler reports errors of constants at the operator.
        let (place, moved) = (self.function.op.span(), at(self.function.op.span(), &private));
        let constructor = quote_spanned!(place=> #moved::Declared::#constructor(#arguments));
        let out_of_bounds = (attributes.out_of_bounds != OutOfBounds::Error).then(|| {
            let variant = format_ident!("{}", attributes.out_of_bounds.variant());
            quote!(.out_of_bounds(#private::OutOfBounds::#variant))
        });
        let rejects = attributes.rejects.then(|| quote!(.negative_index(#private::NegativeIndex::Reject)));
        let equal = attributes.preset.equal.then(|| quote!(.equal()));
        quote! {
            enum __Declaration {}
            impl #private::Declaration for __Declaration {
                const DECLARED: #private::Declared = #constructor #out_of_bounds #rejects #equal;
            }
        }
    }

    /// The call of gather-core's function on slices.
    fn call(&self, arguments: &[Ident], [on_data, on_indices, out]: [TokenStream; 3]) -> TokenStream {
        let private = name::private(self.krate);
        let Checked { op, data, indices, attributes, .. } = self.checked;
        let (data_ty, count) = (&data.ty, number(arguments.len()));
        match (op, indices.as_ref().map(|indices| &indices.ty), &attributes.map) {
            (Op::BatchToSpace, _, _) | (_, None, _) => {
                quote!(#private::batch_to_space::<__Declaration, #data_ty, #count>(#on_data, [#(#arguments),*], #out))
            }
            (_, Some(index_ty), None) => quote! {
                #private::gather::<__Declaration, #data_ty, #index_ty, #count>(
                    #on_data, #on_indices, [#(#arguments),*], #out,
                )
            },
            (_, Some(index_ty), Some(map)) => {
                let (names, types): (Vec<_>, Vec<_>) =
                    self.params().iter().map(|Param { name, ty }| (name, ty)).unzip();
                let out_ty = self.output_type();
                quote! {
                    #private::gather_map::<__Declaration, #data_ty, #out_ty, (#(#types,)*), #index_ty, #count>(
                        &#map, #on_data, #on_indices, (#(#names,)*), [#(#arguments),*], #out,
                    )
                }
            }
        }
    }

    /// Whether every size is known, so that there is a function on arrays.
    fn has_arrays(&self) -> bool {
        self.tensors().all(|(_, tensor)| tensor.sizes.iter().all(|size| !matches!(size, Number::Any(_))))
    }

    fn on_slices(&self, output: &[OutputSize]) -> TokenStream {
        let (krate, private) = (self.krate, name::private(self.krate));
        let Function { attrs, vis, name, generics, .. } = self.function;
        let (params, bounds) = (&generics.params, &generics.where_clause);
        let params = (!params.is_empty()).then(|| quote!(<#params>));
        let (declaration, arguments) = (self.checked_declaration(), self.arguments());
        let Checked { op, data, indices, .. } = self.checked;
        let (data_ty, out_ty) = (&data.ty, self.output_type());
        let inputs = match (op, indices.as_ref().map(|indices| &indices.ty)) {
            (Op::BatchToSpace, _) | (_, None) => quote!(),
            (_, Some(index_ty)) => {
                let params = self.params().iter().map(|Param { name, ty }| quote!(#name: #krate::Given<'_, #ty>,));
                quote!(indices: &[#index_ty], #(#params)*)
            }
        };
        let call = self.call(&arguments, [quote!(data), quote!(indices), quote!(out)]);
        let doc = self.doc(attrs, output, &arguments);
        quote! {
            #(#attrs)*
            #doc
            #[inline]
            #vis fn #name #params (
                data: &[#data_ty],
                #inputs
                #(#arguments: #private::usize,)*
                out: &mut [#out_ty],
            ) -> #private::core::result::Result<(), #krate::Error>
            #bounds
            {
                #declaration
                #call
            }
        }
    }

    /// The function on arrays; `None` unless every size is known.
    fn on_arrays(&self, output: &[OutputSize]) -> Option<TokenStream> {
        if !self.has_arrays() {
            return None;
        }
        let (krate, private) = (self.krate, name::private(self.krate));
        let Function { vis, name, generics, .. } = self.function;
        let (type_params, bounds) = (&generics.params, &generics.where_clause);
        let type_params = (!type_params.is_empty()).then(|| quote!(<#type_params>));
        let out_ty = self.output_type();
        let out_sizes = || output.iter().map(|size| size.tokens.clone());
        let zeros = nested(quote!(<#out_ty as #krate::Element>::ZERO), out_sizes());
        let result_ty = nested(out_ty.to_token_stream(), out_sizes());
        let inputs = self.tensors().map(|(name, tensor)| {
            let sizes = tensor.sizes.iter().map(|size| OutputSize::of(size).tokens);
            let (name, ty) = (format_ident!("{name}"), nested(tensor.ty.to_token_stream(), sizes));
            quote!(#name: &#ty)
        });
        let mut slices = self.tensors().map(|(name, tensor)| flat(&private, name, tensor.sizes.len(), false));
        let (on_data, on_indices) = (slices.next().unwrap_or_default(), slices.next().unwrap_or_default());
        // A variable cannot hide a constant in scope. A function in the body hides the constant, and a variable hides
        // the function. The function on slices is not called: its path differs if both functions belong to a type.
        let out = flat(&private, "__out", output.len(), true);
        let (declaration, call) = (self.declaration(), self.call(&[], [on_data, on_indices, out]));
        let errors = self.array_errors();
        let (result_ty, run) = if errors.is_some() {
            let run = quote!(#call?; #private::core::result::Result::Ok(__out));
            (quote!(#private::core::result::Result<#result_ty, #krate::Error>), run)
        } else {
            (result_ty, quote!(#call.unwrap_or_else(|__error| #private::cannot_fail(__error)); __out))
        };
        let arrays = format_ident!("{name}_array");
        let conditions = self.conditions();
        let left = match (self.checked.op.has_indices(), self.params().is_empty()) {
            (false, _) => "",
            (true, true) => " Nothing but the indices is left to be checked.",
            (true, false) => " Nothing but parameters and indices is left to be checked.",
        };
        let doc = format!(" As `{}`, on arrays.{left}", name.unraw());
        let errors = errors.map(|errors| {
            quote! {
                ///
                /// # Errors
                #[doc = #errors]
            }
        });
        let params = self.params().iter().map(|Param { name, ty }| quote!(#name: #krate::Given<'_, #ty>));
        let inputs = inputs.chain(params);
        Some(quote! {
            #conditions
            #[doc = #doc]
            #errors
            #[allow(dead_code)]
            #[inline]
            #vis fn #arrays #type_params (#(#inputs),*) -> #result_ty #bounds {
                #[allow(dead_code)]
                fn __out() {}
                #[allow(dead_code)]
                fn __error() {}
                #declaration
                let mut __out = #zeros;
                #run
            }
        })
    }

    /// The causes of errors of the function on arrays; `None` if it cannot fail.
    fn array_errors(&self) -> Option<&'static str> {
        match (self.params().is_empty(), self.refuses_indices()) {
            (true, false) => None,
            (true, true) => Some(" For the first index in row-major order that is out of range."),
            (false, false) => Some(" For parameters of other lengths."),
            (false, true) => Some(
                " For parameters of other lengths, then for the first index in row-major order that is out of range.",
            ),
        }
    }

    /// The emitted documentation of the function, which follows its author's.
    fn doc(&self, attrs: &[Attribute], output: &[OutputSize], arguments: &[Ident]) -> TokenStream {
        let mut text = Vec::new();
        if attrs.iter().any(|attr| attr.path().is_ident("doc")) {
            text.push(String::new());
        }
        let tensors: Vec<String> =
            self.tensors().map(|(name, tensor)| format!("{name} `{}`", shape_text(tensor))).collect();
        let output = format!("`{}`", typed(self.output_type(), output.iter().map(|size| size.text.clone())));
        let op = self.checked.op.name();
        text.push(format!(" `{op}` of {} into {output}, all row-major.", tensors.join(" by ")));
        text.extend(self.policy_doc().map(String::from));
        if !arguments.is_empty() {
            let names: Vec<String> = arguments.iter().map(|name| format!("`{name}`")).collect();
            let names = names.join(", ");
            text.push(format!(" The first open size of a tensor follows from its length; others are given: {names}."));
        }
        if let Some(map) = &self.checked.attributes.map {
            let names: Vec<String> = self.params().iter().map(|param| format!("`{}`", param.name)).collect();
            let by = if names.is_empty() { String::new() } else { format!(" with {}", names.join(", ")) };
            text.push(format!(" Each element is converted by `{}`{by}.", readable(map)));
        }
        text.push(String::new());
        text.push(" # Errors".into());
        let params = if self.params().is_empty() { "" } else { ", then for parameters of other lengths" };
        let indices = if self.refuses_indices() { ", then for the first index that is out of range" } else { "" };
        text.push(format!(" For slices of other lengths{params}{indices}."));
        quote!(#(#[doc = #text])*)
    }
}

impl Source<'_> {
    /// The sentence about indices out of range; `None` if they are errors.
    fn policy_doc(&self) -> Option<&'static str> {
        match self.checked.attributes.out_of_bounds {
            OutOfBounds::Error => None,
            OutOfBounds::Zero => Some(" Indices out of range yield zeros."),
            OutOfBounds::Clamp => Some(" Indices out of range name the nearest element."),
            OutOfBounds::Wrap => Some(" Indices are taken modulo the size of their axis."),
        }
    }
}

/// A tensor roughly as written by its author.
pub(super) fn shape_text(tensor: &Tensor) -> String {
    typed(&tensor.ty, tensor.sizes.iter().map(|size| OutputSize::of(size).text))
}

fn typed(ty: &Type, sizes: impl Iterator<Item = String>) -> String {
    format!("{}[{}]", readable(ty).replace(" ;", ";"), sizes.collect::<Vec<_>>().join(", "))
}

/// A shape as a slice of sizes: `_` is `ANY` of gather-core, and its function `size` checks constants.
fn sizes(private: &TokenStream, sizes: &[Number]) -> TokenStream {
    let sizes = sizes.iter().map(|size| match size {
        Number::Any(_) => quote!(#private::ANY),
        Number::Literal(value, _) => literal(*value),
        Number::Constant(expr) => {
            let moved = at(expr.span(), private);
            quote_spanned!(expr.span()=> #moved::size(#expr))
        }
    });
    quote!(&[#(#sizes),*])
}

fn entries(list: &[Number]) -> TokenStream {
    let entries = list.iter().map(|entry| match entry {
        Number::Constant(expr) => expr.to_token_stream(),
        other => literal(other.value().unwrap_or_default()),
    });
    quote!(&[#(#entries),*])
}

fn literal(value: i128) -> TokenStream {
    proc_macro2::Literal::i128_unsuffixed(value).into_token_stream()
}

pub(super) fn number(value: usize) -> TokenStream {
    proc_macro2::Literal::usize_unsuffixed(value).into_token_stream()
}

/// `[[inner; last]; first]`
fn nested(inner: TokenStream, sizes: impl DoubleEndedIterator<Item = TokenStream>) -> TokenStream {
    sizes.rev().fold(inner, |inner, size| quote!([#inner; #size]))
}

/// An expression for the elements of the array `name`, of a rank, as a slice.
fn flat(private: &TokenStream, name: &str, rank: usize, mutable: bool) -> TokenStream {
    let name = format_ident!("{name}");
    let (flatten, one, borrow) = if mutable {
        (quote!(.as_flattened_mut()), quote!(#private::core::slice::from_mut(&mut #name)), quote!(&mut #name))
    } else {
        (quote!(.as_flattened()), quote!(#private::core::slice::from_ref(#name)), quote!(#name))
    };
    match rank {
        0 => one,
        1 => borrow,
        _ => {
            let steps = (1..rank).map(|_| flatten.clone());
            quote!(#name #(#steps)*)
        }
    }
}
