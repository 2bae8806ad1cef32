//! Sums of a row in a fixed order of lanes, which compilers vectorise: the same bits at every level, except in NaNs
//! that arithmetic produces.
//!
//! ```text
//! lanes[0..32] = 0
//! for each element i:     lanes[i % 32] += term(i)      (a product is rounded before it is added)
//! for half in 16, 8, 4, 2, 1:
//!     for lane below half: lanes[lane] += lanes[lane + half]
//! the sum = lanes[0]
//! ```
//!
//! Compilers may not reorder a serial sum of floats, and so cannot vectorise it. Lanes fit vectors of up to 32 numbers,
//! in blocks of eight lanes. Missing elements of a last block count as +0, which changes no lane: no lane is ever -0.

#![forbid(unsafe_code)]
// Loops over indices of arrays of constant length are vectorised.
#![allow(clippy::needless_range_loop)]

#[cfg(all(feature = "half", target_arch = "x86_64"))]
use crate::rows::f16c::F16c;
use crate::types::arithmetic::Arithmetic;
#[cfg(feature = "half")]
use crate::types::numbers::f16_to_f32;

/// Lanes of a block.
pub(super) const BLOCK: usize = 8;
const BLOCKS: usize = 4;

mod sealed {
    pub trait Sealed: Copy {}
}

/// A number that the functions of this module take: `f32`, `f64`, `f16` and `bf16`, and `i8` and `u8`. Sealed.
pub trait Number: sealed::Sealed {
    /// The type of sums: `f32` for `f16` and `bf16`, `i32` for `i8` and `u8`.
    type Sum: Sum;

    /// Whether [`Widen`] has a function for blocks of the type.
    #[doc(hidden)]
    const IN_BLOCKS: bool;

    /// The same number in the type of sums. A signalling NaN may stay signalling: later arithmetic makes it quiet.
    #[doc(hidden)]
    fn widen(self) -> Self::Sum;

    #[doc(hidden)]
    fn widen_block<W: Widen>(block: &[Self; BLOCK], by: W) -> [Self::Sum; BLOCK]
    where
        Self: Sized;
}

/// Functions that widen blocks of numbers, for types that widen faster in blocks.
#[doc(hidden)]
pub trait Widen: Copy {
    #[cfg(feature = "half")]
    fn f16(self, block: &[half::f16; BLOCK]) -> [f32; BLOCK];
}

#[derive(Clone, Copy)]
struct OneByOne;

impl Widen for OneByOne {
    #[cfg(feature = "half")]
    #[inline(always)]
    fn f16(self, block: &[half::f16; BLOCK]) -> [f32; BLOCK] {
        each(block)
    }
}

/// The numbers of a block, widened one by one.
#[inline(always)]
fn each<A: Number>(block: &[A; BLOCK]) -> [A::Sum; BLOCK] {
    let mut widened = [A::Sum::NOTHING; BLOCK];
    for lane in 0..BLOCK {
        widened[lane] = block[lane].widen();
    }
    widened
}

/// The type of sums.
#[doc(hidden)]
pub trait Sum: Arithmetic + PartialOrd {
    const LEAST: Self;
    /// Whether sums are the same in any order, so that the compiler chooses the order.
    const ANY_ORDER: bool;
}

macro_rules! sums {
    ($($ty:ty, $any_order:literal, $least:expr;)*) => {$(
        impl Sum for $ty {
            const LEAST: Self = $least;
            const ANY_ORDER: bool = $any_order;
        }
    )*};
}
sums! {
    f32, false, f32::NEG_INFINITY;
    f64, false, f64::NEG_INFINITY;
    i32, true, i32::MIN;
}

macro_rules! numbers {
    ($($(#[$cfg:meta])* $ty:ty => $sum:ty, $value:ident, $widen:expr $(, by $block:ident)?;)*) => {$(
        $(#[$cfg])*
        impl sealed::Sealed for $ty {}

        $(#[$cfg])*
        impl Number for $ty {
            type Sum = $sum;

            const IN_BLOCKS: bool = false $(|| stringify!($block).len() > 0)?;

            #[inline(always)]
            fn widen(self) -> $sum {
                let $value = self;
                $widen
            }

            #[inline(always)]
            fn widen_block<W: Widen>(block: &[Self; BLOCK], _by: W) -> [$sum; BLOCK] {
                $(return _by.$block(block);)?
                #[allow(unreachable_code)]
                each(block)
            }
        }
    )*};
}
numbers! {
    f32 => f32, value, value;
    f64 => f64, value, value;
    i8 => i32, value, i32::from(value);
    u8 => i32, value, i32::from(value);
    #[cfg(feature = "half")] half::f16 => f32, value, f16_to_f32(value.to_bits()), by f16;
    #[cfg(feature = "half")] half::bf16 => f32, value, f32::from_bits(u32::from(value.to_bits()) << 16);
}

/// A term of two numbers, and the sum of terms.
pub(super) trait Step<S: Sum> {
    /// The identity of [`Self::join`]: the initial lane, and the missing terms of a last block.
    const START: S;

    fn term(a: S, b: S) -> S;
    fn join(lane: S, term: S) -> S;
}

macro_rules! steps {
    ($($name:ident, $start:ident, |$a:ident, $b:ident| $term:expr, |$lane:ident, $other:ident| $join:expr;)*) => {$(
        enum $name {}

        impl<S: Sum> Step<S> for $name {
            const START: S = S::$start;

            #[inline(always)]
            fn term($a: S, $b: S) -> S {
                $term
            }

            #[inline(always)]
            fn join($lane: S, $other: S) -> S {
                $join
            }
        }
    )*};
}
steps! {
    Product, NOTHING, |a, b| a.times(b), |lane, term| lane.plus(term);
    Own, NOTHING, |a, _b| a, |lane, term| lane.plus(term);
    Distance, NOTHING, |a, b| a.minus(b).times(a.minus(b)), |lane, term| lane.plus(term);
    Greatest, LEAST, |a, _b| a, |lane, term| if term > lane { term } else { lane };
}

/// Joins a block of terms to a block of lanes.
#[inline(always)]
fn block<A: Number, B: Number<Sum = A::Sum>, P: Step<A::Sum>, W: Widen>(
    lanes: &mut [A::Sum; BLOCK],
    a: &[A; BLOCK],
    b: &[B; BLOCK],
    by: W,
) {
    let (a, b) = (A::widen_block(a, by), B::widen_block(b, by));
    for lane in 0..BLOCK {
        lanes[lane] = P::join(lanes[lane], P::term(a[lane], b[lane]));
    }
}

/// The terms of a last block of `N` elements. With a constant `N`, terms stay in registers. With a variable length,
/// masked stores would write terms to memory, and the load of the block would wait for the stores (bench `rows`).
#[inline(always)]
fn last_terms<const N: usize, A: Number, B: Number<Sum = A::Sum>, P: Step<A::Sum>>(
    a: &[A],
    b: &[B],
) -> [A::Sum; BLOCK] {
    let mut terms = [P::START; BLOCK];
    if let (Some(a), Some(b)) = (a.first_chunk::<N>(), b.first_chunk::<N>()) {
        for lane in 0..N {
            terms[lane] = P::term(a[lane].widen(), b[lane].widen());
        }
    }
    terms
}

/// Joins the terms of each row of `rows` and `b`. Rows are at least as long as `b`. A tuple has the lanes of each row
/// as a field: in an array, lanes would be in memory.
macro_rules! folds {
    ($($name:ident, $name_by:ident: [$($n:tt)*];)*) => {$(
        #[inline(always)]
        fn $name<A: Number, B: Number<Sum = A::Sum>, P: Step<A::Sum>>(
            rows: [&[A]; [$($n),*].len()],
            b: &[B],
        ) -> [A::Sum; [$($n),*].len()] {
            #[cfg(all(feature = "half", target_arch = "x86_64"))]
            if const { A::IN_BLOCKS || B::IN_BLOCKS }
                && let Some(f16c) = F16c::find()
            {
                return f16c.$name::<A, B, P>(rows, b);
            }
            $name_by::<A, B, P, _>(rows, b, OneByOne)
        }

        /// The joined terms, with blocks widened by `by`.
        #[inline(always)]
        pub(super) fn $name_by<A: Number, B: Number<Sum = A::Sum>, P: Step<A::Sum>, W: Widen>(
            rows: [&[A]; [$($n),*].len()],
            b: &[B],
            by: W,
        ) -> [A::Sum; [$($n),*].len()] {
            if A::Sum::ANY_ORDER {
                return [$(any_order::<A, B, P>(rows[$n], b)),*];
            }
            let (blocks, b_remainder) = b.as_chunks::<BLOCK>();
            let (b_whole, b_last) = blocks.as_chunks::<BLOCKS>();
            // Cut to `b.len()`, so that the compiler sees every index in bounds.
            let rows = ($({
                let (blocks, remainder) = rows[$n][..b.len()].as_chunks::<BLOCK>();
                let (whole, last) = blocks.as_chunks::<BLOCKS>();
                (&whole[..b_whole.len()], &last[..b_last.len()], remainder)
            },)*);
            let mut lanes = ($({
                let _ = $n;
                [[P::START; BLOCK]; BLOCKS]
            },)*);
            for i in 0..b_whole.len() {
                for at in 0..BLOCKS {
                    $(block::<A, B, P, W>(&mut lanes.$n[at], &rows.$n.0[i][at], &b_whole[i][at], by);)*
                }
            }
            for at in 0..BLOCKS - 1 {
                if at < b_last.len() {
                    $(block::<A, B, P, W>(&mut lanes.$n[at], &rows.$n.1[at], &b_last[at], by);)*
                }
            }
            if !b_remainder.is_empty() {
                let terms = ($(remainder_terms::<A, B, P>(rows.$n.2, b_remainder),)*);
                for at in 0..BLOCKS {
                    if at == b_last.len() {
                        $(lanes.$n[at] = join_blocks::<A::Sum, P>(lanes.$n[at], &terms.$n);)*
                    }
                }
            }
            let mut joined = [$(join_all_blocks::<A::Sum, P>(lanes.$n)),*];
            if const { [$($n),*].len() > 1 } {
                // Passes vectors through memory: otherwise the compiler merges the trees of all rows into scalar code.
                joined = core::hint::black_box(joined);
            }
            [$(join_lanes::<A::Sum, P>(joined[$n])),*]
        }
    )*};
}
folds! {
    fold, fold_by: [0];
    fold_three, fold_three_by: [0 1 2];
}

/// Joins the terms of two rows whose sums are the same in any order.
#[inline(always)]
fn any_order<A: Number, B: Number<Sum = A::Sum>, P: Step<A::Sum>>(a: &[A], b: &[B]) -> A::Sum {
    let mut joined = P::START;
    for (a, b) in a.iter().zip(b) {
        joined = P::join(joined, P::term(a.widen(), b.widen()));
    }
    joined
}

#[inline(always)]
fn remainder_terms<A: Number, B: Number<Sum = A::Sum>, P: Step<A::Sum>>(a: &[A], b: &[B]) -> [A::Sum; BLOCK] {
    match b.len() {
        1 => last_terms::<1, A, B, P>(a, b),
        2 => last_terms::<2, A, B, P>(a, b),
        3 => last_terms::<3, A, B, P>(a, b),
        4 => last_terms::<4, A, B, P>(a, b),
        5 => last_terms::<5, A, B, P>(a, b),
        6 => last_terms::<6, A, B, P>(a, b),
        _ => last_terms::<7, A, B, P>(a, b),
    }
}

#[inline(always)]
fn join_blocks<S: Sum, P: Step<S>>(mut lanes: [S; BLOCK], others: &[S; BLOCK]) -> [S; BLOCK] {
    for lane in 0..BLOCK {
        lanes[lane] = P::join(lanes[lane], others[lane]);
    }
    lanes
}

/// The first half of the tree: joins the four blocks, lane by lane.
#[inline(always)]
fn join_all_blocks<S: Sum, P: Step<S>>([a, b, c, d]: [[S; BLOCK]; BLOCKS]) -> [S; BLOCK] {
    join_blocks::<S, P>(join_blocks::<S, P>(a, &c), &join_blocks::<S, P>(b, &d))
}

/// The second half of the tree: joins the lanes of a block.
#[inline(always)]
fn join_lanes<S: Sum, P: Step<S>>(mut lanes: [S; BLOCK]) -> S {
    let mut half = BLOCK / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = P::join(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// Widens `row` into `out`, up to the length of the shorter one.
#[inline(always)]
pub(super) fn widen<A: Number>(row: &[A], out: &mut [A::Sum]) {
    #[cfg(all(feature = "half", target_arch = "x86_64"))]
    if const { A::IN_BLOCKS }
        && let Some(f16c) = F16c::find()
    {
        return f16c.widen(row, out);
    }
    widen_by(row, out, OneByOne);
}

/// As [`widen`], with blocks widened by `by`.
#[inline(always)]
pub(super) fn widen_by<A: Number, W: Widen>(row: &[A], out: &mut [A::Sum], by: W) {
    let len = row.len().min(out.len());
    let ((blocks, remainder), (out_blocks, out_remainder)) = (row[..len].as_chunks(), out[..len].as_chunks_mut());
    for (block, out) in blocks.iter().zip(out_blocks) {
        *out = A::widen_block(block, by);
    }
    for (number, out) in remainder.iter().zip(out_remainder) {
        *out = number.widen();
    }
}

/// Both slices, cut to the length of the shorter one.
#[inline(always)]
fn both<'a, A, B>(a: &'a [A], b: &'a [B]) -> (&'a [A], &'a [B]) {
    let len = a.len().min(b.len());
    (&a[..len], &b[..len])
}

/// [`dot`] of each of three rows with `b`, which is read once. All have the same length.
#[inline(always)]
pub(super) fn dot_three<A: Number, B: Number<Sum = A::Sum>>(rows: [&[A]; 3], b: &[B]) -> [A::Sum; 3] {
    fold_three::<A, B, Product>(rows, b)
}

/// [`l2_squared`] of each of three rows and `b`, which is read once. All have the same length.
#[inline(always)]
pub(super) fn l2_squared_three<A: Number, B: Number<Sum = A::Sum>>(rows: [&[A]; 3], b: &[B]) -> [A::Sum; 3] {
    fold_three::<A, B, Distance>(rows, b)
}

/// The dot product of two rows, up to the length of the shorter one. Sums cannot overflow in rows of up to 131,071
/// elements for `i8`, 65,793 for `u8` and `i8`, and 33,025 for `u8`; longer sums wrap.
///
/// ```
/// use gather_core::rows::lanes::dot;
///
/// assert_eq!(dot(&[1.0f32, 2.0, 3.0], &[4.0f32, 5.0, 6.0]), 32.0);
/// assert_eq!(dot(&[100i8, -128], &[100i8, 127]), -6256);
/// ```
#[inline(always)]
#[must_use]
pub fn dot<A: Number, B: Number<Sum = A::Sum>>(a: &[A], b: &[B]) -> A::Sum {
    let (a, b) = both(a, b);
    let [dot] = fold::<A, B, Product>([a], b);
    dot
}

/// The sum of a row.
///
/// ```
/// assert_eq!(gather_core::rows::lanes::sum(&[0.5f32; 100]), 50.0);
/// ```
#[inline(always)]
#[must_use]
pub fn sum<A: Number>(row: &[A]) -> A::Sum {
    let [joined] = fold::<A, A, Own>([row], row);
    joined
}

/// The sum of the squares of a row.
///
/// ```
/// assert_eq!(gather_core::rows::lanes::sum_of_squares(&[3.0f32, 4.0]), 25.0);
/// ```
#[inline(always)]
#[must_use]
pub fn sum_of_squares<A: Number>(row: &[A]) -> A::Sum {
    let [joined] = fold::<A, A, Product>([row], row);
    joined
}

/// The square of the Euclidean distance of two rows, up to the length of the shorter one. Sums of `i8` cannot overflow
/// in rows of up to 33,025 elements; longer sums wrap.
///
/// ```
/// assert_eq!(gather_core::rows::lanes::l2_squared(&[1.0f32, 2.0], &[4.0f32, 6.0]), 25.0);
/// ```
#[inline(always)]
#[must_use]
pub fn l2_squared<A: Number, B: Number<Sum = A::Sum>>(a: &[A], b: &[B]) -> A::Sum {
    let (a, b) = both(a, b);
    let [square] = fold::<A, B, Distance>([a], b);
    square
}

/// The greatest number of a row, NaNs ignored. For a row without numbers, negative infinity or `i32::MIN`.
///
/// ```
/// assert_eq!(gather_core::rows::lanes::max(&[1.0f32, f32::NAN, -2.0]), 1.0);
/// ```
#[inline(always)]
#[must_use]
pub fn max<A: Number>(row: &[A]) -> A::Sum {
    let [joined] = fold::<A, A, Greatest>([row], row);
    joined
}
