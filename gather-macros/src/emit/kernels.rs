//! Kernels by operator family. Gathers share one kernel per width x representation x rank x level. Scatters share one
//! per representation x rank x level. Operators that rearrange space share one per width x rank x level.
//!
//! A kernel is named by its types: it is an instance of a generic function of gather-core.

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use crate::emit::Source;
use crate::grid::{Size, Width};
use crate::name::{self, Level, readable};

/// The data type of each element, checked against its declared width. Emitted code names the caller's type here only: a
/// macro in its place may expand to another type at each use.
pub(crate) fn data_types(source: Source<'_>) -> TokenStream {
    let Source { grid, private } = source;
    let data_types = grid.elements.iter().map(|element| {
        let (attrs, name, ty) = (&element.attrs, &element.name, &element.ty);
        let mut dtype = quote!(<#ty as #private::Element>::DTYPE);
        if let Size::Bytes(bytes) = grid.widths[element.width].size {
            // The compiler reports a wrong size at the declared width class.
            let span = element.class.as_ref().map_or_else(|| first_span(ty), Ident::span);
            let (text, bytes, moved) = (readable(ty), Literal::usize_unsuffixed(bytes), at(span, private));
            dtype = quote_spanned!(span=> #moved::with_width(#dtype, #text, #bytes));
        }
        quote!(#(#attrs)* const #name: #private::DType = #dtype;)
    });
    data_types.collect()
}

/// The same tokens with another location for errors.
pub(crate) fn at(place: Span, tokens: &TokenStream) -> TokenStream {
    let moved = |mut token: TokenTree| {
        token.set_span(place.resolved_at(token.span()));
        token
    };
    tokens.clone().into_iter().map(moved).collect()
}

fn first_span(tokens: &TokenStream) -> Span {
    tokens.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span())
}

/// The gather kernels of one level, ordered by width, representation and rank.
pub(crate) fn gathers(source: Source<'_>, level: &Level) -> Vec<TokenStream> {
    let Source { grid, private } = source;
    let mut kernels = Vec::new();
    for width in grid.widths.iter().filter(|_| !grid.index_ops.is_empty()) {
        for repr in &grid.reprs {
            for &rank in &grid.ranks {
                let name = format!("gather_{}_{repr}_{}__{}", width.name, name::rank(rank), level.name);
                let (width, repr, level) = (width_type(source, width), format_ident!("{repr}"), level_type(level));
                let rank = Literal::u8_unsuffixed(rank);
                kernels.push(quote!(
                    #private::Kernel::gather::<#width, #private::#repr, #private::#level, #rank>(#name)
                ));
            }
        }
    }
    kernels
}

/// The scatter kernels of one level, ordered by representation and rank.
pub(crate) fn scatters(source: Source<'_>, level: &Level) -> Vec<TokenStream> {
    let Source { grid, private } = source;
    let mut kernels = Vec::new();
    for repr in grid.reprs.iter().filter(|_| !grid.scatter_ops.is_empty()) {
        for &rank in &grid.ranks {
            let name = format!("scatter_{repr}_{}__{}", name::rank(rank), level.name);
            let (repr, level, rank) = (format_ident!("{repr}"), level_type(level), Literal::u8_unsuffixed(rank));
            kernels.push(quote!(#private::Kernel::scatter::<#private::#repr, #private::#level, #rank>(#name)));
        }
    }
    kernels
}

/// The kernels of one level for operators that rearrange space, ordered by width and rank.
pub(crate) fn rearranges(source: Source<'_>, level: &Level) -> Vec<TokenStream> {
    let Source { grid, private } = source;
    let mut kernels = Vec::new();
    for width in grid.widths.iter().filter(|_| !grid.space_ops.is_empty()) {
        for &rank in &grid.ranks {
            let name = format!("rearrange_{}_{}__{}", width.name, name::rank(rank), level.name);
            let (width, level, rank) = (width_type(source, width), level_type(level), Literal::u8_unsuffixed(rank));
            kernels.push(quote!(#private::Kernel::rearrange::<#width, #private::#level, #rank>(#name)));
        }
    }
    kernels
}

fn level_type(level: &Level) -> Ident {
    format_ident!("{}", level.variant)
}

/// The bytes of a width as an expression; `None` for rows of any length.
pub(crate) fn width_bytes(source: Source<'_>, width: &Width) -> Option<TokenStream> {
    match width.size {
        Size::Bytes(bytes) => Some(Literal::usize_unsuffixed(bytes).into_token_stream()),
        Size::OfElement(element) => {
            let name = &source.grid.elements[element].name;
            Some(quote!(#name.size()))
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
