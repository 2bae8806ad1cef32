//! The table: what the dispatcher reads.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use crate::attrs;
use crate::emit::Source;
use crate::emit::kernels::{gathers, rearranges, scatters, width_bytes};
use crate::name;

/// The `KernelSet` of a grid.
pub(crate) fn table(name: &Ident, source: Source<'_>) -> TokenStream {
    let Source { grid, private } = source;
    let name = name.unraw().to_string();
    let elements = grid.elements.iter().map(|element| {
        let (conditions, name) = (attrs::conditions(&element.attrs), &element.name);
        let width = Literal::usize_unsuffixed(element.width);
        quote!(#conditions #private::ElementRow { dtype: #name, width: #width })
    });
    let indices = grid.indices.iter().map(|index| {
        let (variant, [repr64, repr32]) =
            (format_ident!("{}", index.variant), index.repr.map(Literal::usize_unsuffixed));
        let repr = if index.repr[0] == index.repr[1] {
            quote!(repr: #repr64)
        } else {
            quote! {
                #[cfg(target_pointer_width = "64")]
                repr: #repr64,
                #[cfg(not(target_pointer_width = "64"))]
                repr: #repr32,
            }
        };
        quote!(#private::IndexRow { index: #private::IndexType::#variant, #repr })
    });
    let ranks = grid.ranks.iter().copied().map(Literal::u8_unsuffixed);
    let reprs = grid.reprs.iter().map(|repr| {
        let variant = format_ident!("{}", name::index_variant(repr));
        quote!(#private::IndexType::#variant)
    });
    let ops = grid.index_ops.iter().chain(&grid.scatter_ops).chain(&grid.space_ops).map(|op| {
        let op = format_ident!("{op}");
        quote!(#private::Op::#op)
    });
    let widths = grid.widths.iter().map(|width| {
        let name = &width.name;
        let bytes = width_bytes(source, width).map_or_else(
            || quote!(#private::core::option::Option::None),
            |bytes| quote!(#private::core::option::Option::Some(#bytes)),
        );
        quote!(#private::WidthRow { name: #name, bytes: #bytes })
    });
    let levels = name::LEVELS.iter().map(|level| {
        let (variant, cfg) = (format_ident!("{}", level.variant), level.cfg());
        let (index, scatter, space) = (gathers(source, level), scatters(source, level), rearranges(source, level));
        quote! {
            #cfg
            #private::LevelTable {
                level: #private::Level::#variant,
                index: &[#(#index),*],
                scatter: &[#(#scatter),*],
                space: &[#(#space),*],
            }
        }
    });
    quote! {
        #private::KernelSet::new(#private::Lists {
            name: #name,
            elements: &[#(#elements),*],
            indices: &[#(#indices),*],
            ranks: &[#(#ranks),*],
            ops: &[#(#ops),*],
            widths: &[#(#widths),*],
            reprs: &[#(#reprs),*],
            levels: &[#(#levels),*],
        })
    }
}
