// gather_core::specialize! {
//     /// Rows of a table in bytes, with a scale for each or for all.
//     pub fn rows = gather(axis = 0, map = maps::dequantize(scale: f32, zero_point: u8)) (
//         u8[8, 16],
//         u32[4],
//     ) -> f32;
// }

/// Rows of a table in bytes, with a scale for each or for all.
///
/// `gather` of data `u8[8, 16]` by indices `u32[4]` into `f32[4, 16]`, all row-major.
/// Each element is converted by `maps::dequantize` with `scale`, `zero_point`.
///
/// # Errors
/// For slices of other lengths, then for parameters of other lengths, then for the first index that is out of range.
#[inline]
pub fn rows(
    data: &[u8],
    indices: &[u32],
    scale: ::gather_core::Given<'_, f32>,
    zero_point: ::gather_core::Given<'_, u8>,
    out: &mut [f32],
) -> private::core::result::Result<(), ::gather_core::Error> {
    enum __Declaration {}
    impl private::Declaration for __Declaration {
        const DECLARED: private::Declared = private::Declared::gather(
            &[8, 16],
            &[4],
            0,
            0,
        );
    }
    private::gather_map::<
        __Declaration,
        u8,
        f32,
        (f32, u8),
        u32,
        0,
    >(&maps::dequantize, data, indices, (scale, zero_point), [], out)
}

/// As `rows`, on arrays. Nothing but parameters and indices is left to be checked.
///
/// # Errors
/// For parameters of other lengths, then for the first index in row-major order that is out of range.
#[allow(dead_code)]
#[inline]
pub fn rows_array(
    data: &[[u8; 16]; 8],
    indices: &[u32; 4],
    scale: ::gather_core::Given<'_, f32>,
    zero_point: ::gather_core::Given<'_, u8>,
) -> private::core::result::Result<[[f32; 16]; 4], ::gather_core::Error> {
    #[allow(dead_code)]
    fn __out() {}
    #[allow(dead_code)]
    fn __error() {}
    enum __Declaration {}
    impl private::Declaration for __Declaration {
        const DECLARED: private::Declared = private::Declared::gather(
            &[8, 16],
            &[4],
            0,
            0,
        );
    }
    let mut __out = [[<f32 as ::gather_core::Element>::ZERO; 16]; 4];
    private::gather_map::<
        __Declaration,
        u8,
        f32,
        (f32, u8),
        u32,
        0,
    >(
        &maps::dequantize,
        data.as_flattened(),
        indices,
        (scale, zero_point),
        [],
        __out.as_flattened_mut(),
    )?;
    private::core::result::Result::Ok(__out)
}
