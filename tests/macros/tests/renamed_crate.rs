//! gather-core under another name: `kernels!` follows its own crate, the derive is told. The name `gather_core` leads
//! elsewhere, so that nothing emitted can depend on it.

extern crate core as gather_core;
extern crate gather_core as other;

#[derive(Clone, Copy, Debug, PartialEq, other::Element)]
#[repr(C)]
#[element(crate = other)]
struct Point {
    x: f32,
    y: f32,
    z: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, other::Element)]
#[repr(u8)]
#[element(crate = ::other, zero = Off)]
enum Switch {
    Off,
    On,
}

other::kernels! {
    static MY;
    elements: [Point, Switch as x8];
    indices: [usize, i32];
    ranks: 1..=2, any;
    ops: [gather, gather_elements, gather_nd, batch_to_space];
}

#[test]
fn builds_and_runs() {
    let registry = const { &other::Registry::builtin().with(&MY) };
    let points = [1.0, 2.0].map(|x| Point { x, y: 0.0, z: 0.0 });
    let (data, indices) = (other::View::new(&points, &[2]).unwrap(), other::View::new(&[1usize], &[1]).unwrap());
    let found = other::Gather::new(0)
        .registry(registry)
        .run(&other::DynView::from(&data), &other::DynView::from(&indices))
        .unwrap();
    assert_eq!(found.downcast::<Point>().unwrap().as_slice(), [points[1]]);
    assert_eq!(<Switch as other::Element>::ZERO, Switch::Off);
    let _ = Switch::On;
}
