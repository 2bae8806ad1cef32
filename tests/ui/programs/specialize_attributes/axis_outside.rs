// An axis lies outside data, at either end.
gather_core::specialize! {
    pub fn behind = gather(axis = 2) (f32[_, 16], u32[_]);
    pub fn before = gather_elements(axis = -3) (f32[8, 8], u32[8, 8]);
    pub fn none = gather(axis = 0) (f32[], u32[_]);
}

fn main() {}
