//! H11, H13, H17 and H19: wrong outputs, less work than threads, tensors at the end of a page, and exact bits.

use gather_core::{BatchToSpace, DynView, Element, Error, Gather, GatherElements, GatherNd, Par, View, ViewMut};
#[cfg(not(target_family = "wasm"))]
use gather_tests::guard::{Guarded, Side};
use gather_tests::values::bytes;

use super::{Faces, SIX, call_space, run, space};

#[test]
fn h11_outputs_of_other_shapes_are_not_touched() {
    let data = View::new(SIX, &[2, 3]).unwrap();
    let (list, tuples) = (View::new(&[0i64], &[1]).unwrap(), View::new(&[0i64], &[1, 1]).unwrap());
    let mut memory = [9; 6];
    let mut refused = |call: &dyn Fn(&mut ViewMut<'_, i32>) -> Result<(), Error>| {
        let mut out = ViewMut::new(&mut memory, &[2, 3]).unwrap();
        let error = call(&mut out).unwrap_err();
        assert_eq!(memory, [9; 6]);
        error.to_string()
    };
    assert_eq!(
        refused(&|out| Gather::new(0).run_into(&data, &list, out)),
        "gather: the output has shape [2, 3]; the result has [1, 3]"
    );
    assert_eq!(
        refused(&|out| GatherElements::new(0).run_into(&data, &tuples, out)),
        "gather_elements: the output has shape [2, 3]; the result has [1, 1]"
    );
    assert_eq!(
        refused(&|out| GatherNd::new().run_into(&data, &tuples, out)),
        "gather_nd: the output has shape [2, 3]; the result has [1, 3]"
    );
    assert_eq!(
        refused(&|out| BatchToSpace::new(&[1, 2], &[0, 0], &[0, 0]).run_into(&data, out)),
        "batch_to_space: the output has shape [2, 3]; the result has [1, 6]"
    );
}

#[test]
fn h11_outputs_that_overlap_themselves_cannot_be_made() {
    let mut memory = [0u8; 12];
    let mut overlap = |shape: &[usize], strides: &[isize]| {
        ViewMut::strided(&mut memory, shape, strides, 6).map(|_| ()).unwrap_err().to_string()
    };
    let text = |strides: &str, dim, stride, needed| {
        format!(
            "the output's strides {strides} may overlap: dimension {dim} has stride {stride}, and needs at least \
             {needed} in absolute value"
        )
    };
    assert_eq!(overlap(&[2], &[0]), text("[0]", 0, 0, 1));
    assert_eq!(overlap(&[2, 3], &[1, 1]), text("[1, 1]", 1, 1, 2));
    assert_eq!(overlap(&[3, 2], &[-1, 2]), text("[-1, 2]", 1, 2, 3));
    assert_eq!(overlap(&[2, 3], &[2, -1]), text("[2, -1]", 0, 2, 3));
}

#[test]
fn h13_less_work_than_threads() {
    for threads in [0, 1, 2, 1000, usize::MAX] {
        let par = Par::Threads(threads);
        assert_eq!(run(&Gather::new(0).par(par), (SIX, &[6]), (&[5u8, 0], &[2])), "[2] [6, 1]");
        let elements = GatherElements::new(0).par(par);
        assert_eq!(run(&elements, (SIX, &[2, 3]), (&[1i64, 0, 1], &[1, 3])), "[1, 3] [4, 2, 6]");
        let nd = GatherNd::new().par(par);
        assert_eq!(run(&nd, (SIX, &[2, 3]), (&[1i64], &[1, 1])), "[1, 3] [4, 5, 6]");
        let op = BatchToSpace::new(&[1, 2], &[0, 1], &[0, 0]).par(par);
        let out = call_space(&op, &View::new(SIX, &[6, 1]).unwrap()).unwrap();
        assert_eq!((out.shape(), out.as_slice()), (&[3, 1][..], &[4, 5, 6][..]));
    }
    assert_eq!(space(&[1, 2], &[0, 1], &[0, 0], (SIX, &[6, 1])), "[3, 1] [4, 5, 6]");
}

#[test]
#[cfg(not(target_family = "wasm"))]
fn h17_the_last_element_at_the_end_of_a_page() {
    let (mut memory, mut list) = (Guarded::new(1), Guarded::new(1));
    for side in Side::ALL {
        // Elements 3 to 5 of six are gathered. A guard follows the sixth, or precedes the first.
        let six = &*memory.place(side, 0, 6, |at| at as i32 + 1);
        let (data, flat) = (View::new(six, &[2, 3]).unwrap(), View::new(six, &[6]).unwrap());
        let last = &*list.place(side, 0, 2, |at| [1i16, -1][at]);
        let (indices, tuple) = (View::new(last, &[2]).unwrap(), View::new(last, &[1, 2]).unwrap());
        assert_eq!(Gather::new(0).call(&data, &indices).unwrap().as_slice(), [4, 5, 6, 4, 5, 6]);
        assert_eq!(Gather::new(0).call(&flat, &indices).unwrap().as_slice(), [2, 6]);
        assert_eq!(GatherElements::new(0).call(&flat, &indices).unwrap().as_slice(), [2, 6]);
        assert_eq!(GatherNd::new().call(&data, &tuple).unwrap().as_slice(), [6]);
        let op = BatchToSpace::new(&[1, 2], &[0, 0], &[0, 0]);
        assert_eq!(call_space(&op, &data).unwrap().as_slice(), [1, 4, 2, 5, 3, 6]);
    }
}

/// Quiet and signalling NaNs with payloads, negative zero, the smallest subnormal number, and infinity.
const BITS: [u32; 6] = [0x7fc0_0001, 0xffbf_ffff, 0x7f80_0001, 0x8000_0000, 0x0000_0001, 0xff80_0000];

#[test]
fn h19_bits_survive() {
    let data = BITS.map(f32::from_bits);
    let wide = BITS.map(|bits| f64::from_bits(u64::from(bits) << 32 | 1));
    check(&data);
    check(&wide);
    check(&wide.map(|value| num_complex::Complex::new(value, -value)));
    check(&BITS.map(|bits| half::f16::from_bits((bits >> 16) as u16 | 1)));

    fn check<T: Element>(data: &[T; 6]) {
        let order = [5u8, 4, 3, 2, 1, 0];
        let reversed: Vec<T> = order.iter().map(|&at| data[usize::from(at)]).collect();
        let (flat, column) = (View::new(data, &[6]).unwrap(), View::new(data, &[6, 1]).unwrap());
        let (list, tuples) = (View::new(&order, &[6]).unwrap(), View::new(&order, &[6, 1]).unwrap());
        let (dyn_flat, dyn_list, dyn_tuples) = (DynView::from(&flat), DynView::from(&list), DynView::from(&tuples));
        let same = |got: &[u8]| assert_eq!(got, bytes(&reversed), "{}", T::DTYPE);
        let (gather, elements, nd) = (Gather::new(0), GatherElements::new(0), GatherNd::new());
        same(bytes(gather.run(&flat, &list).unwrap().as_slice()));
        same(gather.run(&dyn_flat, &dyn_list).unwrap().as_bytes());
        same(bytes(elements.run(&flat, &list).unwrap().as_slice()));
        same(elements.run(&dyn_flat, &dyn_list).unwrap().as_bytes());
        same(bytes(nd.run(&flat, &tuples).unwrap().as_slice()));
        same(nd.run(&dyn_flat, &dyn_tuples).unwrap().as_bytes());
        let space = BatchToSpace::new(&[1, 6], &[0, 0], &[0, 0]);
        assert_eq!(bytes(space.run(&column).unwrap().as_slice()), bytes(data));
        assert_eq!(space.run(&DynView::from(&column)).unwrap().as_bytes(), bytes(data));
    }
}

/// Views that begin inside a vector, and byte views that begin inside an element.
#[test]
fn h19_misaligned_and_unaligned_views() {
    let values: Vec<u32> = (0..70).collect();
    for start in 0..8 {
        let data = View::strided(&values, &[5, 9], &[9, 1], start).unwrap();
        let rows: Vec<i64> = (0..start as i64).chain([4, -5, 2, 0, -1, 3, 1, 2]).map(|at| at % 5).collect();
        let list = View::strided(&rows, &[8], &[1], start).unwrap();
        let got = Gather::new(0).call(&data, &list).unwrap();
        let element = |row: i64, at: usize| start as u32 + 9 * row.rem_euclid(5) as u32 + at as u32;
        let expected: Vec<u32> = rows[start..].iter().flat_map(|&row| (0..9).map(move |at| element(row, at))).collect();
        assert_eq!(got.as_slice(), expected);
    }

    let order = [3i32, -1, 0, 2, 1, 0, 3, 2, 1];
    for shift in 0..8 {
        let place = |from: &[u8]| [&vec![0xee; shift][..], from].concat();
        let (data, list) = (place(bytes(&values[..12])), place(bytes(&order)));
        let data = DynView::from_bytes(u32::DTYPE, &data[shift..], &[4, 3]).unwrap();
        let list = |shape: &[usize]| DynView::from_bytes(i32::DTYPE, &list[shift..], shape).unwrap();
        let run = |got: Result<gather_core::DynTensor, Error>| got.unwrap().downcast::<u32>().unwrap().into_vec();
        let rows = run(Gather::new(0).run(&data, &list(&[9])));
        let row = |at: i32| (0..3).map(move |k| at.rem_euclid(4) as u32 * 3 + k);
        assert_eq!(rows, order.iter().flat_map(|&at| row(at)).collect::<Vec<_>>());
        let elements = run(GatherElements::new(0).run(&data, &list(&[3, 3])));
        let element = |(at, &index): (usize, &i32)| index.rem_euclid(4) as u32 * 3 + at as u32 % 3;
        assert_eq!(elements, order.iter().enumerate().map(element).collect::<Vec<_>>());
        let found = run(GatherNd::new().run(&data, &list(&[9, 1])));
        assert_eq!(found, rows);
        let mixed = run(BatchToSpace::new(&[1, 4], &[0, 1], &[0, 0]).run(&data));
        assert_eq!(mixed, [3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]);
    }
}
