//! Loop nests of a constant rank. They are unrolled around the body, which runs a plane: the inner loop and the one
//! around it.
//!
//! They call their body through a pointer, once a plane. So a set has one for each rank, which its kernels end in, and
//! not a copy in each of them.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::emit::Source;

/// The loop nests of every rank that is unrolled.
pub(crate) fn loop_nests(source: Source<'_>) -> TokenStream {
    let Source { grid, private } = source;
    let ranks = grid.ranks.iter().copied().filter(|&rank| rank != 0);
    let on_indices = !(grid.index_ops.is_empty() && grid.scatter_ops.is_empty());
    let index = ranks.clone().filter(|_| on_indices).map(|rank| index_nest(private, rank));
    let space = ranks.filter(|_| !grid.space_ops.is_empty()).map(|rank| space_nest(private, rank));
    index.chain(space).collect()
}

/// The names of the loops that a loop nest runs itself, and of the cursors that step along them.
fn around(rank: u8) -> (Vec<Ident>, Vec<Ident>) {
    let loops = rank.saturating_sub(2);
    let name = |prefix: &str| (0..loops).map(|depth| format_ident!("{prefix}{depth}")).collect();
    (name("loop"), name("at"))
}

fn index_nest(private: &TokenStream, rank: u8) -> TokenStream {
    let name = format_ident!("index_nest_r{rank}");
    let ((loops, cursors), count) = (around(rank), Literal::u8_unsuffixed(rank));
    // What stands at each depth: the origin outside, then the cursor of the loop around.
    let at = |depth: usize| match depth.checked_sub(1) {
        None => quote!(args.origin()),
        Some(around) => {
            let cursor = &cursors[around];
            quote!(&#cursor)
        }
    };
    let start = at(loops.len());
    let mut nested = quote!(unsafe { body(&mut state, args, #start) };);
    for (depth, (along, cursor)) in loops.iter().zip(&cursors).enumerate().rev() {
        let start = at(depth);
        nested = quote! {
            let mut #cursor = *#start;
            for _ in 0..#along.n {
                #nested
                #cursor = #cursor.step(#along);
            }
        };
    }
    let doc = doc("the operators on indices", rank, loops.len());
    quote! {
        #[doc = #doc]
        ///
        /// # Safety
        /// The kernel contract for `args`, of whose method the body is: the loops step to the cursors of planes.
        #[inline(never)]
        unsafe fn #name(args: &#private::IndexArgs<'_>, body: #private::Body) -> #private::Outcome {
            let [#(#loops,)* ..] = args.loops::<#count>();
            let mut state = #private::State::new(args);
            #nested
            state.outcome()
        }
    }
}

fn space_nest(private: &TokenStream, rank: u8) -> TokenStream {
    let name = format_ident!("space_nest_r{rank}");
    let ((loops, cursors), count) = (around(rank), Literal::u8_unsuffixed(rank));
    let at = |depth: usize| match depth.checked_sub(1) {
        None => quote!(args.origin()),
        Some(around) => {
            let cursor = &cursors[around];
            quote!(#cursor.at())
        }
    };
    let start = at(loops.len());
    let mut nested = quote!(unsafe { body(args, #start) };);
    for (depth, (along, cursor)) in loops.iter().zip(&cursors).enumerate().rev() {
        let start = at(depth);
        nested = quote! {
            let mut #cursor = #start.enter(#along);
            for _ in 0..#along.n {
                #nested
                #cursor = #cursor.step(#along);
            }
        };
    }
    let doc = doc("the operators that rearrange space", rank, loops.len());
    quote! {
        #[doc = #doc]
        ///
        /// # Safety
        /// The kernel contract for `args`: the loops step to the cursors of planes.
        #[inline(never)]
        unsafe fn #name(
            args: &#private::SpaceArgs<'_>,
            body: unsafe fn(&#private::SpaceArgs<'_>, #private::SpaceCursor),
        ) {
            let [#(#loops,)* ..] = args.loops::<#count>();
            #nested
        }
    }
}

/// The first line of a loop nest's documentation.
fn doc(ops: &str, rank: u8, around: usize) -> String {
    let loops = match around {
        0 => "no loop".to_owned(),
        1 => "one loop".to_owned(),
        n => format!("{n} loops"),
    };
    format!(" The loop nest of rank {rank} of {ops}: {loops} around a plane.")
}
