//! The table: what the dispatcher reads.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::emit::LEVELS;
use crate::emit::shim::{copy_kernels, index_kernels, unit_bytes};
use crate::grid::Grid;

/// The `KernelSet` of a grid.
pub(crate) fn table(name: &Ident, grid: &Grid) -> TokenStream {
    let name = name.to_string();
    let elements = grid.elements.iter().map(|element| {
        let (attrs, ty, unit) = (&element.attrs, &element.ty, Literal::usize_unsuffixed(element.unit));
        quote!(#attrs __g::ElementRow { dtype: <#ty as __g::Element>::DTYPE, unit: #unit })
    });
    let indices = grid.indices.iter().map(|index| {
        let (variant, [word64, word32]) =
            (format_ident!("{}", index.variant), index.word.map(Literal::usize_unsuffixed));
        let words = if index.word[0] == index.word[1] {
            quote!(word: #word64)
        } else {
            quote! {
                #[cfg(target_pointer_width = "64")]
                word: #word64,
                #[cfg(not(target_pointer_width = "64"))]
                word: #word32,
            }
        };
        quote!(__g::IndexRow { index: __g::IndexType::#variant, #words })
    });
    let (ranks, words) = (grid.ranks.iter().copied().map(Literal::u8_unsuffixed), &grid.words);
    let copy_op = grid.batch_to_space.then_some("BatchToSpace");
    let ops = grid.index_ops.iter().copied().chain(copy_op).map(|op| {
        let op = format_ident!("{op}");
        quote!(__g::Op::#op)
    });
    let units = grid.units.iter().map(|unit| {
        let (name, bytes) = (&unit.name, unit_bytes(grid, unit));
        quote!(__g::UnitRow { name: #name, bytes: #bytes })
    });
    let levels = LEVELS.iter().map(|(level, ty)| {
        let variant = format_ident!("{ty}");
        let cfg = if *level == "avx2" { quote!(#[cfg(target_arch = "x86_64")]) } else { quote!() };
        let index = index_kernels(grid, level, ty).into_iter().map(|kernel| {
            let (name, text) = (&kernel.name, kernel.name.to_string());
            quote!(__g::IndexEntry { name: #text, run: #name })
        });
        let copy = copy_kernels(grid, level, ty).into_iter().map(|kernel| {
            let (name, text) = (&kernel.name, kernel.name.to_string());
            quote!(__g::CopyEntry { name: #text, run: #name })
        });
        quote! {
            #cfg
            __g::LevelTable {
                level: __g::Level::#variant,
                index: &[#(#index),*],
                copy: &[#(#copy),*],
            }
        }
    });
    quote! {
        __g::KernelSet::new(__g::Tables {
            name: #name,
            elements: &[#(#elements),*],
            indices: &[#(#indices),*],
            ranks: &[#(#ranks),*],
            ops: &[#(#ops),*],
            units: &[#(#units),*],
            words: &[#(#words),*],
            levels: &[#(#levels),*],
        })
    }
}
