// An attribute below the derive takes the field away, and another type has one of its name behind `Deref`.
pub struct Inner {
    value: u32,
}

#[derive(Clone, Copy, gather_core::Element)]
#[gather_tests_rewrite::becomes(#[repr(C)] pub struct Word { letter: char })]
#[repr(C)]
#[element(zero = Word { letter: 'a' })]
pub struct Word {
    value: u32,
}

impl std::ops::Deref for Word {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &Inner { value: 0 }
    }
}

fn main() {}
