// A map without the type of its results, such a type without a map, and a map that is no name.
gather_core::specialize! {
    pub fn no_type = gather(axis = 0, map = gather_core::maps::convert) (half::bf16[_, 16], u32[_]);
    pub fn no_map = gather(axis = 0) (half::bf16[_, 16], u32[_]) -> f32;
    pub fn closure = gather(axis = 0, map = |x: u8| x) (u8[_, 16], u32[_]) -> u8;
}

fn main() {}
