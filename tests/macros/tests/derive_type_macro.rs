//! The type of a field is a macro's, which gives another type to whoever asks again: the proof asks for the value's.

use gather_core::Element;
use gather_tests_rewrite::in_turn;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Turns {
    first: in_turn!(u32, u16),
    second: in_turn!(u32, u16, u8),
}

#[test]
fn builds_and_runs() {
    let Turns { first, second } = Turns::ZERO;
    assert_eq!(size_of_val(&first) + size_of_val(&second), Turns::DTYPE.size());
    assert_eq!(size_of::<Turns>(), Turns::DTYPE.size());
}
