//! The table: what the dispatcher reads.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::emit::Source;
use crate::emit::kernel_fn::{index_kernels, scatter_kernels, space_kernels, width_bytes};
use crate::name;

/// The `KernelSet` of a grid.
pub(crate) fn table(name: &Ident, source: Source<'_>) -> TokenStream {
    let Source { grid, private } = source;
    let name = name.to_string();
    let elements = grid.elements.iter().map(|element| {
        let (attrs, ty, width) = (&element.attrs, &element.ty, Literal::usize_unsuffixed(element.width));
        quote!(#attrs #private::ElementRow { dtype: <#ty as #private::Element>::DTYPE, width: #width })
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
    let (ranks, reprs) = (grid.ranks.iter().copied().map(Literal::u8_unsuffixed), &grid.reprs);
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
        let index = index_kernels(source, level).into_iter().map(|kernel| {
            let (name, text, types) = (&kernel.name, kernel.name.to_string(), &kernel.types);
            quote!(#private::IndexEntry::new::<#types>(#text, #name))
        });
        let scatter = scatter_kernels(source, level).into_iter().map(|kernel| {
            let (name, text) = (&kernel.name, kernel.name.to_string());
            quote!(#private::ScatterEntry { name: #text, run: #name })
        });
        let space = space_kernels(source, level).into_iter().map(|kernel| {
            let (name, text) = (&kernel.name, kernel.name.to_string());
            quote!(#private::SpaceEntry { name: #text, run: #name })
        });
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
        /// SAFETY: each kernel runs what its place says, as `KernelSet::new` asks for. The functions above and the
        /// entries here are emitted from one list, in one order.
        const __TABLES: #private::Tables = #private::Tables {
            name: #name,
            elements: &[#(#elements),*],
            indices: &[#(#indices),*],
            ranks: &[#(#ranks),*],
            ops: &[#(#ops),*],
            widths: &[#(#widths),*],
            reprs: &[#(#reprs),*],
            levels: &[#(#levels),*],
        };
        unsafe { #private::KernelSet::new(__TABLES) }
    }
}
