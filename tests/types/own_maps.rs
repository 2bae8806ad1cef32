//! Maps made by `map_kernels!`, and the errors of calls with maps.

use gather_core::{Element, Error, Gather, Given, Layout, Method, OutOfBounds, View, ViewMut, maps};
use gather_tests::oracle::Dense;

use crate::maps::holds;
use crate::support::{levels, view};

gather_core::map_kernels! {
    /// Without parameters.
    static BROADEN = |value: u16| -> u64 { u64::from(value) << 7 };

    /// With the most parameters that are allowed, of types that are not elements; one has no bytes.
    static MIXED = |value: i16, tuple: (i32, bool), nothing: (), mut sum: i64, word: &'static str| -> i64 {
        let () = nothing;
        sum += i64::from(tuple.0) * i64::from(value);
        if tuple.1 { -sum } else { sum + word.len() as i64 }
    };

    /// To a type whose zero is not all zero bytes.
    static TO_CELL = |value: u8, base: i32| -> Cell { Cell { value: base + i32::from(value), kind: Kind::Full } };

    /// From a type of 8 bytes to one of 3.
    static FROM_CELL = |cell: Cell| -> [u8; 3] { [cell.value as u8, cell.kind as u8, 7] };
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
#[element(zero = Cell { value: -1, kind: Kind::Empty })]
struct Cell {
    value: i32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(u32)]
#[element(zero = Empty)]
enum Kind {
    Empty = 5,
    Full = 6,
}

#[test]
fn maps_of_ones_own() {
    let words = Dense::from_fn(&[4, 9], |at| (at * 1009) as u16);
    let list = [3i8, -1, 0, 1];
    let list = View::new(&list, &[4]).unwrap();
    for level in levels() {
        let op = Gather::new(0).level(level);
        holds(&BROADEN, &op, (0, &view(&words), &list), (), |value, _| u64::from(value) << 7);

        let numbers = Dense::from_fn(&[4, 9], |at| at as i16 - 18);
        let (tuples, sums) = ([(1, true), (2, false), (-3, true), (4, false)], [10i64, 20, 30, 40]);
        let given =
            (Given::PerRow(&tuples[..]), Given::PerRow(&[(); 4][..]), Given::PerRow(&sums[..]), Given::All("four"));
        let convert = |value: i16, at: usize| {
            let sum = sums[at] + i64::from(tuples[at].0) * i64::from(value);
            if tuples[at].1 { -sum } else { sum + 4 }
        };
        holds(&MIXED, &op, (0, &view(&numbers), &list), given, convert);

        // Out of range: the zero of the output's type, not the map of a zero.
        let codes = [1u8, 2, 3];
        let codes = View::new(&codes, &[3]).unwrap();
        let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero).level(level);
        let cell = |value| Cell { value, kind: Kind::Full };
        holds(&TO_CELL, &op, (0, &codes, &list), (Given::All(100),), |value, _| cell(100 + i32::from(value)));
        let cells = op.run(&codes.map(&TO_CELL, (Given::All(100),)), &list).unwrap();
        assert_eq!(cells.as_slice(), [Cell::ZERO, cell(103), cell(101), cell(102)]);
        let back = op.run(&cells.view().map(&FROM_CELL, ()), &list).unwrap();
        assert_eq!(back.as_slice(), [[102, 6, 7], [102, 6, 7], [255, 5, 7], [103, 6, 7]]);
    }
    assert_eq!((MIXED.name(), MIXED.params()), ("MIXED", &["tuple", "nothing", "sum", "word"][..]));
    assert_eq!(format!("{TO_CELL:?}"), r#"Map { name: "TO_CELL", params: ["base"] }"#);

    // One element of a tensor of rank 0.
    let got = Gather::torch(0).run(&View::scalar(&3).map(&BROADEN, ()), &View::scalar(&0u8)).unwrap();
    assert_eq!((got.shape(), got.as_slice()), (&[][..], &[384][..]));
}

#[test]
#[cfg(target_pointer_width = "64")]
fn axes_beyond_32_bits_are_converted() {
    // Billions of repeated rows, with a parameter that has as many values and takes no memory.
    let (rows, nothing) = (1usize << 33, [(); 1 << 33]);
    let data = View::strided(&[7i16, 8, 9], &[rows, 3], &[0, 1], 0).unwrap();
    let indices = [0i64, -1, (1 << 33) - 1, 1 << 33];
    let indices = View::new(&indices, &[4]).unwrap();
    let given = (Given::All((2, false)), Given::PerRow(&nothing[..]), Given::All(100), Given::All(""));
    for level in levels() {
        let op = Gather::new(0).level(level).out_of_bounds(OutOfBounds::Zero);
        let got = op.run(&data.map(&MIXED, given), &indices).unwrap();
        assert_eq!(got.as_slice(), [[114, 116, 118].repeat(3), vec![0; 3]].concat());
        let error = Gather::new(0).level(level).run(&data.map(&MIXED, given), &indices).unwrap_err();
        let text = "gather: index 8589934592 at position 3 is out of range for axis 0 of size 8589934592";
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn what_is_wrong_is_said() {
    let table = Dense::from_fn(&[4, 2], |at| at as u8);
    let (table, list) = (view(&table), [3i32, 1, 4]);
    let list = View::new(&list, &[3]).unwrap();
    let map = &maps::dequantize();
    let given = (Given::All(1.0), Given::All(0));
    let text = |op: Gather, given| op.run(&table.map(map, given), &list).unwrap_err().to_string();

    let scales = [0.5f32, 0.25, 2.0];
    let few = (Given::PerRow(&scales[..]), Given::All(0));
    let error = "gather: parameter scale of dequantize has 3 values; per row it takes 4, the size of axis 0";
    assert_eq!(text(Gather::new(0), few), error);
    let error = "gather: parameter scale of dequantize has 3 values; per row it takes 2, the size of axis 1";
    assert_eq!(text(Gather::new(-1), few), error);
    let zeros = [0; 5];
    let error = "gather: parameter zero_point of dequantize has 5 values; per row it takes 4, the size of axis 0";
    assert_eq!(text(Gather::new(0), (Given::All(1.0), Given::PerRow(&zeros[..]))), error);

    // Errors of attributes come first.
    assert_eq!(text(Gather::new(2), few), "gather: axis 2 is out of range; data of rank 2 allows -2..=1");
    let error = "gather: index 4 at position 2 is out of range for axis 0 of size 4";
    assert_eq!(text(Gather::new(0), given), error);
    let error = "gather: the method table does not take these shapes and types at this level";
    assert_eq!(text(Gather::new(0).method(Method::Table), given), error);
    assert!(Gather::new(0).method(Method::Direct).run(&table.map(map, given), &View::scalar(&0u8)).is_ok());

    // A wrong output is left untouched. Results with too many bytes are refused.
    let mut memory = [7.0f32; 6];
    let mut out = ViewMut::new(&mut memory, &[2, 3]).unwrap();
    let error = Gather::new(0).run_into(&table.map(map, given), &list, &mut out).unwrap_err();
    assert_eq!(error.to_string(), "gather: the output has shape [2, 3]; the result has [3, 2]");
    assert_eq!(memory, [7.0; 6]);
    let rows = usize::MAX >> 2;
    let indices = View::strided(&[0u8], &[rows], &[0], 0).unwrap();
    let error = Gather::new(0).run(&View::new(&[1u8, 2], &[2]).unwrap().map(map, given), &indices).unwrap_err();
    assert_eq!(error, Error::TooManyBytes { shape: [rows].into(), element: 4 });
    assert!(Layout::contiguous(&[rows]).is_ok());
}

gather_tests::needs_64_bits!(axes_beyond_32_bits_are_converted);
