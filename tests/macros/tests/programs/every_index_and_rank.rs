// Every index type and every rank that can be named, each alone and together; ranks in any order.
gather_core::kernels! {
    static EVERY;
    elements: [f32];
    indices: [i8, i16, i32, i64, u8, u16, u32, u64, isize, usize];
    ranks: 8, any, 1..=3, 4..=4, 7, 5..=6,;
    ops: [batch_to_space,];
}

gather_core::kernels! {
    static POINTERS;
    elements: [bool,];
    indices: [usize, isize,];
    ranks: any;
    ops: [gather_nd];
    widths: [x8, x16, x32, x64, x128, rows];
}

#[test]
fn builds_and_runs() {
    // Nine loop nests at each of the levels; six widths, two representations, one loop nest. The scalar level of x86-64
    // is a fallback: it has one function in all, and one for each representation.
    let levels = match () {
        () if cfg!(all(target_arch = "x86_64", not(gather_whole_scalar))) => 2,
        () if cfg!(target_arch = "x86_64") => 3,
        () if cfg!(target_arch = "aarch64") => 2,
        () => 1,
    };
    let is_fallback = cfg!(all(target_arch = "x86_64", not(gather_whole_scalar)));
    let fallback = if is_fallback { (1, 2) } else { (0, 0) };
    assert_eq!(EVERY.function_count(), 9 * levels + fallback.0);
    assert_eq!(POINTERS.function_count(), 6 * 2 * levels + fallback.1);
}
