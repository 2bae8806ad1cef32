//! Data, indices and output against inaccessible pages, in front and behind: no kernel touches a byte that is not its own,
//! and every output is what the oracle says.

mod copies;
mod kernels;
mod maps;
mod odd;
mod rows;
mod strategies;

use gather_core::{
    BatchToSpace, Element, Error, Gather, GatherElements, GatherNd, Index, Level, NegativeIndex, OutOfBounds, View,
    ViewMut,
};
use gather_tests::guard::{Guarded, Side};
use gather_tests::oracle::{Dense, Rules, coords};
use gather_tests::support::{RULES, narrow};
use gather_tests::values::bytes;

/// Lengths around every vector and block.
fn lengths() -> impl Iterator<Item = usize> {
    let around = [64, 128, 256, 512, 1024].into_iter().flat_map(|edge| edge - 1..=edge + 1);
    (0..=40).chain(around)
}

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_available())
}

/// Where a tensor lies.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The end that touches a guard.
    side: Side,
    /// Bytes between it and the guard, for elements without alignment.
    shift: usize,
    /// Whether there is a gap after every step of every dimension, so that no two can be merged.
    spread: bool,
}

/// Against both guards, in one piece and spread.
const PLACES: [Place; 4] = [
    Place { side: Side::Front, shift: 0, spread: false },
    Place { side: Side::Back, shift: 0, spread: false },
    Place { side: Side::Front, shift: 0, spread: true },
    Place { side: Side::Back, shift: 0, spread: true },
];

/// Against both guards, in one piece.
const TIGHT: [Place; 2] = [PLACES[0], PLACES[1]];

impl Place {
    /// Strides of a shape, and the elements that they reach: no more memory than that.
    fn strides(self, shape: &[usize]) -> (Vec<isize>, usize) {
        let (mut step, gap) = if self.spread { (2, 1) } else { (1, 0) };
        let mut strides = vec![0; shape.len()];
        let mut last = 0;
        for (stride, &dim) in strides.iter_mut().zip(shape).rev() {
            *stride = step as isize;
            last += step * dim.saturating_sub(1);
            step = step * dim.max(1) + gap;
        }
        (strides, if shape.contains(&0) { 0 } else { last + 1 })
    }

    /// Lays a tensor out in guarded memory; returns its elements with those in the gaps, and its strides.
    fn lay<'a, T: Element>(self, memory: &'a mut Guarded, dense: &Dense<T>) -> (&'a mut [T], Vec<isize>) {
        let (strides, len) = self.strides(&dense.shape);
        let shift = if align_of::<T>() == 1 { self.shift } else { 0 };
        if !self.spread {
            return (memory.place(self.side, shift, len, |at| dense.values[at]), strides);
        }
        let slice = memory.place(self.side, shift, len, |_| T::ZERO);
        for (coords, &value) in coords(&dense.shape).zip(&dense.values) {
            let at: isize = coords.iter().zip(&strides).map(|(&c, &stride)| c as isize * stride).sum();
            slice[at as usize] = value;
        }
        (slice, strides)
    }
}

/// What the operators on indices have in common.
trait IndexOp: std::fmt::Debug {
    /// The operator at a level, under the policies that indices are for.
    fn tuned<I>(self, picks: &Picks<I>, level: Level) -> Self;

    fn call<T: Element, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        out: &mut ViewMut<'_, T>,
    ) -> Result<(), Error>;
}

macro_rules! index_ops {
    ($($op:ident)*) => {$(
        impl IndexOp for $op {
            fn tuned<I>(self, picks: &Picks<I>, level: Level) -> Self {
                self.negative_index(picks.negative).out_of_bounds(picks.out).level(level)
            }

            fn call<T: Element, I: Index>(
                &self,
                data: &View<'_, T>,
                indices: &View<'_, I>,
                out: &mut ViewMut<'_, T>,
            ) -> Result<(), Error> {
                self.run_into(data, indices, out)
            }
        }
    )*};
}
index_ops!(Gather GatherElements GatherNd);

/// Memory for the three tensors of a call.
struct Pages {
    data: Guarded,
    indices: Guarded,
    out: Guarded,
}

impl Pages {
    fn new() -> Self {
        Pages { data: Guarded::new(1), indices: Guarded::new(1), out: Guarded::new(1) }
    }

    /// Holds an operator on indices at each of the places.
    fn index<T: Element, I: Index>(
        &mut self,
        places: &[Place],
        op: &impl IndexOp,
        (data, picks, expected): (&Dense<T>, &Picks<I>, &Dense<T>),
    ) {
        let what = || format!("{op:?} on {} {:?}, {} {:?}", T::DTYPE, data.shape, I::TYPE, picks.exact.shape);
        self.hold(places, (data, &picks.narrow, expected), |data, indices, out| op.call(data, indices, out), what);
    }

    /// Holds BatchToSpace at each of the places.
    fn copy<T: Element>(&mut self, places: &[Place], op: &BatchToSpace, (data, expected): (&Dense<T>, &Dense<T>)) {
        let none = Dense { shape: vec![0], values: Vec::<u8>::new() };
        let what = || format!("{op:?} on {} {:?}", T::DTYPE, data.shape);
        self.hold(places, (data, &none, expected), |data, _, out| op.run_into(data, out), what);
    }

    /// Runs a call on tensors at each of the places, and holds what it writes against what it should.
    fn hold<T: Element, I: Index, U: Element>(
        &mut self,
        places: &[Place],
        (data, indices, expected): (&Dense<T>, &Dense<I>, &Dense<U>),
        run: impl Fn(&View<'_, T>, &View<'_, I>, &mut ViewMut<'_, U>) -> Result<(), Error>,
        what: impl Fn() -> String,
    ) {
        // Every element is one that belongs elsewhere before the call.
        let mut before = expected.clone();
        before.values.rotate_left(expected.values.len().min(1));
        for place in places {
            let (memory, strides) = place.lay(&mut self.data, data);
            let data = View::strided(memory, &data.shape, &strides, 0).unwrap();
            let (memory, strides) = place.lay(&mut self.indices, indices);
            let indices = View::strided(memory, &indices.shape, &strides, 0).unwrap();
            let (memory, strides) = place.lay(&mut self.out, &before);
            let mut out = ViewMut::strided(memory, &expected.shape, &strides, 0).unwrap();
            run(&data, &indices, &mut out).unwrap_or_else(|error| panic!("{}, {place:?}: {error}", what()));

            let got = View::strided(memory, &expected.shape, &strides, 0).unwrap();
            for (coords, value) in coords(&expected.shape).zip(&expected.values) {
                let got = *got.get(&coords).unwrap();
                assert_eq!(bytes(&[got]), bytes(&[*value]), "{}, {place:?}, at {coords:?}", what());
            }
        }
    }
}

/// Indices, and the policies that they are for.
struct Picks<I> {
    exact: Dense<i128>,
    narrow: Dense<I>,
    negative: NegativeIndex,
    out: OutOfBounds,
    rules: Rules,
}

impl<I: Index + TryFrom<i128>> Picks<I> {
    /// Indices along an axis for the policies of a number: the last element, the first, and others in no order; some out of
    /// range where that is no error.
    fn new(shape: &[usize], dim: usize, number: usize) -> Self {
        let (negative, out, rules) = RULES[number % RULES.len()];
        let (least, most) = (I::min_value().exact(), I::max_value().exact());
        let n = dim as i128;
        let (first, last) = match (out, rules.from_end) {
            (OutOfBounds::Error, true) => (-n, n - 1),
            (OutOfBounds::Error, false) => (0, n - 1),
            _ => (-n - 2, n + 1),
        };
        let (first, last) = (first.max(least), last.min(most));
        let exact = Dense::from_fn(shape, |at| match at {
            0 => (n - 1).min(last),
            1 => 0,
            _ => first + (at as i128 * 7919 + number as i128) % (last - first + 1),
        });
        Picks { narrow: narrow(&exact), exact, negative, out, rules }
    }

    /// The first of them, in a list or in a list of tuples.
    fn first(&self, count: usize) -> Self {
        let mut shape = self.exact.shape.clone();
        shape[0] = count;
        let len = shape.iter().product();
        let exact = Dense { shape: shape.clone(), values: self.exact.values[..len].to_vec() };
        let narrow = Dense { shape, values: self.narrow.values[..len].to_vec() };
        Picks { exact, narrow, ..*self }
    }
}

/// Elements of any type: their bytes count up from 1, and none is the zero.
trait Sample: Element + std::fmt::Debug {
    fn sample(at: usize) -> Self;
}

macro_rules! samples {
    ($($ty:ty: $at:ident => $value:expr;)*) => {$(
        impl Sample for $ty {
            fn sample($at: usize) -> Self {
                $value
            }
        }
    )*};
}
samples! {
    u8: at => (at % 255) as u8 + 1;
    u16: at => at as u16 | 0x4000;
    f32: at => at as f32 + 0.5;
    u64: at => (at as u64 + 1).wrapping_mul(0x0102_0304_0506_0708);
    [u64; 2]: at => [at as u64 + 1, !(at as u64)];
    [u8; 3]: at => [at as u8, (at >> 8) as u8, 7];
    [u32; 3]: at => [at as u32, 1, !(at as u32)];
}

/// A tensor of samples.
fn samples<T: Sample>(shape: &[usize]) -> Dense<T> {
    Dense::from_fn(shape, T::sample)
}
