// Declarations that are none: each is reported once, and the next ones are still looked at.
gather_core::specialize! {
    pub static ONE;
    pub static TWO;
    pub embed = gather(axis = 0) (f32[_, 16], u32[_]);
    pub fn no_equals gather(axis = 0) (f32[_, 16], u32[_]);
    pub fn no_attributes = gather (f32[_, 16], u32[_]);
    pub fn nothing = gather;
    pub fn no_value = gather(axis) (f32[_, 16], u32[_]);
    pub fn no_tensors = gather(axis = 0);
    pub fn good = gather(axis = 0) (f32[_, 16], u32[_]);
    pub fn good = gather(axis = 0) (f32[_, 8], u32[_]);
    pub fn no_end = gather(axis = 0) (f32[_, 16], u32[_])
}

fn main() {}
