// Batch dimensions beyond the axis, the rank of indices, or the tuples.
gather_core::specialize! {
    pub fn axis = gather(axis = 1, batch_dims = 2) (f32[2, 3, 4], u32[2, 3]);
    pub fn rank = gather(axis = 2, batch_dims = 2) (f32[2, 3, 4], u32[2]);
    pub fn negative = gather(axis = 1, batch_dims = -4) (f32[2, 3], u32[2]);
    pub fn tuples = gather_nd(batch_dims = 1) (f32[2, 3], u32[1]);
    pub fn onnx11 = gather_nd::onnx11(batch_dims = 1) (f32[2, 3], u32[2, 1]);
}

fn main() {}
