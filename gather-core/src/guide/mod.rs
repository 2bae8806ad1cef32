#![doc = include_str!("chapters.txt")]
#![doc = include_str!("README.md")]
#![forbid(unsafe_code)]

/// Modules whose pages are the chapters.
///
/// A chapter links to another by the name of its file, which leads there in a checkout. `chapters.txt` says where the
/// same labels lead on these pages: it stands first, and of two definitions of a label the first one counts. So tests of
/// the examples are named by that file, and their lines count from its first line on. [`Plain`](custom_types) is a
/// page with the feature `bytemuck` alone.
macro_rules! chapters {
    ($($(#[$attribute:meta])* $name:ident)*) => {$(
        #[cfg_attr(not(feature = "bytemuck"), doc = "[`Plain`]: crate::guide::custom_types#types-of-other-crates")]
        #[doc = include_str!("chapters.txt")]
        #[doc = include_str!(concat!(stringify!($name), ".md"))]
        $(#[$attribute])*
        pub mod $name {}
    )*};
}

chapters! {
    gathers plans own_functions custom_types bags
    #[doc(alias("GGUF", "quantized", "f16", "bf16", "FP8"))]
    tables
    row_functions scatter nulls large_tables runtime_types specialize targets
    #[doc(alias("KV", "KV cache", "message passing", "recommender", "vector search"))]
    trades
    coming_from comparison
}
