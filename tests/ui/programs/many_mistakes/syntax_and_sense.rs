// Mistakes of syntax do not hide those of sense behind them.
gather_core::kernels! {
    static MY;
    elements = [f32 as x64, 7];
    indexes: [i32, f64]
    ranks: 1..4, nine;
    ops [gather, scatter];
}

fn main() {
    let _ = MY.name();
}
