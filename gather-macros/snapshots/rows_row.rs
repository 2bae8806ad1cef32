// gather_core::row_kernels! {
//     /// Adds a row, and scales.
//     static SCALE = |mut row: &[f16], out: &mut [f32], #[optional] more: &[f32], #[any_len] code: &[u8], k: f32| {
//         rescale(row, out, more, code, k);
//     };
// }

/// Adds a row, and scales.
///
/// Reads a row of `f16`, and gives a row of `f32`, with the parameters `more: &[f32]`, `code: &[u8]` and `k: f32`.
static SCALE: ::gather_core::RowFunction<
    f16,
    f32,
    (::gather_core::rows::OptionalSlice<f32>, ::gather_core::rows::AnySlice<u8>, f32),
> = {
    fn row() {}
    fn out() {}
    fn more() {}
    fn code() {}
    fn k() {}
    #[allow(non_camel_case_types)]
    enum __RowSCALE {}
    impl private::Rowwise for __RowSCALE {
        type In = f16;
        type Out = f32;
        type Params = (
            ::gather_core::rows::OptionalSlice<f32>,
            ::gather_core::rows::AnySlice<u8>,
            f32,
        );
        const NAME: &'static private::core::primitive::str = "SCALE";
        const PARAMS: &'static [&'static private::core::primitive::str] = &[
            "more",
            "code",
            "k",
        ];
        const ONE: private::core::primitive::bool = false;
        #[inline(always)]
        fn write(
            mut row: &[f16],
            out: &mut [f32],
            (more, code, k): <Self::Params as private::RowParams>::Args<'_>,
        ) {
            rescale(row, out, more, code, k);
        }
    }
    let _ = (row, out, more, code, k);
    ::gather_core::RowFunction::new::<__RowSCALE>()
};
