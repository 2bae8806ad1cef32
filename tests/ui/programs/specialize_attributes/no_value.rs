// Keys without their values: each is marked where the value is missing.

gather_core::specialize! {
    fn last = gather(axis = ) (f32[_, 64], u32[_]);
    fn first = gather(axis = , batch_dims = 0) (f32[_, 64], u32[_]);
}

fn main() {}
