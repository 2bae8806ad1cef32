// Two variants have fields; the others leave their bytes uninitialised.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(u8)]
#[element(zero = Nothing)]
pub enum Message {
    Nothing,
    Byte(u8),
    Point { x: f32, y: f32 },
}

fn main() {}
