// gather_core::specialize! {
//     /// Token embeddings.
//     pub fn embed = gather(axis = 0) (f16[_, DIM], u32[_]);
// }

/// Token embeddings.
///
/// `gather` of data `f16[_, DIM]` by indices `u32[_]` into `f16[_, DIM]`, all row-major.
///
/// # Errors
/// For slices of other lengths, then for the first index that is out of range.
#[inline]
pub fn embed(
    data: &[f16],
    indices: &[u32],
    out: &mut [f16],
) -> private::core::result::Result<(), ::gather_core::Error> {
    enum __Declaration {}
    impl private::Declaration for __Declaration {
        const DECLARED: private::Declared = private::Declared::gather(
            &[private::ANY, private::size(DIM)],
            &[private::ANY],
            0,
            0,
        );
    }
    const _: private::Declared = <__Declaration as private::Declaration>::DECLARED;
    private::gather::<__Declaration, f16, u32, 0>(data, indices, [], out)
}
