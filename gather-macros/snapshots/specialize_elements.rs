// gather_core::specialize! {
//     fn neighbours = gather_elements::torch(axis = -1) ([u8; 4][8, 8], u8[8, 8]);
// }

/// `gather_elements` of data `[u8; 4][8, 8]` by indices `u8[8, 8]` into `[u8; 4][8, 8]`, all row-major.
///
/// # Errors
/// For slices of other lengths, then for the first index that is out of range.
#[inline]
fn neighbours(
    data: &[[u8; 4]],
    indices: &[u8],
    out: &mut [[u8; 4]],
) -> private::core::result::Result<(), ::gather_core::Error> {
    enum __Declaration {}
    impl private::Declaration for __Declaration {
        const DECLARED: private::Declared = private::Declared::gather_elements(
                &[8, 8],
                &[8, 8],
                1,
            )
            .negative_index(private::NegativeIndex::Reject);
    }
    private::gather::<__Declaration, [u8; 4], u8, 0>(data, indices, [], out)
}

/// As `neighbours`, on arrays. Nothing but the indices is left to be checked.
///
/// # Errors
/// For the first index in row-major order that is out of range.
#[allow(dead_code)]
#[inline]
fn neighbours_array(
    data: &[[[u8; 4]; 8]; 8],
    indices: &[[u8; 8]; 8],
) -> private::core::result::Result<[[[u8; 4]; 8]; 8], ::gather_core::Error> {
    #[allow(dead_code)]
    fn __out() {}
    #[allow(dead_code)]
    fn __error() {}
    enum __Declaration {}
    impl private::Declaration for __Declaration {
        const DECLARED: private::Declared = private::Declared::gather_elements(
                &[8, 8],
                &[8, 8],
                1,
            )
            .negative_index(private::NegativeIndex::Reject);
    }
    let mut __out = [[<[u8; 4] as ::gather_core::Element>::ZERO; 8]; 8];
    private::gather::<
        __Declaration,
        [u8; 4],
        u8,
        0,
    >(data.as_flattened(), indices.as_flattened(), [], __out.as_flattened_mut())?;
    private::core::result::Result::Ok(__out)
}
