// Closures take and give values: what borrows is reported where it stands, and slices belong to row functions.
gather_core::map_kernels! {
    static A = |value: u8, table: &[f32]| -> f32 { table[usize::from(value)] };
    static B = |value: &u8, by: ([&str; 2], u8)| -> u8 { *value + by.1 };
    static C = |value: u8| -> &f32 { &1.0 };
    static GOOD = |value: u8, table: &'static [f32]| -> f32 { table[usize::from(value)] };
}

gather_core::reduce_kernels! {
    static D = |kept: &u8, new: &u8| -> &u8 { kept.max(new) };
}

gather_core::row_kernels! {
    static E = |row: &[u8], names: &[&str], by: (u8, &u8)| -> u8 { row[names.len()] + by.0 };
}

fn main() {
    let _ = GOOD.name();
}
