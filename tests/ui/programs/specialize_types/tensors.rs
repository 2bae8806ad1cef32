// Too few tensors, too many, and one without a shape.
gather_core::specialize! {
    pub fn none = gather(axis = 0) ();
    pub fn one = gather(axis = 0) (f32[_, 16]);
    pub fn three = gather(axis = 0) (f32[_, 16], u32[_], u32[_]);
    pub fn two = batch_to_space(block = [1, 2]) (u8[2, 8], u32[_]);
    pub fn shapeless = gather(axis = 0) (f32, u32[_]);
    pub fn joined = gather(axis = 0) (f32[_, 16] u32[_]);
}

fn main() {}
