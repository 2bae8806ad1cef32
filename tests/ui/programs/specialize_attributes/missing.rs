// The attribute that an operator needs is missing.
gather_core::specialize! {
    pub fn rows = gather() (f32[_, 16], u32[_]);
    pub fn elements = gather_elements(out_of_bounds = zero) (f32[8, 8], u32[8, 8]);
    pub fn tiles = batch_to_space() (u8[_, 64, 64, 3]);
}

fn main() {}
