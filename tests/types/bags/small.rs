//! Small tables with every way that indices fall into bags, against the oracle, by every door.

use gather_core::{Bags, DynView, DynViewMut, EmbeddingBag, Error, Layout, Reduction, Tensor, View, ViewMut};
use gather_tests::oracle::{self, BadIndex, BagRows, Dense, Rules};
use gather_tests::policies::RULES;

use crate::support::{Spread, narrow, same, view};

/// Every ascending list of offsets of some length, from 0 to at most `last`.
fn ascending(len: usize, last: usize) -> Vec<Vec<usize>> {
    let mut lists = vec![vec![0]; usize::from(len > 0)];
    for _ in 1..len {
        lists = lists
            .iter()
            .flat_map(|list| (list[list.len() - 1]..=last).map(move |next| [&list[..], &[next]].concat()))
            .collect();
    }
    if len == 0 { vec![vec![]] } else { lists }
}

/// A way that indices fall into bags.
struct Split {
    /// `None` for packed bags.
    offsets: Option<Vec<usize>>,
    its_end: bool,
    bounds: Vec<usize>,
}

fn splits(indices: usize) -> Vec<Split> {
    let mut splits = Vec::new();
    for len in 0..=3 {
        for offsets in ascending(len, indices) {
            let end = if offsets.is_empty() { 0 } else { indices };
            let bounds = [&offsets[..], &[end]].concat();
            splits.push(Split { offsets: Some(offsets.clone()), its_end: false, bounds });
            if !offsets.is_empty() {
                splits.push(Split { bounds: offsets.clone(), offsets: Some(offsets), its_end: true });
            }
        }
    }
    splits
}

const REDUCTIONS: [Reduction; 4] = [Reduction::Add, Reduction::Mean, Reduction::Max, Reduction::Min];

fn reduce(reduction: Reduction, weights: Option<&[u16]>, terms: &[(usize, u16)]) -> u16 {
    let values = || terms.iter().map(|&(at, value)| weights.map_or(value, |weights| value.wrapping_mul(weights[at])));
    match reduction {
        Reduction::Add => values().fold(0, u16::wrapping_add),
        Reduction::Mean => (values().map(u64::from).sum::<u64>() / terms.len() as u64) as u16,
        Reduction::Max => values().max().unwrap(),
        _ => values().min().unwrap(),
    }
}

/// What is called.
struct Case<'a> {
    op: &'a EmbeddingBag,
    data: &'a Dense<u16>,
    indices: &'a Dense<i128>,
    split: &'a Split,
    weights: Option<&'a Dense<u16>>,
    expected: Result<Dense<u16>, BadIndex>,
}

/// Calls an operator through all doors.
fn check(case: &Case<'_>) {
    let Case { op, data, indices, split, weights, expected } = case;
    let what = || format!("{op:?} {:?} {indices:?} {:?} {weights:?}", data.shape, split.offsets);
    let same = |got: Result<Tensor<u16>, Error>, door: &str| same(expected, got, || format!("{door}: {}", what()));
    let list = narrow::<i32>(indices);
    let offsets: Vec<u8> = split.offsets.iter().flatten().map(|&offset| offset as u8).collect();
    let offsets = View::new(&offsets, &[offsets.len()]).unwrap();
    let (a, i, w) = (view(data), view(&list), weights.map(view));
    let nothing = View::new(&[0i32; 0], &[1, 0]).unwrap();
    macro_rules! each {
        ($bags:ident, $indices:expr, $weights:expr => $run:expr) => {
            if split.offsets.is_some() {
                let $bags = Bags::new($indices, &offsets).weights($weights);
                $run
            } else {
                let $bags = Bags::packed($indices).weights($weights);
                $run
            }
        };
    }
    let shape = [&[split.bounds.len() - 1], &data.shape[1..]].concat();
    let inferred = op.output_shape(&data.shape, &indices.shape, split.offsets.as_ref().map(Vec::len)).unwrap();
    assert_eq!(inferred[..], shape, "{}", what());
    each!(bags, &i, w.as_ref() => same(op.run(&a, &bags), "fresh"));
    each!(bags, &i, w.as_ref() => {
        let plan = op.plan(&a, &bags).unwrap();
        assert_eq!(plan.output_shape(), shape);
        same(plan.run(&a, &Bags::planned(&i).weights(w.as_ref())), "planned");
        let mut out = Tensor::new(vec![7; shape.iter().product()], &shape).unwrap();
        same(plan.run_into(&a, &Bags::planned(&i).weights(w.as_ref()), &mut out.view_mut()).map(|()| out), "planned into");
        same(plan.run(&a, &bags), "planned, the same bags");
        let of_others = op.plan(&a, &Bags::packed(&nothing)).unwrap();
        same(of_others.run(&a, &bags), "planned for other bags");
        let mut out = Tensor::new(vec![7; shape.iter().product()], &shape).unwrap();
        let ran = of_others.run_into(&a, &bags, &mut out.view_mut());
        same(ran.map(|()| out), "planned for other bags, into");
    });
    // All tensors with gaps, and the output with its dimensions the other way round.
    let (spread, spread_list, spread_weights) = (Spread::new(data), Spread::new(&list), weights.map(Spread::new));
    let (spread_list, spread_weights) = (spread_list.view(), spread_weights.as_ref().map(Spread::view));
    each!(bags, &spread_list, spread_weights.as_ref() => {
        let reversed: Vec<usize> = shape.iter().rev().copied().collect();
        let strides: Vec<isize> =
            (0..shape.len()).map(|d| shape[..d].iter().product::<usize>() as isize).collect();
        let mut out = vec![7; reversed.iter().product()];
        let ran = op.run_into(&spread.view(), &bags, &mut ViewMut::strided(&mut out, &shape, &strides, 0).unwrap());
        let back = View::strided(&out, &shape, &strides, 0).unwrap();
        let values = oracle::coords(&shape).map(|at| *back.get(&at).unwrap()).collect();
        same(ran.map(|()| Tensor::new(values, &shape).unwrap()), "strided");
    });
    let (a, i, w, offsets) =
        (DynView::from(&a), DynView::from(&i), w.as_ref().map(DynView::from), DynView::from(&offsets));
    let bags = if split.offsets.is_some() { Bags::new(&i, &offsets) } else { Bags::packed(&i) };
    let bags = bags.weights(w.as_ref());
    same(op.run(&a, &bags).map(|out| out.downcast().unwrap()), "dyn");
    let plan = op.plan(&a, &bags).unwrap();
    same(plan.run(&a, &Bags::planned(&i).weights(w.as_ref())).map(|out| out.downcast().unwrap()), "dyn, planned");
    let mut out = Tensor::new(vec![7u16; shape.iter().product()], &shape).unwrap();
    let ran = plan.run_into(&a, &Bags::planned(&i).weights(w.as_ref()), &mut DynViewMut::from(&mut out.view_mut()));
    same(ran.map(|()| out), "dyn, planned into");
    let nothing = DynView::from(&nothing);
    let of_others = op.plan(&a, &Bags::packed(&nothing)).unwrap();
    same(of_others.run(&a, &bags).map(|out| out.downcast().unwrap()), "dyn, planned for other bags");
    let mut out = Tensor::new(vec![7u16; shape.iter().product()], &shape).unwrap();
    let ran = of_others.run_into(&a, &bags, &mut DynViewMut::from(&mut out.view_mut()));
    same(ran.map(|()| out), "dyn, planned for other bags, into");
    let mut out = Tensor::new(vec![7u16; shape.iter().product()], &shape).unwrap();
    let ran = op.run_into(&a, &bags, &mut DynViewMut::from(&mut out.view_mut()));
    same(ran.map(|()| out), "dyn into");
}

/// Indices around an axis; only those in range when `tame`.
fn indices(shape: &[usize], dim: usize, seed: usize, tame: bool) -> Dense<i128> {
    let n = dim as i128;
    let (low, count) = if tame && n > 0 { (0, n) } else { (-n - 2, 2 * n + 4) };
    Dense::from_fn(shape, |at| low + ((at * 7 + seed) as i128) % count)
}

/// All policies, reductions in turn, rows that are left out or stand in, weights.
fn under_all(data: &Dense<u16>, index_shape: &[usize], split: &Split, turn: &mut usize) {
    let dim = data.shape[0];
    for (negative, out_of_range, rules) in RULES {
        *turn += 1;
        let even = |by: usize| (*turn / by).is_multiple_of(2);
        let tame = !turn.is_multiple_of(3);
        let indices = indices(index_shape, dim, *turn, tame);
        let reduction = REDUCTIONS[*turn / 3 % REDUCTIONS.len()];
        let weights = Dense::from_fn(index_shape, |at| (at * 3 + *turn) as u16);
        let weights = (reduction == Reduction::Add && even(5)).then_some(&weights);
        let named = |wanted: bool, row: usize| (wanted && dim > 0).then(|| row % dim);
        let rows =
            BagRows { padding: named(even(2), *turn / 4), default: named(even(7), *turn / 3), ..BagRows::default() };
        let op = EmbeddingBag::new(reduction).negative_index(negative).out_of_bounds(out_of_range);
        let padding = rows.padding.map(|row| row as i64 - if even(1) { dim as i64 } else { 0 });
        let op = op.padding_index(padding).default_index(rows.default.map(|row| row as i64));
        let op = op.include_last_offset(split.its_end);
        let expected = expected(data, &indices, split, rules, rows, |terms| {
            reduce(reduction, weights.map(|weights| &weights.values[..]), terms)
        });
        check(&Case { op: &op, data, indices: &indices, split, weights, expected });
    }
}

fn expected(
    data: &Dense<u16>,
    indices: &Dense<i128>,
    split: &Split,
    rules: Rules,
    rows: BagRows,
    reduce: impl FnMut(&[(usize, u16)]) -> u16,
) -> Result<Dense<u16>, BadIndex> {
    oracle::embedding_bag(data, indices, &split.bounds, rules, rows, &0, reduce)
}

#[test]
fn every_way_that_indices_fall_into_bags() {
    let mut turn = 0;
    for shape in [&[0][..], &[3], &[1, 2], &[4, 3], &[3, 0], &[2, 2, 3], &[0, 2]] {
        let data = Dense::from_fn(shape, |at| (at as u16).wrapping_mul(0x9e37).wrapping_add(1));
        for n in 0..=5 {
            for split in splits(n) {
                under_all(&data, &[n], &split, &mut turn);
            }
        }
        for (bags, len) in [(0, 0), (0, 3), (2, 0), (1, 1), (1, 4), (3, 1), (3, 4)] {
            let bounds = (0..=bags).map(|bag| bag * len).collect();
            under_all(&data, &[bags, len], &Split { offsets: None, its_end: false, bounds }, &mut turn);
        }
    }
}

#[test]
fn a_bag_is_a_gather_and_a_sum() {
    let data = Dense::from_fn(&[5, 3], |at| at as f64);
    let ids = Dense::from_fn(&[4, 6], |at| (at * 7 % 5) as u8);
    let rows = gather_core::Gather::new(0).run(&view(&data), &view(&ids)).unwrap();
    let sums = EmbeddingBag::openvino15_packed(Reduction::Add).run(&view(&data), &Bags::packed(&view(&ids))).unwrap();
    for (bag, sum) in sums.as_slice().chunks(3).enumerate() {
        for (q, sum) in sum.iter().enumerate() {
            assert_eq!(*sum, (0..6).map(|i| rows.as_slice()[(bag * 6 + i) * 3 + q]).sum::<f64>());
        }
    }
    // The strides of a view that repeats one bag, and of one that walks through a table's columns.
    let one = View::strided(&ids.values, &[3, 6], &[0, 1], 6).unwrap();
    let repeated = EmbeddingBag::new(Reduction::Add).run(&view(&data), &Bags::packed(&one)).unwrap();
    assert_eq!(repeated.as_slice(), sums.as_slice()[3..6].repeat(3));
    let columns = View::strided(&data.values, &[3, 5], &[1, 3], 0).unwrap();
    let (two, layout) = (View::new(&[0u8, 2], &[1, 2]).unwrap(), Layout::contiguous(&[1, 5]).unwrap());
    let sums = EmbeddingBag::new(Reduction::Add).run(&columns, &Bags::packed(&two)).unwrap();
    assert_eq!(sums.shape(), layout.shape());
    assert_eq!(sums.as_slice(), [2.0, 8.0, 14.0, 20.0, 26.0]);
}

/// More indices than are resolved at a time, so that the next ones begin within a bag.
#[test]
fn bags_whose_indices_are_not_contiguous_with_those_of_the_next() {
    let table = Dense::from_fn(&[9, 3], |at| at as f64);
    for (bags, len) in [(300, 7), (90, 31), (3, 1500)] {
        let ids = Dense::from_fn(&[bags, len + 1], |at| (at * at % 9) as u16);
        let strided = View::strided(&ids.values, &[bags, len], &[len as isize + 1, 1], 0).unwrap();
        for reduction in [Reduction::Add, Reduction::Max] {
            let got = EmbeddingBag::new(reduction).run(&view(&table), &Bags::packed(&strided)).unwrap();
            for (bag, row) in got.as_slice().chunks(3).enumerate() {
                let ids = &ids.values[bag * (len + 1)..][..len];
                for (column, value) in row.iter().enumerate() {
                    let values = ids.iter().map(|&id| table.values[usize::from(id) * 3 + column]);
                    let expected = if reduction == Reduction::Add { values.sum() } else { values.fold(0.0, f64::max) };
                    assert_eq!(*value, expected, "{reduction:?}, bag {bag} of {bags} with {len}");
                }
            }
        }
    }
}
