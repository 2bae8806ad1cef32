// The inputs do not end.
gather_core::map_kernels! {
    pub static O = |value: u8, scale: f32,
}

fn main() {}
