// Types that are no elements and no indices, which only the compiler knows.
#[derive(Clone, Copy)]
pub struct Point(f32, f32);

type Id = f32;

gather_core::specialize! {
    pub fn points = gather(axis = 0) (Point[_, 16], u32[_]);
    pub fn ids = gather(axis = 0) (f32[_, 16], Id[_]);
}

fn main() {}
