//! Parameters and weights that differ from row to row and from element to element, where a swap of two shows: against
//! a gather by the map and bags of its result, to the bit.

use gather_core::maps::{self, Q8_0};
use gather_core::{
    Bags, Element, EmbeddingBag, Gather, Given, Map, Par, Params, Reducible, Reduction, Spec, Tensor, View,
};
use gather_tests::oracle::{BagRows, Dense};
use gather_tests::values::bytes;

use super::doors::{Case, Mapped, holds};
use super::{BOUNDS, blocks, q8_0};
use crate::support::{RULES, available_levels, mixed, view};

gather_core::map_kernels! {
    /// A parameter of every kind.
    static ADJUST = |code: u8, scale: f32, offset: f32, zero: u8| -> f32 {
        (f32::from(code) - f32::from(zero)) * scale + offset
    };
    /// To arrays, by a parameter of every element.
    static FAN = |code: i8, by: f32| -> [f32; 32] {
        let mut out = [0.0; 32];
        for (at, out) in out.iter_mut().enumerate() {
            *out = f32::from(code) * by + at as f32;
        }
        out
    };
}

/// Compares bags of packed rows, on one thread and on two at every level, with a gather and bags of its result.
fn as_gathered<T: Element, U: Reducible<Number = f32>, P: Params>(
    map: &Map<T, U, P>,
    data: &View<'_, T>,
    indices: &View<'_, u32>,
    weights: Option<&View<'_, f32>>,
    given: P::Given<'_>,
) where
    for<'a> P::Given<'a>: Sync,
{
    let &[bags, len] = indices.shape() else { unreachable!("packed bags") };
    let rows = Gather::new(0).run(&data.map(map, given), indices).unwrap();
    let values: Vec<f32> = bytes(rows.as_slice()).as_chunks().0.iter().map(|&x| f32::from_ne_bytes(x)).collect();
    let columns = values.len() / (bags * len);
    let (values, order) = (View::new(&values, &[bags * len, columns]).unwrap(), (0..(bags * len) as u32).collect());
    let order: Tensor<u32> = Tensor::new(order, &[bags, len]).unwrap();
    let order = order.view();
    for (reduction, weights) in [(Reduction::Add, weights), (Reduction::Max, None)] {
        let op = EmbeddingBag::new(reduction).par(Par::Seq);
        let (after, bags) = (Bags::packed(&order), Bags::packed(indices));
        let weighted = (after.weights(weights), bags.weights(weights));
        let expected = op.run(&values, &weighted.0).unwrap();
        for level in available_levels() {
            for threads in [1, 2] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let op = op.level(level).par(Par::Threads(threads));
                let got = pool.install(|| op.run(&data.map(map, given), &weighted.1)).unwrap();
                let what = format!("{} at {level}, {threads} threads, {reduction}", map.name());
                assert!(bytes(got.as_slice()) == bytes(expected.as_slice()), "{what}, {:?}", weights.is_some());
            }
        }
    }
}

fn ids(rows: usize, shape: &[usize]) -> Dense<u32> {
    Dense::from_fn(shape, |at| (mixed(11, at) % rows as u64) as u32)
}

fn floats(len: usize, seed: u64) -> Vec<f32> {
    (0..len).map(|at| (mixed(seed, at) % 2003) as f32 / 512.0 - 1.9).collect()
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn parameters_of_rows_that_are_asked_for_ahead() {
    let (rows, columns) = (5000, 64);
    let data = Dense::from_fn(&[rows, columns], |at| mixed(1, at) as u8);
    let (by_row, by_element) = (floats(rows, 2), floats(rows * columns, 3));
    let zeros: Vec<u8> = (0..rows).map(|row| mixed(4, row) as u8).collect();
    let plan = EmbeddingBag::new(Reduction::Add);
    for (bags, len) in [(300, 7), (2, 700), (1, 3000)] {
        let indices = ids(rows, &[bags, len]);
        let (data, indices) = (view(&data), view(&indices));
        let text = plan
            .plan(&Spec::from_layout(data.layout()).map(&ADJUST), &Bags::packed(&indices))
            .unwrap()
            .explain()
            .to_string();
        assert!(text.contains(" ahead"), "rows are to be prefetched: {text}");
        let given = (Given::PerRow(&by_row[..]), Given::PerRow(&zeros[..]));
        as_gathered(&maps::dequantize(), &data, &indices, None, given);
        let given = (Given::PerElement(&by_element[..]), Given::PerRow(&zeros[..]));
        as_gathered(&maps::dequantize(), &data, &indices, None, given);
        let given = (Given::PerRow(&by_row[..]), Given::PerElement(&by_element[..]), Given::All(128));
        let weights = Dense { values: floats(bags * len, 5), shape: vec![bags, len] };
        as_gathered(&ADJUST, &data, &indices, Some(&view(&weights)), given);
    }
    // Rows of many pieces, of which some columns are converted at a time.
    let wide = Dense::from_fn(&[120, 2500], |at| mixed(6, at) as u8);
    let (by_row, by_element) = (floats(120, 7), floats(120 * 2500, 8));
    let indices = ids(120, &[9, 40]);
    let given = (Given::PerRow(&by_row[..]), Given::PerElement(&by_element[..]), Given::All(3));
    as_gathered(&ADJUST, &view(&wide), &view(&indices), None, given);
}

#[test]
fn a_row_that_stands_in_has_its_own_parameters() {
    let shape = [7, 5, 6];
    let data = Dense::from_fn(&shape, |at| mixed(1, at) as u8);
    let (by_row, by_element) = (floats(7, 2), floats(210, 3));
    let values = |x: u8, row: usize, at: usize| vec![(f32::from(x) - 9.0) * by_row[row] + by_element[at]];
    let given = (Given::PerRow(&by_row[..]), Given::PerElement(&by_element[..]), Given::All(9));
    let mapped = Mapped { map: &ADJUST, given, values: &values };
    let indices = Dense::from_fn(&[8], |at| [3, 3, 6, 3, 0, 3, 5, 4][at]);
    for default in [0, 4, 6] {
        for (reduction, weighted) in [(Reduction::Add, true), (Reduction::Mean, false)] {
            // Bags without rows, bags of nothing but padding, and others.
            let (bounds, (_, out_of_bounds, rules)) = (&[0, 0, 2, 3, 3, 4, 8], RULES[0]);
            let rows = BagRows { padding: Some(3), default: Some(default), ..BagRows::default() };
            let case = Case { indices: &indices, bounds, reduction, weighted, rows, rules, out_of_bounds };
            holds(&mapped, (&data, &view(&data)), &case);
        }
    }
}

#[test]
fn a_row_of_blocks_that_stands_in() {
    let data = Dense::from_fn(&[4, 3], |at| mixed(1, at) as i8);
    let by = floats(12, 2);
    let values = |x: i8, _, at: usize| (0..32).map(|k| f32::from(x) * by[at] + k as f32).collect();
    let mapped = Mapped { map: &FAN, given: (Given::PerElement(&by[..]),), values: &values };
    let (indices, (_, out_of_bounds, rules)) = (Dense::from_fn(&[3], |at| [2, 1, 1][at]), RULES[0]);
    let rows = BagRows { padding: Some(1), default: Some(3), ..BagRows::default() };
    for weighted in [false, true] {
        let (bounds, reduction) = (&[0, 0, 1, 3], Reduction::Add);
        let case = Case { indices: &indices, bounds, reduction, weighted, rows, rules, out_of_bounds };
        holds(&mapped, (&data, &view(&data)), &case);
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn weights_of_rows_of_blocks() {
    let codes = Dense::from_fn(&[50, 4], |at| mixed(1, at) as i8);
    let by = floats(200, 2);
    let halves = blocks(&[50, 4]);
    for (bags, len) in [(40, 3), (5, 33), (1, 700)] {
        let indices = ids(50, &[bags, len]);
        let memory = floats(bags * (len + 2) * 3, 3);
        // Contiguous; with gaps, so that a step from bag to bag is another one; column by column; one for a bag; in
        // reverse.
        let (n, gaps) = (len as isize, len as isize + 2);
        for (strides, offset) in [
            ([n, 1], 0),
            ([gaps, 1], 1),
            ([3 * gaps, 2], 0),
            ([1, bags as isize], 0),
            ([1, 0], 2),
            ([-gaps, -1], bags * (len + 2)),
        ] {
            let weights = View::strided(&memory, &[bags, len], &strides, offset).unwrap();
            as_gathered(&FAN, &view(&codes), &view(&indices), Some(&weights), (Given::PerElement(&by[..]),));
            as_gathered(&maps::convert::<_, f32>(), &view(&halves), &view(&indices), Some(&weights), ());
        }
    }
    // Against the plain loop too, in bags of many lengths.
    let data = blocks(&[6, 2]);
    let indices = Dense::from_fn(&[BOUNDS[BOUNDS.len() - 1]], |at| i128::from(mixed(3, at) % 6));
    let (rows, (_, out_of_bounds, rules)) =
        (BagRows { padding: Some(2), default: Some(1), ..BagRows::default() }, RULES[0]);
    let (bounds, reduction, weighted) = (&BOUNDS, Reduction::Add, true);
    let case = Case { indices: &indices, bounds, reduction, weighted, rows, rules, out_of_bounds };
    let values = |x: Q8_0, _, _| q8_0(x);
    holds(&Mapped { map: &maps::convert::<_, f32>(), given: (), values: &values }, (&data, &view(&data)), &case);
}
