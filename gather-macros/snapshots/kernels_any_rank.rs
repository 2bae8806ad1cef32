// gather_core::kernels! {
//     static ANY;
//     elements: [u16];
//     indices: [i32];
//     ranks: 3, any;
//     ops: [gather_nd];
// }

#[allow(non_snake_case, unused_qualifications)]
static ANY: ::gather_core::KernelSet = {
    const _: () = private::assert_width::<u16>("u16", 2);

    /// Gathers rows of 2 bytes through `i32` indices, loop nest of rank 3, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_x16_i32_r3__scalar(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r3(
                args,
                private::body::<private::Fixed<2>, private::i32, private::Scalar>(args),
            )
        }
    }

    /// Gathers rows of 2 bytes through `i32` indices, loop nest of any rank, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_x16_i32_rn__scalar(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_any(
                args,
                private::body::<private::Fixed<2>, private::i32, private::Scalar>(args),
            )
        }
    }

    /// Gathers rows of 2 bytes through `i32` indices, loop nest of rank 3, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_x16_i32_r3__avx2(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r3(
                args,
                private::body::<private::Fixed<2>, private::i32, private::Avx2>(args),
            )
        }
    }

    /// Gathers rows of 2 bytes through `i32` indices, loop nest of any rank, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_x16_i32_rn__avx2(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_any(
                args,
                private::body::<private::Fixed<2>, private::i32, private::Avx2>(args),
            )
        }
    }

    /// Gathers rows of 2 bytes through `i32` indices, loop nest of rank 3, avx512 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn gather_x16_i32_r3__avx512(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r3(
                args,
                private::body::<private::Fixed<2>, private::i32, private::Avx512>(args),
            )
        }
    }

    /// Gathers rows of 2 bytes through `i32` indices, loop nest of any rank, avx512 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn gather_x16_i32_rn__avx512(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_any(
                args,
                private::body::<private::Fixed<2>, private::i32, private::Avx512>(args),
            )
        }
    }

    /// Gathers rows of 2 bytes through `i32` indices, loop nest of rank 3, neon level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
    )]
    unsafe fn gather_x16_i32_r3__neon(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r3(
                args,
                private::body::<private::Fixed<2>, private::i32, private::Neon>(args),
            )
        }
    }

    /// Gathers rows of 2 bytes through `i32` indices, loop nest of any rank, neon level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
    )]
    unsafe fn gather_x16_i32_rn__neon(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_any(
                args,
                private::body::<private::Fixed<2>, private::i32, private::Neon>(args),
            )
        }
    }

    /// Gathers rows of 2 bytes through `i32` indices, loop nest of rank 3, simd128 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "wasm32", target_endian = "little", target_feature = "simd128")
    )]
    unsafe fn gather_x16_i32_r3__simd128(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r3(
                args,
                private::body::<private::Fixed<2>, private::i32, private::Simd128>(args),
            )
        }
    }

    /// Gathers rows of 2 bytes through `i32` indices, loop nest of any rank, simd128 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "wasm32", target_endian = "little", target_feature = "simd128")
    )]
    unsafe fn gather_x16_i32_rn__simd128(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_any(
                args,
                private::body::<private::Fixed<2>, private::i32, private::Simd128>(args),
            )
        }
    }

    /// SAFETY: each kernel runs what its place says, as `KernelSet::new` asks for. The functions above and the
    /// entries here are emitted from one list, in one order.
    const __TABLES: private::Tables = private::Tables {
        name: "ANY",
        elements: &[
            private::ElementRow {
                dtype: <u16 as private::Element>::DTYPE,
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
        reprs: &["i32"],
        levels: &[
            private::LevelTable {
                level: private::Level::Scalar,
                index: &[
                    private::IndexEntry::new::<
                        private::Fixed<2>,
                        private::i32,
                        private::Scalar,
                    >("gather_x16_i32_r3__scalar", gather_x16_i32_r3__scalar),
                    private::IndexEntry::new::<
                        private::Fixed<2>,
                        private::i32,
                        private::Scalar,
                    >("gather_x16_i32_rn__scalar", gather_x16_i32_rn__scalar),
                ],
                scatter: &[],
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx2,
                index: &[
                    private::IndexEntry::new::<
                        private::Fixed<2>,
                        private::i32,
                        private::Avx2,
                    >("gather_x16_i32_r3__avx2", gather_x16_i32_r3__avx2),
                    private::IndexEntry::new::<
                        private::Fixed<2>,
                        private::i32,
                        private::Avx2,
                    >("gather_x16_i32_rn__avx2", gather_x16_i32_rn__avx2),
                ],
                scatter: &[],
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx512,
                index: &[
                    private::IndexEntry::new::<
                        private::Fixed<2>,
                        private::i32,
                        private::Avx512,
                    >("gather_x16_i32_r3__avx512", gather_x16_i32_r3__avx512),
                    private::IndexEntry::new::<
                        private::Fixed<2>,
                        private::i32,
                        private::Avx512,
                    >("gather_x16_i32_rn__avx512", gather_x16_i32_rn__avx512),
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
                        private::Fixed<2>,
                        private::i32,
                        private::Neon,
                    >("gather_x16_i32_r3__neon", gather_x16_i32_r3__neon),
                    private::IndexEntry::new::<
                        private::Fixed<2>,
                        private::i32,
                        private::Neon,
                    >("gather_x16_i32_rn__neon", gather_x16_i32_rn__neon),
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
                        private::Fixed<2>,
                        private::i32,
                        private::Simd128,
                    >("gather_x16_i32_r3__simd128", gather_x16_i32_r3__simd128),
                    private::IndexEntry::new::<
                        private::Fixed<2>,
                        private::i32,
                        private::Simd128,
                    >("gather_x16_i32_rn__simd128", gather_x16_i32_rn__simd128),
                ],
                scatter: &[],
                space: &[],
            },
        ],
    };

    unsafe { private::KernelSet::new(__TABLES) }
};
