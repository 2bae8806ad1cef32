// gather_core::kernels! {
//     static ANY;
//     elements: [u16];
//     indices: [i32];
//     ranks: 3, any;
//     ops: [gather_nd];
// }

#[allow(non_snake_case, unused_qualifications)]
static ANY: ::gather_core::KernelSet = {
    use ::gather_core::private as __g;
    const _: () = __g::assert_width::<u16>("u16", 2);

    /// The loop nest of rank 3: one loop around a plane of lanes.
    ///
    /// # Safety
    /// The kernel contract for `args`: every cursor that the loops step to is an outer coordinate's.
    #[inline(always)]
    unsafe fn index_nest_r3<B: __g::IndexBody>(
        args: &__g::IndexArgs<'_>,
    ) -> __g::Verdict {
        let [loop0, ..] = args.loops::<3>();
        let mut body = B::start(args);
        let mut units = __g::Units::new();
        let mut at0 = args.origin();
        for _ in 0..loop0.n {
            unsafe { body.plane(&mut units, args, at0) };
            at0 = at0.step(loop0);
        }
        body.verdict()
    }

    /// Gathers 16-bit units through `i32` indices, nest rank 3, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_x16_i32_r3__scalar(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe {
            index_nest_r3::<__g::Gather<__g::Fixed<2>, __g::i32, __g::Scalar>>(args)
        }
    }

    /// Gathers 16-bit units through `i32` indices, nest of any rank, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_x16_i32_rn__scalar(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe {
            __g::index_nest_any::<
                __g::Gather<__g::Fixed<2>, __g::i32, __g::Scalar>,
            >(args)
        }
    }

    /// Gathers 16-bit units through `i32` indices, nest rank 3, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_x16_i32_r3__avx2(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe { index_nest_r3::<__g::Gather<__g::Fixed<2>, __g::i32, __g::Avx2>>(args) }
    }

    /// Gathers 16-bit units through `i32` indices, nest of any rank, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_x16_i32_rn__avx2(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe {
            __g::index_nest_any::<__g::Gather<__g::Fixed<2>, __g::i32, __g::Avx2>>(args)
        }
    }

    __g::KernelSet::new(__g::Tables {
        name: "ANY",
        elements: &[
            __g::ElementRow {
                dtype: <u16 as __g::Element>::DTYPE,
                unit: 0,
            },
        ],
        indices: &[
            __g::IndexRow {
                index: __g::IndexType::I32,
                word: 0,
            },
        ],
        ranks: &[3, 0],
        ops: &[__g::Op::GatherNd],
        units: &[
            __g::UnitRow {
                name: "x16",
                bytes: 2,
            },
        ],
        words: &["i32"],
        levels: &[
            __g::LevelTable {
                level: __g::Level::Scalar,
                index: &[
                    __g::IndexEntry {
                        name: "gather_x16_i32_r3__scalar",
                        run: gather_x16_i32_r3__scalar,
                    },
                    __g::IndexEntry {
                        name: "gather_x16_i32_rn__scalar",
                        run: gather_x16_i32_rn__scalar,
                    },
                ],
                copy: &[],
            },
            #[cfg(target_arch = "x86_64")]
            __g::LevelTable {
                level: __g::Level::Avx2,
                index: &[
                    __g::IndexEntry {
                        name: "gather_x16_i32_r3__avx2",
                        run: gather_x16_i32_r3__avx2,
                    },
                    __g::IndexEntry {
                        name: "gather_x16_i32_rn__avx2",
                        run: gather_x16_i32_rn__avx2,
                    },
                ],
                copy: &[],
            },
        ],
    })
};
