// gather_core::kernels! {
//     /// Points of 12 bytes.
//     static POINTS;
//     elements: [Point];
//     indices: [u32];
//     ranks: 1;
//     ops: [gather_elements];
// }

/// Points of 12 bytes.
#[allow(unused_qualifications)]
static POINTS: ::gather_core::KernelSet = {
    const __ELEMENT0: private::DType = <Point as private::Element>::DTYPE;

    private::KernelSet::new(private::Lists {
        name: "POINTS",
        elements: &[
            private::ElementRow {
                dtype: __ELEMENT0,
                width: 0,
            },
        ],
        indices: &[
            private::IndexRow {
                index: private::IndexType::U32,
                repr: 0,
            },
        ],
        ranks: &[1],
        ops: &[private::Op::GatherElements],
        widths: &[
            private::WidthRow {
                name: "point",
                bytes: private::core::option::Option::Some(__ELEMENT0.size()),
            },
        ],
        reprs: &[private::IndexType::U32],
        levels: &[
            private::LevelTable {
                level: private::Level::Scalar,
                index: &[
                    private::Kernel::gather::<
                        private::Fixed<{ __ELEMENT0.size() }>,
                        private::u32,
                        private::Scalar,
                        1,
                    >("gather_point_u32_r1__scalar"),
                ],
                scatter: private::scatter_rows!(),
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx2,
                index: &[
                    private::Kernel::gather::<
                        private::Fixed<{ __ELEMENT0.size() }>,
                        private::u32,
                        private::Avx2,
                        1,
                    >("gather_point_u32_r1__avx2"),
                ],
                scatter: private::scatter_rows!(),
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx512,
                index: &[
                    private::Kernel::gather::<
                        private::Fixed<{ __ELEMENT0.size() }>,
                        private::u32,
                        private::Avx512,
                        1,
                    >("gather_point_u32_r1__avx512"),
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
                        private::Fixed<{ __ELEMENT0.size() }>,
                        private::u32,
                        private::Neon,
                        1,
                    >("gather_point_u32_r1__neon"),
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
                        private::Fixed<{ __ELEMENT0.size() }>,
                        private::u32,
                        private::Simd128,
                        1,
                    >("gather_point_u32_r1__simd128"),
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
                    private::u32,
                >(&[__ELEMENT0.size()], [true, false]),
            ],
            &[__ELEMENT0.size()],
            false,
        ),
    })
};
