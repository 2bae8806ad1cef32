// Every map holds mistakes: each is reported once, on its token, and the maps without any are there to be used.
gather_core::map_kernels! {
    /// Nothing is wrong with it.
    pub static GOOD = |value: u8| -> f32 { f32::from(value) };
    pub stattic A = |value: u8| -> f32 { 0.0 };
    static mut B = |value: u8| -> f32 { f32::from(value) };
    static = |value: u8| -> f32 { 0.0 };
    static C: Map<u8, f32> = |value: u8| -> f32 { f32::from(value) };
    static D |value: u8| -> f32 { 0.0 };
    static E = f32::from;
    static F = move |value: u8| -> f32 { f32::from(value) };
    static G = || -> f32 { 0.0 };
    static H = |value, scale: f32, _: u8, 7| -> f32 { scale };
    static I = |value: u8, scale: f32, scale: u8| -> f32 { scale };
    static J = |value: u8, a: u8, b: u8, c: u8, d: u8, e: u8| -> f32 { 0.0 };
    static K = |value: u8| { f32::from(value) };
    static L = |value: _| -> f32 { 0.0 };
    static P = |value: u8 scale: f32| -> f32 { 0.0 };
    static M = |value: u8| -> f32 f32::from(value);
    static GOOD = |value: i8| -> f32 { f32::from(value) };
    static N = |value: u8| -> f32 { f32::from(value) }
}

fn main() {
    let _ = (GOOD.name(), B.name(), C.name(), F.name(), N.name());
}
