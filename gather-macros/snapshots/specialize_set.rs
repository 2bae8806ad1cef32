// gather_core::specialize! {
//     /// The kernels of a model, for its registry.
//     pub static MODEL = [lines::<u8, i64>];
//     fn widen = gather(axis = 0, map = F16_TO_F32) (f16[_, 384], u32[_]) -> f32;
//     fn rows = gather::openvino8(axis = 0) (f32[_, 16], u32[_]);
//     fn lines<T: Element, I: Index> = gather_elements(axis = 1) ([T; 2][_, 4], I[_, 4]);
//     fn image = batch_to_space(block = [1, 2, 2]) (u8[_, 8, 8]);
// }

/// `gather` of data `f16[_, 384]` by indices `u32[_]` into `f32[_, 384]`, all row-major.
/// Each element is converted by `F16_TO_F32`.
///
/// # Errors
/// For slices of other lengths, then for the first index that is out of range.
#[inline]
fn widen(
    data: &[f16],
    indices: &[u32],
    out: &mut [f32],
) -> private::core::result::Result<(), ::gather_core::Error> {
    enum __Declaration {}
    impl private::Declaration for __Declaration {
        const DECLARED: private::Declared = private::Declared::gather(
            &[private::ANY, 384],
            &[private::ANY],
            0,
            0,
        );
    }
    private::gather_map::<
        __Declaration,
        f16,
        f32,
        (),
        u32,
        0,
    >(&F16_TO_F32, data, indices, (), [], out)
}

/// `gather` of data `f32[_, 16]` by indices `u32[_]` into `f32[_, 16]`, all row-major.
/// Indices out of range yield zeros.
///
/// # Errors
/// For slices of other lengths.
#[inline]
fn rows(
    data: &[f32],
    indices: &[u32],
    out: &mut [f32],
) -> private::core::result::Result<(), ::gather_core::Error> {
    enum __Declaration {}
    impl private::Declaration for __Declaration {
        const DECLARED: private::Declared = private::Declared::gather(
                &[private::ANY, 16],
                &[private::ANY],
                0,
                0,
            )
            .out_of_bounds(private::OutOfBounds::Zero);
    }
    private::gather::<__Declaration, f32, u32, 0>(data, indices, [], out)
}

/// `gather_elements` of data `[T; 2][_, 4]` by indices `I[_, 4]` into `[T; 2][_, 4]`, all row-major.
///
/// # Errors
/// For slices of other lengths, then for the first index that is out of range.
#[inline]
fn lines<T: Element, I: Index>(
    data: &[[T; 2]],
    indices: &[I],
    out: &mut [[T; 2]],
) -> private::core::result::Result<(), ::gather_core::Error> {
    enum __Declaration {}
    impl private::Declaration for __Declaration {
        const DECLARED: private::Declared = private::Declared::gather_elements(
            &[private::ANY, 4],
            &[private::ANY, 4],
            1,
        );
    }
    private::gather::<__Declaration, [T; 2], I, 0>(data, indices, [], out)
}

/// `batch_to_space` of data `u8[_, 8, 8]` into `u8[_, 16, 16]`, all row-major.
///
/// # Errors
/// For slices of other lengths.
#[inline]
fn image(
    data: &[u8],
    out: &mut [u8],
) -> private::core::result::Result<(), ::gather_core::Error> {
    enum __Declaration {}
    impl private::Declaration for __Declaration {
        const DECLARED: private::Declared = private::Declared::batch_to_space(
            &[private::ANY, 8, 8],
            &[1, 2, 2],
            &[0, 0, 0],
            &[0, 0, 0],
        );
    }
    private::batch_to_space::<__Declaration, u8, 0>(data, [], out)
}

/// The kernels of a model, for its registry.
pub static MODEL: ::gather_core::KernelSet = private::KernelSet::shaped(
    "MODEL",
    &[
        {
            enum __Declaration {}
            impl private::Declaration for __Declaration {
                const DECLARED: private::Declared = private::Declared::gather(
                        &[private::ANY, 16],
                        &[private::ANY],
                        0,
                        0,
                    )
                    .out_of_bounds(private::OutOfBounds::Zero);
            }
            private::ShapedRow::gather::<
                __Declaration,
                f32,
                u32,
                0,
            >("rows f32[_, 16] u32[_]")
        },
        {
            enum __Declaration {}
            impl private::Declaration for __Declaration {
                const DECLARED: private::Declared = private::Declared::gather_elements(
                    &[private::ANY, 4],
                    &[private::ANY, 4],
                    1,
                );
            }
            private::ShapedRow::gather::<
                __Declaration,
                [u8; 2],
                i64,
                0,
            >("lines [u8; 2][_, 4] i64[_, 4]")
        },
        {
            enum __Declaration {}
            impl private::Declaration for __Declaration {
                const DECLARED: private::Declared = private::Declared::batch_to_space(
                    &[private::ANY, 8, 8],
                    &[1, 2, 2],
                    &[0, 0, 0],
                    &[0, 0, 0],
                );
            }
            private::ShapedRow::batch_to_space::<
                __Declaration,
                u8,
                0,
            >("image u8[_, 8, 8]")
        },
    ],
);
