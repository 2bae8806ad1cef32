// A struct may have a zero of its own, which is what `OutOfBounds::Zero` writes.
use gather_core::{Element, Gather, OutOfBounds, View};

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
#[element(zero = Self { low: 1.0, high: Range::END })]
struct Range {
    low: f32,
    high: f32,
}

impl Range {
    const END: f32 = 9.0;
}

#[test]
fn builds_and_runs() {
    let data = [Range { low: 2.0, high: 3.0 }];
    let found = Gather::new(0)
        .out_of_bounds(OutOfBounds::Zero)
        .run(&View::new(&data, &[1]).unwrap(), &View::new(&[0u32, 4], &[2]).unwrap())
        .unwrap();
    assert_eq!(found.as_slice(), [data[0], Range { low: 1.0, high: 9.0 }]);
}
