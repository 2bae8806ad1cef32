// A map captures a variable.
fn main() {
    let by = 2.0;
    gather_core::map_kernels! {
        static TIMES = |value: f32| -> f32 { value * by };
    }
}
