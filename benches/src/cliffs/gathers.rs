//! Gathers whose rows are filled, and orders of loops, of gathers, scatters and adjoints.

use bytemuck::Pod;
use gather_core::{
    Gather, GatherElements, GatherNd, Layout, Level, OutOfBounds, Par, Reduction, ScatterElements, Spec, View, ViewMut,
};

use super::{Case, Row};
use crate::naive::from_end;
use crate::random::Random;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, share) in SHARES {
        cases.push(rows::<[u8; 1]>(format!("fill/rows of 1 B, {name}"), share));
        cases.push(rows::<[u8; 3]>(format!("fill/rows of 3 B, {name}"), share));
        cases.push(rows::<f32>(format!("fill/rows of 4 B, {name}"), share));
        cases.push(rows::<f64>(format!("fill/rows of 8 B, {name}"), share));
        cases.push(rows::<[f32; 4]>(format!("fill/rows of 16 B, {name}"), share));
        cases.push(rows::<[f32; 12]>(format!("fill/rows of 48 B, {name}"), share));
        cases.push(rows::<[f32; 25]>(format!("fill/rows of 100 B, {name}"), share));
        cases.push(rows::<[f32; 64]>(format!("fill/rows of 256 B, {name}"), share));
        cases.push(rows::<[f32; 256]>(format!("fill/rows of 1024 B, {name}"), share));
        cases.push(rows::<[f32; 1024]>(format!("fill/rows of 4096 B, {name}"), share));
        cases.push(elements(format!("fill/elements along axis 0, {name}"), 0, share));
        cases.push(elements(format!("fill/elements along axis 1, {name}"), 1, share));
        cases.push(tuples(format!("fill/tuples, {name}"), share));
    }
    for shape in [[30_000, 4, 8], [10_000, 16, 4], [100_000, 2, 4], [1_000_000, 2, 1], [4, 8, 30_000]] {
        cases.push(scatter(format!("order/scatter add, axis 1 of {shape:?}"), shape, false));
    }
    cases.push(scatter("order/scatter add, axis 1 of [30000, 8, 4], reversed updates".into(), [30_000, 8, 4], true));
    for (rows, columns, n) in [(10_000, 64, 50_000), (1000, 16, 100_000)] {
        cases.push(adjoint(format!("order/adjoint into a transposed [{rows}, {columns}]"), rows, columns, n));
    }
    for (rank, axis) in [(18, 0), (18, 17), (12, 3)] {
        cases.push(reversed(format!("order/gather of rank {rank} of twos, reversed, axis {axis}"), rank, axis));
    }
    cases
}

/// Shares of indices out of range: their names, and the number of indices of which one is; 0 where none is.
const SHARES: [(&str, usize); 5] = [("none", 0), ("one in 64", 64), ("one in 8", 8), ("half", 2), ("all", 1)];

/// Indices of an axis of `dim`, one of `share` of them out of range.
fn indices(count: usize, dim: usize, share: usize) -> Vec<i64> {
    let mut random = Random::new(share as u64);
    let mut index = || {
        let inside = random.below(dim) as i64;
        if share > 0 && random.below(share) == 0 { i64::MAX - inside } else { inside }
    };
    (0..count).map(|_| index()).collect()
}

/// Gathers rows, each an element of a type, out of 256 KiB into 1 MiB.
fn rows<T: Pod>(name: String, share: usize) -> Case {
    Case::new(name, move |level| {
        let row = size_of::<T>();
        let (dim, count) = ((256 << 10) / row, ((1 << 20) / row).min(1 << 18));
        let data: Vec<u8> = (0..dim * row).map(|at| (at * 37 % 251) as u8).collect();
        let indices = indices(count, dim, share);
        let table: Vec<T> = data.chunks_exact(row).map(bytemuck::pod_read_unaligned).collect();
        let (ours, theirs) = (indices.clone(), indices);
        let [shape, list, out] = [&[dim, row][..], &[count], &[count, row]].map(<[usize]>::to_vec);
        let plan = Gather::new(0)
            .out_of_bounds(OutOfBounds::Zero)
            .level(level)
            .par(Par::Seq)
            .plan(&Spec::<u8>::new(&shape).expect("a layout"), &Spec::<i64>::new(&list).expect("a layout"));
        let plan = plan.expect("a level of this machine");
        Row::new(
            &vec![1u8; count * row],
            move |to| {
                let mut to = ViewMut::new(to, &out).expect("as many rows");
                let (data, ids) = (View::new(&data, &shape), View::new(&ours, &list));
                plan.run_into(&data.expect("the table"), &ids.expect("ids"), &mut to).expect("filled rows");
            },
            move |to| {
                for (to, &index) in bytemuck::cast_slice_mut::<u8, T>(to).iter_mut().zip(&theirs) {
                    *to = from_end(index, table.len()).map_or(T::zeroed(), |at| table[at]);
                }
            },
        )
    })
}

/// GatherElements of [512, 512].
fn elements(name: String, axis: usize, share: usize) -> Case {
    const N: usize = 512;
    Case::new(name, move |level| {
        let data: Vec<f32> = (0..N * N).map(|at| at as f32).collect();
        let ids = indices(N * N, N, share);
        let op = GatherElements::new(axis as i64).out_of_bounds(OutOfBounds::Zero).level(level).par(Par::Seq);
        let layout = Layout::contiguous(&[N, N]).expect("a layout");
        let plan = op
            .plan(&Spec::<f32>::from_layout(&layout), &Spec::<i64>::from_layout(&layout))
            .expect("a level of this machine");
        let (ours, theirs) = ((data.clone(), ids.clone()), (data, ids));
        Row::new(
            &vec![1f32; N * N],
            move |to| {
                let mut to = ViewMut::new(to, &[N, N]).expect("as many elements");
                let (data, ids) = (View::new(&ours.0, &[N, N]), View::new(&ours.1, &[N, N]));
                plan.run_into(&data.expect("data"), &ids.expect("ids"), &mut to).expect("filled elements");
            },
            move |to| {
                let (data, ids) = &theirs;
                for i in 0..N {
                    for j in 0..N {
                        let at = from_end(ids[i * N + j], N);
                        let at = at.map(|at| if axis == 0 { at * N + j } else { i * N + at });
                        to[i * N + j] = at.map_or(0.0, |at| data[at]);
                    }
                }
            },
        )
    })
}

/// GatherNd of rows of 16 floats by tuples of two.
fn tuples(name: String, share: usize) -> Case {
    const DIM: usize = 64;
    const ROW: usize = 16;
    const COUNT: usize = 1 << 14;
    Case::new(name, move |level| {
        let data: Vec<f32> = (0..DIM * DIM * ROW).map(|at| at as f32).collect();
        let ids = indices(COUNT * 2, DIM, share * 2);
        let op = GatherNd::new().out_of_bounds(OutOfBounds::Zero).level(level).par(Par::Seq);
        let shape = [DIM, DIM, ROW];
        let layouts = [Layout::contiguous(&shape), Layout::contiguous(&[COUNT, 2])].map(|of| of.expect("a layout"));
        let plan = op
            .plan(&Spec::<f32>::from_layout(&layouts[0]), &Spec::<i64>::from_layout(&layouts[1]))
            .expect("a level of this machine");
        let (ours, theirs) = ((data.clone(), ids.clone()), (data, ids));
        Row::new(
            &vec![1f32; COUNT * ROW],
            move |to| {
                let mut to = ViewMut::new(to, &[COUNT, ROW]).expect("as many rows");
                let (data, ids) = (View::new(&ours.0, &shape), View::new(&ours.1, &[COUNT, 2]));
                plan.run_into(&data.expect("data"), &ids.expect("ids"), &mut to).expect("filled rows");
            },
            move |to| {
                let (data, ids) = &theirs;
                for (to, tuple) in to.chunks_exact_mut(ROW).zip(ids.chunks_exact(2)) {
                    match (from_end(tuple[0], DIM), from_end(tuple[1], DIM)) {
                        (Some(a), Some(b)) => to.copy_from_slice(&data[(a * DIM + b) * ROW..][..ROW]),
                        _ => to.fill(0.0),
                    }
                }
            },
        )
    })
}

/// ScatterElements that adds along axis 1 in place.
fn scatter(name: String, shape: [usize; 3], reversed: bool) -> Case {
    Case::new(name, move |level| {
        let [a, b, c] = shape;
        let count = a * b * c;
        let ids = indices(count, b, 0);
        let updates: Vec<f32> = (0..count).map(|at| (at % 1000) as f32 * 0.25).collect();
        let steps = if reversed { [1, a, a * b] } else { [b * c, c, 1] };
        let strides = steps.map(|step| step as isize);
        let [whole, of_updates] = [Layout::contiguous(&shape), Layout::strided(&shape, &strides)];
        let op = ScatterElements::new(1).reduction(Reduction::Add).level(level).par(Par::Seq);
        let plan = op.plan(
            &Spec::<f32>::new(&shape).unwrap(),
            &Spec::<i64>::from_layout(&whole.expect("a layout")),
            &Spec::<f32>::from_layout(&of_updates.expect("a layout")),
        );
        let plan = plan.expect("a level of this machine");
        let (ours, theirs) = ((ids.clone(), updates.clone()), (ids, updates));
        Row::new(
            &vec![0f32; count],
            move |to| {
                let mut to = ViewMut::new(to, &shape).expect("as many elements");
                let ids = View::new(&ours.0, &shape).expect("ids");
                let updates = View::strided(&ours.1, &shape, &strides, 0).expect("updates");
                plan.run_on(&mut to, &ids, &updates).expect("indices in range");
            },
            move |to| {
                let (ids, updates) = &theirs;
                for i in 0..a {
                    for j in 0..b {
                        for k in 0..c {
                            let at = from_end(ids[(i * b + j) * c + k], b).expect("an index in range");
                            to[(i * b + at) * c + k] += updates[i * steps[0] + j * steps[1] + k * steps[2]];
                        }
                    }
                }
            },
        )
    })
}

/// The gradient of an embedding, added to a table whose columns are contiguous.
fn adjoint(name: String, rows: usize, columns: usize, n: usize) -> Case {
    Case::new(name, move |level| {
        let ids = indices(n, rows, 0);
        let gradient: Vec<f32> = (0..n * columns).map(|at| (at % 1000) as f32 * 0.25).collect();
        let op = Gather::new(0).level(level).par(Par::Seq);
        let (ours, theirs) = ((ids.clone(), gradient.clone()), (ids, gradient));
        Row::new(
            &vec![0f32; rows * columns],
            move |to| {
                let mut to = ViewMut::strided(to, &[rows, columns], &[1, rows as isize], 0).expect("a table");
                let (ids, gradient) = (View::new(&ours.0, &[n]), View::new(&ours.1, &[n, columns]));
                op.adjoint().run_on(&mut to, &ids.expect("ids"), &gradient.expect("a gradient")).expect("ids in range");
            },
            move |to| {
                let (ids, gradient) = &theirs;
                for (&index, row) in ids.iter().zip(gradient.chunks_exact(columns)) {
                    let at = from_end(index, rows).expect("an index in range");
                    row.iter().enumerate().for_each(|(column, value)| to[column * rows + at] += value);
                }
            },
        )
    })
}

/// Gathers both positions of an axis, exchanged, of a tensor of twos whose dimensions are reversed in memory.
fn reversed(name: String, rank: usize, axis: usize) -> Case {
    Case::new(name, move |level: Level| {
        let (shape, count) = (vec![2; rank], 1 << rank);
        let strides: Vec<isize> = (0..rank).map(|d| 1 << d).collect();
        let data: Vec<f32> = (0..count).map(|at| at as f32).collect();
        let of_data = Layout::strided(&shape, &strides).expect("a layout");
        let two = Layout::contiguous(&[2]).expect("a layout");
        let plan = Gather::new(axis as i64)
            .level(level)
            .par(Par::Seq)
            .plan(&Spec::<f32>::from_layout(&of_data), &Spec::<i64>::from_layout(&two));
        let plan = plan.expect("a level of this machine");
        let theirs = data.clone();
        let steps = strides.clone();
        Row::new(
            &vec![0f32; count],
            move |to| {
                let mut to = ViewMut::new(to, &shape).expect("as many elements");
                let data = View::strided(&data, &shape, &strides, 0).expect("data");
                plan.run_into(&data, &View::new(&[1, 0], &[2]).expect("ids"), &mut to).expect("ids in range");
            },
            move |to| {
                // An odometer, whose first place is the last dimension.
                let (mut counters, mut from) = (vec![false; rank], steps[axis]);
                for to in to {
                    *to = theirs[from as usize];
                    for d in (0..rank).rev() {
                        let up = if d == axis { -steps[d] } else { steps[d] };
                        counters[d] = !counters[d];
                        from += if counters[d] { up } else { -up };
                        if counters[d] {
                            break;
                        }
                    }
                }
            },
        )
    })
}
