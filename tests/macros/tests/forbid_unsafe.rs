//! All three macros work in a crate that forbids unsafe code.
#![forbid(unsafe_code)]
#![deny(warnings)]

use gather_core::{DynView, Element, Gather, OutOfBounds, Registry, View};

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Point {
    x: f32,
    y: [u16; 2],
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(u32)]
#[element(zero = None)]
enum Kind {
    None,
    Some,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(transparent)]
struct Metres<T>(T);

gather_core::kernels! {
    static KERNELS;
    elements: [Point, Metres<f64> as x64];
    indices: [i32];
    ranks: 1..=2, any;
    ops: [gather, gather_elements, gather_nd, batch_to_space];
}

gather_core::map_kernels! {
    static DOUBLED = |value: u16| -> u32 { 2 * u32::from(value) };
}

#[test]
fn builds_and_runs() {
    let points = [1u16, 2].map(|n| Point { x: f32::from(n), y: [n; 2], kind: Kind::Some });
    let (data, list) = (View::new(&points, &[2]).unwrap(), View::new(&[1i32, 7], &[2]).unwrap());
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    let registry = const { &Registry::builtin().with(&KERNELS) };
    let found = op.registry(registry).run(&DynView::from(&data), &DynView::from(&list)).unwrap();
    assert_eq!(found.downcast::<Point>().unwrap().as_slice(), [points[1], Point::ZERO]);
    assert_eq!((Point::ZERO.kind, Metres::<f64>::ZERO), (Kind::None, Metres(0.0)));
    let numbers = [4u16, 5];
    let doubled = op.run(&View::new(&numbers, &[2]).unwrap().map(&DOUBLED, ()), &list).unwrap();
    assert_eq!(doubled.as_slice(), [10, 0]);
}
