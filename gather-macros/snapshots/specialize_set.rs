// gather_core::specialize! {
//     /// The kernels of a model, for its registry.
//     pub static MODEL;
//     fn widen = gather(axis = 0, map = F16_TO_F32) (f16[_, 384], u32[_]) -> f32;
//     fn rows = gather::openvino8(axis = 0) (f32[_, 16], u32[_]);
// }

/// `gather` of data `f16[_, 384]` by indices `u32[_]` into `f32[_, 384]`, all row-major.
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
        u32,
        0,
    >(&F16_TO_F32, data, indices, [], out)
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
    ],
);
