// Constants that do not fit, which the compiler finds when it evaluates them.
const NONE: usize = 0;
const WIDE: usize = 9;
const BLOCK: usize = 3;

gather_core::specialize! {
    pub fn zero = gather(axis = 0) (f32[_, NONE], u32[_]);
    pub fn elements = gather_elements(axis = 0) (f32[8, 8], u32[8, WIDE]);
    pub fn tiles = batch_to_space(block = [1, BLOCK]) (u8[8, 64]);
    pub fn batch = gather(axis = 1, batch_dims = 1) (f32[WIDE, 8], u32[8, 2]);
}

fn main() {}
