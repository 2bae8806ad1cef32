// gather_core::kernels! {
//     static BLOCKS;
//     elements: [f32];
//     indices: [i32];
//     ranks: 2..=3;
//     ops: [batch_to_space];
// }

#[allow(unused_qualifications)]
static BLOCKS: ::gather_core::KernelSet = {
    const __ELEMENT0: private::DType = private::with_width(
        <f32 as private::Element>::DTYPE,
        "f32",
        4,
    );

    private::KernelSet::new(private::Lists {
        name: "BLOCKS",
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
        ranks: &[2, 3],
        ops: &[private::Op::BatchToSpace],
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
                index: &[],
                scatter: private::scatter_rows!(),
                space: &[
                    private::Kernel::rearrange::<
                        private::Fixed<4>,
                        private::Scalar,
                        2,
                    >("rearrange_x32_r2__scalar"),
                    private::Kernel::rearrange::<
                        private::Fixed<4>,
                        private::Scalar,
                        3,
                    >("rearrange_x32_r3__scalar"),
                ],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx2,
                index: &[],
                scatter: private::scatter_rows!(),
                space: &[
                    private::Kernel::rearrange::<
                        private::Fixed<4>,
                        private::Avx2,
                        2,
                    >("rearrange_x32_r2__avx2"),
                    private::Kernel::rearrange::<
                        private::Fixed<4>,
                        private::Avx2,
                        3,
                    >("rearrange_x32_r3__avx2"),
                ],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx512,
                index: &[],
                scatter: private::scatter_rows!(),
                space: &[
                    private::Kernel::rearrange::<
                        private::Fixed<4>,
                        private::Avx512,
                        2,
                    >("rearrange_x32_r2__avx512"),
                    private::Kernel::rearrange::<
                        private::Fixed<4>,
                        private::Avx512,
                        3,
                    >("rearrange_x32_r3__avx512"),
                ],
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
                index: &[],
                scatter: private::scatter_rows!(),
                space: &[
                    private::Kernel::rearrange::<
                        private::Fixed<4>,
                        private::Neon,
                        2,
                    >("rearrange_x32_r2__neon"),
                    private::Kernel::rearrange::<
                        private::Fixed<4>,
                        private::Neon,
                        3,
                    >("rearrange_x32_r3__neon"),
                ],
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
                index: &[],
                scatter: private::scatter_rows!(),
                space: &[
                    private::Kernel::rearrange::<
                        private::Fixed<4>,
                        private::Simd128,
                        2,
                    >("rearrange_x32_r2__simd128"),
                    private::Kernel::rearrange::<
                        private::Fixed<4>,
                        private::Simd128,
                        3,
                    >("rearrange_x32_r3__simd128"),
                ],
            },
        ],
        rests: private::Rests::of::<
            (),
        >(
            &[
                private::IndexRest::of::<
                    private::i32,
                >(&[__ELEMENT0.size()], [false, false]),
            ],
            &[__ELEMENT0.size()],
            true,
        ),
    })
};
