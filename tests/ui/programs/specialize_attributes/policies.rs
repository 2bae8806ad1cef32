// Policies that there are not.
gather_core::specialize! {
    pub fn misspelt = gather(axis = 0, out_of_bounds = zeros) (f32[_, 16], u32[_]);
    pub fn other = gather(axis = 0, out_of_bounds = 0) (f32[_, 16], u32[_]);
    pub fn negative = gather(axis = 0, negative_index = error) (f32[_, 16], u32[_]);
}

fn main() {}
