// gather_core::kernels! {
//     static ANY;
//     elements: [u16];
//     indices: [i32];
//     ranks: 3, any;
//     ops: [gather_nd];
// }

#[allow(unused_qualifications)]
static ANY: ::gather_core::KernelSet = {
    const __ELEMENT0: private::DType = private::with_width(
        <u16 as private::Element>::DTYPE,
        "u16",
        2,
    );

    private::KernelSet::new(private::Lists {
        name: "ANY",
        elements: &[
            private::ElementRow {
                dtype: __ELEMENT0,
                width: 0,
            },
        ],
        indices: &[
            private::IndexRow {
                index: private::IndexType::I32,
                repr: 0,
            },
        ],
        ranks: &[3, 0],
        ops: &[private::Op::GatherNd],
        widths: &[
            private::WidthRow {
                name: "x16",
                bytes: private::core::option::Option::Some(2),
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
                        3,
                    >("gather_x16_i32_r3__scalar"),
                    private::Kernel::gather::<
                        private::Fixed<2>,
                        private::i32,
                        private::Scalar,
                        0,
                    >("gather_x16_i32_rn__scalar"),
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
                        3,
                    >("gather_x16_i32_r3__avx2"),
                    private::Kernel::gather::<
                        private::Fixed<2>,
                        private::i32,
                        private::Avx2,
                        0,
                    >("gather_x16_i32_rn__avx2"),
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
                        3,
                    >("gather_x16_i32_r3__avx512"),
                    private::Kernel::gather::<
                        private::Fixed<2>,
                        private::i32,
                        private::Avx512,
                        0,
                    >("gather_x16_i32_rn__avx512"),
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
                        3,
                    >("gather_x16_i32_r3__neon"),
                    private::Kernel::gather::<
                        private::Fixed<2>,
                        private::i32,
                        private::Neon,
                        0,
                    >("gather_x16_i32_rn__neon"),
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
                        3,
                    >("gather_x16_i32_r3__simd128"),
                    private::Kernel::gather::<
                        private::Fixed<2>,
                        private::i32,
                        private::Simd128,
                        0,
                    >("gather_x16_i32_rn__simd128"),
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
                >(&[__ELEMENT0.size()], [true, false]),
            ],
            &[__ELEMENT0.size()],
            false,
        ),
    })
};
