// gather_core::kernels! {
//     static ROWS;
//     elements: [u8];
//     indices: [i64];
//     ranks: 1;
//     ops: [gather];
//     widths: [rows];
// }

#[allow(non_snake_case, unused_qualifications)]
static ROWS: ::gather_core::KernelSet = {
    const _: () = private::assert_width::<u8>("u8", 1);

    /// Gathers rows of 1 byte through `i64` indices, loop nest of rank 1, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_x8_i64_r1__scalar(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r1(
                args,
                private::body::<private::Fixed<1>, private::i64, private::Scalar>(args),
            )
        }
    }

    /// Gathers rows of any length through `i64` indices, loop nest of rank 1, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_rows_i64_r1__scalar(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r1(
                args,
                private::body::<private::Rows, private::i64, private::Scalar>(args),
            )
        }
    }

    /// Gathers rows of 1 byte through `i64` indices, loop nest of rank 1, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_x8_i64_r1__avx2(args: &private::IndexArgs<'_>) -> private::Outcome {
        unsafe {
            private::index_nest_r1(
                args,
                private::body::<private::Fixed<1>, private::i64, private::Avx2>(args),
            )
        }
    }

    /// Gathers rows of any length through `i64` indices, loop nest of rank 1, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_rows_i64_r1__avx2(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r1(
                args,
                private::body::<private::Rows, private::i64, private::Avx2>(args),
            )
        }
    }

    /// Gathers rows of 1 byte through `i64` indices, loop nest of rank 1, avx512 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn gather_x8_i64_r1__avx512(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r1(
                args,
                private::body::<private::Fixed<1>, private::i64, private::Avx512>(args),
            )
        }
    }

    /// Gathers rows of any length through `i64` indices, loop nest of rank 1, avx512 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn gather_rows_i64_r1__avx512(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r1(
                args,
                private::body::<private::Rows, private::i64, private::Avx512>(args),
            )
        }
    }

    /// Gathers rows of 1 byte through `i64` indices, loop nest of rank 1, neon level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
    )]
    unsafe fn gather_x8_i64_r1__neon(args: &private::IndexArgs<'_>) -> private::Outcome {
        unsafe {
            private::index_nest_r1(
                args,
                private::body::<private::Fixed<1>, private::i64, private::Neon>(args),
            )
        }
    }

    /// Gathers rows of any length through `i64` indices, loop nest of rank 1, neon level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
    )]
    unsafe fn gather_rows_i64_r1__neon(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r1(
                args,
                private::body::<private::Rows, private::i64, private::Neon>(args),
            )
        }
    }

    /// Gathers rows of 1 byte through `i64` indices, loop nest of rank 1, simd128 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "wasm32", target_endian = "little", target_feature = "simd128")
    )]
    unsafe fn gather_x8_i64_r1__simd128(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r1(
                args,
                private::body::<private::Fixed<1>, private::i64, private::Simd128>(args),
            )
        }
    }

    /// Gathers rows of any length through `i64` indices, loop nest of rank 1, simd128 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "wasm32", target_endian = "little", target_feature = "simd128")
    )]
    unsafe fn gather_rows_i64_r1__simd128(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r1(
                args,
                private::body::<private::Rows, private::i64, private::Simd128>(args),
            )
        }
    }

    /// SAFETY: each kernel runs what its place says, as `KernelSet::new` asks for. The functions above and the
    /// entries here are emitted from one list, in one order.
    const __TABLES: private::Tables = private::Tables {
        name: "ROWS",
        elements: &[
            private::ElementRow {
                dtype: <u8 as private::Element>::DTYPE,
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
        reprs: &["i64"],
        levels: &[
            private::LevelTable {
                level: private::Level::Scalar,
                index: &[
                    private::IndexEntry::new::<
                        private::Fixed<1>,
                        private::i64,
                        private::Scalar,
                    >("gather_x8_i64_r1__scalar", gather_x8_i64_r1__scalar),
                    private::IndexEntry::new::<
                        private::Rows,
                        private::i64,
                        private::Scalar,
                    >("gather_rows_i64_r1__scalar", gather_rows_i64_r1__scalar),
                ],
                scatter: &[],
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx2,
                index: &[
                    private::IndexEntry::new::<
                        private::Fixed<1>,
                        private::i64,
                        private::Avx2,
                    >("gather_x8_i64_r1__avx2", gather_x8_i64_r1__avx2),
                    private::IndexEntry::new::<
                        private::Rows,
                        private::i64,
                        private::Avx2,
                    >("gather_rows_i64_r1__avx2", gather_rows_i64_r1__avx2),
                ],
                scatter: &[],
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx512,
                index: &[
                    private::IndexEntry::new::<
                        private::Fixed<1>,
                        private::i64,
                        private::Avx512,
                    >("gather_x8_i64_r1__avx512", gather_x8_i64_r1__avx512),
                    private::IndexEntry::new::<
                        private::Rows,
                        private::i64,
                        private::Avx512,
                    >("gather_rows_i64_r1__avx512", gather_rows_i64_r1__avx512),
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
                        private::Fixed<1>,
                        private::i64,
                        private::Neon,
                    >("gather_x8_i64_r1__neon", gather_x8_i64_r1__neon),
                    private::IndexEntry::new::<
                        private::Rows,
                        private::i64,
                        private::Neon,
                    >("gather_rows_i64_r1__neon", gather_rows_i64_r1__neon),
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
                        private::Fixed<1>,
                        private::i64,
                        private::Simd128,
                    >("gather_x8_i64_r1__simd128", gather_x8_i64_r1__simd128),
                    private::IndexEntry::new::<
                        private::Rows,
                        private::i64,
                        private::Simd128,
                    >("gather_rows_i64_r1__simd128", gather_rows_i64_r1__simd128),
                ],
                scatter: &[],
                space: &[],
            },
        ],
    };

    unsafe { private::KernelSet::new(__TABLES) }
};
