// gather_core::specialize! {
//     pub fn tiles = batch_to_space(block = [1, 2, B, 1], crops_end = [0, 1, 0, 0]) (u8[8, 64, 64, 3]);
// }

/// `batch_to_space` of data `u8[8, 64, 64, 3]` into `u8[8 / 2 / B, 127, 64 * B, 3]`, all row-major.
///
/// # Errors
/// For slices of other lengths.
#[inline]
pub fn tiles(
    data: &[u8],
    out: &mut [u8],
) -> private::core::result::Result<(), ::gather_core::Error> {
    enum __Declaration {}
    impl private::Declaration for __Declaration {
        const DECLARED: private::Declared = private::Declared::batch_to_space(
            &[8, 64, 64, 3],
            &[1, 2, B, 1],
            &[0, 0, 0, 0],
            &[0, 1, 0, 0],
        );
    }
    const _: private::Declared = <__Declaration as private::Declaration>::DECLARED;
    private::batch_to_space::<__Declaration, u8, 0>(data, [], out)
}

/// As `tiles`, on arrays.
#[allow(dead_code)]
#[inline]
pub fn tiles_array(
    data: &[[[[u8; 3]; 64]; 64]; 8],
) -> [[[[u8; 3]; { 64 * { B } }]; 127]; { 8 / 2 / { B } }] {
    #[allow(dead_code)]
    fn __out() {}
    #[allow(dead_code)]
    fn __error() {}
    enum __Declaration {}
    impl private::Declaration for __Declaration {
        const DECLARED: private::Declared = private::Declared::batch_to_space(
            &[8, 64, 64, 3],
            &[1, 2, B, 1],
            &[0, 0, 0, 0],
            &[0, 1, 0, 0],
        );
    }
    let mut __out = [[[[<u8 as ::gather_core::Element>::ZERO; 3]; {
        64 * { B }
    }]; 127]; { 8 / 2 / { B } }];
    private::batch_to_space::<
        __Declaration,
        u8,
        0,
    >(
            data.as_flattened().as_flattened().as_flattened(),
            [],
            __out.as_flattened_mut().as_flattened_mut().as_flattened_mut(),
        )
        .unwrap_or_else(|__error| private::cannot_fail(__error));
    __out
}
