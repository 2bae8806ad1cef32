// gather_core::kernels! {
//     static WIDTHS;
//     elements: [f32, f64, Colour as x32];
//     indices: [i64];
//     ranks: 2;
//     ops: [gather];
// }

#[allow(unused_qualifications)]
static WIDTHS: ::gather_core::KernelSet = {
    const __ELEMENT0: private::DType = private::with_width(
        <f32 as private::Element>::DTYPE,
        "f32",
        4,
    );
    const __ELEMENT1: private::DType = private::with_width(
        <f64 as private::Element>::DTYPE,
        "f64",
        8,
    );
    const __ELEMENT2: private::DType = private::with_width(
        <Colour as private::Element>::DTYPE,
        "Colour",
        4,
    );

    private::KernelSet::new(private::Lists {
        name: "WIDTHS",
        elements: &[
            private::ElementRow {
                dtype: __ELEMENT0,
                width: 0,
            },
            private::ElementRow {
                dtype: __ELEMENT1,
                width: 1,
            },
            private::ElementRow {
                dtype: __ELEMENT2,
                width: 0,
            },
        ],
        indices: &[
            private::IndexRow {
                index: private::IndexType::I64,
                repr: 0,
            },
        ],
        ranks: &[2],
        ops: &[private::Op::Gather],
        widths: &[
            private::WidthRow {
                name: "x32",
                bytes: private::core::option::Option::Some(4),
            },
            private::WidthRow {
                name: "x64",
                bytes: private::core::option::Option::Some(8),
            },
        ],
        reprs: &[private::IndexType::I64],
        levels: &[
            private::LevelTable {
                level: private::Level::Scalar,
                index: &[
                    private::Kernel::gather::<
                        private::Fixed<4>,
                        private::i64,
                        private::Scalar,
                        2,
                    >("gather_x32_i64_r2__scalar"),
                    private::Kernel::gather::<
                        private::Fixed<8>,
                        private::i64,
                        private::Scalar,
                        2,
                    >("gather_x64_i64_r2__scalar"),
                ],
                scatter: private::scatter_rows!(),
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx2,
                index: &[
                    private::Kernel::gather::<
                        private::Fixed<4>,
                        private::i64,
                        private::Avx2,
                        2,
                    >("gather_x32_i64_r2__avx2"),
                    private::Kernel::gather::<
                        private::Fixed<8>,
                        private::i64,
                        private::Avx2,
                        2,
                    >("gather_x64_i64_r2__avx2"),
                ],
                scatter: private::scatter_rows!(),
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx512,
                index: &[
                    private::Kernel::gather::<
                        private::Fixed<4>,
                        private::i64,
                        private::Avx512,
                        2,
                    >("gather_x32_i64_r2__avx512"),
                    private::Kernel::gather::<
                        private::Fixed<8>,
                        private::i64,
                        private::Avx512,
                        2,
                    >("gather_x64_i64_r2__avx512"),
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
                        private::Fixed<4>,
                        private::i64,
                        private::Neon,
                        2,
                    >("gather_x32_i64_r2__neon"),
                    private::Kernel::gather::<
                        private::Fixed<8>,
                        private::i64,
                        private::Neon,
                        2,
                    >("gather_x64_i64_r2__neon"),
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
                        private::Fixed<4>,
                        private::i64,
                        private::Simd128,
                        2,
                    >("gather_x32_i64_r2__simd128"),
                    private::Kernel::gather::<
                        private::Fixed<8>,
                        private::i64,
                        private::Simd128,
                        2,
                    >("gather_x64_i64_r2__simd128"),
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
                    private::i64,
                >(
                    &[__ELEMENT0.size(), __ELEMENT1.size(), __ELEMENT2.size()],
                    [true, false],
                ),
            ],
            &[__ELEMENT0.size(), __ELEMENT1.size(), __ELEMENT2.size()],
            false,
        ),
    })
};
