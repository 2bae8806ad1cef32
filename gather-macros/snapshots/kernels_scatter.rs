// gather_core::kernels! {
//     static SCATTERS;
//     elements: [f32];
//     indices: [i32];
//     ranks: 3, any;
//     ops: [scatter_elements, scatter_nd];
// }

#[allow(non_snake_case, unused_qualifications)]
static SCATTERS: ::gather_core::KernelSet = {
    const _: () = private::assert_width::<f32>("f32", 4);

    /// Scatters rows through `i32` indices, loop nest of rank 3, scalar level.
    ///
    /// # Safety
    /// The contract of a scatter.
    unsafe fn scatter_i32_r3__scalar(args: &private::IndexArgs<'_>) -> private::Outcome {
        unsafe {
            private::index_nest_r3(
                args,
                private::scatter_body::<private::i32, private::Scalar>(args),
            )
        }
    }

    /// Scatters rows through `i32` indices, loop nest of any rank, scalar level.
    ///
    /// # Safety
    /// The contract of a scatter.
    unsafe fn scatter_i32_rn__scalar(args: &private::IndexArgs<'_>) -> private::Outcome {
        unsafe {
            private::index_nest_any(
                args,
                private::scatter_body::<private::i32, private::Scalar>(args),
            )
        }
    }

    /// Scatters rows through `i32` indices, loop nest of rank 3, avx2 level.
    ///
    /// # Safety
    /// The contract of a scatter.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn scatter_i32_r3__avx2(args: &private::IndexArgs<'_>) -> private::Outcome {
        unsafe {
            private::index_nest_r3(
                args,
                private::scatter_body::<private::i32, private::Avx2>(args),
            )
        }
    }

    /// Scatters rows through `i32` indices, loop nest of any rank, avx2 level.
    ///
    /// # Safety
    /// The contract of a scatter.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn scatter_i32_rn__avx2(args: &private::IndexArgs<'_>) -> private::Outcome {
        unsafe {
            private::index_nest_any(
                args,
                private::scatter_body::<private::i32, private::Avx2>(args),
            )
        }
    }

    /// Scatters rows through `i32` indices, loop nest of rank 3, avx512 level.
    ///
    /// # Safety
    /// The contract of a scatter.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn scatter_i32_r3__avx512(args: &private::IndexArgs<'_>) -> private::Outcome {
        unsafe {
            private::index_nest_r3(
                args,
                private::scatter_body::<private::i32, private::Avx512>(args),
            )
        }
    }

    /// Scatters rows through `i32` indices, loop nest of any rank, avx512 level.
    ///
    /// # Safety
    /// The contract of a scatter.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn scatter_i32_rn__avx512(args: &private::IndexArgs<'_>) -> private::Outcome {
        unsafe {
            private::index_nest_any(
                args,
                private::scatter_body::<private::i32, private::Avx512>(args),
            )
        }
    }

    /// Scatters rows through `i32` indices, loop nest of rank 3, neon level.
    ///
    /// # Safety
    /// The contract of a scatter.
    #[cfg(
        all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
    )]
    unsafe fn scatter_i32_r3__neon(args: &private::IndexArgs<'_>) -> private::Outcome {
        unsafe {
            private::index_nest_r3(
                args,
                private::scatter_body::<private::i32, private::Neon>(args),
            )
        }
    }

    /// Scatters rows through `i32` indices, loop nest of any rank, neon level.
    ///
    /// # Safety
    /// The contract of a scatter.
    #[cfg(
        all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
    )]
    unsafe fn scatter_i32_rn__neon(args: &private::IndexArgs<'_>) -> private::Outcome {
        unsafe {
            private::index_nest_any(
                args,
                private::scatter_body::<private::i32, private::Neon>(args),
            )
        }
    }

    /// Scatters rows through `i32` indices, loop nest of rank 3, simd128 level.
    ///
    /// # Safety
    /// The contract of a scatter.
    #[cfg(
        all(target_arch = "wasm32", target_endian = "little", target_feature = "simd128")
    )]
    unsafe fn scatter_i32_r3__simd128(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_r3(
                args,
                private::scatter_body::<private::i32, private::Simd128>(args),
            )
        }
    }

    /// Scatters rows through `i32` indices, loop nest of any rank, simd128 level.
    ///
    /// # Safety
    /// The contract of a scatter.
    #[cfg(
        all(target_arch = "wasm32", target_endian = "little", target_feature = "simd128")
    )]
    unsafe fn scatter_i32_rn__simd128(
        args: &private::IndexArgs<'_>,
    ) -> private::Outcome {
        unsafe {
            private::index_nest_any(
                args,
                private::scatter_body::<private::i32, private::Simd128>(args),
            )
        }
    }

    /// SAFETY: each kernel runs what its place says, as `KernelSet::new` asks for. The functions above and the
    /// entries here are emitted from one list, in one order.
    const __TABLES: private::Tables = private::Tables {
        name: "SCATTERS",
        elements: &[
            private::ElementRow {
                dtype: <f32 as private::Element>::DTYPE,
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
        reprs: &["i32"],
        levels: &[
            private::LevelTable {
                level: private::Level::Scalar,
                index: &[],
                scatter: &[
                    private::ScatterEntry {
                        name: "scatter_i32_r3__scalar",
                        run: scatter_i32_r3__scalar,
                    },
                    private::ScatterEntry {
                        name: "scatter_i32_rn__scalar",
                        run: scatter_i32_rn__scalar,
                    },
                ],
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx2,
                index: &[],
                scatter: &[
                    private::ScatterEntry {
                        name: "scatter_i32_r3__avx2",
                        run: scatter_i32_r3__avx2,
                    },
                    private::ScatterEntry {
                        name: "scatter_i32_rn__avx2",
                        run: scatter_i32_rn__avx2,
                    },
                ],
                space: &[],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx512,
                index: &[],
                scatter: &[
                    private::ScatterEntry {
                        name: "scatter_i32_r3__avx512",
                        run: scatter_i32_r3__avx512,
                    },
                    private::ScatterEntry {
                        name: "scatter_i32_rn__avx512",
                        run: scatter_i32_rn__avx512,
                    },
                ],
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
                scatter: &[
                    private::ScatterEntry {
                        name: "scatter_i32_r3__neon",
                        run: scatter_i32_r3__neon,
                    },
                    private::ScatterEntry {
                        name: "scatter_i32_rn__neon",
                        run: scatter_i32_rn__neon,
                    },
                ],
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
                scatter: &[
                    private::ScatterEntry {
                        name: "scatter_i32_r3__simd128",
                        run: scatter_i32_r3__simd128,
                    },
                    private::ScatterEntry {
                        name: "scatter_i32_rn__simd128",
                        run: scatter_i32_rn__simd128,
                    },
                ],
                space: &[],
            },
        ],
    };

    unsafe { private::KernelSet::new(__TABLES) }
};
