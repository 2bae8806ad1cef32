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
#[allow(unused_qualifications)]
pub(crate) static SOME: ::gather_core::KernelSet = {
    #[cfg(feature = "half")]
    const __ELEMENT0: private::DType = private::with_width(
        <half::f16 as private::Element>::DTYPE,
        "half::f16",
        2,
    );
    #[cfg(feature = "pixels")]
    const __ELEMENT1: private::DType = private::with_width(
        <Rgba as private::Element>::DTYPE,
        "Rgba",
        4,
    );

    private::KernelSet::new(private::Lists {
        name: "SOME",
        elements: &[
            #[cfg(feature = "half")]
            private::ElementRow {
                dtype: __ELEMENT0,
                width: 0,
            },
            #[cfg(feature = "pixels")]
            private::ElementRow {
                dtype: __ELEMENT1,
                width: 1,
            },
        ],
        indices: &[
            private::IndexRow {
                index: private::IndexType::I32,
                repr: 0,
            },
        ],
        ranks: &[0],
        ops: &[private::Op::Gather],
        widths: &[
            private::WidthRow {
                name: "x16",
                bytes: private::core::option::Option::Some(2),
            },
            private::WidthRow {
                name: "x32",
                bytes: private::core::option::Option::Some(4),
            },
        ],
        reprs: &[private::IndexType::I32],
        levels: &[
            private::LevelTable {
                level: private::Level::Scalar,
                index: &[
                    private::Kernel::gather::<
                        private::Fixed<2>,
                        private::i32,
                        private::Scalar,
                        0,
                    >("gather_x16_i32_rn__scalar"),
                    private::Kernel::gather::<
                        private::Fixed<4>,
                        private::i32,
                        private::Scalar,
                        0,
                    >("gather_x32_i32_rn__scalar"),
                ],
                scatter: private::scatter_rows!(),
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx2,
                index: &[
                    private::Kernel::gather::<
                        private::Fixed<2>,
                        private::i32,
                        private::Avx2,
                        0,
                    >("gather_x16_i32_rn__avx2"),
                    private::Kernel::gather::<
                        private::Fixed<4>,
                        private::i32,
                        private::Avx2,
                        0,
                    >("gather_x32_i32_rn__avx2"),
                ],
                scatter: private::scatter_rows!(),
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx512,
                index: &[
                    private::Kernel::gather::<
                        private::Fixed<2>,
                        private::i32,
                        private::Avx512,
                        0,
                    >("gather_x16_i32_rn__avx512"),
                    private::Kernel::gather::<
                        private::Fixed<4>,
                        private::i32,
                        private::Avx512,
                        0,
                    >("gather_x32_i32_rn__avx512"),
                ],
                scatter: private::scatter_rows!(),
                space: &[],
            },
            #[cfg(
                all(
                    target_arch = "aarch64",
                    target_endian = "little",
                    target_feature = "neon"
                )
            )]
            private::LevelTable {
                level: private::Level::Neon,
                index: &[
                    private::Kernel::gather::<
                        private::Fixed<2>,
                        private::i32,
                        private::Neon,
                        0,
                    >("gather_x16_i32_rn__neon"),
                    private::Kernel::gather::<
                        private::Fixed<4>,
                        private::i32,
                        private::Neon,
                        0,
                    >("gather_x32_i32_rn__neon"),
                ],
                scatter: private::scatter_rows!(),
                space: &[],
            },
            #[cfg(
                all(
                    target_arch = "wasm32",
                    target_endian = "little",
                    target_feature = "simd128"
                )
            )]
            private::LevelTable {
                level: private::Level::Simd128,
                index: &[
                    private::Kernel::gather::<
                        private::Fixed<2>,
                        private::i32,
                        private::Simd128,
                        0,
                    >("gather_x16_i32_rn__simd128"),
                    private::Kernel::gather::<
                        private::Fixed<4>,
                        private::i32,
                        private::Simd128,
                        0,
                    >("gather_x32_i32_rn__simd128"),
                ],
                scatter: private::scatter_rows!(),
                space: &[],
            },
        ],
        rests: private::Rests::of::<
            (),
        >(
            &[
                private::IndexRest::of::<
                    private::i32,
                >(
                    &[
                        #[cfg(feature = "half")]
                        __ELEMENT0.size(),
                        #[cfg(feature = "pixels")]
                        __ELEMENT1.size(),
                    ],
                    [true, false],
                ),
            ],
            &[
                #[cfg(feature = "half")]
                __ELEMENT0.size(),
                #[cfg(feature = "pixels")]
                __ELEMENT1.size(),
            ],
            false,
        ),
    })
};
