// Every row function but the first holds a mistake: each is reported once, on its token.
gather_core::row_kernels! {
    /// Nothing is wrong with it.
    pub static GOOD = |row: &[f32], query: &[f32]| -> f32 { row[0] + query[0] };
    pub stattic A = |row: &[f32]| -> f32 { row[0] };
    static mut B = |row: &[f32]| -> f32 { row[0] };
    static = |row: &[f32]| -> f32 { row[0] };
    static C = f32::max;
    static D = move |row: &[f32]| -> f32 { row[0] };
    static E = || -> f32 { 0.0 };
    static F = |row: f32| -> f32 { row };
    static G = |row: &[f32], out: &mut [f32]| -> f32 { out[0] = 1.0; row[0] };
    static H = |row: &[f32]| { let _ = row; };
    static I = |row: &[f32]| -> &[f32] { row };
    static J = |row: &[f32], a: u8, b: u8, c: u8, d: u8, e: u8| -> f32 { row[0] };
    static K = |row: &[f32], scale: f32, out: &mut [f32]| -> f32 { out[0] = scale; row[0] };
    static L = |row: &[f32], scale: &f32| -> f32 { row[0] * scale };
    static M = |row: &[f32], query: &'static [f32]| -> f32 { row[0] * query[0] };
    static N = |#[any_len] row: &[f32], #[optional] scale: f32| -> f32 { row[0] * scale };
    static O = |row: &[f32], #[inline] #[any_len] query: &[f32]| -> f32 { row[0] };
    static P = |row: &[f32], #[any_len] #[optional] query: &[f32]| -> f32 { row[0] };
    static Q = |row: &mut [f32], out: &mut [f32]| { out[0] = row[0]; };
    static GOOD = |row: &[f32]| -> f32 { row[0] };
}

fn main() {
    let _ = (GOOD.name(), B.name(), D.name());
}
