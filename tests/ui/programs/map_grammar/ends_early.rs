// The call ends inside of a map.
gather_core::map_kernels! {
    pub static HALVES = |value: u8, scale: f32|
}

fn main() {}
