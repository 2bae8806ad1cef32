// gather_core::kernels! {
//     static ROWS;
//     elements: [u8];
//     indices: [i64];
//     ranks: 1;
//     ops: [gather];
//     units: [rows];
// }

#[allow(non_snake_case, unused_qualifications)]
static ROWS: ::gather_core::KernelSet = {
    use ::gather_core::private as __g;
    const _: () = __g::assert_width::<u8>("u8", 1);

    /// The loop nest of rank 1: no loop around the lanes.
    ///
    /// # Safety
    /// The kernel contract for `args`: every cursor that the loops step to is an outer coordinate's.
    #[inline(always)]
    unsafe fn index_nest_r1<B: __g::IndexBody>(
        args: &__g::IndexArgs<'_>,
    ) -> __g::Verdict {
        let [..] = args.loops::<1>();
        let mut body = B::start(args);
        let mut units = __g::Units::new();
        unsafe { body.lanes(&mut units, args, args.origin()) };
        body.verdict()
    }

    /// Gathers 8-bit units through `i64` indices, nest rank 1, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_x8_i64_r1__scalar(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe {
            index_nest_r1::<__g::Gather<__g::Fixed<1>, __g::i64, __g::Scalar>>(args)
        }
    }

    /// Gathers rows through `i64` indices, nest rank 1, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_rows_i64_r1__scalar(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe { index_nest_r1::<__g::Gather<__g::Rows, __g::i64, __g::Scalar>>(args) }
    }

    /// Gathers 8-bit units through `i64` indices, nest rank 1, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_x8_i64_r1__avx2(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe { index_nest_r1::<__g::Gather<__g::Fixed<1>, __g::i64, __g::Avx2>>(args) }
    }

    /// Gathers rows through `i64` indices, nest rank 1, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_rows_i64_r1__avx2(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe { index_nest_r1::<__g::Gather<__g::Rows, __g::i64, __g::Avx2>>(args) }
    }

    __g::KernelSet::new(__g::Tables {
        name: "ROWS",
        elements: &[
            __g::ElementRow {
                dtype: <u8 as __g::Element>::DTYPE,
                unit: 0,
            },
        ],
        indices: &[
            __g::IndexRow {
                index: __g::IndexType::I64,
                word: 0,
            },
        ],
        ranks: &[1],
        ops: &[__g::Op::Gather],
        units: &[
            __g::UnitRow {
                name: "x8",
                bytes: 1,
            },
            __g::UnitRow {
                name: "rows",
                bytes: 0,
            },
        ],
        words: &["i64"],
        levels: &[
            __g::LevelTable {
                level: __g::Level::Scalar,
                index: &[
                    __g::IndexEntry {
                        name: "gather_x8_i64_r1__scalar",
                        run: gather_x8_i64_r1__scalar,
                    },
                    __g::IndexEntry {
                        name: "gather_rows_i64_r1__scalar",
                        run: gather_rows_i64_r1__scalar,
                    },
                ],
                copy: &[],
            },
            #[cfg(target_arch = "x86_64")]
            __g::LevelTable {
                level: __g::Level::Avx2,
                index: &[
                    __g::IndexEntry {
                        name: "gather_x8_i64_r1__avx2",
                        run: gather_x8_i64_r1__avx2,
                    },
                    __g::IndexEntry {
                        name: "gather_rows_i64_r1__avx2",
                        run: gather_rows_i64_r1__avx2,
                    },
                ],
                copy: &[],
            },
        ],
    })
};
