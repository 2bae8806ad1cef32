//! Data, indices and output next to guard pages, in front and behind: no kernel touches a byte outside its tensors, and
//! every output equals the oracle's.

mod bag;
mod chunks;
mod copies;
mod kernels;
mod maps;
mod masks;
mod methods;
mod odd;
mod ragged;
mod rows;
mod scatter;

use std::fmt::Debug;

use gather_core::{
    Element, Error, Gather, GatherElements, GatherNd, Index, Level, Method, NegativeIndex, OutOfBounds,
    SpaceAttributes, SpaceOperator, View, ViewMut,
};
use gather_tests::guard::{Guarded, Side};
use gather_tests::oracle::{Dense, Rules, strided};
use gather_tests::support::{RULES, available_levels, narrow};
use gather_tests::values::bytes;

/// Lengths near every vector and block length.
fn lengths() -> impl Iterator<Item = usize> {
    let around = [64, 128, 256, 512, 1024].into_iter().flat_map(|edge| edge - 1..=edge + 1);
    (0..=40).chain(around)
}

fn levels() -> impl Iterator<Item = Level> {
    available_levels().into_iter()
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

/// Next to either guard, contiguous and spread.
const PLACES: [Place; 4] = [
    Place { side: Side::Front, shift: 0, spread: false },
    Place { side: Side::Back, shift: 0, spread: false },
    Place { side: Side::Front, shift: 0, spread: true },
    Place { side: Side::Back, shift: 0, spread: true },
];

/// Next to either guard, contiguous.
const TIGHT: [Place; 2] = [PLACES[0], PLACES[1]];

impl Place {
    /// Strides for a shape, and the number of elements that they span.
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

    /// Copies a tensor into guarded memory. Returns its elements, with those in the gaps, and its strides.
    fn lay<'a, T: Element>(self, memory: &'a mut Guarded, dense: &Dense<T>) -> (&'a mut [T], Vec<isize>) {
        let (strides, len) = self.strides(&dense.shape);
        let shift = if align_of::<T>() == 1 { self.shift } else { 0 };
        if !self.spread {
            return (memory.place_copy(self.side, shift, &dense.values), strides);
        }
        let slice = memory.place(self.side, shift, len, |_| T::ZERO);
        let places = strided(&dense.shape, &strides, 0);
        for (at, &place) in places.iter().enumerate() {
            slice[place] = dense.values[at];
        }
        (slice, strides)
    }
}

/// What the index operators share.
trait IndexOp: std::fmt::Debug {
    /// The operator at a level, under the policies that indices are for.
    fn tuned<I>(self, picks: &Picks<I>, level: Level) -> Self;

    /// The operator with a method forced.
    fn forced(&self, method: Method) -> Self;

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

            fn forced(&self, method: Method) -> Self {
                self.clone().method(method)
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

    /// Checks an index operator at each of the places.
    fn index<T: Element, I: Index>(
        &mut self,
        places: &[Place],
        op: &impl IndexOp,
        (data, picks, expected): (&Dense<T>, &Picks<I>, &Dense<T>),
    ) {
        let what = || format!("{op:?} on {} {:?}, {} {:?}", T::DTYPE, data.shape, I::TYPE, picks.exact.shape);
        self.hold(places, (data, &picks.narrow, expected), |data, indices, out| op.call(data, indices, out), what);
    }

    /// Checks an index operator at each of the places by every method that takes it there; returns those that do.
    fn by_every_method<T: Element, I: Index>(
        &mut self,
        places: &[Place],
        op: &impl IndexOp,
        (data, picks, expected): (&Dense<T>, &Picks<I>, &Dense<T>),
    ) -> Vec<Method> {
        let mut taken = Vec::new();
        for &method in Method::ALL {
            let op = op.forced(method);
            let what = || format!("{op:?} on {} {:?}, {} {:?}", T::DTYPE, data.shape, I::TYPE, picks.exact.shape);
            for &place in places {
                let mut refused = false;
                let refused = std::cell::Cell::from_mut(&mut refused);
                let call = |data: &View<'_, T>, indices: &View<'_, I>, out: &mut ViewMut<'_, T>| {
                    let ran = op.call(data, indices, out);
                    if !matches!(ran, Err(Error::MethodUnavailable { .. })) {
                        return ran;
                    }
                    refused.set(true);
                    op.forced(Method::Direct).call(data, indices, out)
                };
                self.hold(&[place], (data, &picks.narrow, expected), call, what);
                if !refused.get() {
                    taken.push(method);
                }
            }
        }
        taken.dedup();
        taken
    }

    /// Checks an operator that rearranges space at each of the places.
    fn copy<T: Element, A: SpaceAttributes + Debug>(
        &mut self,
        places: &[Place],
        op: &SpaceOperator<A>,
        (data, expected): (&Dense<T>, &Dense<T>),
    ) {
        let none = Dense { shape: vec![0], values: Vec::<u8>::new() };
        let what = || format!("{op:?} on {} {:?}", T::DTYPE, data.shape);
        self.hold(places, (data, &none, expected), |data, _, out| op.run_into(data, out), what);
    }

    /// Runs a call on tensors at each of the places, and compares what it writes with what it should write.
    fn hold<T: Element, I: Index, U: Element>(
        &mut self,
        places: &[Place],
        (data, indices, expected): (&Dense<T>, &Dense<I>, &Dense<U>),
        run: impl Fn(&View<'_, T>, &View<'_, I>, &mut ViewMut<'_, U>) -> Result<(), Error>,
        what: impl Fn() -> String,
    ) {
        // Before the call, every element of the output is wrong.
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

            // Row-major elements are compared all at once; those that are strided, or wrong, one by one.
            if !place.spread && bytes(memory) == bytes(&expected.values) {
                continue;
            }
            let places = strided(&expected.shape, &strides, 0);
            for (at, &found) in places.iter().enumerate() {
                let got = bytes(&memory[found..=found]);
                assert_eq!(got, bytes(&expected.values[at..=at]), "{}, {place:?}, element {at}", what());
            }
        }
    }
}

/// Indices, and the policies that they are made for.
struct Picks<I> {
    exact: Dense<i128>,
    narrow: Dense<I>,
    negative: NegativeIndex,
    out: OutOfBounds,
    rules: Rules,
}

impl<I: Index + TryFrom<i128>> Picks<I> {
    /// Indices along an axis, for policies chosen by a number: the last element, the first, and others in no order.
    /// Some are out of range where that is no error.
    fn new(shape: &[usize], dim: usize, number: usize) -> Self {
        let (negative, out, rules) = RULES[number % RULES.len()];
        let (least, most) = I::TYPE.bounds();
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

    /// The first `count` of them; of tuples where each index is one.
    fn first(&self, count: usize) -> Self {
        let mut shape = self.exact.shape.clone();
        shape[0] = count;
        let len = shape.iter().product();
        let exact = Dense { shape: shape.clone(), values: self.exact.values[..len].to_vec() };
        let narrow = Dense { shape, values: self.narrow.values[..len].to_vec() };
        Picks { exact, narrow, ..*self }
    }
}

/// Elements of any type: their bytes count up from 1, so that none is zero.
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
