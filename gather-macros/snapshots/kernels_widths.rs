// gather_core::kernels! {
//     static WIDTHS;
//     elements: [f32, f64, Colour as x32];
//     indices: [i64];
//     ranks: 2;
//     ops: [gather];
// }

#[allow(non_snake_case, unused_qualifications)]
static WIDTHS: ::gather_core::KernelSet = {
    const _: () = private::assert_width::<f32>("f32", 4);
    const _: () = private::assert_width::<f64>("f64", 8);
    const _: () = private::assert_width::<Colour>("Colour", 4);

    /// Gathers rows of 4 bytes through `i64` indices, loop nest of rank 2, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_x32_i64_r2__scalar(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r2(
                args,
                private::body::<private::Fixed<4>, private::i64, private::Scalar>(args),
            )
        }
    }

    /// Gathers rows of 8 bytes through `i64` indices, loop nest of rank 2, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_x64_i64_r2__scalar(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r2(
                args,
                private::body::<private::Fixed<8>, private::i64, private::Scalar>(args),
            )
        }
    }

    /// Gathers rows of 4 bytes through `i64` indices, loop nest of rank 2, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_x32_i64_r2__avx2(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r2(
                args,
                private::body::<private::Fixed<4>, private::i64, private::Avx2>(args),
            )
        }
    }

    /// Gathers rows of 8 bytes through `i64` indices, loop nest of rank 2, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_x64_i64_r2__avx2(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r2(
                args,
                private::body::<private::Fixed<8>, private::i64, private::Avx2>(args),
            )
        }
    }

    /// Gathers rows of 4 bytes through `i64` indices, loop nest of rank 2, avx512 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn gather_x32_i64_r2__avx512(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r2(
                args,
                private::body::<private::Fixed<4>, private::i64, private::Avx512>(args),
            )
        }
    }

    /// Gathers rows of 8 bytes through `i64` indices, loop nest of rank 2, avx512 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn gather_x64_i64_r2__avx512(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r2(
                args,
                private::body::<private::Fixed<8>, private::i64, private::Avx512>(args),
            )
        }
    }

    /// Gathers rows of 4 bytes through `i64` indices, loop nest of rank 2, neon level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
    )]
    unsafe fn gather_x32_i64_r2__neon(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r2(
                args,
                private::body::<private::Fixed<4>, private::i64, private::Neon>(args),
            )
        }
    }

    /// Gathers rows of 8 bytes through `i64` indices, loop nest of rank 2, neon level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
    )]
    unsafe fn gather_x64_i64_r2__neon(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r2(
                args,
                private::body::<private::Fixed<8>, private::i64, private::Neon>(args),
            )
        }
    }

    /// Gathers rows of 4 bytes through `i64` indices, loop nest of rank 2, simd128 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "wasm32", target_endian = "little", target_feature = "simd128")
    )]
    unsafe fn gather_x32_i64_r2__simd128(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r2(
                args,
                private::body::<private::Fixed<4>, private::i64, private::Simd128>(args),
            )
        }
    }

    /// Gathers rows of 8 bytes through `i64` indices, loop nest of rank 2, simd128 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "wasm32", target_endian = "little", target_feature = "simd128")
    )]
    unsafe fn gather_x64_i64_r2__simd128(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r2(
                args,
                private::body::<private::Fixed<8>, private::i64, private::Simd128>(args),
            )
        }
    }

    /// SAFETY: each kernel runs what its place says, as `KernelSet::new` asks for. The functions above and the
    /// entries here are emitted from one list, in one order.
    const __TABLES: private::Tables = private::Tables {
        name: "WIDTHS",
        elements: &[
            private::ElementRow {
                dtype: <f32 as private::Element>::DTYPE,
                width: 0,
            },
            private::ElementRow {
                dtype: <f64 as private::Element>::DTYPE,
                width: 1,
            },
            private::ElementRow {
                dtype: <Colour as private::Element>::DTYPE,
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
        reprs: &["i64"],
        levels: &[
            private::LevelTable {
                level: private::Level::Scalar,
                index: &[
                    private::IndexEntry::new::<
                        private::Fixed<4>,
                        private::i64,
                        private::Scalar,
                    >("gather_x32_i64_r2__scalar", gather_x32_i64_r2__scalar),
                    private::IndexEntry::new::<
                        private::Fixed<8>,
                        private::i64,
                        private::Scalar,
                    >("gather_x64_i64_r2__scalar", gather_x64_i64_r2__scalar),
                ],
                scatter: &[],
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx2,
                index: &[
                    private::IndexEntry::new::<
                        private::Fixed<4>,
                        private::i64,
                        private::Avx2,
                    >("gather_x32_i64_r2__avx2", gather_x32_i64_r2__avx2),
                    private::IndexEntry::new::<
                        private::Fixed<8>,
                        private::i64,
                        private::Avx2,
                    >("gather_x64_i64_r2__avx2", gather_x64_i64_r2__avx2),
                ],
                scatter: &[],
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx512,
                index: &[
                    private::IndexEntry::new::<
                        private::Fixed<4>,
                        private::i64,
                        private::Avx512,
                    >("gather_x32_i64_r2__avx512", gather_x32_i64_r2__avx512),
                    private::IndexEntry::new::<
                        private::Fixed<8>,
                        private::i64,
                        private::Avx512,
                    >("gather_x64_i64_r2__avx512", gather_x64_i64_r2__avx512),
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
                        private::Fixed<4>,
                        private::i64,
                        private::Neon,
                    >("gather_x32_i64_r2__neon", gather_x32_i64_r2__neon),
                    private::IndexEntry::new::<
                        private::Fixed<8>,
                        private::i64,
                        private::Neon,
                    >("gather_x64_i64_r2__neon", gather_x64_i64_r2__neon),
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
                        private::Fixed<4>,
                        private::i64,
                        private::Simd128,
                    >("gather_x32_i64_r2__simd128", gather_x32_i64_r2__simd128),
                    private::IndexEntry::new::<
                        private::Fixed<8>,
                        private::i64,
                        private::Simd128,
                    >("gather_x64_i64_r2__simd128", gather_x64_i64_r2__simd128),
                ],
                scatter: &[],
                space: &[],
            },
        ],
    };

    unsafe { private::KernelSet::new(__TABLES) }
};
