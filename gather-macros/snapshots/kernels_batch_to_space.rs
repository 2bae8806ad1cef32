// gather_core::kernels! {
//     static BLOCKS;
//     elements: [f32];
//     indices: [i32];
//     ranks: 2..=3;
//     ops: [batch_to_space];
// }

#[allow(non_snake_case, unused_qualifications)]
static BLOCKS: ::gather_core::KernelSet = {
    use ::gather_core::private as __g;
    const _: () = __g::assert_width::<f32>("f32", 4);

    /// The BatchToSpace nest of rank 2: no loop around a plane of lanes.
    ///
    /// # Safety
    /// The kernel contract for `args`: every cursor that the loops step to is an outer coordinate's.
    #[inline(always)]
    unsafe fn copy_nest_r2<B: __g::CopyBody>(args: &__g::CopyArgs<'_>) {
        let [..] = args.loops::<2>();
        let mut body = B::start(args);
        unsafe { body.plane(args, args.origin()) };
    }

    /// The BatchToSpace nest of rank 3: one loop around a plane of lanes.
    ///
    /// # Safety
    /// The kernel contract for `args`: every cursor that the loops step to is an outer coordinate's.
    #[inline(always)]
    unsafe fn copy_nest_r3<B: __g::CopyBody>(args: &__g::CopyArgs<'_>) {
        let [loop0, ..] = args.loops::<3>();
        let mut body = B::start(args);
        let mut at0 = args.origin().enter(loop0);
        for _ in 0..loop0.n {
            unsafe { body.plane(args, at0.at()) };
            at0 = at0.step(loop0);
        }
    }

    /// `batch_to_space` of 32-bit units, nest rank 2, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn batch_to_space_x32_r2__scalar(args: &__g::CopyArgs<'_>) {
        unsafe { copy_nest_r2::<__g::BatchToSpace<__g::Fixed<4>, __g::Scalar>>(args) }
    }

    /// `batch_to_space` of 32-bit units, nest rank 3, scalar level.
    ///
    /// # Safety
    /// The kernel contract.
    unsafe fn batch_to_space_x32_r3__scalar(args: &__g::CopyArgs<'_>) {
        unsafe { copy_nest_r3::<__g::BatchToSpace<__g::Fixed<4>, __g::Scalar>>(args) }
    }

    /// `batch_to_space` of 32-bit units, nest rank 2, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn batch_to_space_x32_r2__avx2(args: &__g::CopyArgs<'_>) {
        unsafe { copy_nest_r2::<__g::BatchToSpace<__g::Fixed<4>, __g::Avx2>>(args) }
    }

    /// `batch_to_space` of 32-bit units, nest rank 3, avx2 level.
    ///
    /// # Safety
    /// The kernel contract.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn batch_to_space_x32_r3__avx2(args: &__g::CopyArgs<'_>) {
        unsafe { copy_nest_r3::<__g::BatchToSpace<__g::Fixed<4>, __g::Avx2>>(args) }
    }

    __g::KernelSet::new(__g::Tables {
        name: "BLOCKS",
        elements: &[
            __g::ElementRow {
                dtype: <f32 as __g::Element>::DTYPE,
                unit: 0,
            },
        ],
        indices: &[
            __g::IndexRow {
                index: __g::IndexType::I32,
                word: 0,
            },
        ],
        ranks: &[2, 3],
        ops: &[__g::Op::BatchToSpace],
        units: &[
            __g::UnitRow {
                name: "x32",
                bytes: 4,
            },
        ],
        words: &["i32"],
        levels: &[
            __g::LevelTable {
                level: __g::Level::Scalar,
                index: &[],
                copy: &[
                    __g::CopyEntry {
                        name: "batch_to_space_x32_r2__scalar",
                        run: batch_to_space_x32_r2__scalar,
                    },
                    __g::CopyEntry {
                        name: "batch_to_space_x32_r3__scalar",
                        run: batch_to_space_x32_r3__scalar,
                    },
                ],
            },
            #[cfg(target_arch = "x86_64")]
            __g::LevelTable {
                level: __g::Level::Avx2,
                index: &[],
                copy: &[
                    __g::CopyEntry {
                        name: "batch_to_space_x32_r2__avx2",
                        run: batch_to_space_x32_r2__avx2,
                    },
                    __g::CopyEntry {
                        name: "batch_to_space_x32_r3__avx2",
                        run: batch_to_space_x32_r3__avx2,
                    },
                ],
            },
        ],
    })
};
