#![doc = include_str!("chapters.txt")]
#![doc = include_str!("README.md")]
#![forbid(unsafe_code)]

/// Modules whose rustdoc pages are the chapters.
///
/// A chapter links to another chapter by the name of its file, which works in a checkout. `chapters.txt` stands first
/// and defines the same labels for the pages of rustdoc: of two definitions of a label, the first counts. So rustdoc
/// names tests of the examples by `chapters.txt`, and counts lines from its first line. The page of `Plain` exists only
/// with the feature `bytemuck`.
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
    row_functions scatter nulls large_tables files runtime_types specialize targets
    #[doc(alias("KV", "KV cache", "message passing", "recommender", "vector search"))]
    trades
    coming_from comparison
}
