//! Scatters whose intermediate results are no elements, or that leave out what the destination holds.

use gather_core::{Layout, Level, Par, Reduction, ScatterElements, ScatterNd, Spec, View, ViewMut};
use half::{bf16, f16};

use super::{Case, Row};
use crate::number::{Add, Mean, Number, Reduce};
use crate::random::Random;

/// Updates of an element and of 3 go into few destinations and into many. So do longer rows, of which there are fewer.
const UPDATES: usize = 400_000;
const DESTINATIONS: [usize; 2] = [4, 100_000];
const LONG_UPDATES: usize = 20_000;
const LONG_DESTINATIONS: [usize; 2] = [4, 5_000];

/// A scatter along the last axis, whose elements are reduced where they lie.
const LAST_AXIS: [usize; 2] = [2048, 2048];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![last_axis()];
    for k in 0..2 {
        cases.extend(short_and_long::<f32>("f32 mean", Reduction::Mean, true, k));
        cases.extend(short_and_long::<f32>("f32 max without self", Reduction::Max, false, k));
        cases.extend(short_and_long::<f16>("f16 add", Reduction::Add, true, k));
        cases.extend(short_and_long::<bf16>("bf16 add", Reduction::Add, true, k));
        cases.extend(short_and_long::<i64>("i64 mean", Reduction::Mean, true, k));
    }
    // Few updates of many destinations.
    cases.push(grouped::<i64, 8>("i64 mean", Reduction::Mean, true, [20_000, 200_000]));
    cases.push(grouped::<f32, 1>("f32 max without self", Reduction::Max, false, [100_000, 4_000_000]));
    cases
}

fn short_and_long<T: Number>(name: &str, reduction: Reduction, include_self: bool, k: usize) -> [Case; 3] {
    [
        grouped::<T, 1>(name, reduction, include_self, [UPDATES, DESTINATIONS[k]]),
        grouped::<T, 3>(name, reduction, include_self, [UPDATES, DESTINATIONS[k]]),
        grouped::<T, 64>(name, reduction, include_self, [LONG_UPDATES, LONG_DESTINATIONS[k]]),
    ]
}

/// Rows of `ROW` elements that go anywhere among as many destinations.
fn grouped<T: Number, const ROW: usize>(
    name: &str,
    reduction: Reduction,
    include_self: bool,
    [updates, rows]: [usize; 2],
) -> Case {
    Case::new(format!("scatter/{name} {updates}x{ROW} into {rows}"), move |level| {
        let mut random = Random::new(rows as u64);
        let ids: Vec<i64> = (0..updates).map(|_| random.below(rows) as i64).collect();
        let mut numbers = |len: usize| -> Vec<T> { (0..len).map(|_| T::of(random.fraction() - 0.5)).collect() };
        let (data, new) = (numbers(rows * ROW), numbers(updates * ROW));
        let op = ScatterNd::new().reduction(reduction).include_self(include_self).par(Par::Seq).level(level);
        let layout = |shape: &[usize]| Layout::contiguous(shape).expect("a layout");
        let plan = op
            .plan(
                &Spec::<T>::new(&[rows, ROW]).unwrap(),
                &Spec::<i64>::from_layout(&layout(&[updates, 1])),
                &Spec::<T>::from_layout(&layout(&[updates, ROW])),
            )
            .expect("a level of this machine");
        let (ours, theirs) = ((ids.clone(), new.clone()), (ids, new));
        Row::new(
            &data,
            move |out| {
                let ids = View::new(&ours.0, &[updates, 1]).expect("as many indices");
                let new = View::new(&ours.1, &[updates, ROW]).expect("as many rows");
                let mut out = ViewMut::new(out, &[rows, ROW]).expect("as many destinations");
                plan.run_on(&mut out, &ids, &new).expect("indices in range");
            },
            move |out| match reduction {
                Reduction::Max => greatest_without_self::<T, ROW>(&theirs.0, &theirs.1, out),
                Reduction::Mean => sums::<T, Mean, ROW>(&theirs.0, &theirs.1, out, true),
                _ => sums::<T, Add, ROW>(&theirs.0, &theirs.1, out, false),
            },
        )
    })
}

/// The plain loop of sums and means: sums and counts beside the destination.
fn sums<T: Number, R: Reduce<T>, const ROW: usize>(ids: &[i64], new: &[T], out: &mut [T], means: bool) {
    let mut sums: Vec<R::Kept> = out.iter().map(|&kept| R::first(kept)).collect();
    let mut counts = vec![1u32; out.len() / ROW];
    for (&id, new) in ids.iter().zip(new.chunks_exact(ROW)) {
        let sums = &mut sums[id as usize * ROW..][..ROW];
        sums.iter_mut().zip(new).for_each(|(sum, new)| *sum = R::combine(*sum, R::first(*new)));
        if means {
            counts[id as usize] += 1;
        }
    }
    for ((out, sums), &count) in out.chunks_exact_mut(ROW).zip(sums.chunks_exact(ROW)).zip(&counts) {
        out.iter_mut().zip(sums).for_each(|(out, &sum)| *out = R::end(sum, count));
    }
}

/// The plain loop of the greatest of the updates: a flag for each destination.
fn greatest_without_self<T: Number, const ROW: usize>(ids: &[i64], new: &[T], out: &mut [T]) {
    let mut met = vec![false; out.len() / ROW];
    for (&id, new) in ids.iter().zip(new.chunks_exact(ROW)) {
        let kept = &mut out[id as usize * ROW..][..ROW];
        if std::mem::replace(&mut met[id as usize], true) {
            kept.iter_mut().zip(new).for_each(|(kept, new)| *kept = kept.greatest(*new));
        } else {
            kept.copy_from_slice(new);
        }
    }
}

/// Sums of elements, which are their own sums.
fn last_axis() -> Case {
    let [rows, columns] = LAST_AXIS;
    Case::new(format!("scatter/f32 add along the last axis {rows}x{columns}"), move |level: Level| {
        let mut random = Random::new(3);
        let ids: Vec<i64> = (0..rows * columns).map(|_| random.below(columns) as i64).collect();
        let new: Vec<f32> = (0..rows * columns).map(|_| random.fraction() as f32 - 0.5).collect();
        let layout = Layout::contiguous(&LAST_AXIS).expect("a layout");
        let op = ScatterElements::onnx18(1, Reduction::Add).par(Par::Seq).level(level);
        let plan = op
            .plan(
                &Spec::<f32>::new(&LAST_AXIS).unwrap(),
                &Spec::<i64>::from_layout(&layout),
                &Spec::<f32>::from_layout(&layout),
            )
            .expect("a level of this machine");
        let (ours, theirs) = ((ids.clone(), new.clone()), (ids, new));
        Row::new(
            &vec![0.0f32; rows * columns],
            move |out| {
                let ids = View::new(&ours.0, &LAST_AXIS).expect("as many indices");
                let new = View::new(&ours.1, &LAST_AXIS).expect("as many updates");
                let mut out = ViewMut::new(out, &LAST_AXIS).expect("as many elements");
                plan.run_on(&mut out, &ids, &new).expect("indices in range");
            },
            move |out| {
                let rows = theirs.0.chunks(columns).zip(theirs.1.chunks(columns)).zip(out.chunks_mut(columns));
                for ((ids, new), out) in rows {
                    ids.iter().zip(new).for_each(|(&id, new)| out[id as usize] += new);
                }
            },
        )
    })
}
