// Two sets in one module, each with a mistake of its own; the third is right.
gather_core::kernels! {
    static FIRST;
    elements: [f32];
    indices: [i32];
    ranks: 9;
    ops: [gather];
}

gather_core::kernels! {
    static SECOND;
    elements: [f32];
    indices: [i33];
    ranks: 1;
    ops: [gather];
}

gather_core::kernels! {
    static THIRD;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = [FIRST.name(), SECOND.name(), THIRD.name()];
}
