//! Reducing the rows of a bag, with the sums of many columns in registers.
//!
//! ```text
//! for each panel of columns, as wide as registers hold sums of:
//!     sums = the first row that counts            (or what an earlier part of the bag has left)
//!     for each other row, in order:
//!         ask for a row further on
//!         sums (op)= the row                      (times its weight)
//!     out = sums, rounded or divided              (or they are left for the next part)
//! ```
//!
//! The compiler vectorises across columns, so that each sum is that of the plain loop, to the bit. Panels are powers of
//! two of columns, which leaves no loop over columns that is not unrolled.
//!
//! # The contract
//!
//! - **B1** Each position that is not negative reaches `elements` elements that may be read, `stride` bytes apart from
//!   one position to the next, at any alignment. They are values of the type that is reduced, or it takes any bytes.
//! - **B2** `out` may be written for `elements` elements, which nothing else uses meanwhile.
//! - **B3** Where rows are weighed, there is a weight for each, `weight_step` bytes apart, of the same type.
//! - **B4** A part that begins has a row that counts. Parts that do not begin, or do not end, have `carried`: room for
//!   as many sums, at any alignment, where the part before it has left its own.
//! - K7 holds too.

use core::array::from_fn;

use crate::kernels::moves::prefetch::prefetch;
use crate::kernels::reduce::ByLevel;
use crate::kernels::reduce::group::Accumulate;
use crate::kernels::reduce::rows::Unaligned;
use crate::kernels::reduce::step::{Plain, Step, Weigh, Weighed};
use crate::types::element::Element;

/// The position of a row that is left out, and does not count.
pub(crate) const LEFT_OUT: i64 = -1;
/// The position of a row of zeros, which counts.
pub(crate) const ZEROS: i64 = -2;

/// Reduces rows of a bag.
///
/// # Safety
/// The contract of a bag: B1 to B4, and K7.
pub(crate) type BagFn = unsafe fn(&BagRows<'_>);

/// Rows of a bag: all of them, or a part.
pub(crate) struct BagRows<'a> {
    /// Column 0 of position 0.
    pub(crate) data: *const u8,
    /// Bytes from one position to the next.
    pub(crate) stride: isize,
    /// The positions of the rows, in order; or [`LEFT_OUT`], or [`ZEROS`].
    pub(crate) rows: &'a [i64],
    /// The positions of rows that will be reduced after these.
    pub(crate) next: &'a [i64],
    /// How many rows ahead of their use rows are asked for; 0 for none.
    pub(crate) distance: usize,
    /// The weight of the first row; null without weights.
    pub(crate) weights: *const u8,
    pub(crate) weight_step: isize,
    pub(crate) out: *mut u8,
    pub(crate) elements: usize,
    /// Sums of this bag; null where the rows are all of it.
    pub(crate) carried: *mut u8,
    /// Whether no row before these counts.
    pub(crate) begins: bool,
    /// How many rows of the bag count, where these are its last.
    pub(crate) ends: Option<usize>,
}

/// What reduces bags of elements of a type.
#[derive(Clone, Copy)]
pub(crate) struct BagFns {
    pub(crate) plain: ByLevel<BagFn>,
    /// With weights; `None` where there is no such reduction.
    pub(crate) weighed: Option<ByLevel<BagFn>>,
    /// Bytes of a sum.
    pub(crate) sum: usize,
}

impl BagFns {
    /// A reduction without weights.
    pub(super) const fn plain<A: Accumulate<Item: Element>>() -> Self {
        BagFns { plain: by_level::<Plain<A>>(), weighed: None, sum: size_of::<A::Sum>() }
    }

    /// A sum, which may have weights.
    pub(super) const fn weighed<A: Weigh>() -> Self {
        BagFns { weighed: Some(by_level::<Weighed<A>>()), ..Self::plain::<A>() }
    }
}

const fn by_level<S: Step>() -> ByLevel<BagFn> {
    ByLevel {
        scalar: bag_scalar::<S>,
        #[cfg(target_arch = "x86_64")]
        avx2: bag_avx2::<S>,
    }
}

/// The scalar level of a reduction.
///
/// # Safety
/// As for [`BagFn`], for the type of the reduction.
unsafe fn bag_scalar<S: Step>(bag: &BagRows<'_>) {
    // SAFETY: the caller's promise.
    unsafe { reduce_columns::<S>(bag) }
}

/// The AVX2 level of a reduction.
///
/// # Safety
/// As for [`BagFn`], for the type of the reduction; K7: the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn bag_avx2<S: Step>(bag: &BagRows<'_>) {
    // SAFETY: the caller's promise.
    unsafe { reduce_columns::<S>(bag) }
}

/// Reduces rows panel by panel, the widest first: up to sixteen vectors of 32 bytes of sums.
///
/// # Safety
/// As for [`BagFn`], for the type of the reduction.
#[inline(always)]
unsafe fn reduce_columns<S: Step>(bag: &BagRows<'_>) {
    debug_assert_eq!(S::WEIGHED, !bag.weights.is_null(), "B3");
    debug_assert!((bag.begins && bag.ends.is_some()) || !bag.carried.is_null(), "B4");
    debug_assert!(!bag.begins || bag.rows.iter().any(|&position| position != LEFT_OUT), "B4");
    macro_rules! panels {
        ($most:literal $($columns:literal)*) => {{
            let mut start = 0;
            while bag.elements - start >= $most {
                // SAFETY: the caller's promise, for columns that there are.
                unsafe { panel::<S, $most>(bag, start) }
                start += $most;
            }
            $(if bag.elements - start >= $columns {
                // SAFETY: as above.
                unsafe { panel::<S, $columns>(bag, start) }
                start += $columns;
            })*
            debug_assert_eq!(start, bag.elements);
        }};
    }
    match const { S::WIDTH } {
        1 => panels!(512 256 128 64 32 16 8 4 2 1),
        2 => panels!(256 128 64 32 16 8 4 2 1),
        3..=4 => panels!(128 64 32 16 8 4 2 1),
        5..=8 => panels!(64 32 16 8 4 2 1),
        9..=16 => panels!(32 16 8 4 2 1),
        17..=64 => panels!(4 2 1),
        _ => panels!(1),
    }
}

/// Reduces `N` columns from `start` on.
///
/// # Safety
/// As for [`BagFn`], for the type of the reduction; there are as many columns.
#[inline(always)]
unsafe fn panel<S: Step, const N: usize>(bag: &BagRows<'_>, start: usize) {
    let column = |at: usize| bag.data.wrapping_add(at * size_of::<S::Item>());
    let data = column(start);
    let row = |position: i64| {
        let from = data.wrapping_offset((position as isize).wrapping_mul(bag.stride));
        // SAFETY: B1: as many elements of a row, at any alignment.
        unsafe { &*from.cast::<[Unaligned<S::Item>; N]>() }
    };
    let weight = |at: usize| {
        if !S::WEIGHED {
            return S::Item::ZERO;
        }
        let weight = bag.weights.wrapping_offset(bag.weight_step.wrapping_mul(at as isize));
        // SAFETY: B3: the weight of a row.
        unsafe { weight.cast::<S::Item>().read_unaligned() }
    };
    // While the last rows of a panel are reduced, the first ones of the next panel are asked for: of the same bag, or of
    // the one after it.
    let (rows, distance) = (bag.rows, bag.distance);
    let last = start + N >= bag.elements;
    let (next, next_data) = if last { (bag.next, bag.data) } else { (rows, column(start + N)) };
    let carried = bag.carried.cast::<Unaligned<S::Sum>>().wrapping_add(start);
    let (mut sums, done): ([S::Sum; N], usize) = if bag.begins {
        let first = rows.iter().position(|&position| position != LEFT_OUT).unwrap_or(0);
        let weight = weight(first);
        let sums = match rows.get(first) {
            Some(&position) if position >= 0 => {
                let from = row(position);
                from_fn(|k| S::first(from[k].0, weight))
            }
            _ => from_fn(|_| S::first(S::Item::ZERO, weight)),
        };
        (sums, first + 1)
    } else {
        // SAFETY: B4: sums of this bag, which its part before has left.
        let sums = unsafe { &*carried.cast::<[Unaligned<S::Sum>; N]>() };
        (from_fn(|k| sums[k].0), 0)
    };

    // Row `i` asks for row `i + distance`: before `turn` for one of these, then for one that is next.
    let turn = rows.len().saturating_sub(distance);
    let (near, far) = match distance {
        0 => (NONE, NONE),
        _ => (&rows[rows.len() - turn..], next.get(distance.saturating_sub(rows.len())..).unwrap_or(NONE)),
    };
    let ask = |base: *const u8, position: i64| {
        ask(base.wrapping_offset((position as isize).wrapping_mul(bag.stride)), N * size_of::<S::Item>());
    };
    for i in 0..done {
        match near.get(i) {
            Some(&later) => ask(data, later),
            None => far.get(i.wrapping_sub(turn)).into_iter().for_each(|&later| ask(next_data, later)),
        }
    }
    let (near, from) = (near.get(done..).unwrap_or(NONE), turn.max(done));
    let far = far.get(from - turn..).unwrap_or(NONE);
    for (part, asked, base) in [(done..from, near, data), (from..rows.len(), far, next_data)] {
        let first = part.start;
        for (i, &position) in rows[part].iter().enumerate() {
            if let Some(&later) = asked.get(i) {
                ask(base, later);
            }
            let weight = weight(first + i);
            match position {
                0.. => {
                    let from = row(position);
                    (0..N).for_each(|k| sums[k] = S::add(sums[k], from[k].0, weight));
                }
                ZEROS => sums.iter_mut().for_each(|sum| *sum = S::add(*sum, S::Item::ZERO, weight)),
                _ => {}
            }
        }
    }
    match bag.ends {
        Some(count) => {
            let out = bag.out.cast::<Unaligned<S::Item>>().wrapping_add(start);
            // SAFETY: B2: as many elements of the output, at any alignment.
            unsafe { out.cast::<[Unaligned<S::Item>; N]>().write(sums.map(|sum| Unaligned(S::end(sum, count)))) };
        }
        // SAFETY: B4: room for sums of this bag.
        None => unsafe { carried.cast::<[Unaligned<S::Sum>; N]>().write(sums.map(Unaligned)) },
    }
}

/// No rows.
const NONE: &[i64] = &[];

/// Asks for every line of a part of a row.
#[inline(always)]
fn ask(from: *const u8, bytes: usize) {
    prefetch(from, bytes);
    // The last line, where the first one does not begin with the row.
    prefetch(from.wrapping_add(bytes - 1), 1);
}
