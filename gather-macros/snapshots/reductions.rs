// gather_core::reduce_kernels! {
//     /// The value that is further from 0.
//     pub static MAX_ABS = |kept: f32, new: f32| -> f32 { if new.abs() > kept.abs() { new } else { kept } };
// }

/// The value that is further from 0.
///
/// Reduces `f32`.
pub static MAX_ABS: ::gather_core::Reducer<f32> = {
    fn kept() {}
    fn new() {}
    #[allow(non_camel_case_types)]
    enum __ReductionMAX_ABS {}
    impl private::Combine for __ReductionMAX_ABS {
        type Item = f32;
        const NAME: &'static private::core::primitive::str = "MAX_ABS";
        #[inline(always)]
        fn combine(kept: f32, new: f32) -> f32 {
            if new.abs() > kept.abs() { new } else { kept }
        }
    }
    let _ = (kept, new);
    ::gather_core::Reducer::new::<__ReductionMAX_ABS>()
};
