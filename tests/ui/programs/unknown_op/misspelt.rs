// Two operators are misspelt, one as its Rust type.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gahter, GatherNd];
}

fn main() {
    let _ = MY.name();
}
