// gather_core::kernels! {
//     static SCATTERS;
//     elements: [f32];
//     indices: [i32];
//     ranks: 3, any;
//     ops: [scatter_elements, scatter_nd];
// }

#[allow(unused_qualifications)]
static SCATTERS: ::gather_core::KernelSet = {
    const __ELEMENT0: private::DType = private::with_width(
        <f32 as private::Element>::DTYPE,
        "f32",
        4,
    );

    private::KernelSet::new(private::Lists {
        name: "SCATTERS",
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
        ops: &[private::Op::ScatterElements, private::Op::ScatterNd],
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
                scatter: private::scatter_rows!(
                    private::Kernel::scatter:: < private::i32, private::Scalar, 3 >
                    ("scatter_i32_r3__scalar"), private::Kernel::scatter:: <
                    private::i32, private::Scalar, 0 > ("scatter_i32_rn__scalar")
                ),
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx2,
                index: &[],
                scatter: private::scatter_rows!(
                    private::Kernel::scatter:: < private::i32, private::Avx2, 3 >
                    ("scatter_i32_r3__avx2"), private::Kernel::scatter:: < private::i32,
                    private::Avx2, 0 > ("scatter_i32_rn__avx2")
                ),
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx512,
                index: &[],
                scatter: private::scatter_rows!(
                    private::Kernel::scatter:: < private::i32, private::Avx512, 3 >
                    ("scatter_i32_r3__avx512"), private::Kernel::scatter:: <
                    private::i32, private::Avx512, 0 > ("scatter_i32_rn__avx512")
                ),
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
                index: &[],
                scatter: private::scatter_rows!(
                    private::Kernel::scatter:: < private::i32, private::Neon, 3 >
                    ("scatter_i32_r3__neon"), private::Kernel::scatter:: < private::i32,
                    private::Neon, 0 > ("scatter_i32_rn__neon")
                ),
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
                index: &[],
                scatter: private::scatter_rows!(
                    private::Kernel::scatter:: < private::i32, private::Simd128, 3 >
                    ("scatter_i32_r3__simd128"), private::Kernel::scatter:: <
                    private::i32, private::Simd128, 0 > ("scatter_i32_rn__simd128")
                ),
                space: &[],
            },
        ],
        rests: private::Rests::of::<
            (),
        >(
            &[
                private::IndexRest::of::<
                    private::i32,
                >(&[__ELEMENT0.size()], [false, true]),
            ],
            &[__ELEMENT0.size()],
            false,
        ),
    })
};
