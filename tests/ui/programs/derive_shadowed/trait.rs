// A trait of the program is called `Element` and implemented for what is no element.
pub unsafe trait Element: Copy {
    const ZERO: Self;
}

unsafe impl Element for char {
    const ZERO: Self = 'a';
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
pub struct Letter(char);

fn main() {}
