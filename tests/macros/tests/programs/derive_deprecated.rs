// Deprecated types, fields and variants derive without a warning: who uses them is warned.
#![deny(warnings)]

use gather_core::Element;

#[deprecated = "use `New`"]
#[derive(Clone, Copy, Element)]
#[repr(C)]
pub struct Old {
    #[deprecated]
    pub value: u32,
    pub other: f32,
}

#[derive(Clone, Copy, Element)]
#[repr(u8)]
#[element(zero = Off)]
pub enum Switch {
    #[deprecated]
    Off,
    On,
}

#[deprecated]
#[derive(Clone, Copy, Element)]
#[repr(transparent)]
pub struct Wrapped<T>(T);

#[allow(deprecated)]
#[test]
fn builds_and_runs() {
    let (old, wrapped) = (Old { value: 1, other: 2.0 }, Wrapped(3u16));
    assert_eq!((old.value, old.other, wrapped.0), (1, 2.0, 3));
    assert!(matches!([Switch::ZERO, Switch::On], [Switch::Off, Switch::On]));
    assert_eq!([Switch::DTYPE.size(), Old::DTYPE.size(), Wrapped::<u16>::DTYPE.size()], [1, 8, 2]);
}
