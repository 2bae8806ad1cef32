//! Reducing the rows of bags, with the sums of many columns in registers.
//!
//! ```text
//! for each panel of columns, as wide as registers hold sums of:
//!     for each bag:
//!         sums = the first row that counts        (or what an earlier part of the bag has left)
//!         for each other row, in order:
//!             ask for a row further on            (of any bag)
//!             sums (op)= the row                  (times its weight)
//!         out = sums, rounded or divided          (or they are left for the next part)
//! ```
//!
//! The compiler vectorises across columns, so that each sum is that of the plain loop, to the bit. A panel is a number
//! of lines of sums that is known to the compiler, so that all loops but that over rows are unrolled. Its last line
//! ends with its last column. So it may share columns with the line before, which then are summed up twice, and no
//! columns are left for shorter vectors.
//!
//! # The contract
//!
//! - **B1** Each position of a row that is not negative reaches `elements` elements that may be read, `stride` bytes
//!   apart
//!   from one position to the next, at any alignment. They are values of the type that is reduced, or it takes any bytes.
//!   So do `zeros` where there are positions of [`ZEROS`].
//! - **B2** `out` may be written for `elements` elements for each bag, `out_stride` bytes apart from one bag to the
//!   next,
//!   which nothing else uses meanwhile.
//! - **B3** Where rows are weighted, there is a weight for each, `weight_step` bytes apart, of the same type.
//! - **B4** Each bag that begins has a row that counts. A part of a bag has `carried`: room for as many sums, at any
//!   alignment, where the part before it has left its own.
//! - **B6** There are positions for all rows, and `distance` more.
//! - K7 holds too.

use core::array::from_fn;
use core::ops::Range;

use crate::kernels::moves::prefetch::{LINE, prefetch};
use crate::kernels::reduce::ByLevel;
use crate::kernels::reduce::group::Accumulate;
use crate::kernels::reduce::step::{Plain, Step, Weigh, Weighted};
use crate::types::element::Element;

/// The position of a row that is left out, and does not count.
pub(crate) const LEFT_OUT: i64 = -1;
/// The position of a row of zeros, which counts.
pub(crate) const ZEROS: i64 = -2;

/// Reduces rows of bags.
///
/// # Safety
/// The contract of bags: B1 to B4, B6, and K7.
pub(crate) type BagFn = unsafe fn(&BagRows<'_>);

/// Rows of whole bags that follow one another, or a part of one bag.
pub(crate) struct BagRows<'a> {
    /// Column 0 of position 0.
    pub(crate) data: *const u8,
    /// Bytes from one position to the next.
    pub(crate) stride: isize,
    /// The positions of the rows, in order, or [`LEFT_OUT`], or [`ZEROS`]; then those of rows to ask for.
    pub(crate) positions: &'a [i64],
    pub(crate) bags: Lengths<'a>,
    /// How many rows ahead of their use rows are asked for; 0 for none.
    pub(crate) distance: usize,
    /// The weight of the first row; null without weights.
    pub(crate) weights: *const u8,
    pub(crate) weight_step: isize,
    pub(crate) out: *mut u8,
    pub(crate) out_stride: isize,
    pub(crate) elements: usize,
    /// A row of zeros, where there are positions for one; else null.
    pub(crate) zeros: *const u8,
    pub(crate) part: Option<Part>,
}

/// What is known of the one bag that rows belong to; without it, all rows of all bags count.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// How many rows count, of these and of those before.
    pub(crate) counted: usize,
    /// Whether no row before these counts.
    pub(crate) begins: bool,
    /// Whether the bag ends with these.
    pub(crate) ends: bool,
    /// Sums of this bag; null where the rows are all of it.
    pub(crate) carried: *mut u8,
}

/// How many rows each bag has.
#[derive(Clone, Copy)]
pub(crate) enum Lengths<'a> {
    /// So many for each of so many bags.
    Every { len: usize, bags: usize },
    /// Bag `b` has as many as entry `b + 1` is more than entry `b`. There is at least one.
    Between(&'a [usize]),
}

impl Lengths<'_> {
    /// The number of bags.
    #[inline(always)]
    pub(crate) fn bags(self) -> usize {
        match self {
            Lengths::Every { bags, .. } => bags,
            Lengths::Between(bounds) => bounds.len() - 1,
        }
    }

    /// Rows of bags up to the end of bag `bag`.
    #[inline(always)]
    fn end(self, bag: usize) -> usize {
        match self {
            Lengths::Every { len, .. } => len * (bag + 1),
            Lengths::Between(bounds) => bounds[bag + 1] - bounds[0],
        }
    }
}

/// What reduces bags of elements of a type.
#[derive(Clone, Copy)]
pub(crate) struct BagFns {
    pub(crate) plain: ByLevel<BagFn>,
    /// With weights; `None` where there is no such reduction.
    pub(crate) weighted: Option<ByLevel<BagFn>>,
    /// Bytes of a sum.
    pub(crate) sum: usize,
}

impl BagFns {
    /// A reduction without weights.
    pub(super) const fn plain<A: Accumulate<Item: Element>>() -> Self {
        BagFns { plain: by_level::<Plain<A>>(), weighted: None, sum: size_of::<A::Sum>() }
    }

    /// A sum, which may have weights.
    pub(super) const fn weighted<A: Weigh>() -> Self {
        BagFns { weighted: Some(by_level::<Weighted<A>>()), ..Self::plain::<A>() }
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
    unsafe { reduce_columns::<S, 2>(bag) }
}

/// The AVX2 level of a reduction.
///
/// # Safety
/// As for [`BagFn`], for the type of the reduction; K7: the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn bag_avx2<S: Step>(bag: &BagRows<'_>) {
    // SAFETY: the caller's promise.
    unsafe { reduce_columns::<S, 4>(bag) }
}

/// Reduces rows panel by panel, of up to `MOST` lines of sums, all of about as many.
///
/// # Safety
/// As for [`BagFn`], for the type of the reduction.
#[inline(always)]
unsafe fn reduce_columns<S: Step, const MOST: usize>(bag: &BagRows<'_>) {
    debug_assert_eq!(S::WEIGHTED, !bag.weights.is_null(), "B3");
    debug_assert!(bag.part.is_none() || bag.bags.bags() == 1, "a part of several bags");
    debug_assert!(bag.positions.len() >= bag.bags.end(bag.bags.bags() - 1) + bag.distance, "B6");
    macro_rules! panels {
        ($line:literal $($short:literal)*) => {{
            $(if bag.elements < 2 * $short {
                // SAFETY: the caller's promise, for all columns: as many as a vector has, or up to twice as many.
                return unsafe { panel::<S, { 2 * $short }, $short>(bag, 0..bag.elements) };
            })*
            let lines = bag.elements.div_ceil($line);
            let panels = lines.div_ceil(most_lines::<S>(MOST));
            for i in 0..panels {
                let (first, end) = (lines * i / panels, lines * (i + 1) / panels);
                let columns = first * $line..(end * $line).min(bag.elements);
                // SAFETY: the caller's promise, for columns that there are: as many as a line has, or more. Where there
                // is more than one panel, the last one has whole lines before its last one.
                by_lines!($line, columns, end - first, 1 2 3 4)
            }
        }};
    }
    macro_rules! by_lines {
        ($line:literal, $columns:expr, $lines:expr, $($number:literal)*) => {
            match $lines {
                $($number => if const { $number <= most_lines::<S>(MOST) } {
                    // SAFETY: the caller's promise, for columns of so many lines.
                    unsafe { panel::<S, { $number * $line }, $line>(bag, $columns) }
                },)*
                _ => unreachable!("more lines than a panel has"),
            }
        };
    }
    match const { S::WIDTH } {
        1 => panels!(64 1 2 4 8 16 32),
        2 => panels!(32 1 2 4 8 16),
        3..=4 => panels!(16 1 2 4 8),
        5..=8 => panels!(8 1 2 4),
        9..=16 => panels!(4 1 2),
        _ => panels!(1),
    }
}

/// The most lines of sums of a panel, where registers hold as many as `most`. At least 2, so that of several panels the
/// last one has a whole line before its last one.
const fn most_lines<S: Step>(most: usize) -> usize {
    // Sums of 128 bits have no vectors.
    let is_wide = size_of::<S::Sum>() > 8 && size_of::<S::Sum>() > size_of::<S::Item>();
    // More elements than that, and the compiler takes too long.
    let by_elements = 2 * S::WIDTH.next_power_of_two();
    if is_wide {
        2
    } else if by_elements < most {
        by_elements
    } else {
        most
    }
}

/// Reduces a panel: `columns`, as `C` sums in vectors of `N`. The last vector ends with the last column.
///
/// # Safety
/// As for [`BagFn`], for the type of the reduction; there are as many columns, at least `N`, more than `C - 2 * N` and
/// at most `C`.
#[inline(always)]
unsafe fn panel<S: Step, const C: usize, const N: usize>(bag: &BagRows<'_>, columns: Range<usize>) {
    let (start, width) = (columns.start, columns.len());
    debug_assert!(width >= N && width + 2 * N > C && width <= C, "columns of a panel");
    let item = size_of::<S::Item>();
    let at = At::<C, N> { last: width - N };
    let mut rows = Rows {
        data: bag.data.wrapping_add(start * item),
        stride: bag.stride,
        zeros: bag.zeros.wrapping_add(start * item),
        bytes: width * item,
        asks: bag.distance > 0,
        weight: bag.weights,
        weight_step: bag.weight_step,
    };
    let (begins, carried) = match &bag.part {
        Some(part) => (part.begins, part.carried.wrapping_add(start * size_of::<S::Sum>())),
        None => (true, core::ptr::null_mut()),
    };
    let (mut done, mut out) = (0, bag.out.wrapping_add(start * item));
    for number in 0..bag.bags.bags() {
        let end = bag.bags.end(number);
        let (these, later) = (&bag.positions[done..end], &bag.positions[done + bag.distance..end + bag.distance]);
        let mut positions = these.iter().copied().zip(later.iter().copied());
        let mut sums: [S::Sum; C] = if begins {
            let (row, weight) = loop {
                match rows.next::<S, C, N>(&mut positions) {
                    Some((LEFT_OUT, _)) => {}
                    Some((position, weight)) => break (rows.at(position), weight),
                    None => unreachable!("B4: no row counts"),
                }
            };
            // SAFETY: B1: an element of each column.
            from_fn(|k| S::first(unsafe { at.read(row, k) }, weight))
        } else {
            // SAFETY: B4: a sum of each column, which the part of the bag before has left.
            from_fn(|k| unsafe { at.read(carried, k) })
        };
        while let Some((position, weight)) = rows.next::<S, C, N>(&mut positions) {
            if position != LEFT_OUT {
                let row = rows.at(position);
                // SAFETY: B1: an element of each column.
                (0..C).for_each(|k| sums[k] = S::add(sums[k], unsafe { at.read(row, k) }, weight));
            }
        }
        match &bag.part {
            // SAFETY: B4: room for a sum of each column.
            Some(Part { ends: false, .. }) => (0..C).for_each(|k| unsafe { at.write(carried, k, sums[k]) }),
            part => {
                let count = part.as_ref().map_or(end - done, |part| part.counted);
                // SAFETY: B2: an element of each column.
                (0..C).for_each(|k| unsafe { at.write(out, k, S::end(sums[k], count)) });
            }
        }
        out = out.wrapping_offset(bag.out_stride);
        done = end;
    }
}

/// Where the sums of a panel are among its columns: one for each, but for the last vector of `N` of the `C`, which
/// begins with column `last`.
#[derive(Clone, Copy)]
struct At<const C: usize, const N: usize> {
    last: usize,
}

impl<const C: usize, const N: usize> At<C, N> {
    /// The column of a sum.
    #[inline(always)]
    fn column(self, sum: usize) -> usize {
        if sum < C - N { sum } else { self.last + (sum - (C - N)) }
    }

    /// Reads what belongs to a sum, at any alignment.
    ///
    /// # Safety
    /// From `from` on, there are values of all columns that may be read.
    #[inline(always)]
    unsafe fn read<T: Copy>(self, from: *const u8, sum: usize) -> T {
        let from = from.cast::<T>().wrapping_add(self.column(sum));
        // SAFETY: the caller's promise.
        unsafe { from.read_unaligned() }
    }

    /// Writes what belongs to a sum, at any alignment.
    ///
    /// # Safety
    /// From `to` on, values of all columns may be written.
    #[inline(always)]
    unsafe fn write<T: Copy>(self, to: *mut u8, sum: usize, value: T) {
        let to = to.cast::<T>().wrapping_add(self.column(sum));
        // SAFETY: the caller's promise.
        unsafe { to.write_unaligned(value) }
    }
}

/// Where the rows of a panel are, and their weights.
struct Rows {
    data: *const u8,
    stride: isize,
    zeros: *const u8,
    /// Bytes of a row.
    bytes: usize,
    /// Whether later rows are asked for.
    asks: bool,
    /// The weight of the row after this one.
    weight: *const u8,
    weight_step: isize,
}

impl Rows {
    /// Where the row of a position is.
    #[inline(always)]
    fn at(&self, position: i64) -> *const u8 {
        if position == ZEROS {
            return self.zeros;
        }
        self.data.wrapping_offset((position as isize).wrapping_mul(self.stride))
    }

    /// The position and the weight of the next row of `rows`, which come with positions to ask for.
    #[inline(always)]
    fn next<S: Step, const C: usize, const N: usize>(
        &mut self,
        rows: &mut impl Iterator<Item = (i64, i64)>,
    ) -> Option<(i64, S::Item)> {
        let (position, later) = rows.next()?;
        if self.asks {
            let later = self.data.wrapping_offset((later as isize).wrapping_mul(self.stride));
            let per_line = const { LINE / (N * size_of::<S::Item>()) }.max(1);
            (0..C / N).step_by(per_line).for_each(|v| prefetch(later.wrapping_add(v * N * size_of::<S::Item>()), 1));
            // The last line, where the first one does not begin with the row.
            prefetch(later.wrapping_add(self.bytes - 1), 1);
        }
        if !S::WEIGHTED {
            return Some((position, S::Item::ZERO));
        }
        // SAFETY: B3: the weight of a row, at any alignment.
        let weight = unsafe { self.weight.cast::<S::Item>().read_unaligned() };
        self.weight = self.weight.wrapping_offset(self.weight_step);
        Some((position, weight))
    }
}
