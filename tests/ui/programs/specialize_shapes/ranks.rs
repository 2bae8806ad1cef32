// More dimensions than a declared tensor has, and indices that are no list.
gather_core::specialize! {
    pub fn data = gather(axis = 0) (f32[_, 1, 2, 1, 2, 1, 2, 1, 2], u32[_]);
    pub fn list = gather::torch(axis = 0) (f32[_, 16], u32[_, 2]);
}

fn main() {}
