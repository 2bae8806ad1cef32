//! The doors of maps: conversions from and into elements of every kind, with every setting.

use std::mem::MaybeUninit;

use gather_core::{Error, Gather, Given, Map, Op, Tensor, View, ViewMut};

use crate::common::{Line, Lines, Packed, Point, Sample, set, settings};

gather_core::map_kernels! {
    static BYTE_TO_LINES = |value: u8| -> Lines { Lines::of(u16::from(value)) };
    static LINES_TO_BYTE = |value: Lines| -> u8 { value.first() as u8 };
    static LINE_TO_LINE = |value: Line| -> Line { value };
    static POINT_TO_POINT = |value: Point| -> Point { value };
    static PACKED_TO_NUMBER = |value: Packed| -> u64 { u64::from(value.tag()) };
    static SHIFTED = |value: u32, by: u32| -> u32 { value.wrapping_add(by) };
}

/// Runs a map through every door with every setting. `params` are given anew for each call, as they may borrow.
macro_rules! go {
    ($map:expr, $from:ty => $to:ty, $params:expr, $convert:expr) => {{
        let map: &Map<$from, $to, _> = &$map;
        let convert: fn(usize, $from) -> $to = $convert;
        let values: Vec<$from> = (0..15).map(<$from>::sample).collect();
        // Each row of the table converted by its position, as parameters may differ by it.
        let converted: Vec<$to> = values.iter().enumerate().map(|(at, &value)| convert(at / 3, value)).collect();
        let table = View::new(&values, &[5, 3]).unwrap();
        for indices in [vec![0i32, 4, 2, 1, 3, 0, 2], vec![4, -1, -5, 3, 9, 0, -8]] {
            let exact: Vec<i128> = indices.iter().map(|&index| i128::from(index)).collect();
            let indices = View::new(&indices, &[7]).unwrap();
            for setting in settings() {
                let expected = setting.gather(&converted, 3, &exact, <$to as gather_core::Element>::ZERO);
                let judge = |door: &str, got| setting.judge(Op::Gather, door, &expected, got);
                let op = set!(Gather::new(0), &setting);
                judge("run_map", op.run(&table.map(map, $params), &indices).map(Tensor::into_vec));
                let mut written = vec![<$to>::sample(99); 21];
                let out = &mut ViewMut::new(&mut written, &[7, 3]).unwrap();
                let ran = op.run_into(&table.map(map, $params), &indices, out);
                judge("run_map_into", ran.map(|()| written));
                let mut fresh = vec![MaybeUninit::new(<$to>::sample(99)); 21];
                let out = &mut ViewMut::new(&mut fresh, &[7, 3]).unwrap();
                // Safe code cannot read what was written; what the call says must be right still.
                let ran = op.run_into(&table.map(map, $params), &indices, out);
                judge("run_map_uninit", ran.map(|()| expected.clone().unwrap_or_default()));
            }
        }
    }};
}

#[test]
fn from_and_into_aligned_elements() {
    go!(BYTE_TO_LINES, u8 => Lines, (), |_, value| Lines::of(u16::from(value)));
    go!(LINES_TO_BYTE, Lines => u8, (), |_, value| value.first() as u8);
    go!(LINE_TO_LINE, Line => Line, (), |_, value| value);
}

#[test]
fn from_and_into_odd_sizes() {
    go!(POINT_TO_POINT, Point => Point, (), |_, value| value);
    go!(PACKED_TO_NUMBER, Packed => u64, (), |_, value| u64::from(value.tag()));
}

#[test]
fn parameters_for_the_call_and_for_each_row() {
    go!(SHIFTED, u32 => u32, (Given::All(7),), |_, value| value.wrapping_add(7));
    let by = [1, 20, 300, 4000, 50_000];
    go!(SHIFTED, u32 => u32, (Given::PerRow(&by),), |at, value| value.wrapping_add([1, 20, 300, 4000, 50_000][at]));
    let (table, ids) = ([1u32, 2], [0u8]);
    let (table, ids) = (View::new(&table, &[2]).unwrap(), View::new(&ids, &[1]).unwrap());
    let got = Gather::new(0).run(&table.map(&SHIFTED, (Given::PerRow(&by),)), &ids);
    assert!(matches!(got, Err(Error::MapParameterLengthMismatch { len: 5, dim: 2, .. })), "{got:?}");
    assert_eq!((SHIFTED.name(), SHIFTED.params()), ("SHIFTED", &["by"][..]));
}
