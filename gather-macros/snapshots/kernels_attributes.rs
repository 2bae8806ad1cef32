// gather_core::kernels! {
//     /// Kernels for what is configured.
//     #[cfg(not(target_os = "none"))]
//     pub(crate) static SOME;
//     elements: [
//         #[cfg(feature = "half")] half::f16 as x16,
//         #[cfg(feature = "pixels")] Rgba as x32,
//     ];
//     indices: [i32];
//     ranks: any;
//     ops: [gather];
// }

/// Kernels for what is configured.
#[cfg(not(target_os = "none"))]
#[allow(non_snake_case, unused_qualifications)]
pub(crate) static SOME: ::gather_core::KernelSet = {
    use ::gather_core::private as __g;
    #[cfg(feature = "half")]
    const _: () = __g::assert_width::<half::f16>("half::f16", 2);
    #[cfg(feature = "pixels")]
    const _: () = __g::assert_width::<Rgba>("Rgba", 4);

    /// Gathers 16-bit units through `i32` indices, nest of any rank, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_x16_i32_rn__scalar(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe {
            __g::index_nest_any::<
                __g::Gather<__g::Fixed<2>, __g::i32, __g::Scalar>,
            >(args)
        }
    }

    /// Gathers 32-bit units through `i32` indices, nest of any rank, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_x32_i32_rn__scalar(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe {
            __g::index_nest_any::<
                __g::Gather<__g::Fixed<4>, __g::i32, __g::Scalar>,
            >(args)
        }
    }

    /// Gathers 16-bit units through `i32` indices, nest of any rank, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_x16_i32_rn__avx2(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe {
            __g::index_nest_any::<__g::Gather<__g::Fixed<2>, __g::i32, __g::Avx2>>(args)
        }
    }

    /// Gathers 32-bit units through `i32` indices, nest of any rank, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_x32_i32_rn__avx2(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe {
            __g::index_nest_any::<__g::Gather<__g::Fixed<4>, __g::i32, __g::Avx2>>(args)
        }
    }

    __g::KernelSet::new(__g::Tables {
        name: "SOME",
        elements: &[
            #[cfg(feature = "half")]
            __g::ElementRow {
                dtype: <half::f16 as __g::Element>::DTYPE,
                unit: 0,
            },
            #[cfg(feature = "pixels")]
            __g::ElementRow {
                dtype: <Rgba as __g::Element>::DTYPE,
                unit: 1,
            },
        ],
        indices: &[
            __g::IndexRow {
                index: __g::IndexType::I32,
                word: 0,
            },
        ],
        ranks: &[0],
        ops: &[__g::Op::Gather],
        units: &[
            __g::UnitRow {
                name: "x16",
                bytes: 2,
            },
            __g::UnitRow {
                name: "x32",
                bytes: 4,
            },
        ],
        words: &["i32"],
        levels: &[
            __g::LevelTable {
                level: __g::Level::Scalar,
                index: &[
                    __g::IndexEntry {
                        name: "gather_x16_i32_rn__scalar",
                        run: gather_x16_i32_rn__scalar,
                    },
                    __g::IndexEntry {
                        name: "gather_x32_i32_rn__scalar",
                        run: gather_x32_i32_rn__scalar,
                    },
                ],
                copy: &[],
            },
            #[cfg(target_arch = "x86_64")]
            __g::LevelTable {
                level: __g::Level::Avx2,
                index: &[
                    __g::IndexEntry {
                        name: "gather_x16_i32_rn__avx2",
                        run: gather_x16_i32_rn__avx2,
                    },
                    __g::IndexEntry {
                        name: "gather_x32_i32_rn__avx2",
                        run: gather_x32_i32_rn__avx2,
                    },
                ],
                copy: &[],
            },
        ],
    })
};
