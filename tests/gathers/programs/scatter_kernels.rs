//! Kernels of scatters without the feature `scatter`.
gather_core::kernels! {
    static SCATTERS;
    elements: [f32];
    indices: [u32];
    ranks: any;
    ops: [scatter_nd];
}

fn main() {
    let _ = &SCATTERS;
}
