//! Loop nests of a constant rank. They are unrolled around the body, which runs a plane: the inner loop and the one
//! around it.
//!
//! They call their body through a pointer, once a plane. So gather-core has one for each rank, which the kernels of all
//! sets end in, and not a copy in each of them.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

use crate::name;

/// The loop nests of some ranks, for gather-core.
pub(crate) fn loop_nests(krate: &TokenStream, ranks: impl IntoIterator<Item = u8>) -> TokenStream {
    let private = name::private(krate);
    let nests = ranks.into_iter().map(|rank| [index_nest(&private, rank), space_nest(&private, rank)]);
    nests.flatten().collect()
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
    // Where the loop at each depth begins: at the origin outside, else where the loop around it is.
    let start = |depth: usize| match depth.checked_sub(1) {
        None => quote!(*args.origin()),
        Some(around) => cursors[around].to_token_stream(),
    };
    let plane = match cursors.last() {
        None => quote!(args.origin()),
        Some(cursor) => quote!(&#cursor),
    };
    let mut nested = quote!(unsafe { body(&mut state, args, #plane) };);
    for (depth, (along, cursor)) in loops.iter().zip(&cursors).enumerate().rev() {
        let start = start(depth);
        nested = quote! {
            let mut #cursor = #start;
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
        pub unsafe fn #name(args: &#private::IndexArgs<'_>, body: #private::Body) -> #private::Outcome {
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
        pub unsafe fn #name(
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
