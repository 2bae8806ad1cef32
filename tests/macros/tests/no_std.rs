//! User code without the standard library; the executable alone links it.
#![no_std]

extern crate std;

use gather_core::{Element, Gather, Registry, View};

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
    z: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(u8)]
#[element(zero = Off)]
enum Switch {
    Off,
    On,
}

gather_core::kernels! {
    static MY;
    elements: [Point, Switch as x8];
    indices: [i32];
    ranks: 1;
    ops: [gather, batch_to_space];
}

#[test]
fn builds_and_runs() {
    let switches = [Switch::Off, Switch::On];
    let (data, indices) = (View::new(&switches, &[2]).unwrap(), View::new(&[1i32, 1], &[2]).unwrap());
    let registry = const { &Registry::builtin().with(&MY) };
    let found = Gather::new(0)
        .registry(registry)
        .run(&gather_core::DynView::from(&data), &gather_core::DynView::from(&indices))
        .unwrap();
    assert_eq!(found.downcast::<Switch>().unwrap().as_slice(), [Switch::On, Switch::On]);
    assert_eq!(Point::ZERO, Point { x: 0.0, y: 0.0, z: 0.0 });
}
