//! Scatters of a few rows against plain loops: counts up to more than a few, rows of many lengths, every policy, an
//! error at every position, in place and on a copy, planned and not, through views with steps, in batches, by threads.

use std::fmt::Debug;

use gather_core::{
    Element, Error, Gather, Index, Layout, NegativeIndex, Par, Reduction, ScatterAttributes, ScatterElements,
    ScatterNd, ScatterOperator, ScatterOutOfBounds, Spec, View, ViewMut,
};

use crate::support::{available_levels, mixed};

/// A table of `dim` rows of `width` elements, and an update for each id.
struct Case<T> {
    dim: usize,
    width: usize,
    ids: Vec<i64>,
    data: Vec<T>,
    updates: Vec<T>,
}

/// The policies of a call.
#[derive(Clone, Copy, Debug)]
struct Policy {
    negative: NegativeIndex,
    out_of_bounds: ScatterOutOfBounds,
    skips_negative: bool,
}

impl Policy {
    /// The row of an index; `None` for an update that is left out.
    fn row(self, id: i64, dim: i64) -> Result<Option<usize>, ()> {
        let Policy { negative, out_of_bounds, skips_negative } = self;
        if skips_negative && id < 0 {
            return Ok(None);
        }
        let counted = if id < 0 && negative == NegativeIndex::FromEnd { id + dim } else { id };
        match out_of_bounds {
            ScatterOutOfBounds::Wrap if !skips_negative => Ok(Some(id.rem_euclid(dim) as usize)),
            _ if (0..dim).contains(&counted) => Ok(Some(counted as usize)),
            ScatterOutOfBounds::Clamp if !skips_negative => Ok(Some(counted.clamp(0, dim - 1) as usize)),
            ScatterOutOfBounds::Drop => Ok(None),
            _ => Err(()),
        }
    }
}

impl<T: Copy> Case<T> {
    /// The plain loop; the number of the first id that is an error.
    fn expected(&self, policy: Policy, combine: impl Fn(T, T) -> T) -> Result<Vec<T>, usize> {
        let rows = self.ids.iter().enumerate().map(|(at, &id)| policy.row(id, self.dim as i64).map_err(|()| at));
        let rows: Vec<Option<usize>> = rows.collect::<Result<_, _>>()?;
        let mut values = self.data.clone();
        for (update, row) in rows.into_iter().enumerate().filter_map(|(update, row)| Some((update, row?))) {
            for column in 0..self.width {
                let kept = &mut values[row * self.width + column];
                *kept = combine(*kept, self.updates[update * self.width + column]);
            }
        }
        Ok(values)
    }
}

/// Compares the values of a table after a call; on an error they are those of before.
fn compare<T: PartialEq + Debug>(
    (before, expected): (&[T], &Result<Vec<T>, usize>),
    (values, got): (&[T], Result<(), Error>),
    what: &str,
) {
    match (expected, &got) {
        (Ok(expected), Ok(())) => assert_eq!(values, expected, "{what}"),
        (Err(at), Err(Error::IndexOutOfRange { position, .. })) => {
            assert_eq!((at, before), (position, values), "{what}");
        }
        (expected, got) => panic!("{what}: expected {:?}, got {got:?}", expected.as_ref().err()),
    }
}

/// Every verb of an operator, on views of a case.
fn verbs<T: Element + PartialEq + Debug, I: Index, A: ScatterAttributes + Debug>(
    op: &ScatterOperator<A>,
    (case, ids, shapes): (&Case<T>, &[I], [&[usize]; 3]),
    expected: &Result<Vec<T>, usize>,
) {
    let (before, n) = (case.data.as_slice(), ids.len());
    let [table, indices, rows] = shapes;
    let data = View::new(before, table).unwrap();
    let (indices, updates) = (View::new(ids, indices).unwrap(), View::new(&case.updates, rows).unwrap());
    let check = |verb: &str, values: &[T], got| {
        compare((before, expected), (values, got), &format!("{verb} of {op:?}: {shapes:?} by {:?}", case.ids));
    };
    let in_place = |verb: &str, run: &dyn Fn(&mut ViewMut<'_, T>) -> Result<(), Error>| {
        let mut memory = [&[T::ZERO], before, &[T::ZERO]].concat();
        let got = run(&mut ViewMut::new(&mut memory[1..=before.len()], table).unwrap());
        assert_eq!((memory[0], memory[before.len() + 1]), (T::ZERO, T::ZERO), "{verb} of {op:?}");
        check(verb, &memory[1..=before.len()], got);
    };
    let fresh = |verb: &str, got: Result<gather_core::Tensor<T>, Error>| match got {
        Ok(tensor) => check(verb, tensor.as_slice(), Ok(())),
        Err(error) => check(verb, before, Err(error)),
    };
    in_place("run_on", &|table| op.run_on(table, &indices, &updates));
    in_place("run_into", &|table| op.run_into(&data, &indices, &updates, table));
    fresh("run", op.run(&data, &indices, &updates));
    let plan = op.plan(&data, &indices, &updates).unwrap();
    in_place("run_on of a plan", &|table| plan.run_on(table, &indices, &updates));
    in_place("run_into of a plan", &|table| plan.run_into(&data, &indices, &updates, table));
    fresh("run of a plan", plan.run(&data, &indices, &updates));
    let of_count = |shape: &[usize], count: usize| [&[count], &shape[1..]].concat();
    let (some_ids, some_rows) = (of_count(shapes[1], n % 5 + 1), of_count(rows, n % 5 + 1));
    let (some_ids, some_rows) = (Spec::<I>::new(&some_ids).unwrap(), Spec::<T>::new(&some_rows).unwrap());
    let any_count = op.plan_any_count(&data, &some_ids, &some_rows).unwrap();
    in_place("run_on of a plan for any count", &|table| any_count.run_on(table, &indices, &updates));

    // Rows three elements apart, updates from the last on, every second id.
    let (width, apart) = (case.width, case.width + 3);
    let mut memory = vec![T::ZERO; case.dim * apart];
    memory.chunks_mut(apart).zip(before.chunks(width)).for_each(|(to, from)| to[..width].copy_from_slice(from));
    let backwards: Vec<T> = case.updates.chunks(width).rev().flatten().copied().collect();
    let doubled: Vec<I> = ids.iter().flat_map(|&id| [id, id]).collect();
    let steps = |rank: usize, step: usize| if rank == 1 { vec![step as isize] } else { vec![step as isize, 1] };
    let layout = Layout::strided(table, &steps(table.len(), apart)).unwrap();
    let indices = View::strided(&doubled, shapes[1], &steps(shapes[1].len(), 2), 0).unwrap();
    let back = steps(rows.len(), width).into_iter().enumerate().map(|(d, step)| if d == 0 { -step } else { step });
    let last = backwards.len().saturating_sub(width);
    let updates = View::strided(&backwards, rows, &back.collect::<Vec<_>>(), last).unwrap();
    for plan in [None, Some(op.plan_into(&data, &indices, &updates, &layout).unwrap())] {
        let mut memory = memory.clone();
        let mut table = ViewMut::strided(&mut memory, table, layout.strides(), 0).unwrap();
        let got = match &plan {
            None => op.run_on(&mut table, &indices, &updates),
            Some(plan) => plan.run_on(&mut table, &indices, &updates),
        };
        let values: Vec<T> = memory.chunks(apart).flat_map(|row| &row[..width]).copied().collect();
        check("run_on with steps", &values, got);
    }
}

fn check<T: Element + PartialEq + Debug, I: Index + TryFrom<i64>>(
    make: fn(i16) -> T,
    combine: fn(Reduction, T, T) -> T,
) {
    let policies: Vec<Policy> =
        [(NegativeIndex::FromEnd, false), (NegativeIndex::Reject, false), (NegativeIndex::FromEnd, true)]
            .into_iter()
            .flat_map(|(negative, skips_negative)| {
                let all = ScatterOutOfBounds::ALL.iter();
                all.map(move |&out_of_bounds| Policy { negative, out_of_bounds, skips_negative })
            })
            .collect();
    let reductions = [Reduction::None, Reduction::Add, Reduction::Mul, Reduction::Min, Reduction::Max, Reduction::Sub];
    let levels = available_levels();
    let counts = (0..=66).chain([100, 127, 128, 129]);
    // Some lengths of rows for each count, all of them for every five.
    let widths = |n: usize| [[1, 8], [2, 16], [3, 17], [4, 33], [7, 64]][n % 5].into_iter().chain([1 + n % 2]);
    for (n, width) in counts.flat_map(|n| widths(n).map(move |width| (n, width))) {
        let seed = (n * 100 + width) as u64;
        let random = |at: usize, below: usize| mixed(seed, at) as usize % below;
        for (k, &policy) in policies.iter().enumerate() {
            let (dim, bad) = (1 + random(k, 20), random(k + 100, n.max(1)));
            let least = if I::try_from(-1).is_ok() && k % 2 == 0 { -(dim as i64) } else { 0 };
            let id = |at: usize| least + random(1000 * k + at, (dim as i64 - least) as usize) as i64;
            let out = [dim as i64, -1, least - 1, dim as i64 + 30][random(k + 200, 4)];
            let ids = (0..n).map(|at| if at == bad && k % 3 != 0 { out } else { id(at) });
            // Ids of an unsigned type are not negative.
            let ids: Vec<i64> = ids.map(|id| if I::try_from(-1).is_ok() { id } else { id.abs() }).collect();
            let value = |at: usize| make(mixed(seed + k as u64, at) as i16 % 5);
            let (data, updates) =
                ((0..dim * width).map(value).collect(), (0..n * width).map(|at| value(at + 9000)).collect());
            let case = Case { dim, width, ids, data, updates };
            let (reduction, level) = (reductions[(k + n) % 6], levels[(k + width) % levels.len()]);
            let expected = case.expected(policy, |kept, new| combine(reduction, kept, new));
            let typed: Vec<I> = case.ids.iter().map(|&id| I::try_from(id).ok().unwrap()).collect();
            let Policy { negative, out_of_bounds, skips_negative } = policy;
            macro_rules! op {
                ($op:expr) => {
                    $op.reduction(reduction)
                        .negative_index(negative)
                        .out_of_bounds(out_of_bounds)
                        .skip_negative(skips_negative)
                        .level(level)
                        .par(if (n + k) % 7 == 0 { Par::Threads(3) } else { Par::Seq })
                };
            }
            let table = [dim, width];
            verbs(&op!(ScatterNd::new()), (&case, &typed, [&table, &[n, 1], &[n, width]]), &expected);
            verbs(&op!(Gather::new(0).adjoint()), (&case, &typed, [&table, &[n], &[n, width]]), &expected);
            if width == 1 {
                verbs(&op!(ScatterElements::new(0)), (&case, &typed, [&[dim], &[n], &[n]]), &expected);
            }
            // The same in each of two batches.
            let mut both = case.data.repeat(2);
            let (ids, updates, before) = (typed.repeat(2), case.updates.repeat(2), both.clone());
            let ids = View::new(&ids, &[2, n, 1]).unwrap();
            let updates = View::new(&updates, &[2, n, width]).unwrap();
            let mut batches = ViewMut::new(&mut both, &[2, dim, width]).unwrap();
            let got = op!(ScatterNd::new()).batch_dims(1).run_on(&mut batches, &ids, &updates);
            compare((&before, &expected.map(|values| values.repeat(2))), (&both, got), "two batches");
        }
    }
}

#[test]
fn few_updates_are_those_of_plain_loops() {
    let whole = |reduction: Reduction, kept: i32, new: i32| match reduction {
        Reduction::Add => kept.wrapping_add(new),
        Reduction::Sub => kept.wrapping_sub(new),
        Reduction::Mul => kept.wrapping_mul(new),
        Reduction::Min => kept.min(new),
        Reduction::Max => kept.max(new),
        _ => new,
    };
    check::<i32, i64>(i32::from, whole);
    check::<i32, u32>(i32::from, whole);
    check::<f32, i32>(f32::from, |reduction, kept, new| match reduction {
        Reduction::Add => kept + new,
        Reduction::Sub => kept - new,
        Reduction::Mul => kept * new,
        Reduction::Min => kept.min(new),
        Reduction::Max => kept.max(new),
        _ => new,
    });
    check::<u8, i8>(
        |value| value as u8,
        |reduction, kept, new| match reduction {
            Reduction::Add => kept.wrapping_add(new),
            Reduction::Sub => kept.wrapping_sub(new),
            Reduction::Mul => kept.wrapping_mul(new),
            Reduction::Min => kept.min(new),
            Reduction::Max => kept.max(new),
            _ => new,
        },
    );
}
