// gather_core::kernels! {
//     static ROWS;
//     elements: [u8];
//     indices: [i64];
//     ranks: 1;
//     ops: [gather];
//     widths: [rows];
// }

#[allow(unused_qualifications)]
static ROWS: ::gather_core::KernelSet = {
    const __ELEMENT0: private::DType = private::with_width(
        <u8 as private::Element>::DTYPE,
        "u8",
        1,
    );

    private::KernelSet::new(private::Lists {
        name: "ROWS",
        elements: &[
            private::ElementRow {
                dtype: __ELEMENT0,
                width: 0,
            },
        ],
        indices: &[
            private::IndexRow {
                index: private::IndexType::I64,
                repr: 0,
            },
        ],
        ranks: &[1],
        ops: &[private::Op::Gather],
        widths: &[
            private::WidthRow {
                name: "x8",
                bytes: private::core::option::Option::Some(1),
            },
            private::WidthRow {
                name: "rows",
                bytes: private::core::option::Option::None,
            },
        ],
        reprs: &[private::IndexType::I64],
        levels: &[
            private::LevelTable {
                level: private::Level::Scalar,
                index: &[
                    private::Kernel::gather::<
                        private::Fixed<1>,
                        private::i64,
                        private::Scalar,
                        1,
                    >("gather_x8_i64_r1__scalar"),
                    private::Kernel::gather::<
                        private::Rows,
                        private::i64,
                        private::Scalar,
                        1,
                    >("gather_rows_i64_r1__scalar"),
                ],
                scatter: private::scatter_rows!(),
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx2,
                index: &[
                    private::Kernel::gather::<
                        private::Fixed<1>,
                        private::i64,
                        private::Avx2,
                        1,
                    >("gather_x8_i64_r1__avx2"),
                    private::Kernel::gather::<
                        private::Rows,
                        private::i64,
                        private::Avx2,
                        1,
                    >("gather_rows_i64_r1__avx2"),
                ],
                scatter: private::scatter_rows!(),
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx512,
                index: &[
                    private::Kernel::gather::<
                        private::Fixed<1>,
                        private::i64,
                        private::Avx512,
                        1,
                    >("gather_x8_i64_r1__avx512"),
                    private::Kernel::gather::<
                        private::Rows,
                        private::i64,
                        private::Avx512,
                        1,
                    >("gather_rows_i64_r1__avx512"),
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
                        private::Fixed<1>,
                        private::i64,
                        private::Neon,
                        1,
                    >("gather_x8_i64_r1__neon"),
                    private::Kernel::gather::<
                        private::Rows,
                        private::i64,
                        private::Neon,
                        1,
                    >("gather_rows_i64_r1__neon"),
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
                        private::Fixed<1>,
                        private::i64,
                        private::Simd128,
                        1,
                    >("gather_x8_i64_r1__simd128"),
                    private::Kernel::gather::<
                        private::Rows,
                        private::i64,
                        private::Simd128,
                        1,
                    >("gather_rows_i64_r1__simd128"),
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
                >(&[__ELEMENT0.size()], [true, false]),
            ],
            &[__ELEMENT0.size()],
            false,
        ),
    })
};
