// Attributes that an operator does not have, misspelt ones, and ones that are given twice.
gather_core::specialize! {
    pub fn misspelt = gather(axs = 0) (f32[_, 16], u32[_]);
    pub fn other = gather_elements(axis = 1, batch_dims = 1) (f32[8, 8], u32[8, 8]);
    pub fn twice = gather(axis = 0, axis = 1) (f32[_, 16], u32[_]);
    pub fn block = gather(axis = 0, block = [1, 2]) (f32[_, 16], u32[_]);
}

fn main() {}
