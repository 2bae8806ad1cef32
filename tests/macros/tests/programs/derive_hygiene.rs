// Names of the program that are those of what the derive emits, and what the compiler changes before the derive sees it.
#![allow(dead_code, non_camel_case_types)]

use gather_core::Element;

mod __private_0_1_0 {}

mod __g {
    pub type u32 = [::core::primitive::u16; 2];
    pub struct Element;
}

type u8 = ::core::primitive::u64;

trait Steps: Sized {
    fn begin(self) -> bool {
        false
    }
    fn field<A, B, C>(&self, _: A, _: B, _: C) -> bool {
        false
    }
    fn tag<A, B>(self, _: A, _: B) -> bool {
        false
    }
    fn dtype(&self, _: &str) -> bool {
        false
    }
    fn holds_for(self) -> bool {
        false
    }
}

impl<T> Steps for T {}

#[derive(Clone, Copy, Element)]
#[cfg_attr(all(), repr(C))]
struct Record {
    __value: __g::u32,
    #[cfg(any())]
    letter: char,
    #[cfg(not(doc))]
    zero: f32,
    r#type: [u8; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(u8)]
#[element(zero = __value)]
enum Names {
    __value,
    Self_,
}

impl Record {
    const ZERO: bool = true;
    const DTYPE: bool = true;
    const __PROOF: bool = true;
}

#[test]
fn builds_and_runs() {
    assert_eq!(<Record as Element>::DTYPE.size(), 24);
    assert!(Record::ZERO && Record::DTYPE && Record::__PROOF);
    assert_eq!((Names::ZERO, Names::DTYPE.size()), (Names::__value, 1));
    let _ = Names::Self_;
}
