// Attributes that decide what the loops are, and are no numbers.
const AXIS: usize = 1;

gather_core::specialize! {
    pub fn constant = gather(axis = AXIS) (f32[_, 16], u32[_]);
    pub fn inferred = gather(axis = _) (f32[_, 16], u32[_]);
    pub fn text = gather(axis = "first") (f32[_, 16], u32[_]);
    pub fn batch = gather(axis = 1, batch_dims = 1.5) (f32[_, 16], u32[_, 2]);
}

fn main() {}
