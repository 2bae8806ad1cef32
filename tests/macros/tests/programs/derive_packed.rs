// Packed structs have no padding, or none that the packing leaves.
use gather_core::Element;

#[derive(Clone, Copy, Element)]
#[repr(C, packed)]
struct Record {
    tag: u8,
    value: u64,
    flag: bool,
}

#[derive(Clone, Copy, Element)]
#[repr(C, packed(2))]
struct Even(u16, u32, [u8; 2]);

#[derive(Clone, Copy, Element)]
#[repr(packed, C)]
struct Nested {
    record: Record,
    even: Even,
}

#[test]
fn builds_and_runs() {
    assert_eq!((Record::DTYPE.size(), Record::DTYPE.align()), (10, 1));
    assert_eq!((Even::DTYPE.size(), Even::DTYPE.align()), (8, 2));
    assert_eq!(Nested::DTYPE.size(), 18);
    let Nested { record: Record { tag, value, flag }, even } = Nested::ZERO;
    let Even(first, second, third) = even;
    assert_eq!((tag, value, flag, first, second, third), (0, 0, false, 0, 0, [0; 2]));
}
