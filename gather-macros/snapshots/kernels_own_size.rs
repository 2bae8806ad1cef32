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
    use ::gather_core::private as __g;

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

    /// Gathers `point` units through `u32` indices, nest rank 1, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn gather_point_u32_r1__scalar(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe {
            index_nest_r1::<
                __g::Gather<
                    __g::Fixed<{ __g::size_of::<Point>() }>,
                    __g::u32,
                    __g::Scalar,
                >,
            >(args)
        }
    }

    /// Gathers `point` units through `u32` indices, nest rank 1, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn gather_point_u32_r1__avx2(args: &__g::IndexArgs<'_>) -> __g::Verdict {
        unsafe {
            index_nest_r1::<
                __g::Gather<__g::Fixed<{ __g::size_of::<Point>() }>, __g::u32, __g::Avx2>,
            >(args)
        }
    }

    __g::KernelSet::new(__g::Tables {
        name: "POINTS",
        elements: &[
            __g::ElementRow {
                dtype: <Point as __g::Element>::DTYPE,
                unit: 0,
            },
        ],
        indices: &[
            __g::IndexRow {
                index: __g::IndexType::U32,
                word: 0,
            },
        ],
        ranks: &[1],
        ops: &[__g::Op::GatherElements],
        units: &[
            __g::UnitRow {
                name: "point",
                bytes: __g::size_of::<Point>(),
            },
        ],
        words: &["u32"],
        levels: &[
            __g::LevelTable {
                level: __g::Level::Scalar,
                index: &[
                    __g::IndexEntry {
                        name: "gather_point_u32_r1__scalar",
                        run: gather_point_u32_r1__scalar,
                    },
                ],
                copy: &[],
            },
            #[cfg(target_arch = "x86_64")]
            __g::LevelTable {
                level: __g::Level::Avx2,
                index: &[
                    __g::IndexEntry {
                        name: "gather_point_u32_r1__avx2",
                        run: gather_point_u32_r1__avx2,
                    },
                ],
                copy: &[],
            },
        ],
    })
};
