// Every field holds a mistake, and the static is used: each mistake is reported once, on its token, and nothing else.
gather_core::kernels! {
    /// My kernels.
    pub static MY;
    elements: [f32, f32, f64 as x99];
    indices: [f32, i32];
    ranks: 0, 3..=2;
    ops: [gathr];
    colour: [red];
}

fn main() {
    let registry = gather_core::Registry::builtin().with(&MY);
    let _ = registry.kernels().count() + MY.function_count();
}
