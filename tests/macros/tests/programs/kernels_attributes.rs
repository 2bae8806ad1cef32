// Attributes and docs on the set, attributes on elements, those of types that are not there too.
#![deny(missing_docs)]

//! A crate with documented kernels.

#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
struct Colour(u32);

gather_core::kernels! {
    /// Kernels for colours,
    /// and for what is configured.
    #[allow(non_upper_case_globals)]
    #[doc(alias = "colors")]
    #[cfg_attr(all(), doc = "Not for numbers.", cfg_attr(any(), deprecated))]
    pub static colours;
    elements: [
        #[cfg(all())]
        Colour as x32,
        #[cfg(any())]
        NotThere as x16,
        #[cfg(not(any()))]
        f64,
        #[cfg(any())]
        #[allow(unused)]
        u8,
        #[cfg_attr(all(), cfg(any()), allow(unused))]
        NorThis as x128,
        #[cfg_attr(any(), cfg(any()))]
        #[allow(unused_qualifications)]
        ::core::primitive::u16 as x16,
    ];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

#[test]
fn builds_and_runs() {
    let registry = gather_core::Registry::builtin().with(&colours);
    let own = |dtype| registry.kernels().filter(|row| row.dtype == dtype && row.name.contains("_x32_")).count();
    assert!(own(<Colour as gather_core::Element>::DTYPE) > 0);
    assert_eq!(colours.name(), "colours");
}
