// Tuples of no components, of more than data has axes, and of a number that cannot be inferred.
const LEN: usize = 2;

gather_core::specialize! {
    pub fn none = gather_nd() (f32[8, 8], u32[5, 0]);
    pub fn many = gather_nd(batch_dims = 1) (f32[5, 8, 8], u32[5, 3]);
    pub fn inferred = gather_nd() (f32[8, 8], u32[5, _]);
    pub fn constant = gather_nd() (f32[8, 8], u32[5, LEN]);
    pub fn scalar = gather_nd() (f32[8, 8], u32[]);
}

fn main() {}
