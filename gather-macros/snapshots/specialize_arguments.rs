// gather_core::specialize! {
//     pub(crate) fn points<T: Element> = gather_nd(batch_dims = 1, out_of_bounds = clamp) (
//         T[_, _, _, 3],
//         i32[_, _, 2],
//     );
// }

/// `gather_nd` of data `T[_, _, _, 3]` by indices `i32[_, _, 2]` into `T[_, _, 3]`, all row-major.
/// Indices out of range name the nearest element.
/// The first open size of a tensor follows from its length; others are given: `data_dim_1`, `data_dim_2`, `indices_dim_1`.
///
/// # Errors
/// For slices of other lengths.
#[inline]
pub(crate) fn points<T: Element>(
    data: &[T],
    indices: &[i32],
    data_dim_1: private::usize,
    data_dim_2: private::usize,
    indices_dim_1: private::usize,
    out: &mut [T],
) -> private::core::result::Result<(), ::gather_core::Error> {
    enum __Declaration {}
    impl private::Declaration for __Declaration {
        const DECLARED: private::Declared = private::Declared::gather_nd(
                &[private::ANY, private::ANY, private::ANY, 3],
                &[private::ANY, private::ANY, 2],
                1,
            )
            .out_of_bounds(private::OutOfBounds::Clamp);
    }
    private::gather::<
        __Declaration,
        T,
        i32,
        3,
    >(data, indices, [data_dim_1, data_dim_2, indices_dim_1], out)
}
