// Sizes that are none.
gather_core::specialize! {
    pub fn zero = gather(axis = 0) (f32[0, 16], u32[_]);
    pub fn negative = gather(axis = 0) (f32[_, -16], u32[_]);
    pub fn huge = gather(axis = 0) (f32[_, 9223372036854775808], u32[_]);
    pub fn fraction = gather(axis = 0) (f32[_, 16.0], u32[_]);
    pub fn range = gather(axis = 0) (f32[_, 1..16], u32[_]);
}

fn main() {}
