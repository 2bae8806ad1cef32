// gather_core::specialize! {
//     /// Eight of 32 rows; zeros for ids out of range.
//     pub fn pick = gather(axis = 0, out_of_bounds = zero) (f32[32, 16], i64[8]);
// }

/// Eight of 32 rows; zeros for ids out of range.
///
/// `gather` of data `f32[32, 16]` by indices `i64[8]` into `f32[8, 16]`, all row-major.
/// Indices out of range yield zeros.
///
/// # Errors
/// For slices of other lengths.
#[inline]
pub fn pick(
    data: &[f32],
    indices: &[i64],
    out: &mut [f32],
) -> private::core::result::Result<(), ::gather_core::Error> {
    enum __Declaration {}
    impl private::Declaration for __Declaration {
        const DECLARED: private::Declared = private::Declared::gather(
                &[32, 16],
                &[8],
                0,
                0,
            )
            .out_of_bounds(private::OutOfBounds::Zero);
    }
    private::gather::<__Declaration, f32, i64, 0>(data, indices, [], out)
}

/// As `pick`, on arrays. Nothing but the indices is left to be checked.
#[allow(dead_code)]
#[inline]
pub fn pick_array(data: &[[f32; 16]; 32], indices: &[i64; 8]) -> [[f32; 16]; 8] {
    #[allow(dead_code)]
    fn __out() {}
    #[allow(dead_code)]
    fn __error() {}
    enum __Declaration {}
    impl private::Declaration for __Declaration {
        const DECLARED: private::Declared = private::Declared::gather(
                &[32, 16],
                &[8],
                0,
                0,
            )
            .out_of_bounds(private::OutOfBounds::Zero);
    }
    let mut __out = [[<f32 as ::gather_core::Element>::ZERO; 16]; 8];
    private::gather::<
        __Declaration,
        f32,
        i64,
        0,
    >(data.as_flattened(), indices, [], __out.as_flattened_mut())
        .unwrap_or_else(|__error| private::cannot_fail(__error));
    __out
}
