// Element types that are none.
gather_core::specialize! {
    pub fn character = gather(axis = 0) (char[_, 16], u32[_]);
    pub fn text = gather(axis = 0) (String[_], u32[_]);
    pub fn borrowed = gather(axis = 0) (&'static str[_], u32[_]);
    pub fn tuple = gather(axis = 0) ((f32, u8)[_], u32[_]);
}

fn main() {}
