// Index types that are none.
gather_core::specialize! {
    pub fn float = gather(axis = 0) (f32[_, 16], f32[_]);
    pub fn wide = gather(axis = 0) (f32[_, 16], i128[_]);
    pub fn misspelt = gather(axis = 0) (f32[_, 16], u23[_]);
    pub fn array = gather(axis = 0) (f32[_, 16], [u32; 2][_]);
}

fn main() {}
