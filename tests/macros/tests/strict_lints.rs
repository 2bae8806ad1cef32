// Nothing that is emitted warns, however much is denied.
#![deny(warnings, missing_docs, unsafe_op_in_unsafe_fn)]
#![deny(
    elided_lifetimes_in_paths,
    let_underscore_drop,
    missing_abi,
    non_ascii_idents,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unreachable_pub,
    unused,
    unused_import_braces,
    unused_lifetimes,
    unused_macro_rules,
    unused_qualifications,
    unused_results,
    variant_size_differences
)]

//! A strict crate.

use gather_core::{Element, Gather, Registry, View};

/// A point.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Point {
    x: f32,
    y: f32,
    id: u64,
}

/// A wrapper.
#[derive(Clone, Copy, Debug, Element)]
#[repr(transparent)]
pub struct Wrap<T>(T);

/// A switch.
#[derive(Clone, Copy, Debug, Element)]
#[repr(u8)]
#[element(zero = Off)]
pub enum Switch {
    /// Off.
    Off,
    /// On.
    On,
}

gather_core::kernels! {
    /// My kernels.
    pub static MY;
    elements: [Point as x128, Wrap<Point>, Switch, f32];
    indices: [i32, usize];
    ranks: 1..=3, any;
    ops: [gather, gather_elements, gather_nd, batch_to_space];
    widths: [rows];
}

#[test]
fn builds_and_runs() {
    let points = [Point { x: 1.0, y: 2.0, id: 3 }];
    let (data, indices) = (View::new(&points, &[1]).unwrap(), View::new(&[0usize], &[1]).unwrap());
    let registry = const { &Registry::builtin().with(&MY) };
    let found = Gather::new(0)
        .registry(registry)
        .run(&gather_core::DynView::from(&data), &gather_core::DynView::from(&indices))
        .unwrap();
    assert_eq!(found.downcast::<Point>().unwrap().as_slice(), points);
    assert_eq!(format!("{:?} {:?}", Wrap(Switch::Off), Switch::On), "Wrap(Off) On");
}
