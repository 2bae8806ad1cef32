//! Gathers by indices of every type, each beside the plain loop: elements and rows in the caches and beyond, and what
//! policies make of indices out of range.

use std::hint::black_box;
use std::rc::Rc;

use gather_core::{Element, Gather, GatherElements, GatherOperator, Index, IndexAttributes, Layout, Level, Spec};
use gather_core::{OutOfBounds, Par, Plan, View, ViewMut};

use crate::cliffs::{Case, Row};
use crate::inputs::{Position, Value};
use crate::random::Random;

/// Rows of data that every type of indices reaches, and that those of 16 bits do.
const FEW: usize = 200;
const SOME: usize = 60_000;
/// Elements that no cache keeps.
const MANY: usize = 1 << 24;
/// Indices of elements, of rows, and of elements beyond the caches.
const ELEMENTS: usize = 1 << 17;
const ROWS: usize = 1 << 14;
const TAKEN: usize = 1 << 20;
/// Rows and columns of GatherElements.
const SQUARE: usize = 1024;
/// One index in this number is out of range, if the policy allows that.
const WILD: usize = 100;

/// All of them.
#[must_use]
pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        Taken { rows: 256, row: 1, count: 1 << 20 }.case::<u8, u8>(OutOfBounds::Error),
        Taken { rows: 1000, row: 1, count: 1 << 20 }.case::<u8, u16>(OutOfBounds::Error),
    ];
    of::<u8>(&mut cases, &[FEW]);
    of::<u16>(&mut cases, &[FEW, SOME]);
    of::<u32>(&mut cases, &[FEW, SOME, MANY]);
    of::<u64>(&mut cases, &[FEW, SOME, MANY]);
    of::<i32>(&mut cases, &[FEW, SOME, MANY]);
    of::<i64>(&mut cases, &[FEW, SOME, MANY]);
    cases
}

/// Those of a type of indices, which reaches some numbers of rows.
fn of<I: Index + Position>(cases: &mut Vec<Case>, reached: &[usize]) {
    use OutOfBounds::{Clamp, Error, Wrap, Zero};
    for &rows in reached {
        let elements = Taken { rows, row: 1, count: if rows == MANY { TAKEN } else { ELEMENTS } };
        cases.push(elements.case::<f32, I>(Error));
    }
    let most = reached[reached.len().min(2) - 1];
    for policy in [Zero, Clamp, Wrap] {
        cases.push(Taken { rows: FEW, row: 1, count: ELEMENTS }.case::<f32, I>(policy));
    }
    for row in [4, 16, 64] {
        cases.push(Taken { rows: most, row, count: ROWS }.case::<f32, I>(Error));
    }
    cases.push(Taken { rows: most, row: 16, count: ROWS }.case::<f32, I>(Zero));
    cases.push(elements::<I>([SQUARE, FEW], 1, Error));
    cases.push(elements::<I>([SQUARE, FEW], 1, Zero));
    cases.push(elements::<I>([FEW, SQUARE], 0, Error));
}

/// Indices below `dim`, some of them out of range where there is a policy for those.
fn drawn<I: Position>(count: usize, dim: usize, policy: OutOfBounds) -> Vec<I> {
    let mut random = Random::new(dim as u64);
    let step = if policy == OutOfBounds::Error { usize::MAX } else { WILD };
    // Out of range by so little that narrow indices reach it too.
    let mut at = |k: usize| if k % step == step - 1 { dim + random.below(dim / 16) } else { random.below(dim) };
    (0..count).map(|k| I::new(at(k))).collect()
}

fn values<T: Value>(len: usize) -> Vec<T> {
    let mut random = Random::new(1);
    (0..len).map(|_| T::from_bits(random.bits() >> 40)).collect()
}

/// What a policy makes of an index in the plain loop: a position, or none. Without a policy the loop's own check of
/// bounds finds what is wrong.
trait Policy {
    fn place(index: usize, dim: usize) -> Option<usize>;
}

macro_rules! policies {
    ($($name:ident: |$index:ident, $dim:ident| $place:expr;)*) => {$(
        enum $name {}

        impl Policy for $name {
            #[inline(always)]
            fn place($index: usize, $dim: usize) -> Option<usize> {
                $place
            }
        }
    )*};
}
policies! {
    Checked: |index, _dim| Some(index);
    Zeroed: |index, dim| (index < dim).then_some(index);
    Clamped: |index, dim| Some(index.min(dim - 1));
    Wrapped: |index, dim| Some(if index < dim { index } else { index % dim });
}

/// The loop of a policy.
macro_rules! by_policy {
    ($policy:expr, $function:ident::<$($ty:ty),*>) => {
        match $policy {
            OutOfBounds::Zero => $function::<$($ty,)* Zeroed>,
            OutOfBounds::Clamp => $function::<$($ty,)* Clamped>,
            OutOfBounds::Wrap => $function::<$($ty,)* Wrapped>,
            _ => $function::<$($ty,)* Checked>,
        }
    };
}

/// A name: the type of indices, the shapes, the policy where it counts.
fn name<T: Element, I>(what: &str, policy: OutOfBounds) -> String {
    let policy = match policy {
        OutOfBounds::Error => String::new(),
        policy => format!(", 1 % {policy:?}").to_lowercase(),
    };
    format!("ids/{}: {} {what}{policy}", std::any::type_name::<I>(), T::DTYPE)
}

/// The operator's call beside a loop.
fn row<T: Element + Value, I: Index, A: IndexAttributes>(
    op: &GatherOperator<A>,
    [data_shape, index_shape, out_shape]: [Vec<usize>; 3],
    ids: Vec<I>,
    looped: impl Fn(&[T], &[I], &mut [T]) + 'static,
) -> Row {
    let data = values::<T>(data_shape.iter().product());
    let layout = |shape: &[usize]| Layout::contiguous(shape).expect("a layout");
    let plan: Plan<T, I> = op
        .plan(&Spec::from_layout(&layout(&data_shape)), &Spec::from_layout(&layout(&index_shape)))
        .expect("a legal call");
    let begin = vec![T::default(); out_shape.iter().product()];
    let inputs = Rc::new((data, ids));
    let theirs = Rc::clone(&inputs);
    Row::new(
        &begin,
        move |out| {
            let data = View::new(&inputs.0, &data_shape).expect("data");
            let ids = View::new(&inputs.1, &index_shape).expect("indices");
            plan.run_into(&data, &ids, &mut ViewMut::new(out, &out_shape).expect("an output")).expect("a legal call");
        },
        move |out| looped(&theirs.0, &theirs.1, out),
    )
}

/// Rows that are taken from a table.
#[derive(Clone, Copy)]
struct Taken {
    rows: usize,
    row: usize,
    count: usize,
}

impl Taken {
    fn case<T: Element + Value, I: Index + Position>(self, policy: OutOfBounds) -> Case {
        let Taken { rows, row: len, count } = self;
        Case::new(name::<T, I>(&format!("{count} of {rows}x{len}"), policy), move |level: Level| {
            let op = Gather::new(0).out_of_bounds(policy).par(Par::Seq).level(level);
            let shapes = [vec![rows, len], vec![count], vec![count, len]];
            let looped = by_policy!(policy, rows_of::<T, I>);
            row(&op, shapes, drawn(count, rows, policy), move |data, ids, out| looped(data, black_box(len), ids, out))
        })
    }
}

fn rows_of<T: Value, I: Position, P: Policy>(data: &[T], len: usize, ids: &[I], out: &mut [T]) {
    let rows = data.len() / len;
    let places = ids.iter().map(|id| P::place(id.position(), rows));
    if len == 1 {
        places.zip(out).for_each(|(place, out)| *out = place.map_or(T::default(), |at| data[at]));
        return;
    }
    for (place, out) in places.zip(out.chunks_exact_mut(len)) {
        match place {
            Some(at) => out.copy_from_slice(&data[at * len..][..len]),
            None => out.fill(T::default()),
        }
    }
}

/// GatherElements of `f32`.
fn elements<I: Index + Position>(shape: [usize; 2], axis: usize, policy: OutOfBounds) -> Case {
    let [rows, columns] = shape;
    Case::new(name::<f32, I>(&format!("elements of {rows}x{columns} along {axis}"), policy), move |level| {
        let op = GatherElements::new(axis as i64).out_of_bounds(policy).par(Par::Seq).level(level);
        let looped = by_policy!(policy, elements_of::<I>);
        let ids = drawn(rows * columns, shape[axis], policy);
        row(&op, [(); 3].map(|()| shape.to_vec()), ids, move |data, ids, out| looped(data, shape, axis, ids, out))
    })
}

fn elements_of<I: Position, P: Policy>(
    data: &[f32],
    [rows, columns]: [usize; 2],
    axis: usize,
    ids: &[I],
    out: &mut [f32],
) {
    for (row, (ids, out)) in ids.chunks_exact(columns).zip(out.chunks_exact_mut(columns)).enumerate() {
        if axis == 1 {
            let data = &data[row * columns..][..columns];
            let taken = |id: &I| P::place(id.position(), columns).map_or(0.0, |at| data[at]);
            ids.iter().zip(out).for_each(|(id, out)| *out = taken(id));
        } else {
            for (column, (id, out)) in ids.iter().zip(out).enumerate() {
                *out = P::place(id.position(), rows).map_or(0.0, |at| data[at * columns + column]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_some_indices_are_out_of_range() {
        let mut names: Vec<String> = cases().into_iter().map(|case| case.name).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        let out = |policy| drawn::<u8>(1000, FEW, policy).into_iter().filter(|&id| usize::from(id) >= FEW).count();
        assert_eq!([OutOfBounds::Error, OutOfBounds::Zero].map(out), [0, 10]);
    }
}
