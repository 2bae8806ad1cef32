//! Loop nests of a constant rank. They are unrolled around the body, which runs a plane: the inner loop and the one
//! around it.
//!
//! They call their body through a pointer, once a plane. So gather-core has one for each rank, which the kernels of all
//! sets end in, and not a copy in each of them. They name what the module that calls the macro has in scope.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Token;

/// The loop nests of the ranks from 1 on, for gather-core, and what finds that of a rank. The input is the word
/// `unsafe`, which stands before the blocks that are emitted. It is the caller's, so that a crate without unsafe code
/// cannot call them with something else of their names.
pub(crate) fn expand(input: TokenStream, most: u8) -> syn::Result<TokenStream> {
    let promise: Token![unsafe] = syn::parse2(input)?;
    let nests = (1..=most).flat_map(|rank| [index_nest(promise, rank), space_nest(rank)]);
    let by_rank = [("index_nest", quote!(IndexNest)), ("space_nest", quote!(SpaceNest))];
    Ok(nests.chain(by_rank.map(|(family, ty)| of_rank(family, &ty, most))).collect())
}

/// The function that finds the loop nest of a rank.
fn of_rank(family: &str, ty: &TokenStream, most: u8) -> TokenStream {
    let (name, any) = (format_ident!("{family}"), format_ident!("{family}_any"));
    let ranks = (1..=most).map(Literal::u8_unsuffixed);
    let nests = (1..=most).map(|rank| format_ident!("{family}_r{rank}"));
    quote! {
        /// The loop nest of a rank; 0 is any.
        ///
        /// # Panics
        /// At compile time for ranks that are not unrolled.
        pub(crate) const fn #name(rank: u8) -> #ty {
            match rank {
                0 => #any,
                #(#ranks => #nests,)*
                _ => panic!("a rank that is not unrolled"),
            }
        }
    }
}

/// The names of the loops that a loop nest runs itself, and of the cursors that step along them.
fn around(rank: u8) -> (Vec<Ident>, Vec<Ident>) {
    let loops = rank.saturating_sub(2);
    let name = |prefix: &str| (0..loops).map(|depth| format_ident!("{prefix}{depth}")).collect();
    (name("loop"), name("at"))
}

fn index_nest(promise: Token![unsafe], rank: u8) -> TokenStream {
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
    let mut nested = quote!(body(&mut state, #promise { Plane::new(args, #plane) }););
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
        #[inline(never)]
        fn #name(args: &IndexArgs<'_>, body: Body) -> Outcome {
            let [#(#loops,)* ..] = args.loops_of::<#count>();
            let mut state = State::new(args);
            #nested
            state.outcome()
        }
    }
}

fn space_nest(rank: u8) -> TokenStream {
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
    let mut nested = quote!(body(args, #start););
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
        #[inline(never)]
        fn #name(args: &SpaceArgs<'_>, body: SpaceBody) {
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
