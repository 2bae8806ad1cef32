//! The kernels: one named function for each unit x word x rank x level, which the operators on indices share, and one for
//! each unit x rank x level of BatchToSpace.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use crate::emit::{LEVELS, level_attrs};
use crate::grid::{Grid, Unit, Width};
use crate::name::{self, readable};

/// A kernel of the set.
pub(crate) struct Kernel {
    /// The function.
    pub(crate) name: Ident,
    /// Its definition.
    pub(crate) item: TokenStream,
}

/// Asserts the widths that elements are said to have, each where it is said.
pub(crate) fn width_claims(grid: &Grid) -> TokenStream {
    let claims = grid.elements.iter().filter_map(|element| {
        let Width::Bytes(bytes) = grid.units[element.unit].width else {
            return None;
        };
        let (attrs, ty, name) = (&element.attrs, &element.ty, readable(&element.ty));
        let span = element.class.as_ref().map_or_else(|| first_span(ty), Ident::span);
        let bytes = Literal::usize_unsuffixed(bytes);
        let claim = quote_spanned!(span=> __g::assert_width::<#ty>(#name, #bytes));
        Some(quote!(#attrs const _: () = #claim;))
    });
    claims.collect()
}

/// Where tokens begin.
fn first_span(tokens: &TokenStream) -> Span {
    tokens.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span())
}

/// All kernels, level by level.
pub(crate) fn kernels(grid: &Grid) -> TokenStream {
    LEVELS
        .iter()
        .flat_map(|(level, ty)| index_kernels(grid, level, ty).into_iter().chain(copy_kernels(grid, level, ty)))
        .map(|kernel| kernel.item)
        .collect()
}

/// The kernels of one level that the operators on indices share, ordered by unit, word and rank.
pub(crate) fn index_kernels(grid: &Grid, level: &str, level_ty: &str) -> Vec<Kernel> {
    let level_ty = format_ident!("{level_ty}");
    let attrs = level_attrs(level);
    let mut kernels = Vec::new();
    for unit in grid.units.iter().filter(|_| !grid.index_ops.is_empty()) {
        let unit_ty = unit_type(grid, unit);
        for word in &grid.words {
            let word_ty = format_ident!("{word}");
            for &rank in &grid.ranks {
                let name = format_ident!("gather_{}_{word}_{}__{level}", unit.name, name::rank(rank));
                let nest = nest_path("index_nest", rank);
                let doc =
                    format!(" Gathers {} through `{word}` indices, {}, {level} level.", unit_doc(unit), rank_doc(rank));
                let item = quote! {
                    #[doc = #doc]
                    ///
                    /// # Safety
                    /// The kernel contract.
                    #attrs
                    unsafe fn #name(args: &__g::IndexArgs<'_>) -> __g::Verdict {
                        unsafe { #nest::<__g::Gather<#unit_ty, __g::#word_ty, __g::#level_ty>>(args) }
                    }
                };
                kernels.push(Kernel { name, item });
            }
        }
    }
    kernels
}

/// The BatchToSpace kernels of one level, ordered by unit and rank.
pub(crate) fn copy_kernels(grid: &Grid, level: &str, level_ty: &str) -> Vec<Kernel> {
    let level_ty = format_ident!("{level_ty}");
    let attrs = level_attrs(level);
    let mut kernels = Vec::new();
    for unit in grid.units.iter().filter(|_| grid.batch_to_space) {
        let unit_ty = unit_type(grid, unit);
        for &rank in &grid.ranks {
            let name = format_ident!("batch_to_space_{}_{}__{level}", unit.name, name::rank(rank));
            let nest = nest_path("copy_nest", rank);
            let doc = format!(" `batch_to_space` of {}, {}, {level} level.", unit_doc(unit), rank_doc(rank));
            let item = quote! {
                #[doc = #doc]
                ///
                /// # Safety
                /// The kernel contract.
                #attrs
                unsafe fn #name(args: &__g::CopyArgs<'_>) {
                    unsafe {
                        #nest::<__g::BatchToSpace<#unit_ty, __g::#level_ty>>(args)
                    }
                }
            };
            kernels.push(Kernel { name, item });
        }
    }
    kernels
}

/// A nest of the set, or gather-core's rank-generic one.
fn nest_path(family: &str, rank: u8) -> TokenStream {
    if rank == 0 {
        let name = format_ident!("{family}_any");
        quote!(__g::#name)
    } else {
        let name = format_ident!("{family}_r{rank}");
        quote!(#name)
    }
}

/// The bytes of a unit as an expression; 0 for rows.
pub(crate) fn unit_bytes(grid: &Grid, unit: &Unit) -> TokenStream {
    match unit.width {
        Width::Bytes(bytes) => Literal::usize_unsuffixed(bytes).into_token_stream(),
        Width::SizeOf(element) => {
            let ty = &grid.elements[element].ty;
            quote!(__g::size_of::<#ty>())
        }
        Width::Rows => quote!(0),
    }
}

fn unit_type(grid: &Grid, unit: &Unit) -> TokenStream {
    match unit.width {
        Width::Rows => quote!(__g::Rows),
        Width::Bytes(_) => {
            let bytes = unit_bytes(grid, unit);
            quote!(__g::Fixed<#bytes>)
        }
        Width::SizeOf(_) => {
            let bytes = unit_bytes(grid, unit);
            quote!(__g::Fixed<{ #bytes }>)
        }
    }
}

fn unit_doc(unit: &Unit) -> String {
    match unit.width {
        Width::Bytes(bytes) => format!("{}-bit units", bytes * 8),
        Width::SizeOf(_) => format!("`{}` units", unit.name),
        Width::Rows => "rows".into(),
    }
}

fn rank_doc(rank: u8) -> String {
    if rank == 0 { "nest of any rank".into() } else { format!("nest rank {rank}") }
}
