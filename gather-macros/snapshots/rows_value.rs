// gather_core::row_kernels! {
//     /// The dot product.
//     pub static DOT = |row: &[f32], query: &[f32]| -> f32 { rows::lanes::dot(row, query) };
// }

/// The dot product.
///
/// Reads a row of `f32`, and gives a value of `f32`, with the parameter `query: &[f32]`.
pub static DOT: ::gather_core::RowFunction<
    f32,
    f32,
    (::gather_core::rows::Slice<f32>,),
> = {
    fn row() {}
    fn query() {}
    #[allow(non_camel_case_types)]
    enum __RowDOT {}
    impl private::Rowwise for __RowDOT {
        type In = f32;
        type Out = f32;
        type Params = (::gather_core::rows::Slice<f32>,);
        const NAME: &'static private::core::primitive::str = "DOT";
        const PARAMS: &'static [&'static private::core::primitive::str] = &["query"];
        const ONE: private::core::primitive::bool = true;
        #[inline(always)]
        fn value(
            row: &[f32],
            (query,): <Self::Params as private::RowParams>::Args<'_>,
        ) -> f32 {
            rows::lanes::dot(row, query)
        }
    }
    let _ = (row, query);
    ::gather_core::RowFunction::new::<__RowDOT>()
};
