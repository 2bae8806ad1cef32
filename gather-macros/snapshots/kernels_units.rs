// gather_core::kernels! {
//     static UNITS;
//     elements: [f32, f64, Colour as x32];
//     indices: [i64];
//     ranks: 2;
//     ops: [gather];
// }

#[allow(non_snake_case, unused_qualifications)]
static UNITS: ::gather_core::KernelSet = {
    use ::gather_core::private as __g;
    const _: () = __g::assert_width::<f32>("f32", 4);
    const _: () = __g::assert_width::<f64>("f64", 8);
    const _: () = __g::assert_width::<Colour>("Colour", 4);

    /// The loop nest of rank 2: no loop around a plane of lanes.
    ///
    /// # Safety
    /// The kernel contract for `args`: every cursor that the loops step to is an outer coordinate's.
    #[inline(always)]
    unsafe fn index_nest_r2<B: __g::IndexBody>(
        args: &__g::IndexArgs<'_>,
    ) -> __g::Verdict {
        let [..] = args.loops::<2>();
        let mut body = B::start(args);
        let mut units = __g::Units::new();
        unsafe { body.plane(&mut units, args, args.origin()) };
        body.verdict()
    }

    /// Gathers 32-bit units through `i64` indices, nest rank 2, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_x32_i64_r2__scalar(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe {
            index_nest_r2::<__g::Gather<__g::Fixed<4>, __g::i64, __g::Scalar>>(args)
        }
    }

    /// Gathers 64-bit units through `i64` indices, nest rank 2, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_x64_i64_r2__scalar(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe {
            index_nest_r2::<__g::Gather<__g::Fixed<8>, __g::i64, __g::Scalar>>(args)
        }
    }

    /// Gathers 32-bit units through `i64` indices, nest rank 2, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_x32_i64_r2__avx2(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe { index_nest_r2::<__g::Gather<__g::Fixed<4>, __g::i64, __g::Avx2>>(args) }
    }

    /// Gathers 64-bit units through `i64` indices, nest rank 2, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_x64_i64_r2__avx2(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe { index_nest_r2::<__g::Gather<__g::Fixed<8>, __g::i64, __g::Avx2>>(args) }
    }

    __g::KernelSet::new(__g::Tables {
        name: "UNITS",
        elements: &[
            __g::ElementRow {
                dtype: <f32 as __g::Element>::DTYPE,
                unit: 0,
            },
            __g::ElementRow {
                dtype: <f64 as __g::Element>::DTYPE,
                unit: 1,
            },
            __g::ElementRow {
                dtype: <Colour as __g::Element>::DTYPE,
                unit: 0,
            },
        ],
        indices: &[
            __g::IndexRow {
                index: __g::IndexType::I64,
                word: 0,
            },
        ],
        ranks: &[2],
        ops: &[__g::Op::Gather],
        units: &[
            __g::UnitRow {
                name: "x32",
                bytes: 4,
            },
            __g::UnitRow {
                name: "x64",
                bytes: 8,
            },
        ],
        words: &["i64"],
        levels: &[
            __g::LevelTable {
                level: __g::Level::Scalar,
                index: &[
                    __g::IndexEntry {
                        name: "gather_x32_i64_r2__scalar",
                        run: gather_x32_i64_r2__scalar,
                    },
                    __g::IndexEntry {
                        name: "gather_x64_i64_r2__scalar",
                        run: gather_x64_i64_r2__scalar,
                    },
                ],
                copy: &[],
            },
            #[cfg(target_arch = "x86_64")]
            __g::LevelTable {
                level: __g::Level::Avx2,
                index: &[
                    __g::IndexEntry {
                        name: "gather_x32_i64_r2__avx2",
                        run: gather_x32_i64_r2__avx2,
                    },
                    __g::IndexEntry {
                        name: "gather_x64_i64_r2__avx2",
                        run: gather_x64_i64_r2__avx2,
                    },
                ],
                copy: &[],
            },
        ],
    })
};
