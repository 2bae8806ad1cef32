//! Targets of scatters: ascending, repeated and in no order, for the pairs of a type and a reduction that programs run
//! (hot) and for some of those that they rarely run (cold).
//!
//! Where targets ascend, a second loop stands beside ours: it keeps what equal targets sum up to in registers.

use std::rc::Rc;

use gather_core::{Index, Level, Par, Reduction, ScatterNd, ScatterPlan, Spec, View, ViewMut};
use half::{bf16, f16};
use num_complex::Complex;

use super::{Case, Row, WANTED};
use crate::inputs::Position;
use crate::number::{Add, Last, Max, Mean, Min, Mul, Number, Reduce, Sub};
use crate::random::Random;
use Targets::{Equal, Few, Sorted, Unique, Unsorted};

/// Updates of an element, and of the longer rows: of 32, of 64.
const UPDATES: usize = 400_000;
const LONG_UPDATES: usize = 50_000;
const LONGEST_UPDATES: usize = 40_000;
/// Destinations of those of 64, and of updates of an element that the caches keep.
const DESTINATIONS: usize = 4096;
/// How often an ascending target stands.
const RUN: usize = 10;
/// Updates of cold pairs: of an element, of rows.
const COLD_UPDATES: [usize; 2] = [200_000, 20_000];
/// Destinations that ids of 8 bits reach.
const BYTE_DESTINATIONS: usize = 200;
/// How much of the loop's time cold pairs may take: twice as much.
const COLD_WANTED: f64 = 0.5;
/// How much of the time of the same of `f32` halves may take.
const HALVES: f64 = 1.2;

/// The order of targets.
#[derive(Clone, Copy, PartialEq)]
enum Targets {
    /// Ascending, each some times.
    Sorted,
    /// Ascending, each once.
    Unique,
    /// One target for all.
    Equal,
    /// Four targets in no order.
    Few,
    /// In no order.
    Unsorted,
}

impl Targets {
    fn name(self) -> &'static str {
        match self {
            Sorted => "sorted",
            Unique => "unique",
            Equal => "equal",
            Few => "few",
            Unsorted => "unsorted",
        }
    }

    fn ids<I: Position>(self, updates: usize, rows: usize) -> Vec<I> {
        let mut random = Random::new(rows as u64);
        let mut ids: Vec<usize> = match self {
            Unique => (0..updates).collect(),
            Equal => vec![rows / 2; updates],
            Few => (0..updates).map(|_| random.below(4) * (rows / 4)).collect(),
            Sorted | Unsorted => (0..updates).map(|_| random.below(rows)).collect(),
        };
        if self == Sorted {
            ids.sort_unstable();
        }
        ids.into_iter().map(I::new).collect()
    }
}

/// A reduction that has a name.
trait Named {
    const REDUCTION: Reduction;
}

macro_rules! named {
    ($($reduction:ident: $is:ident;)*) => {$(
        impl Named for $reduction {
            const REDUCTION: Reduction = Reduction::$is;
        }
    )*};
}
named! { Last: None; Add: Add; Sub: Sub; Mul: Mul; Min: Min; Max: Max; Mean: Mean; }

/// What stands beside ours.
#[derive(Clone, Copy, PartialEq)]
enum Beside {
    /// The loop that takes each update to its destination.
    Loop,
    /// The loop that keeps what equal targets in a row sum up to.
    Runs,
    /// Ours, of `f32`.
    Single,
}

/// A scatter: updates of rows into the rows of a destination.
#[derive(Clone, Copy)]
struct Scatter {
    updates: usize,
    rows: usize,
    targets: Targets,
    include_self: bool,
    beside: Beside,
    wanted: f64,
}

impl Scatter {
    fn new(targets: Targets, updates: usize, rows: usize) -> Self {
        Scatter { updates, rows, targets, include_self: true, beside: Beside::Loop, wanted: WANTED }
    }

    fn case<T: Number, I: Index + Position, R: Reduce<T> + Named + 'static, const ROW: usize>(self) -> Case {
        let Scatter { updates, rows, targets, include_self, beside, wanted } = self;
        let temperature = if wanted == COLD_WANTED { "cold" } else { "hot" };
        let reduction = format!("{:?}", R::REDUCTION).to_lowercase();
        let without = if include_self { "" } else { " without self" };
        let ids = match std::any::type_name::<I>() {
            "i64" => String::new(),
            name => format!(" by {name}"),
        };
        let beside = match beside {
            Beside::Loop => "",
            Beside::Runs => ", runs",
            Beside::Single => ", beside f32",
        };
        let shape = format!("{updates}x{ROW} into {rows}");
        let name =
            format!("targets/{temperature}/{}: {} {reduction}{without} {shape}{ids}{beside}", targets.name(), T::DTYPE);
        Case::new(name, move |level| self.row::<T, I, R, ROW>(level))
    }

    fn row<T: Number, I: Index + Position, R: Reduce<T> + Named + 'static, const ROW: usize>(
        self,
        level: Level,
    ) -> Row {
        let (begin, ours, inputs) = self.ours::<T, I, R, ROW>(level);
        let include_self = self.include_self;
        let plain = move |out: &mut [T]| {
            let (ids, new) = &*inputs;
            match self.beside {
                Beside::Runs => runs::<T, I, R, ROW>(ids, new, out, include_self),
                _ => plain::<T, I, R, ROW>(ids, new, out, include_self),
            }
        };
        let row = Row { wanted: self.wanted, ..Row::new(&begin, ours, plain) };
        match self.beside {
            Beside::Loop => row,
            Beside::Runs => Row { beside: "runs", ..row },
            Beside::Single => {
                let (mut out, mut single, _) = self.ours::<f32, I, R, ROW>(level);
                row.beside("f32", HALVES, move || single(&mut out))
            }
        }
    }

    /// What the destination begins with, our call, and its ids and updates.
    #[allow(clippy::type_complexity)]
    fn ours<T: Number, I: Index + Position, R: Named, const ROW: usize>(
        self,
        level: Level,
    ) -> (Vec<T>, impl FnMut(&mut [T]) + 'static, Rc<(Vec<I>, Vec<T>)>) {
        let Scatter { updates, rows, targets, include_self, .. } = self;
        let mut random = Random::new(rows as u64);
        let mut numbers = |len: usize| -> Vec<T> {
            // Products stay what they are in size.
            let mut number = || match R::REDUCTION {
                Reduction::Mul => T::unit(random.bits() & 1 == 1),
                _ => T::of(random.fraction() - 0.5),
            };
            (0..len).map(|_| number()).collect()
        };
        let (begin, new) = (numbers(rows * ROW), numbers(updates * ROW));
        let inputs = Rc::new((targets.ids(updates, rows), new));
        let rows_of = |rows: usize| Spec::<T>::new(&[rows, ROW]).expect("a layout");
        let ids = Spec::<I>::new(&[updates, 1]).expect("a layout");
        let op = ScatterNd::new().reduction(R::REDUCTION).include_self(include_self).par(Par::Seq).level(level);
        let plan: ScatterPlan<T, I> =
            op.plan(&rows_of(rows), &ids, &rows_of(updates)).expect("a level of this machine");
        let theirs = Rc::clone(&inputs);
        let call = move |out: &mut [T]| {
            let ids = View::new(&inputs.0, &[updates, 1]).expect("an index for each update");
            let new = View::new(&inputs.1, &[updates, ROW]).expect("rows of updates");
            let mut out = ViewMut::new(out, &[rows, ROW]).expect("rows of the destination");
            plan.run_on(&mut out, &ids, &new).expect("indices in range");
        };
        (begin, call, theirs)
    }
}

/// Whether what is kept of the numbers so far can lie in the destination: also sums of means of numbers of 32 bits or
/// more, which these are too few and too small to leave.
const fn in_place<T: Number, R: Reduce<T>>() -> bool {
    R::IN_PLACE || size_of::<T>() >= 4
}

/// The plain loop: in the destination, or beside it where sums do not fit in there. A count for each row says whether
/// anything has met it, where that matters.
fn plain<T: Number, I: Position, R: Reduce<T> + Named, const ROW: usize>(
    ids: &[I],
    new: &[T],
    out: &mut [T],
    include_self: bool,
) {
    let rows = || ids.iter().map(|id| id.position()).zip(new.chunks_exact(ROW));
    let is_mean = R::REDUCTION == Reduction::Mean;
    if in_place::<T, R>() && include_self && !is_mean {
        for (at, new) in rows() {
            let kept = &mut out[at * ROW..][..ROW];
            kept.iter_mut().zip(new).for_each(|(kept, &new)| *kept = combined::<T, R>(*kept, new));
        }
        return;
    }
    let mut counts = vec![u32::from(include_self); out.len() / ROW];
    if in_place::<T, R>() {
        for (at, new) in rows() {
            let kept = &mut out[at * ROW..][..ROW];
            if counts[at] == 0 {
                kept.copy_from_slice(new);
            } else {
                kept.iter_mut().zip(new).for_each(|(kept, &new)| *kept = combined::<T, R>(*kept, new));
            }
            counts[at] += 1;
        }
        if is_mean {
            for (out, &count) in out.chunks_exact_mut(ROW).zip(&counts).filter(|(_, count)| **count > 1) {
                out.iter_mut().for_each(|out| *out = R::end(R::first(*out), count));
            }
        }
        return;
    }
    let mut all: Vec<R::Kept> = out.iter().map(|&kept| R::first(kept)).collect();
    for (at, new) in rows() {
        let kept = &mut all[at * ROW..][..ROW];
        if counts[at] == 0 {
            kept.iter_mut().zip(new).for_each(|(kept, &new)| *kept = R::first(new));
        } else {
            kept.iter_mut().zip(new).for_each(|(kept, &new)| *kept = R::combine(*kept, R::first(new)));
        }
        counts[at] += 1;
    }
    for ((out, kept), &count) in out.chunks_exact_mut(ROW).zip(all.chunks_exact(ROW)).zip(&counts) {
        if count > 0 {
            out.iter_mut().zip(kept).for_each(|(out, &kept)| *out = R::end(kept, count));
        }
    }
}

/// What the destination holds, and a number more: of means, the sum.
#[inline(always)]
fn combined<T: Number, R: Reduce<T>>(kept: T, new: T) -> T {
    R::end(R::combine(R::first(kept), R::first(new)), 1)
}

/// The loop for ascending targets: what equal ones sum up to is written once.
fn runs<T: Number, I: Position, R: Reduce<T> + Named, const ROW: usize>(
    ids: &[I],
    new: &[T],
    out: &mut [T],
    include_self: bool,
) {
    let (new, mut at) = (new.as_chunks::<ROW>().0, 0);
    while at < ids.len() {
        let target = ids[at].position();
        let out: &mut [T; ROW] = (&mut out[target * ROW..][..ROW]).try_into().expect("a row");
        let mut kept = if include_self { *out } else { new[at] }.map(R::first);
        let mut count = 1;
        at += usize::from(!include_self);
        while at < ids.len() && ids[at].position() == target {
            kept.iter_mut().zip(&new[at]).for_each(|(kept, &new)| *kept = R::combine(*kept, R::first(new)));
            (at, count) = (at + 1, count + 1);
        }
        *out = kept.map(|kept| R::end(kept, count));
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    ordered::<f32>(&mut cases);
    ordered::<f64>(&mut cases);
    ordered::<i32>(&mut cases);
    ordered::<i64>(&mut cases);
    halves::<f16>(&mut cases);
    halves::<bf16>(&mut cases);
    more_of_f32(&mut cases);
    cold::<u16, Max>(&mut cases);
    cold::<u8, Min>(&mut cases);
    cold::<u8, Mean>(&mut cases);
    cold::<u32, Mean>(&mut cases);
    cold::<f32, Mul>(&mut cases);
    cold::<i32, Sub>(&mut cases);
    cold::<f16, Max>(&mut cases);
    cold::<u16, Add>(&mut cases);
    cold::<Complex<f32>, Add>(&mut cases);
    cases
}

/// The hot pairs of a type with a least and a greatest.
fn ordered<T: Number>(cases: &mut Vec<Case>) {
    hot::<T, Add>(cases);
    hot::<T, Max>(cases);
    hot::<T, Min>(cases);
    hot::<T, Mean>(cases);
    hot::<T, Last>(cases);
}

/// A hot pair, with and without what the destination holds.
fn hot<T: Number, R: Reduce<T> + Named + 'static>(cases: &mut Vec<Case>) {
    // What replaces has no use for what the destination holds.
    let selves: &[bool] = if R::REDUCTION == Reduction::None { &[true] } else { &[true, false] };
    for &include_self in selves {
        let of = |targets, updates, rows| Scatter { include_self, ..Scatter::new(targets, updates, rows) };
        for scatter in [
            of(Sorted, UPDATES, UPDATES / RUN),
            Scatter { beside: Beside::Runs, ..of(Sorted, UPDATES, UPDATES / RUN) },
            of(Unique, UPDATES, UPDATES),
            of(Equal, UPDATES, DESTINATIONS),
            of(Few, UPDATES, 4),
            of(Unsorted, UPDATES, DESTINATIONS),
            of(Unsorted, UPDATES, 100_000),
        ] {
            cases.push(scatter.case::<T, i64, R, 1>());
        }
        for scatter in [
            of(Sorted, LONG_UPDATES, LONG_UPDATES / RUN),
            Scatter { beside: Beside::Runs, ..of(Sorted, LONG_UPDATES, LONG_UPDATES / RUN) },
            of(Unique, LONG_UPDATES, LONG_UPDATES),
            of(Few, LONG_UPDATES, 4),
            of(Unsorted, LONG_UPDATES, LONG_UPDATES / RUN),
        ] {
            cases.push(scatter.case::<T, i64, R, 32>());
        }
    }
}

/// The hot pairs of halves, and their sums beside those of `f32`.
fn halves<T: Number>(cases: &mut Vec<Case>) {
    hot::<T, Add>(cases);
    hot::<T, Mean>(cases);
    let beside = |updates, rows| Scatter { beside: Beside::Single, ..Scatter::new(Unsorted, updates, rows) };
    cases.push(beside(LONGEST_UPDATES, DESTINATIONS).case::<T, i64, Add, 64>());
    cases.push(beside(UPDATES, DESTINATIONS).case::<T, i64, Add, 1>());
    cases.push(beside(UPDATES, 100_000).case::<T, i64, Add, 1>());
    let sorted = Scatter { beside: Beside::Single, ..Scatter::new(Sorted, LONGEST_UPDATES, DESTINATIONS) };
    cases.push(sorted.case::<T, i64, Add, 64>());
}

/// Rows of other lengths, inputs that no cache keeps, and ids of 32 bits.
fn more_of_f32(cases: &mut Vec<Case>) {
    fn of<R: Reduce<f32> + Named + 'static>(cases: &mut Vec<Case>, include_self: bool) {
        let of = |targets, updates, rows| Scatter { include_self, ..Scatter::new(targets, updates, rows) };
        for targets in [Sorted, Unsorted] {
            cases.push(of(targets, UPDATES, UPDATES / RUN).case::<f32, i64, R, 3>());
            cases.push(of(targets, LONGEST_UPDATES, DESTINATIONS).case::<f32, i64, R, 64>());
            cases.push(of(targets, 10 * LONG_UPDATES, LONG_UPDATES).case::<f32, i64, R, 32>());
        }
        let runs = Scatter { beside: Beside::Runs, ..of(Sorted, 10 * LONG_UPDATES, LONG_UPDATES) };
        cases.push(runs.case::<f32, i64, R, 32>());
    }
    for include_self in [true, false] {
        of::<Add>(cases, include_self);
        of::<Max>(cases, include_self);
        of::<Mean>(cases, include_self);
    }
    of::<Last>(cases, true);
    for targets in [Sorted, Unsorted] {
        cases.push(Scatter::new(targets, UPDATES, UPDATES / RUN).case::<f32, i32, Add, 1>());
        cases.push(Scatter::new(targets, LONG_UPDATES, LONG_UPDATES / RUN).case::<f32, i32, Max, 32>());
    }
}

/// A cold pair.
fn cold<T: Number, R: Reduce<T> + Named + 'static>(cases: &mut Vec<Case>) {
    let of = |targets, updates, rows| Scatter { wanted: COLD_WANTED, ..Scatter::new(targets, updates, rows) };
    let [elements, rows] = COLD_UPDATES;
    for targets in [Sorted, Unsorted] {
        cases.push(of(targets, elements, elements / RUN).case::<T, i64, R, 1>());
        cases.push(of(targets, rows, rows / RUN).case::<T, i64, R, 32>());
    }
    // Differences without what the destination holds begin with 0, and not with the first update.
    if R::REDUCTION != Reduction::Sub {
        let without = Scatter { include_self: false, ..of(Unsorted, rows, rows / RUN) };
        cases.push(without.case::<T, i64, R, 32>());
    }
    cases.push(of(Unsorted, elements, BYTE_DESTINATIONS).case::<T, u8, R, 1>());
    cases.push(of(Unsorted, rows, BYTE_DESTINATIONS).case::<T, u8, R, 32>());
}
