// Constants and statics by the names of variables that the macros emit: in patterns they would come first.
#![allow(dead_code, non_camel_case_types, non_upper_case_globals, unused_imports)]

use gather_core::{Element, specialize};

const __value: u8 = 7;
static __out: u8 = 8;
const __error: u8 = 9;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Pair(u16, u16);

#[derive(Clone, Copy, Element)]
#[repr(transparent)]
struct Wrap<T>(T);

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Marked {
    value: u8,
    marker: std::marker::PhantomData<Pair>,
}

#[derive(Clone, Copy, Element)]
#[repr(u8)]
#[element(zero = Off)]
enum Switch {
    Off,
    On,
}

mod by_variant {
    use self::Names::*;
    use gather_core::Element;

    #[derive(Clone, Copy, Element)]
    #[repr(u8)]
    #[element(zero = __value)]
    pub(crate) enum Names {
        __value,
        Other,
    }
}

mod by_parameter {
    use gather_core::Element;

    #[derive(Clone, Copy, Element)]
    #[repr(transparent)]
    pub(crate) struct Some<const __value: usize>(pub(crate) [u8; __value]);
}

specialize! {
    fn picked = gather(axis = 0) (f32[3], u8[2]);
    fn clamped = gather(axis = 0, out_of_bounds = clamp) (f32[3], u8[2]);
}

#[test]
fn builds_and_runs() {
    assert_eq!((Pair::DTYPE.size(), Wrap::<Pair>::DTYPE.size()), (4, 4));
    assert_eq!((Marked::DTYPE.size(), Switch::DTYPE.size()), (1, 1));
    assert_eq!((by_variant::Names::DTYPE.size(), by_parameter::Some::<3>::DTYPE.size()), (1, 3));
    assert_eq!(picked_array(&[1.0, 2.0, 3.0], &[2, 0]).ok(), Some([3.0, 1.0]));
    assert_eq!(clamped_array(&[1.0, 2.0, 3.0], &[9, 0]), [3.0, 1.0]);
    assert_eq!((__value, __out, __error), (7, 8, 9));
}
