//! The table: what the dispatcher reads.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::emit::LEVELS;
use crate::emit::shim::{copy_kernels, index_kernels, unit_bytes};
use crate::grid::Grid;
use crate::parse::Call;

/// The `KernelSet` of a grid.
pub(crate) fn table(call: &Call, grid: &Grid) -> TokenStream {
    let krate = &call.krate;
    let name = call.name.to_string();
    let elements = grid.elements.iter().map(|element| {
        let (attrs, ty, unit) = (&element.attrs, &element.ty, element.unit);
        quote!(#attrs #krate::private::ElementRow { dtype: <#ty as #krate::private::Element>::DTYPE, unit: #unit })
    });
    let indices = grid.indices.iter().map(|index| {
        let (variant, [word64, word32]) = (format_ident!("{}", index.variant), index.word);
        let word = if word64 == word32 {
            quote!(#word64)
        } else {
            quote!(if #krate::private::core::cfg!(target_pointer_width = "64") { #word64 } else { #word32 })
        };
        quote!(#krate::private::IndexRow { index: #krate::private::IndexType::#variant, word: #word })
    });
    let (ranks, words) = (&grid.ranks, &grid.words);
    let copy_op = grid.batch_to_space.then_some("BatchToSpace");
    let ops = grid.index_ops.iter().map(|(_, op)| *op).chain(copy_op).map(|op| {
        let op = format_ident!("{op}");
        quote!(#krate::private::Op::#op)
    });
    let units = grid.units.iter().map(|unit| {
        let (name, bytes) = (&unit.name, unit_bytes(krate, grid, unit));
        quote!(#krate::private::UnitRow { name: #name, bytes: #bytes })
    });
    let levels = LEVELS.iter().map(|(level, ty)| {
        let variant = format_ident!("{ty}");
        let cfg = if *level == "avx2" { quote!(#[cfg(target_arch = "x86_64")]) } else { quote!() };
        let index = index_kernels(krate, grid, level, ty).into_iter().map(|kernel| {
            let (name, text) = (&kernel.name, kernel.name.to_string());
            quote!(#krate::private::IndexEntry { name: #text, run: #name })
        });
        let copy = copy_kernels(krate, grid, level, ty).into_iter().map(|kernel| {
            let (name, text) = (&kernel.name, kernel.name.to_string());
            quote!(#krate::private::CopyEntry { name: #text, run: #name })
        });
        quote! {
            #cfg
            #krate::private::LevelTable {
                level: #krate::private::Level::#variant,
                index: &[#(#index),*],
                copy: &[#(#copy),*],
            }
        }
    });
    quote! {
        #krate::KernelSet::new(#krate::private::Tables {
            name: #name,
            elements: &[#(#elements),*],
            indices: const { &[#(#indices),*] },
            ranks: &[#(#ranks),*],
            ops: &[#(#ops),*],
            units: &[#(#units),*],
            words: &[#(#words),*],
            levels: &[#(#levels),*],
        })
    }
}
