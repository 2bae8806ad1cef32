// Parameters of a map that cannot be arguments.
// They stand behind data and indices, and before open sizes.

gather_core::specialize! {
    fn twice = gather(axis = 0, map = dequantize(scale: f32, scale: u8)) (u8[_, 16], u32[_]) -> f32;
    fn taken = gather(axis = 0, map = dequantize(indices: f32, data_dim_1: u8)) (u8[_, _], u32[_]) -> f32;
    fn many = gather(axis = 0, map = e4m3(a: u8, b: u8, c: u8, d: u8, e: u8)) (u8[_, 16], u32[_]) -> f32;
}

gather_core::specialize! {
    fn no_type = gather(axis = 0, map = dequantize(scale)) (u8[_, 16], u32[_]) -> f32;
    fn no_name = gather(axis = 0, map = dequantize(0.5)) (u8[_, 16], u32[_]) -> f32;
}

fn main() {}
