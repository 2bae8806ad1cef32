// `_` where nothing can be inferred.
gather_core::specialize! {
    pub fn block = batch_to_space(block = [1, _, 2]) (u8[_, 8, 8]);
    pub fn crops = batch_to_space(block = [1, 2, 2], crops_end = [0, _, 0]) (u8[_, 8, 8]);
    pub fn element = gather(axis = 0) (_[_, 16], u32[_]);
    pub fn batch = gather(axis = 1, batch_dims = _) (f32[_, 16], u32[_, 3]);
}

fn main() {}
