// Parameters that a function cannot have.
gather_core::specialize! {
    pub fn sizes<const N: usize> = gather(axis = 0) (f32[_, N], u32[_]);
    pub fn borrows<'a> = gather(axis = 0) (f32[_, 16], u32[_]);
}

fn main() {}
