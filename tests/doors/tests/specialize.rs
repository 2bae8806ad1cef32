//! Functions for declared shapes, of elements of every kind and with hostile sizes, and their set.

use gather_core::maps;
use gather_core::{
    BatchToSpace, DynView, Element, Error, Gather, GatherElements, Given, Index, Layout, Method, Nulls, OutOfBounds,
    Par, Registry, Spec, View,
};

use crate::common::{Line, Lines, Packed, Point, Sample};

gather_core::specialize! {
    static SET = [rows::<Packed, i32>, rows::<Line, u8>, tiles::<Point>, cells::<[u64; 2]>];
    fn rows<T: Element, I: Index> = gather(axis = 0) (T[_, 3], I[_]);
    fn cells<T: Element> = gather_nd(out_of_bounds = wrap) (T[_, _, 2], i64[_, _, 2]);
    fn picked<T: Element> = gather_elements(axis = -1, out_of_bounds = zero) (T[2, 4], i8[2, 3]);
    fn tiles<T: Element> = batch_to_space(block = [1, 2, 1], crops_begin = [0, 1, 0]) (T[_, _, _]);
    fn lines = gather(axis = 0) (Line[_], u8[_]);
    fn points = gather(axis = 1, batch_dims = 1) (Point[_, 5], u16[_, 2]);
    fn batches = gather(axis = 1, batch_dims = 1) (u32[_, _], i64[_, _]);
    fn columns = gather_elements(axis = 1) (u32[_, _], i64[_, _]);
    fn pixels = gather_nd() (u32[_, _, 3], i64[_, 2]);
    fn near = gather_elements(axis = 1) (f32[8, 8], u32[8, 8]);
    fn wide = gather(axis = 0) (f32[_, 48], u32[_]);
    fn open = gather_elements(axis = 1) (f64[_, 8], u32[_, 8]);
    fn image = batch_to_space(block = [1, 2, 2, 1], crops_begin = [0, 1, 0, 0], crops_end = [0, 0, 3, 0]) (
        u16[_, 3, 5, 2],
    );
    fn lines_of_images = batch_to_space(block = [1, 3, 1]) (u64[3, 1, 6]);
    fn scaled = gather(axis = 0, map = maps::dequantize(scale: f32, zero_point: u8)) (u8[_, _], i16[_]) -> f32;
}

fn check<T: Sample>() {
    let data: Vec<T> = (0..12).map(T::sample).collect();
    let mut out = vec![T::sample(99); 6];
    rows(&data, &[3u8, 0], &mut out).expect("rows of the table");
    assert_eq!(out[..], [&data[9..], &data[..3]].concat());
    assert!(matches!(rows(&data, &[4i64, 0], &mut out), Err(Error::IndexOutOfRange { index: 4, .. })));
    assert!(matches!(rows(&data[1..], &[0i32, 0], &mut out), Err(Error::LengthMismatch { .. })));
    assert!(matches!(rows(&data, &[0u64], &mut out), Err(Error::LengthMismatch { .. })));

    let tuples = [[[0i64, 1], [i64::MIN, -1]]];
    cells(&data, tuples.as_flattened().as_flattened(), 3, 2, &mut out[..4]).expect("any index names a cell");
    let wrapped = (i64::MIN.rem_euclid(2) * 3 + 2) as usize;
    assert_eq!(out[..4], [&data[2..4], &data[2 * wrapped..][..2]].concat());

    picked(&data[..8], &[0, 3, 4, -1, -4, -5], &mut out).expect("zeros for what is out of range");
    assert_eq!(out[..], [data[0], data[3], T::ZERO, data[7], data[4], T::ZERO]);

    tiles(&data[..4], 2, 1, &mut out[..3]).expect("two images of two lines");
    assert_eq!(out[..3], [data[2], data[1], data[3]]);
}

#[test]
fn elements_of_every_kind() {
    check::<u8>();
    check::<u16>();
    check::<u32>();
    check::<u64>();
    check::<Line>();
    check::<Lines>();
    check::<Point>();
    check::<Packed>();
    check::<[u64; 2]>();
    let (a, b) = (Line::ZERO, Line::ZERO);
    let mut out = [Line::ZERO; 1];
    lines(&[a, b], &[1], &mut out).expect("a line");
    assert_eq!(out, [b]);
    let mut out = [Lines::ZERO; 3];
    rows(&[Lines::ZERO; 3], &[0u8], &mut out).expect("a row");
}

#[test]
fn sizes_that_no_tensor_has() {
    let (data, mut out) = ([1u8; 12], [0u8; 4]);
    for size in [usize::MAX, usize::MAX / 2 + 1, 1 << 40] {
        for sizes in [[size, 2], [2, size], [size, size]] {
            let found = cells(&data, &[0; 4], sizes[0], sizes[1], &mut out);
            assert!(found.is_err(), "{sizes:?}");
        }
        assert!(tiles(&data, size, 1, &mut out).is_err());
        assert!(tiles(&data, size, size, &mut out).is_err());
    }
    // Nothing is read from tensors without elements, and nothing is divided by 0.
    assert!(cells(&data, &[0; 4], 0, 2, &mut out).is_err());
    assert_eq!(cells(&data, &[], 3, 0, &mut []), Ok(()));
    assert!(matches!(rows::<u8, u8>(&[], &[0], &mut out[..3]), Err(Error::IndexOutOfRange { dim: 0, .. })));
    assert_eq!(rows::<u8, u8>(&[], &[], &mut []), Ok(()));
    assert!(matches!(points(&[], &[0, 0], &mut [Point::ZERO; 2]), Err(Error::BatchMismatch { .. })));
    assert_eq!(out, [0; 4]);
}

/// A length of 0 tells no size beside another one of 0: it is that of the other tensor, where both share the dimension.
#[test]
fn tensors_without_elements() {
    let (memory, ids) = ([7u32; 40], [0i64; 16]);
    for shape in [[8, 5], [8, 0], [0, 5]] {
        for [n, of_each] in [[8, 2], [8, 0], [0, 2], [3, 0]] {
            let (memory, ids) = (&memory[..shape[0] * shape[1]], &ids[..n * of_each]);
            let data = View::new(memory, &shape).expect("a view");
            let indices = View::new(ids, &[n, of_each]).expect("a view");
            let mut out = vec![0; n * of_each];
            if n == shape[0] {
                let op = Gather::new(1).batch_dims(1);
                let ran = batches(memory, ids, shape[1], of_each, &mut out);
                assert_eq!(ran, op.run(&data, &indices).map(drop), "{shape:?}, {n} of {of_each}");
            }
            if n <= shape[0] {
                let op = GatherElements::new(1);
                let ran = columns(memory, ids, shape[1], of_each, &mut out);
                assert_eq!(ran, op.run(&data, &indices).map(drop), "{shape:?}, {n} of {of_each}");
            }
        }
    }
    // A size that nothing tells is 0.
    let ran = pixels(&[], &[1, 0], 0, &mut [0; 3]);
    assert!(matches!(ran, Err(Error::IndexOutOfRange { position: 0, index: 1, axis: 0, dim: 0, .. })), "{ran:?}");
    assert_eq!(pixels(&[], &[], 0, &mut []), Ok(()));
}

#[test]
fn a_set_in_a_registry() {
    assert_eq!((SET.name(), SET.function_count() >= 4), ("SET", true));
    let registry = const { &Registry::builtin().with(&SET) };
    let name = "near f32[8, 8] u32[8, 8]";
    assert!(registry.kernels().any(|kernel| kernel.name == name));

    let data: Vec<f32> = (0..64).map(|at| at as f32).collect();
    let ids: Vec<u32> = (0..64).map(|at| at * 5 % 8).collect();
    let mut expected = vec![0.0; 64];
    near(&data, &ids, &mut expected).expect("ids in range");
    let (data, ids) = (View::new(&data, &[8, 8]).expect("a view"), View::new(&ids, &[8, 8]).expect("a view"));
    let (data, ids) = (DynView::from(&data), DynView::from(&ids));
    let op = GatherElements::new(1).par(Par::Seq);
    let plan = op.registry(registry).plan(&data, &ids).expect("a plan");
    assert_eq!(plan.explain().kernel(), name);
    assert_eq!(plan.run(&data, &ids).expect("a run").downcast::<f32>().expect("floats").as_slice(), expected);
    // Another policy is another kernel.
    let op = op.out_of_bounds(OutOfBounds::Clamp);
    let plan = op.registry(registry).plan(&data, &ids).expect("a plan");
    assert_ne!(plan.explain().kernel(), name);
}

/// The rows of data are open, and folded loops do not tell how many there are.
#[test]
fn an_open_size_that_no_loop_has() {
    let data: Vec<f64> = (0..40).map(f64::from).collect();
    let ids: Vec<u32> = (0..32).map(|at| at * 3 % 8).collect();
    let mut expected = vec![0.0; 32];
    open(&data[..32], &ids, &mut expected).expect("ids in range");
    let (data, ids) = (View::new(&data, &[5, 8]).expect("a view"), View::new(&ids, &[4, 8]).expect("a view"));
    let (data, ids) = (DynView::from(&data), DynView::from(&ids));
    let op = GatherElements::new(1).par(Par::Seq);
    let found = op.registry(const { &Registry::builtin().with(&SET) }).run(&data, &ids).expect("a run");
    assert_eq!(found.downcast::<f64>().expect("floats").as_slice(), expected);
}

#[test]
fn folded_shapes_match_and_others_do_not() {
    let registry = const { &Registry::builtin().with(&SET) };
    let table: Vec<f32> = (0..480).map(|at| at as f32).collect();
    let ids = [9u32, 0, 3, 10];
    let kernel = |data: &[usize], ids: &View<'_, u32>, op: &Gather| {
        let data = View::new(&table, data).expect("a view");
        let (data, ids) = (DynView::from(&data), DynView::from(ids));
        let plan = op.registry(registry).plan(&data, &ids);
        let plan = plan.expect("a plan");
        let expected = op.run(&data, &ids);
        assert_eq!(
            plan.run(&data, &ids).map(|out| out.downcast::<f32>().expect("floats").into_vec()),
            expected.map(|out| out.downcast::<f32>().expect("floats").into_vec())
        );
        plan.explain().kernel()
    };
    let op = Gather::new(0).par(Par::Seq);
    let name = "wide f32[_, 48] u32[_]";
    let list = |n: usize| View::new(&ids[..n], &[n]).expect("a view");
    assert_eq!(kernel(&[10, 48], &list(3), &op), name);
    assert_eq!(kernel(&[10, 2, 24], &list(3), &op), name);
    assert_eq!(kernel(&[10, 48], &View::new(&ids[..2], &[2, 1]).expect("a view"), &op), name);
    // An index out of range is the operator's error.
    assert_eq!(kernel(&[10, 48], &list(4), &op), name);
    assert_ne!(kernel(&[20, 24], &list(3), &op), name);
    assert_ne!(kernel(&[2, 5, 48], &list(2), &Gather::new(1).par(Par::Seq)), name);
    let backwards = View::strided(&ids, &[3], &[-1], 2).expect("a view");
    assert_ne!(kernel(&[10, 48], &backwards, &op), name);
}

/// Images out of their tiles by the dispatcher, with and without the set: the kernel that runs, after the results have
/// been compared.
fn of_tiles<T: Sample>(op: &BatchToSpace, shape: &[usize]) -> &'static str {
    let registry = const { &Registry::builtin().with(&SET) };
    let values: Vec<T> = (0..shape.iter().product()).map(T::sample).collect();
    let data = View::new(&values, shape).expect("a view");
    let expected = op.run(&data).expect("a run");
    let data = DynView::from(&data);
    let own = op.clone().registry(registry);
    let plan = own.plan(&data).expect("a plan");
    for found in [plan.run(&data), own.run(&data)] {
        let found = found.expect("a run").downcast::<T>().expect("elements");
        assert_eq!((found.shape(), found.as_slice()), (expected.shape(), expected.as_slice()));
    }
    plan.explain().kernel()
}

#[test]
fn tiles_by_the_dispatcher() {
    let op = |block: &[i64], begin: &[i64], end: &[i64]| BatchToSpace::new(block, begin, end).par(Par::Seq);
    let image = op(&[1, 2, 2, 1], &[0, 1, 0, 0], &[0, 0, 3, 0]);
    let name = "image u16[_, 3, 5, 2]";
    assert_eq!(of_tiles::<u16>(&image, &[8, 3, 5, 2]), name);
    // A single image has no loop over images.
    assert_eq!(of_tiles::<u16>(&image, &[4, 3, 5, 2]), name);
    // Pixels of any rank.
    let folded = op(&[1, 2, 2, 1, 1], &[0, 1, 0, 0, 0], &[0, 0, 3, 0, 0]);
    assert_eq!(of_tiles::<u16>(&folded, &[8, 3, 5, 1, 2]), name);
    // Other sizes, crops, blocks, types, and calls for which something is forced.
    for shape in [[8, 4, 5, 2], [8, 3, 6, 2], [8, 3, 5, 3]] {
        assert_ne!(of_tiles::<u16>(&image, &shape), name, "{shape:?}");
    }
    assert_ne!(of_tiles::<u16>(&op(&[1, 2, 2, 1], &[0; 4], &[0, 1, 3, 0]), &[8, 3, 5, 2]), name);
    assert_ne!(of_tiles::<u16>(&op(&[1, 2, 2, 1], &[0, 1, 0, 0], &[0, 0, 2, 0]), &[8, 3, 5, 2]), name);
    assert_ne!(of_tiles::<u16>(&op(&[1, 4, 1, 1], &[0, 1, 0, 0], &[0; 4]), &[8, 3, 5, 2]), name);
    assert_ne!(of_tiles::<u32>(&image, &[8, 3, 5, 2]), name);
    assert_ne!(of_tiles::<u16>(&image.clone().method(Method::Interleaved), &[8, 3, 5, 2]), name);
    assert_ne!(of_tiles::<u16>(&image.clone().par(Par::Threads(2)), &[8, 3, 5, 2]), name);
    // Many images are the operator's.
    assert_ne!(of_tiles::<u16>(&image, &[1000, 3, 5, 2]), name);
    // Whole blocks that stay in one place are plain loops.
    assert_eq!(of_tiles::<u64>(&op(&[1, 3, 1], &[0; 3], &[0; 3]), &[3, 1, 6]), "lines_of_images u64[3, 1, 6]");
    let strided = Layout::strided(&[8, 3, 5, 2], &[30, 10, 2, 15]).expect("a layout");
    let plan = image
        .registry(const { &Registry::builtin().with(&SET) })
        .plan(&Spec::from_dtype(u16::DTYPE, &strided))
        .expect("a plan");
    assert_ne!(plan.explain().kernel(), name);
}

#[test]
fn instances_of_generic_functions() {
    let registry = const { &Registry::builtin().with(&SET) };
    for name in ["rows Packed[_, 3] i32[_]", "rows Line[_, 3] u8[_]", "cells [u64; 2][_, _, 2] i64[_, _, 2]"] {
        assert!(registry.kernels().any(|kernel| kernel.name == name), "{name}");
    }
    // Elements of the program's own, which no other set knows.
    let op = BatchToSpace::new(&[1, 2, 1], &[0, 1, 0], &[0; 3]);
    let name = "tiles Point[_, _, _]";
    assert_eq!(of_tiles::<Point>(&op, &[6, 4, 5]), name);
    assert_eq!(of_tiles::<Point>(&op, &[2, 4, 5]), name);
    let table: Vec<Packed> = (0..12).map(Packed::sample).collect();
    let data = View::new(&table, &[4, 3]).expect("a view");
    let ids = View::new(&[3i32, -4], &[2]).expect("a view");
    let expected = Gather::new(0).run(&data, &ids).expect("a run");
    let (data, ids) = (DynView::from(&data), DynView::from(&ids));
    let plan = Gather::new(0).registry(registry).plan(&data, &ids).expect("a plan");
    assert_eq!(plan.explain().kernel(), "rows Packed[_, 3] i32[_]");
    let found = plan.run(&data, &ids).expect("a run").downcast::<Packed>().expect("elements");
    assert_eq!(found.as_slice(), expected.as_slice());
}

#[test]
fn maps_with_parameters() {
    let table = [128u8, 130, 126, 255, 0, 128];
    let (scales, ids) = ([0.5f32, 0.25, 2.0], [2i16, -3, 1]);
    let data = View::new(&table, &[3, 2]).expect("a view");
    let ids_view = View::new(&ids, &[3]).expect("a view");
    let mut out = [0.0; 6];
    for scale in [Given::All(0.5), Given::PerRow(&scales), Given::PerElement(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])] {
        let params = (scale, Given::All(3));
        let expected = Gather::new(0).run(&data.map(&maps::dequantize(), params), &ids_view).expect("a run");
        scaled(&table, &ids, scale, Given::All(3), 2, &mut out).expect("a call");
        assert_eq!(out, expected.as_slice());
    }
    out = [7.0; 6];
    let wrong = scaled(&table, &ids, Given::PerRow(&scales[..2]), Given::All(3), 2, &mut out);
    assert!(matches!(wrong, Err(Error::MapParameterLengthMismatch { parameter: "scale", len: 2, dim: 3, .. })));
    let wrong = scaled(&table, &ids, Given::All(1.0), Given::PerElement(&[1; 7]), 2, &mut out);
    assert!(matches!(wrong, Err(Error::MapParameterPerElement { parameter: "zero_point", len: 7, .. })));
    assert!(matches!(
        scaled(&table, &ids, Given::All(1.0), Given::All(3), 4, &mut out),
        Err(Error::LengthMismatch { .. })
    ));
    assert_eq!(out, [7.0; 6]);
    let wrong = scaled(&table, &[3, 0, 0], Given::All(1.0), Given::All(3), 2, &mut out);
    assert!(matches!(wrong, Err(Error::IndexOutOfRange { position: 0, index: 3, .. })));
}

gather_core::specialize! {
    /// Kernels for counts that are declared.
    static COUNTED_SET;
    fn of_32 = gather(axis = 0) (f32[4, 2], u32[32]);
    fn of_1024 = gather(axis = 0) (f32[4, 2], u32[1024]);
    fn of_threes = gather(axis = 0) (f32[4, 8], u32[_, 3]);
}

static COUNTED: Registry = Registry::builtin().with(&COUNTED_SET);

/// A plan for any count runs no kernel that is declared for one.
#[test]
fn plans_for_any_count_beside_declared_counts() {
    let values: Vec<f32> = (0..32).map(|at| at as f32 + 1.0).collect();
    let check = |columns: usize, inner: &[usize], planned: usize, counts: &[usize], par: Par| {
        let table = View::new(&values[..4 * columns], &[4, columns]).expect("a table");
        let table = DynView::from(&table);
        let shape = |count: usize| -> Vec<usize> { [count].iter().chain(inner).copied().collect() };
        let op = Gather::new(0).registry(&COUNTED).par(par);
        let spec = Spec::<u32>::new(&shape(planned)).expect("ids");
        let plans = (op.plan_any_count(&table, &spec), op.nullable().plan_any_count(&table, &spec));
        let (plan, nullable) = (plans.0.expect("a plan"), plans.1.expect("a plan"));
        for &count in counts {
            let n = shape(count).iter().product::<usize>();
            let ids: Vec<u32> = (0..n).map(|at| (at % 4) as u32).collect();
            let ids = View::new(&ids, &shape(count)).expect("ids");
            let expected: Vec<f32> =
                (0..n).flat_map(|at| values[at % 4 * columns..][..columns].iter().copied()).collect();
            let rows = plan.run(&table, &ids).expect("a run").downcast::<f32>().expect("numbers");
            assert!(rows.as_slice() == expected, "{count} of {planned}");
            let (rows, _) = nullable.run(&table, &ids, Nulls::default()).expect("a run");
            assert!(rows.downcast::<f32>().expect("numbers").as_slice() == expected, "{count} of {planned}");
        }
    };
    for par in [Par::Seq, Par::Threads(2)] {
        for planned in [1, 32, 1024] {
            check(2, &[], planned, &[0, 1, 31, 32, 33, 1024, 2000], par);
        }
        check(8, &[3], 1, &[1, 2, 100_003], par);
    }
    let mut out = [0.0; 64];
    of_32(&values[..8], &[3; 32], &mut out).expect("a call");
    assert_eq!(out[62..], values[6..8]);
    of_1024(&values[..8], &[3; 1024], &mut [0.0; 2048]).expect("a call");
    of_threes(&values, &[3; 6], &mut [0.0; 48]).expect("a call");
}
