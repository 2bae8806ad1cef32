// Operators and presets that there are not.
gather_core::specialize! {
    pub fn misspelt = gahter(axis = 0) (f32[_, 16], u32[_]);
    pub fn preset = gather::openvino9(axis = 0) (f32[_, 16], u32[_]);
    pub fn other = batch_to_space::tensorflow(block = [1, 2]) (f32[_, 16]);
}

fn main() {}
