// Batch dimensions of different sizes, each on the size of indices.
gather_core::specialize! {
    pub fn rows = gather(axis = 2, batch_dims = 2) (f32[2, 3, 16], u32[2, 4, 5]);
    pub fn points = gather_nd(batch_dims = 1) (f32[2, 3], i32[3, 7, 1]);
}

fn main() {}
