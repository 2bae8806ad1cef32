// Every reduction but the first holds a mistake: each is reported once, on its token.
gather_core::reduce_kernels! {
    /// Nothing is wrong with it.
    pub static GOOD = |kept: u8, new: u8| -> u8 { kept | new };
    pub stattic A = |kept: u8, new: u8| -> u8 { kept | new };
    static mut B = |kept: u8, new: u8| -> u8 { kept | new };
    static = |kept: u8, new: u8| -> u8 { kept | new };
    static E = u8::max;
    static F = move |kept: u8, new: u8| -> u8 { kept | new };
    static G = || -> u8 { 0 };
    static H = |kept: u8| -> u8 { kept };
    static I = |kept: u8, new: u8, more: u8| -> u8 { kept | new | more };
    static J = |kept: u8, new: i8| -> u8 { kept };
    static K = |kept: u8, new: u8| -> u16 { 0 };
    static GOOD = |kept: i8, new: i8| -> i8 { kept | new };
}

fn main() {
    let _ = (GOOD.name(), B.name(), F.name());
}
