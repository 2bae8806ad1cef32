//! The kernels: one named function for each width x representation x rank x level, which the gathers share, one for
//! each representation x rank x level, which the scatters share, and one for each width x rank x level, which the
//! operators that rearrange space share.

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use crate::emit::Source;
use crate::grid::{Grid, Size, Width};
use crate::name::{self, Level, readable};

/// A kernel of the set.
pub(crate) struct Kernel {
    /// The function.
    pub(crate) name: Ident,
    /// Its definition.
    pub(crate) item: TokenStream,
    /// Its width, index type and level; nothing but for gathers.
    pub(crate) types: TokenStream,
}

/// Asserts the widths that elements are said to have, each where it is said.
pub(crate) fn width_claims(source: Source<'_>) -> TokenStream {
    let Source { grid, private } = source;
    let claims = grid.elements.iter().filter_map(|element| {
        let Size::Bytes(bytes) = grid.widths[element.width].size else {
            return None;
        };
        let (attrs, ty, name) = (&element.attrs, &element.ty, readable(&element.ty));
        let span = element.class.as_ref().map_or_else(|| first_span(ty), Ident::span);
        let bytes = Literal::usize_unsuffixed(bytes);
        let private = at(span, private);
        let claim = quote_spanned!(span=> #private::assert_width::<#ty>(#name, #bytes));
        Some(quote!(#attrs const _: () = #claim;))
    });
    claims.collect()
}

/// Tokens that mean what they mean, but are shown in errors at another place.
pub(crate) fn at(place: Span, tokens: &TokenStream) -> TokenStream {
    let moved = |mut token: TokenTree| {
        token.set_span(place.resolved_at(token.span()));
        token
    };
    tokens.clone().into_iter().map(moved).collect()
}

/// Where tokens begin.
fn first_span(tokens: &TokenStream) -> Span {
    tokens.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span())
}

/// All kernels, level by level.
pub(crate) fn kernels(source: Source<'_>) -> TokenStream {
    let of_level = |level| [index_kernels(source, level), scatter_kernels(source, level), space_kernels(source, level)];
    name::LEVELS.iter().flat_map(of_level).flatten().map(|kernel| kernel.item).collect()
}

/// The kernels of one level that the gathers share, ordered by width, representation and rank.
pub(crate) fn index_kernels(source: Source<'_>, level: &Level) -> Vec<Kernel> {
    let Source { grid, private } = source;
    let (level_ty, level_name, attrs) = (format_ident!("{}", level.variant), level.name, level_attrs(level));
    let mut kernels = Vec::new();
    for width in grid.widths.iter().filter(|_| !grid.index_ops.is_empty()) {
        let (width_ty, rows) = (width_type(source, width), rows_doc(grid, width));
        for repr in &grid.reprs {
            let repr_ty = format_ident!("{repr}");
            let types = quote!(#width_ty, #private::#repr_ty, #private::#level_ty);
            for &rank in &grid.ranks {
                let name = format_ident!("gather_{}_{repr}_{}__{level_name}", width.name, name::rank(rank));
                let nest = nest_path(private, "index_nest", rank);
                let doc = format!(" Gathers {rows} through `{repr}` indices, {}, {level_name} level.", rank_doc(rank));
                let item = quote! {
                    #[doc = #doc]
                    ///
                    /// # Safety
                    /// The kernel contract.
                    #attrs
                    unsafe fn #name(args: &#private::IndexArgs<'_>) -> #private::Outcome {
                        unsafe {
                            #nest(args, #private::body::<#types>(args))
                        }
                    }
                };
                let types = types.clone();
                kernels.push(Kernel { name, item, types });
            }
        }
    }
    kernels
}

/// The kernels of one level that the scatters share, ordered by representation and rank.
pub(crate) fn scatter_kernels(source: Source<'_>, level: &Level) -> Vec<Kernel> {
    let Source { grid, private } = source;
    let (level_ty, level_name, attrs) = (format_ident!("{}", level.variant), level.name, level_attrs(level));
    let mut kernels = Vec::new();
    for repr in grid.reprs.iter().filter(|_| !grid.scatter_ops.is_empty()) {
        let repr_ty = format_ident!("{repr}");
        for &rank in &grid.ranks {
            let name = format_ident!("scatter_{repr}_{}__{level_name}", name::rank(rank));
            let nest = nest_path(private, "index_nest", rank);
            let doc = format!(" Scatters rows through `{repr}` indices, {}, {level_name} level.", rank_doc(rank));
            let item = quote! {
                #[doc = #doc]
                ///
                /// # Safety
                /// The contract of a scatter.
                #attrs
                unsafe fn #name(args: &#private::IndexArgs<'_>) -> #private::Outcome {
                    unsafe {
                        #nest(args, #private::scatter_body::<#private::#repr_ty, #private::#level_ty>(args))
                    }
                }
            };
            kernels.push(Kernel { name, item, types: TokenStream::new() });
        }
    }
    kernels
}

/// The kernels of one level that the operators that rearrange space share, ordered by width and rank.
pub(crate) fn space_kernels(source: Source<'_>, level: &Level) -> Vec<Kernel> {
    let Source { grid, private } = source;
    let (level_ty, level_name, attrs) = (format_ident!("{}", level.variant), level.name, level_attrs(level));
    let mut kernels = Vec::new();
    for width in grid.widths.iter().filter(|_| !grid.space_ops.is_empty()) {
        let (width_ty, rows) = (width_type(source, width), rows_doc(grid, width));
        for &rank in &grid.ranks {
            let name = format_ident!("rearrange_{}_{}__{level_name}", width.name, name::rank(rank));
            let nest = nest_path(private, "space_nest", rank);
            let doc = format!(" Rearranges {rows}, {}, {level_name} level.", rank_doc(rank));
            let item = quote! {
                #[doc = #doc]
                ///
                /// # Safety
                /// The kernel contract.
                #attrs
                unsafe fn #name(args: &#private::SpaceArgs<'_>) {
                    unsafe { #nest(args, #private::space_plane::<#width_ty, #private::#level_ty>) }
                }
            };
            kernels.push(Kernel { name, item, types: TokenStream::new() });
        }
    }
    kernels
}

/// The attributes of a kernel of a level.
fn level_attrs(level: &Level) -> TokenStream {
    let (cfg, features) = (level.cfg(), level.target_feature());
    quote!(#cfg #features)
}

/// The loop nest of a rank, which is gather-core's.
fn nest_path(private: &TokenStream, family: &str, rank: u8) -> TokenStream {
    let rank = if rank == 0 { "any".into() } else { name::rank(rank) };
    let name = format_ident!("{family}_{rank}");
    quote!(#private::#name)
}

/// The bytes of a width as an expression; `None` for rows of any length.
pub(crate) fn width_bytes(source: Source<'_>, width: &Width) -> Option<TokenStream> {
    let Source { grid, private } = source;
    match width.size {
        Size::Bytes(bytes) => Some(Literal::usize_unsuffixed(bytes).into_token_stream()),
        Size::OfElement(element) => {
            let ty = &grid.elements[element].ty;
            Some(quote!(#private::size_of::<#ty>()))
        }
        Size::Any => None,
    }
}

fn width_type(source: Source<'_>, width: &Width) -> TokenStream {
    let private = source.private;
    match width_bytes(source, width) {
        None => quote!(#private::Rows),
        Some(bytes) if matches!(width.size, Size::Bytes(_)) => quote!(#private::Fixed<#bytes>),
        Some(bytes) => quote!(#private::Fixed<{ #bytes }>),
    }
}

/// The rows that kernels of a width move, in words.
fn rows_doc(grid: &Grid, width: &Width) -> String {
    match width.size {
        Size::Bytes(bytes) => format!("rows of {}", name::bytes(bytes)),
        Size::OfElement(element) => format!("rows of one `{}`", readable(&grid.elements[element].ty)),
        Size::Any => "rows of any length".into(),
    }
}

fn rank_doc(rank: u8) -> String {
    if rank == 0 { "loop nest of any rank".into() } else { format!("loop nest of rank {rank}") }
}
