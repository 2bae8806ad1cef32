// gather_core::kernels! {
//     /// One data type, one index type, one rank.
//     pub static ONE;
//     elements: [f32];
//     indices: [i32];
//     ranks: 1;
//     ops: [gather];
// }

/// One data type, one index type, one rank.
#[allow(unused_qualifications)]
pub static ONE: ::gather_core::KernelSet = {
    const __ELEMENT0: private::DType = private::with_width(
        <f32 as private::Element>::DTYPE,
        "f32",
        4,
    );

    private::KernelSet::new(private::Lists {
        name: "ONE",
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
        ranks: &[1],
        ops: &[private::Op::Gather],
        widths: &[
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
                        private::Fixed<4>,
                        private::i32,
                        private::Scalar,
                        1,
                    >("gather_x32_i32_r1__scalar"),
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
                        private::i32,
                        private::Avx2,
                        1,
                    >("gather_x32_i32_r1__avx2"),
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
                        private::i32,
                        private::Avx512,
                        1,
                    >("gather_x32_i32_r1__avx512"),
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
                        private::i32,
                        private::Neon,
                        1,
                    >("gather_x32_i32_r1__neon"),
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
                        private::i32,
                        private::Simd128,
                        1,
                    >("gather_x32_i32_r1__simd128"),
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
