// gather_core::map_kernels! {
//     /// Dequantises.
//     pub static DEQUANTIZE = |q: u8, scale: f32, zero: u8| -> f32 { (f32::from(q) - f32::from(zero)) * scale };
// }

/// Dequantises.
///
/// Reads `u8` and writes `f32`, with the parameters `scale: f32` and `zero: u8`.
pub static DEQUANTIZE: ::gather_core::Map<u8, f32, (f32, u8)> = {
    fn q() {}
    fn scale() {}
    fn zero() {}
    #[allow(non_camel_case_types)]
    enum __ConversionDEQUANTIZE {}
    impl private::Convert for __ConversionDEQUANTIZE {
        type In = u8;
        type Out = f32;
        type Params = (f32, u8);
        const NAME: &'static private::core::primitive::str = "DEQUANTIZE";
        const PARAMS: &'static [&'static private::core::primitive::str] = &[
            "scale",
            "zero",
        ];
        #[inline(always)]
        fn convert(q: u8, (scale, zero): Self::Params) -> f32 {
            (f32::from(q) - f32::from(zero)) * scale
        }
    }
    let _ = (q, scale, zero);
    ::gather_core::Map::new::<__ConversionDEQUANTIZE>()
};
