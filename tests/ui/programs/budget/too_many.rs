// Every index type and rank for 37 types of widths of their own would take minutes to compile.
gather_core::kernels! {
    pub static MY;
    elements: [
        f32, [u8; 3], [u8; 5], [u8; 6], [u8; 7], [u8; 9], [u8; 10], [u8; 11], [u8; 12], [u8; 13], [u8; 14], [u8; 15],
    ];
    indices: [i8, i16, i32, i64, u8, u16, u32, u64];
    ranks: 1..=8, any;
    ops: [gather, gather_elements, gather_nd, batch_to_space];
}

fn main() {
    let _ = MY.name();
}
