//! Loop nests of a constant rank, one pair a rank: generic over the body, inlined into every kernel.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

use crate::grid::Grid;

/// The nests of every rank that is unrolled.
pub(crate) fn nests(grid: &Grid) -> TokenStream {
    let ranks = grid.ranks.iter().copied().filter(|&rank| rank != 0);
    let index = ranks.clone().filter(|_| !grid.index_ops.is_empty()).map(index_nest);
    let copy = ranks.filter(|_| grid.batch_to_space).map(copy_nest);
    index.chain(copy).collect()
}

/// The method of the body that a nest calls, and what it runs: the last loop around the lanes too, if there is one.
fn innermost(rank: u8) -> (Ident, &'static str) {
    let (run, what) = if rank == 1 { ("lanes", "the lanes") } else { ("plane", "a plane of lanes") };
    (format_ident!("{run}"), what)
}

/// The names of the loops that a nest runs itself, and of the cursors that step along them.
fn outer(rank: u8) -> (Vec<Ident>, Vec<Ident>) {
    let loops = rank.saturating_sub(2);
    let name = |prefix: &str| (0..loops).map(|depth| format_ident!("{prefix}{depth}")).collect();
    (name("loop"), name("at"))
}

fn index_nest(rank: u8) -> TokenStream {
    let name = format_ident!("index_nest_r{rank}");
    let (run, what) = innermost(rank);
    let ((loops, cursors), count) = (outer(rank), Literal::u8_unsuffixed(rank));
    // What stands at each depth: the origin outside, then the cursor of the loop around.
    let at = |depth: usize| match depth.checked_sub(1) {
        None => quote!(args.origin()),
        Some(around) => cursors[around].to_token_stream(),
    };
    let start = at(loops.len());
    let mut body = quote!(unsafe { body.#run(&mut units, args, #start) };);
    for (depth, (along, cursor)) in loops.iter().zip(&cursors).enumerate().rev() {
        let start = at(depth);
        body = quote! {
            let mut #cursor = #start;
            for _ in 0..#along.n {
                #body
                #cursor = #cursor.step(#along);
            }
        };
    }
    let doc = format!(" The loop nest of rank {rank}: {} around {what}.", plural(loops.len()));
    quote! {
        #[doc = #doc]
        ///
        /// # Safety
        /// The kernel contract for `args`: every cursor that the loops step to is an outer coordinate's.
        #[inline(always)]
        unsafe fn #name<B: __g::IndexBody>(args: &__g::IndexArgs<'_>) -> __g::Verdict {
            let [#(#loops,)* ..] = args.loops::<#count>();
            let mut body = B::start(args);
            let mut units = __g::Units::new();
            #body
            body.verdict()
        }
    }
}

fn copy_nest(rank: u8) -> TokenStream {
    let name = format_ident!("copy_nest_r{rank}");
    let (run, what) = innermost(rank);
    let ((loops, cursors), count) = (outer(rank), Literal::u8_unsuffixed(rank));
    let at = |depth: usize| match depth.checked_sub(1) {
        None => quote!(args.origin()),
        Some(around) => {
            let cursor = &cursors[around];
            quote!(#cursor.at())
        }
    };
    let start = at(loops.len());
    let mut body = quote!(unsafe { body.#run(args, #start) };);
    for (depth, (along, cursor)) in loops.iter().zip(&cursors).enumerate().rev() {
        let start = at(depth);
        body = quote! {
            let mut #cursor = #start.enter(#along);
            for _ in 0..#along.n {
                #body
                #cursor = #cursor.step(#along);
            }
        };
    }
    let doc = format!(" The BatchToSpace nest of rank {rank}: {} around {what}.", plural(loops.len()));
    quote! {
        #[doc = #doc]
        ///
        /// # Safety
        /// The kernel contract for `args`: every cursor that the loops step to is an outer coordinate's.
        #[inline(always)]
        unsafe fn #name<B: __g::CopyBody>(args: &__g::CopyArgs<'_>) {
            let [#(#loops,)* ..] = args.loops::<#count>();
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
