// Several sets in one module, with the same elements, types of the same name, and types whose names resemble operators:
// no function of one kernel is in the way of another's.
#![allow(non_camel_case_types)]

mod a {
    #[derive(Clone, Copy, gather_core::Element)]
    #[repr(C)]
    pub struct Point([f32; 3]);
}

mod b {
    #[derive(Clone, Copy, gather_core::Element)]
    #[repr(C)]
    pub struct Point([f32; 5]);
}

use a::Point;

#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
struct Nd<T>(T);

#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
struct elements_x32([u8; 7]);

#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
struct rows([u8; 9]);

gather_core::kernels! {
    static FIRST;
    elements: [Point, b::Point, Nd<Point>, elements_x32, rows, f32, [f32; 3]];
    indices: [i32, usize];
    ranks: 2, any, 1;
    ops: [gather_nd, gather, gather_elements];
    widths: [rows];
}

gather_core::kernels! {
    static SECOND;
    elements: [Point, f32];
    indices: [i32];
    ranks: 1..=2;
    ops: [gather];
}

#[test]
fn builds_and_runs() {
    assert_eq!([FIRST.name(), SECOND.name()], ["FIRST", "SECOND"]);
    let registry = gather_core::Registry::builtin().with(&FIRST);
    // Operators on indices share their kernels; one of them stands for all.
    let names = |dtype| -> Vec<&str> {
        let found = registry.kernels().filter(|row| row.dtype == dtype && row.op == gather_core::Op::GatherNd);
        found.map(|row| row.name).collect()
    };
    let types = [
        <Point as gather_core::Element>::DTYPE,
        <b::Point as gather_core::Element>::DTYPE,
        <Nd<Point> as gather_core::Element>::DTYPE,
        <elements_x32 as gather_core::Element>::DTYPE,
        <rows as gather_core::Element>::DTYPE,
    ];
    let mut all: Vec<&str> = types.into_iter().flat_map(names).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert!(count > 0 && all.len() == count);
}
