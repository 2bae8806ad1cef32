//! Loop nests of a constant rank, one pair a rank: generic over the body, inlined into every kernel.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::grid::Grid;

/// The nests of every rank that is unrolled.
pub(crate) fn nests(krate: &TokenStream, grid: &Grid) -> TokenStream {
    let ranks = grid.ranks.iter().copied().filter(|&rank| rank != 0);
    let index = ranks.clone().filter(|_| !grid.index_ops.is_empty()).map(|rank| index_nest(krate, rank));
    let copy = ranks.filter(|_| grid.batch_to_space).map(|rank| copy_nest(krate, rank));
    index.chain(copy).collect()
}

/// The names of a nest's outer loops.
fn loops(rank: u8) -> Vec<proc_macro2::Ident> {
    (0..rank - 1).map(|d| format_ident!("d{d}")).collect()
}

fn index_nest(krate: &TokenStream, rank: u8) -> TokenStream {
    let name = format_ident!("index_nest_r{rank}");
    // The body runs the last loop around the lanes itself.
    let (outer, count) = (loops(rank.max(2) - 1), usize::from(rank));
    let mut body = match rank {
        1 => quote!(unsafe { body.lanes(&mut units, args, at) };),
        _ => quote!(unsafe { body.plane(&mut units, args, at) };),
    };
    for d in (0..outer.len()).rev() {
        let (l, p) = (&outer[d], format_ident!("p{d}"));
        let from = if d == 0 {
            quote!(args.origin())
        } else {
            let p = format_ident!("p{}", d - 1);
            quote!(#p)
        };
        // The innermost cursor is the body's.
        let inner = if d + 1 == outer.len() { quote!(let at = #p; #body) } else { body };
        body = quote! {
            let mut #p = #from;
            for _ in 0..#l.n {
                #inner
                #p = #p.step(#l);
            }
        };
    }
    if outer.is_empty() {
        body = quote!(let at = args.origin(); #body);
    }
    let what = if rank == 1 { "the lanes" } else { "a plane of lanes" };
    let doc = format!("The loop nest of rank {rank}: {} around {what}.", plural(outer.len()));
    quote! {
        #[doc = #doc]
        ///
        /// # Safety
        /// The kernel contract for `args`: every cursor that the loops step to is an outer coordinate's.
        #[inline(always)]
        unsafe fn #name<B: #krate::private::IndexBody>(
            args: &#krate::private::IndexArgs<'_>,
        ) -> #krate::private::Verdict {
            let [#(#outer,)* ..] = args.loops::<#count>();
            let mut body = B::start(args);
            let mut units = #krate::private::Units::new();
            #body
            body.verdict()
        }
    }
}

fn copy_nest(krate: &TokenStream, rank: u8) -> TokenStream {
    let name = format_ident!("copy_nest_r{rank}");
    let (outer, count) = (loops(rank), usize::from(rank));
    let mut body = quote!(unsafe { body.lanes(args, at) };);
    for d in (0..outer.len()).rev() {
        let (l, p) = (&outer[d], format_ident!("p{d}"));
        let from = if d == 0 {
            quote!(args.origin())
        } else {
            let p = format_ident!("p{}", d - 1);
            quote!(#p.at())
        };
        let inner = if d + 1 == outer.len() { quote!(let at = #p.at(); #body) } else { body };
        body = quote! {
            let mut #p = #from.enter(#l);
            for _ in 0..#l.n {
                #inner
                #p = #p.step(#l);
            }
        };
    }
    if outer.is_empty() {
        body = quote!(let at = args.origin(); #body);
    }
    let doc = format!("The BatchToSpace nest of rank {rank}: {} around the lanes.", plural(outer.len()));
    quote! {
        #[doc = #doc]
        ///
        /// # Safety
        /// The kernel contract for `args`: every cursor that the loops step to is an outer coordinate's.
        #[inline(always)]
        unsafe fn #name<B: #krate::private::CopyBody>(args: &#krate::private::CopyArgs<'_>) {
            let [#(#outer,)* _] = args.loops::<#count>();
            let mut body = B::start(args);
            #body
        }
    }
}

fn plural(loops: usize) -> String {
    match loops {
        0 => "no loop".into(),
        1 => "one loop".into(),
        n => format!("{n} loops"),
    }
}
