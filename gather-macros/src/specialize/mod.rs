//! `specialize!`: functions for shapes known at compile time.
//!
//! ```text
//! tokens -> parse (declarations) -> check (attributes against shapes, all errors at once) -> emit (functions, a set)
//! ```

mod check;
mod emit;
mod known;
mod parse;
mod set;
mod shapes;

use proc_macro2::TokenStream;
use quote::quote;

use crate::attrs::Names;
use crate::ctxt::Ctxt;
use check::Checked;
use emit::Source;
use parse::Function;

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut cx = Ctxt::default();
    let Some(call) = parse::call(&mut cx, input) else {
        return cx.into_errors();
    };
    if let Some(set) = &call.set {
        set::check(&mut cx, set, &call.functions);
    }
    let mut names = Names::default();
    let mut checked: Vec<(Function, Checked)> = Vec::new();
    for mut function in call.functions {
        if !names.insert(&function.name, &function.attrs) {
            cx.error_on(&function.name, format!("`{}` is the name of two functions", function.name));
            continue;
        }
        if let Some(found) = check::function(&mut cx, &mut function) {
            checked.push((function, found));
        }
    }
    let krate = &call.krate;
    let sources: Vec<Source<'_>> =
        checked.iter().map(|(function, checked)| Source { krate, function, checked }).collect();
    let functions = sources.iter().map(emit::functions);
    let set = call.set.as_ref().map(|set| set::emit(krate, set, &sources));
    let tokens = quote!(#(#functions)* #set);
    let errors = cx.into_errors();
    quote!(#errors #tokens)
}
