// gather_core::kernels! {
//     static BLOCKS;
//     elements: [f32];
//     indices: [i32];
//     ranks: 2..=3;
//     ops: [batch_to_space];
// }

#[allow(non_snake_case, unused_qualifications)]
static BLOCKS: ::gather_core::KernelSet = {
    const _: () = private::assert_width::<f32>("f32", 4);

    /// Rearranges rows of 4 bytes, loop nest of rank 2, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn rearrange_x32_r2__scalar(args: &private::SpaceArgs<'_>) {
        unsafe {
            private::space_nest_r2(
                args,
                private::space_plane::<private::Fixed<4>, private::Scalar>,
            )
        }
    }

    /// Rearranges rows of 4 bytes, loop nest of rank 3, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn rearrange_x32_r3__scalar(args: &private::SpaceArgs<'_>) {
        unsafe {
            private::space_nest_r3(
                args,
                private::space_plane::<private::Fixed<4>, private::Scalar>,
            )
        }
    }

    /// Rearranges rows of 4 bytes, loop nest of rank 2, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn rearrange_x32_r2__avx2(args: &private::SpaceArgs<'_>) {
        unsafe {
            private::space_nest_r2(
                args,
                private::space_plane::<private::Fixed<4>, private::Avx2>,
            )
        }
    }

    /// Rearranges rows of 4 bytes, loop nest of rank 3, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn rearrange_x32_r3__avx2(args: &private::SpaceArgs<'_>) {
        unsafe {
            private::space_nest_r3(
                args,
                private::space_plane::<private::Fixed<4>, private::Avx2>,
            )
        }
    }

    /// Rearranges rows of 4 bytes, loop nest of rank 2, avx512 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn rearrange_x32_r2__avx512(args: &private::SpaceArgs<'_>) {
        unsafe {
            private::space_nest_r2(
                args,
                private::space_plane::<private::Fixed<4>, private::Avx512>,
            )
        }
    }

    /// Rearranges rows of 4 bytes, loop nest of rank 3, avx512 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn rearrange_x32_r3__avx512(args: &private::SpaceArgs<'_>) {
        unsafe {
            private::space_nest_r3(
                args,
                private::space_plane::<private::Fixed<4>, private::Avx512>,
            )
        }
    }

    /// Rearranges rows of 4 bytes, loop nest of rank 2, neon level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
    )]
    unsafe fn rearrange_x32_r2__neon(args: &private::SpaceArgs<'_>) {
        unsafe {
            private::space_nest_r2(
                args,
                private::space_plane::<private::Fixed<4>, private::Neon>,
            )
        }
    }

    /// Rearranges rows of 4 bytes, loop nest of rank 3, neon level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
    )]
    unsafe fn rearrange_x32_r3__neon(args: &private::SpaceArgs<'_>) {
        unsafe {
            private::space_nest_r3(
                args,
                private::space_plane::<private::Fixed<4>, private::Neon>,
            )
        }
    }

    /// Rearranges rows of 4 bytes, loop nest of rank 2, simd128 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "wasm32", target_endian = "little", target_feature = "simd128")
    )]
    unsafe fn rearrange_x32_r2__simd128(args: &private::SpaceArgs<'_>) {
        unsafe {
            private::space_nest_r2(
                args,
                private::space_plane::<private::Fixed<4>, private::Simd128>,
            )
        }
    }

    /// Rearranges rows of 4 bytes, loop nest of rank 3, simd128 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(
        all(target_arch = "wasm32", target_endian = "little", target_feature = "simd128")
    )]
    unsafe fn rearrange_x32_r3__simd128(args: &private::SpaceArgs<'_>) {
        unsafe {
            private::space_nest_r3(
                args,
                private::space_plane::<private::Fixed<4>, private::Simd128>,
            )
        }
    }

    /// SAFETY: each kernel runs what its place says, as `KernelSet::new` asks for. The functions above and the
    /// entries here are emitted from one list, in one order.
    const __TABLES: private::Tables = private::Tables {
        name: "BLOCKS",
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
        ranks: &[2, 3],
        ops: &[private::Op::BatchToSpace],
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
                scatter: &[],
                space: &[
                    private::SpaceEntry {
                        name: "rearrange_x32_r2__scalar",
                        run: rearrange_x32_r2__scalar,
                    },
                    private::SpaceEntry {
                        name: "rearrange_x32_r3__scalar",
                        run: rearrange_x32_r3__scalar,
                    },
                ],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx2,
                index: &[],
                scatter: &[],
                space: &[
                    private::SpaceEntry {
                        name: "rearrange_x32_r2__avx2",
                        run: rearrange_x32_r2__avx2,
                    },
                    private::SpaceEntry {
                        name: "rearrange_x32_r3__avx2",
                        run: rearrange_x32_r3__avx2,
                    },
                ],
            },
            #[cfg(target_arch = "x86_64")]
            private::LevelTable {
                level: private::Level::Avx512,
                index: &[],
                scatter: &[],
                space: &[
                    private::SpaceEntry {
                        name: "rearrange_x32_r2__avx512",
                        run: rearrange_x32_r2__avx512,
                    },
                    private::SpaceEntry {
                        name: "rearrange_x32_r3__avx512",
                        run: rearrange_x32_r3__avx512,
                    },
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
                scatter: &[],
                space: &[
                    private::SpaceEntry {
                        name: "rearrange_x32_r2__neon",
                        run: rearrange_x32_r2__neon,
                    },
                    private::SpaceEntry {
                        name: "rearrange_x32_r3__neon",
                        run: rearrange_x32_r3__neon,
                    },
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
                scatter: &[],
                space: &[
                    private::SpaceEntry {
                        name: "rearrange_x32_r2__simd128",
                        run: rearrange_x32_r2__simd128,
                    },
                    private::SpaceEntry {
                        name: "rearrange_x32_r3__simd128",
                        run: rearrange_x32_r3__simd128,
                    },
                ],
            },
        ],
    };

    unsafe { private::KernelSet::new(__TABLES) }
};
