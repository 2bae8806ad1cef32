// Indices that do not fit data, off the axis, and of another rank.
gather_core::specialize! {
    pub fn larger = gather_elements(axis = 0) (f32[8, 8], u32[8, 9]);
    pub fn equal = gather_elements::openvino6(axis = 0) (f32[8, 8], u32[8, 7]);
    pub fn rank = gather_elements(axis = 0) (f32[8, 8], u32[8]);
}

fn main() {}
