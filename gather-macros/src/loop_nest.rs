//! Loop nests of a constant rank, unrolled around a body that processes a plane: the two innermost loops.
//!
//! A nest calls its body through a pointer, once per plane. So the kernels of all sets share one nest per rank, in
//! gather-core, instead of a copy each. A nest names items in scope of the macro's call.
//!
//! A nest has no unsafe block, because the lint `unsafe_code` does not report unsafe blocks that a macro emits. The
//! types of its arguments carry the contract.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

/// The loop nests of ranks `1..=most`, and a function that finds one by rank. The input is empty.
pub(crate) fn expand(input: TokenStream, most: u8) -> syn::Result<TokenStream> {
    if !input.is_empty() {
        return Err(syn::Error::new_spanned(input, "loop nests take no input; write `loop_nests! {}`"));
    }
    let nests = (1..=most).flat_map(|rank| [index_nest(rank), space_nest(rank)]);
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

/// The number of loops that a loop nest runs itself.
fn outer_loops(rank: u8) -> u8 {
    rank.saturating_sub(2)
}

fn index_nest(rank: u8) -> TokenStream {
    let name = format_ident!("index_nest_r{rank}");
    let nested = nested(rank, &quote!(Planes), quote!(body(&mut state, planes.plane())));
    let doc = doc("the operators on indices", rank);
    quote! {
        #[doc = #doc]
        #[inline(never)]
        fn #name(args: &IndexArgs<'_>, body: Body) -> Outcome {
            let mut state = State::new(args);
            #nested
            state.outcome()
        }
    }
}

fn space_nest(rank: u8) -> TokenStream {
    let name = format_ident!("space_nest_r{rank}");
    let nested = nested(rank, &quote!(SpacePlanes), quote!(body(planes.plane())));
    let doc = doc("the operators that rearrange space", rank);
    quote! {
        #[doc = #doc]
        #[inline(never)]
        fn #name(args: &SpaceArgs<'_>, body: SpaceBody) {
            #nested
        }
    }
}

/// The outer loops of a nest around `call`: each is a call of `along`, whose closure takes a value of type `planes`.
fn nested(rank: u8, planes: &TokenStream, call: TokenStream) -> TokenStream {
    let (loops, count) = (Literal::u8_unsuffixed(outer_loops(rank)), Literal::u8_unsuffixed(rank));
    let nested = (0..outer_loops(rank))
        .map(Literal::u8_unsuffixed)
        .fold(call, |nested, left| quote!(planes.along(|planes: #planes<'_, #left>| #nested)));
    quote! {
        let planes = #planes::<#loops>::of::<#count>(args);
        #nested;
    }
}

/// The first line of a loop nest's documentation.
fn doc(ops: &str, rank: u8) -> String {
    let loops = match outer_loops(rank) {
        0 => "no loop".to_owned(),
        1 => "one loop".to_owned(),
        n => format!("{n} loops"),
    };
    format!(" The loop nest of rank {rank} of {ops}: {loops} around a plane.")
}
