// A reference arrives from another macro, in an invisible group.
macro_rules! pair {
    ($name:ident, $ty:ty) => {
        #[derive(Clone, Copy, gather_core::Element)]
        #[repr(C)]
        pub struct $name {
            first: $ty,
            second: $ty,
        }
    };
}

pair!(Borrowing, &'static u8);

fn main() {}
