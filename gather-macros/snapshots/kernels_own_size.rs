// gather_core::kernels! {
//     /// Points of 12 bytes.
//     static POINTS;
//     elements: [Point];
//     indices: [u32];
//     ranks: 1;
//     ops: [gather_elements];
// }

/// Points of 12 bytes.
#[allow(non_snake_case, unused_qualifications)]
static POINTS: ::gather_core::KernelSet = {

    /// Gathers rows of one `Point` through `u32` indices, loop nest of rank 1, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_point_u32_r1__scalar(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r1(
                args,
                private::body::<
                    private::Fixed<{ private::size_of::<Point>() }>,
                    private::u32,
                    private::Scalar,
                >(args),
            )
        }
    }

    /// Gathers rows of one `Point` through `u32` indices, loop nest of rank 1, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_point_u32_r1__avx2(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r1(
                args,
                private::body::<
                    private::Fixed<{ private::size_of::<Point>() }>,
                    private::u32,
                    private::Avx2,
                >(args),
            )
        }
    }

    /// Gathers rows of one `Point` through `u32` indices, loop nest of rank 1, avx512 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn gather_point_u32_r1__avx512(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r1(
                args,
                private::body::<
                    private::Fixed<{ private::size_of::<Point>() }>,
                    private::u32,
                    private::Avx512,
                >(args),
            )
        }
    }

    /// Gathers rows of one `Point` through `u32` indices, loop nest of rank 1, neon level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
    )]
    unsafe fn gather_point_u32_r1__neon(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r1(
                args,
                private::body::<
                    private::Fixed<{ private::size_of::<Point>() }>,
                    private::u32,
                    private::Neon,
                >(args),
            )
        }
    }

    /// Gathers rows of one `Point` through `u32` indices, loop nest of rank 1, simd128 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "wasm32", target_endian = "little", target_feature = "simd128")
    )]
    unsafe fn gather_point_u32_r1__simd128(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r1(
                args,
                private::body::<
                    private::Fixed<{ private::size_of::<Point>() }>,
                    private::u32,
                    private::Simd128,
                >(args),
            )
        }
    }

    /// SAFETY: each kernel runs what its place says, as `KernelSet::new` asks for. The functions above and the
    /// entries here are emitted from one list, in one order.
    const __TABLES: private::Tables = private::Tables {
        name: "POINTS",
        elements: &[
            private::ElementRow {
                dtype: <Point as private::Element>::DTYPE,
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
                bytes: private::core::option::Option::Some(private::size_of::<Point>()),
            },
        ],
        reprs: &["u32"],
        levels: &[
            private::LevelTable {
                level: private::Level::Scalar,
                index: &[
                    private::IndexEntry::new::<
                        private::Fixed<{ private::size_of::<Point>() }>,
                        private::u32,
                        private::Scalar,
                    >("gather_point_u32_r1__scalar", gather_point_u32_r1__scalar),
                ],
                scatter: &[],
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx2,
                index: &[
                    private::IndexEntry::new::<
                        private::Fixed<{ private::size_of::<Point>() }>,
                        private::u32,
                        private::Avx2,
                    >("gather_point_u32_r1__avx2", gather_point_u32_r1__avx2),
                ],
                scatter: &[],
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx512,
                index: &[
                    private::IndexEntry::new::<
                        private::Fixed<{ private::size_of::<Point>() }>,
                        private::u32,
                        private::Avx512,
                    >("gather_point_u32_r1__avx512", gather_point_u32_r1__avx512),
                ],
                scatter: &[],
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
                    private::IndexEntry::new::<
                        private::Fixed<{ private::size_of::<Point>() }>,
                        private::u32,
                        private::Neon,
                    >("gather_point_u32_r1__neon", gather_point_u32_r1__neon),
                ],
                scatter: &[],
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
                    private::IndexEntry::new::<
                        private::Fixed<{ private::size_of::<Point>() }>,
                        private::u32,
                        private::Simd128,
                    >("gather_point_u32_r1__simd128", gather_point_u32_r1__simd128),
                ],
                scatter: &[],
                space: &[],
            },
        ],
    };

    unsafe { private::KernelSet::new(__TABLES) }
};
