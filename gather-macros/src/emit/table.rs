//! The table that the dispatcher reads.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use crate::attrs;
use crate::emit::Source;
use crate::emit::kernels::{gathers, rearranges, scatters, width_bytes};
use crate::grid::Size;
use crate::name;

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
    let rests = rests(source);
    let levels = name::LEVELS.iter().map(|level| {
        let (variant, cfg) = (format_ident!("{}", level.variant), level.cfg());
        let (index, scatter, space) = (gathers(source, level), scatters(source, level), rearranges(source, level));
        quote! {
            #cfg
            #private::LevelTable {
                level: #private::Level::#variant,
                index: &[#(#index),*],
                scatter: #private::scatter_rows!(#(#scatter),*),
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
            rests: #rests,
        })
    }
}

/// The fallback sets, for rows of other lengths and for loop nests of other ranks.
fn rests(source: Source<'_>) -> TokenStream {
    let Source { grid, private } = source;
    let has_width =
        |bytes: usize| grid.widths.iter().any(|width| matches!(width.size, Size::Bytes(own) if own == bytes));
    let has_rows = grid.widths.iter().any(|width| matches!(width.size, Size::Any));
    if grid.ranks.contains(&0) && has_rows && [1, 2, 4, 8, 16].into_iter().all(has_width) {
        return quote!(#private::Rests::NONE);
    }
    let sizes = grid.elements.iter().map(|element| {
        let (conditions, name) = (attrs::conditions(&element.attrs), &element.name);
        quote!(#conditions #name.size())
    });
    let sizes = quote!(&[#(#sizes),*]);
    let (gathers, scatters) = (!grid.index_ops.is_empty(), !grid.scatter_ops.is_empty());
    let by_repr = grid.reprs.iter().map(|repr| {
        let repr = format_ident!("{repr}");
        quote!(#private::IndexRest::of::<#private::#repr>(#sizes, [#gathers, #scatters]))
    });
    let space = !grid.space_ops.is_empty();
    quote!(#private::Rests::of::<()>(&[#(#by_repr),*], #sizes, #space))
}
