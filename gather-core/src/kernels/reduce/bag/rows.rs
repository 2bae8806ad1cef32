//! The rows of bags, as a job for reducing functions.
//!
//! A [`BagRows`] holds the contract of bags (`kernels/reduce/bag/mod.rs`). Functions access memory only through its
//! [`Columns`], their bags, and the rows of each bag.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

use crate::kernels::reduce::bag::ZERO_ROW;
use crate::kernels::reduce::bag::fused::FusedBag;
use crate::types::element::Unaligned;

#[derive(Clone, Copy)]
pub(crate) struct BagArgs<'a> {
    /// Column 0 of position 0.
    pub(crate) data: *const u8,
    /// Bytes between adjacent positions.
    pub(crate) stride: isize,
    /// The positions of the rows in order, or [`SKIP`](super::SKIP), or [`ZERO_ROW`]; then positions of rows to
    /// prefetch.
    pub(crate) positions: &'a [i64],
    pub(crate) bags: BagLengths<'a>,
    /// Prefetch distance in rows; 0 for none.
    pub(crate) distance: usize,
    /// The weight of the first row; null without weights.
    pub(crate) weights: *const u8,
    pub(crate) weight_step: isize,
    pub(crate) out: *mut u8,
    pub(crate) out_stride: isize,
    pub(crate) elements: usize,
    /// Whether functions with sums in registers divide them by the number of rows that count.
    pub(crate) divides: bool,
    /// A row of zeros, if there may be positions for it.
    pub(crate) zeros: Option<*const u8>,
    pub(crate) part: Option<PartialBag>,
    /// The format of fused rows, and the first column to reduce; `None` for other rows.
    pub(crate) fused: Option<(&'a FusedBag, usize)>,
}

/// Rows of consecutive whole bags, or of one partial bag. They satisfy the contract of bags.
pub(crate) struct BagRows<'a>(BagArgs<'a>);

/// The state of a partial bag. Without it, all rows of all bags count.
#[derive(Clone, Copy)]
pub(crate) struct PartialBag {
    /// The number of rows that count, of these rows and of earlier rows of the bag.
    pub(crate) counted: usize,
    pub(crate) begin: Start,
    /// Whether the bag ends with these rows.
    pub(crate) ends: bool,
    /// The sums of the bag; null if the rows are the whole bag.
    pub(crate) carried: *mut u8,
}

/// The initial value of a bag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Its first row that counts.
    Row,
    /// The sums of the previous partial bag.
    Carried,
}

#[derive(Clone, Copy)]
pub(crate) enum BagLengths<'a> {
    /// `len` rows in each of `bags` bags.
    Every { len: usize, bags: usize },
    /// `bounds[b + 1] - bounds[b]` for bag `b`. `bounds` is not empty.
    Between(&'a [usize]),
}

impl BagLengths<'_> {
    #[inline(always)]
    pub(crate) fn bags(self) -> usize {
        match self {
            BagLengths::Every { bags, .. } => bags,
            BagLengths::Between(bounds) => bounds.len() - 1,
        }
    }

    /// Rows before the end of bag `bag`.
    #[inline(always)]
    fn end(self, bag: usize) -> usize {
        match self {
            BagLengths::Every { len, .. } => len * (bag + 1),
            BagLengths::Between(bounds) => bounds[bag + 1] - bounds[0],
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(in crate::kernels::reduce) struct BagChunk<'a> {
    pub(in crate::kernels::reduce) lengths: BagLengths<'a>,
    /// The rows of the chunk, numbered across all bags.
    pub(in crate::kernels::reduce) rows: Range<usize>,
}

#[cfg(target_arch = "x86_64")]
impl<'a> BagLengths<'a> {
    /// The bags in chunks of at most `most`.
    pub(in crate::kernels::reduce) fn chunks(self, most: usize) -> impl Iterator<Item = BagChunk<'a>> {
        (0..self.bags()).step_by(most).map(move |first| {
            let bags = most.min(self.bags() - first);
            let lengths = match self {
                BagLengths::Every { len, .. } => BagLengths::Every { len, bags },
                BagLengths::Between(bounds) => BagLengths::Between(&bounds[first..=first + bags]),
            };
            let start = if first == 0 { 0 } else { self.end(first - 1) };
            BagChunk { lengths, rows: start..self.end(first + bags - 1) }
        })
    }
}

#[cfg(target_arch = "x86_64")]
impl<'a> BagArgs<'a> {
    /// The arguments for the rows `rows`, which belong to `bags`, with their positions and weights.
    pub(in crate::kernels::reduce) fn of_rows(self, rows: Range<usize>, bags: BagLengths<'a>) -> Self {
        let weights = self.weights.wrapping_offset(self.weight_step.wrapping_mul(rows.start as isize));
        BagArgs { positions: &self.positions[rows.start..rows.end + self.distance], bags, weights, ..self }
    }
}

impl BagArgs<'_> {
    #[inline(always)]
    fn positions_of(&self, rows: Range<usize>) -> &[i64] {
        debug_assert!(rows.start <= rows.end && rows.end <= self.positions.len(), "B6");
        // SAFETY: B6: `positions` has an entry for each row, and `distance` more.
        unsafe { self.positions.get_unchecked(rows) }
    }
}

/// Adds rows to sums, and prefetches later rows.
pub(in crate::kernels::reduce) trait AddRows {
    /// Prefetches the columns of a row.
    fn prefetch(&self, later: *const u8);

    fn add(&mut self, row: BagRow<'_>);
}

/// Reduces bags: begins their sums, adds rows to them, and ends them.
pub(in crate::kernels::reduce) trait ReduceBags: AddRows {
    /// Begins the sums of a bag, or continues the carried sums.
    fn begin(&mut self, bag: &Bag<'_>);

    /// Ends a bag, or carries its sums to the next partial bag.
    fn end(&mut self, bag: &mut Bag<'_>);

    #[inline(always)]
    fn without_rows(&mut self, bag: &mut Bag<'_>) {
        bag.zero();
    }
}

impl<'a> BagRows<'a> {
    /// The rows as a job.
    ///
    /// # Safety
    /// The contract of bags, while the job exists: B1 to B4 and B6; for fused rows B2, B4, B6 and B7.
    #[inline(always)]
    pub(crate) unsafe fn new(args: BagArgs<'a>) -> Self {
        let BagArgs { bags, part, .. } = args;
        debug_assert!(part.is_none() || bags.bags() == 1, "a part of several bags");
        let rows = || if bags.bags() == 0 { 0 } else { bags.end(bags.bags() - 1) };
        debug_assert!(args.positions.len() >= rows() + args.distance, "B6");
        BagRows(args)
    }

    #[inline(always)]
    pub(crate) fn args(&self) -> &BagArgs<'a> {
        &self.0
    }

    /// Asserts that a function has weights iff the rows have.
    pub(in crate::kernels::reduce) fn debug_check(&self, weighted: bool) {
        debug_assert_eq!(weighted, !self.0.weights.is_null(), "B3");
    }

    #[inline(always)]
    pub(in crate::kernels::reduce) fn elements(&self) -> usize {
        self.0.elements
    }

    /// A range of columns, of elements and sums of these sizes.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn columns(&self, columns: &Range<usize>, item: usize, sum: usize) -> Columns<'_> {
        debug_assert!(self.0.fused.is_none() && columns.end <= self.0.elements, "B1");
        let start = columns.start * item;
        self.part_of(columns, (start, columns.len()), item, sum)
    }

    /// The format of fused rows, and the first column to reduce.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn fused(&self) -> (&'a FusedBag, usize) {
        self.0.fused.expect("B7")
    }

    /// A range of columns of the output and the sums of fused rows, whose rows are read whole.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn fused_columns(&self, columns: &Range<usize>) -> Columns<'_> {
        debug_assert!(columns.end <= self.0.elements, "B7");
        let (fused, _) = self.fused();
        self.part_of(columns, (0, fused.row.bytes()), fused.size, size_of::<f32>())
    }

    #[inline(always)]
    fn part_of(&self, columns: &Range<usize>, (start, n): (usize, usize), item: usize, sum: usize) -> Columns<'_> {
        let bag = &self.0;
        let carried = bag.part.map_or(core::ptr::null_mut(), |part| part.carried);
        let carried = if carried.is_null() { carried } else { carried.wrapping_add(columns.start * sum) };
        Columns {
            bag,
            start,
            n,
            columns: columns.len(),
            out: bag.out.wrapping_add(columns.start * item),
            carried,
            item,
            #[cfg(debug_assertions)]
            sum,
        }
    }
}

/// A range of columns of the rows, of the output of bags, and of the carried sums.
///
/// - **B8** By B1, or by B7 for fused rows, `n` elements (fused: bytes) of each row may be read from byte `start` on.
///   By B2, elements of these columns of the first bag may be written from `out` on. By B4, `carried` has sums of these
///   columns and [`SPARE`](super::SPARE) more.
#[derive(Clone, Copy)]
pub(in crate::kernels::reduce) struct Columns<'a> {
    bag: &'a BagArgs<'a>,
    start: usize,
    n: usize,
    columns: usize,
    out: *mut u8,
    carried: *mut u8,
    /// Bytes per output element; also per row element, if rows are not fused.
    item: usize,
    #[cfg(debug_assertions)]
    sum: usize,
}

impl<'a> Columns<'a> {
    #[inline(always)]
    pub(in crate::kernels::reduce) fn columns(&self) -> usize {
        self.columns
    }

    /// Whether sums in registers become means.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn divides(&self) -> bool {
        self.bag.divides
    }

    /// The carried sum of the first column; null without carried sums.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn carried(&self) -> *mut u8 {
        self.carried
    }

    #[inline(always)]
    pub(in crate::kernels::reduce) fn reduce(&self, by: &mut impl ReduceBags) {
        for mut bag in self.bags() {
            if bag.has_no_rows() {
                by.without_rows(&mut bag);
                continue;
            }
            by.begin(&bag);
            self.each(bag.rows(), by);
            by.end(&mut bag);
        }
    }

    /// Adds each row of `rows` that counts, in order, and prefetches a later row for each. The loop has one branch per
    /// position: whether it is negative.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn each(&self, rows: Range<usize>, by: &mut impl AddRows) {
        let BagArgs { data, distance, stride, weights, weight_step, .. } = *self.bag;
        let zeros = self.bag.zeros.unwrap_or(data).wrapping_add(self.start);
        let data = data.wrapping_add(self.start);
        let at = |position: i64| data.wrapping_offset((position as isize).wrapping_mul(stride));
        let these = self.bag.positions_of(rows.clone());
        let ahead = self.bag.positions_of(rows.start + distance..rows.end + distance);
        for (i, (&position, &later)) in these.iter().zip(ahead).enumerate() {
            if distance > 0 {
                by.prefetch(at(later));
            }
            let at = match position {
                0.. => at(position),
                ZERO_ROW => zeros,
                _ => continue,
            };
            by.add(BagRow {
                at,
                n: self.n,
                weight: weights.wrapping_offset(weight_step.wrapping_mul((rows.start + i) as isize)),
                of: PhantomData,
                #[cfg(debug_assertions)]
                item: if self.bag.fused.is_some() { 1 } else { self.item },
            });
        }
    }

    #[inline(always)]
    pub(in crate::kernels::reduce) fn bags(&self) -> impl Iterator<Item = Bag<'a>> {
        let (columns, mut out, mut end) = (*self, self.out, 0);
        (0..self.bag.bags.bags()).map(move |number| {
            let bag = Bag { columns, start: end, end: columns.bag.bags.end(number), out };
            (out, end) = (out.wrapping_offset(columns.bag.out_stride), bag.end);
            bag
        })
    }
}

/// A bag, or a partial bag, in a range of columns.
pub(in crate::kernels::reduce) struct Bag<'a> {
    columns: Columns<'a>,
    start: usize,
    end: usize,
    /// B8, for this bag.
    out: *mut u8,
}

impl<'a> Bag<'a> {
    #[inline(always)]
    pub(in crate::kernels::reduce) fn rows(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Whether the whole bag is empty.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn has_no_rows(&self) -> bool {
        self.start == self.end && self.columns.bag.part.is_none()
    }

    /// Writes zeros as the result of an empty bag.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn zero(&mut self) {
        debug_assert!(self.has_no_rows(), "B4");
        // SAFETY: B8: these columns of the output may be written. B4: zero bytes are the zero of their elements.
        unsafe { self.out.write_bytes(0, self.columns.columns * self.columns.item) }
    }

    #[inline(always)]
    pub(in crate::kernels::reduce) fn begin(&self) -> Start {
        self.columns.bag.part.map_or(Start::Row, |part| part.begin)
    }

    /// The number of rows that count, if the bag ends with these rows.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn count(&self) -> Option<usize> {
        match self.columns.bag.part {
            None => Some(self.end - self.start),
            Some(part) => part.ends.then_some(part.counted),
        }
    }

    /// The sums that the previous partial bag has carried.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn carried<S: Copy>(&self) -> &[Unaligned<S>] {
        debug_assert!(self.begin() == Start::Carried && !self.columns.carried.is_null(), "B4");
        #[cfg(debug_assertions)]
        debug_assert_eq!(size_of::<S>(), self.columns.sum, "B4");
        // SAFETY: B8, and by B4 the previous partial bag has written a sum of each column. One function takes both
        // partial bags, so the sums have its type. Nothing writes there meanwhile: the result borrows the bag, and
        // `carry` borrows it mutably.
        unsafe { core::slice::from_raw_parts(self.columns.carried.cast(), self.columns.columns) }
    }

    /// The carried sums of a partial bag that does not end.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn carry<S: Copy>(&mut self) -> &mut [MaybeUninit<Unaligned<S>>] {
        debug_assert!(self.count().is_none() && !self.columns.carried.is_null(), "B4");
        #[cfg(debug_assertions)]
        debug_assert_eq!(size_of::<S>(), self.columns.sum, "B4");
        // SAFETY: B8: memory for a sum of each column, which nothing else uses.
        unsafe { core::slice::from_raw_parts_mut(self.columns.carried.cast(), self.columns.columns) }
    }

    #[inline(always)]
    pub(in crate::kernels::reduce) fn output(&mut self) -> BagOutput<'_> {
        BagOutput {
            at: self.out,
            n: self.columns.columns,
            of: PhantomData,
            #[cfg(debug_assertions)]
            item: self.columns.item,
        }
    }
}

/// Columns of a bag's output, which nothing else uses (B8).
pub(crate) struct BagOutput<'a> {
    at: *mut u8,
    n: usize,
    of: PhantomData<&'a mut u8>,
    #[cfg(debug_assertions)]
    item: usize,
}

impl<'a> BagOutput<'a> {
    /// The address of the first column.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn start(&self) -> *mut u8 {
        self.at
    }

    /// The elements, of the output's type.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn elements<T: Copy>(self) -> &'a mut [MaybeUninit<Unaligned<T>>] {
        #[cfg(debug_assertions)]
        debug_assert_eq!(size_of::<T>(), self.item, "B2");
        // SAFETY: B8, by B2: elements of the output's type may be written at any alignment.
        unsafe { core::slice::from_raw_parts_mut(self.at.cast(), self.n) }
    }
}

/// Columns of a row that counts, and its weight.
#[derive(Clone, Copy)]
pub(in crate::kernels::reduce) struct BagRow<'a> {
    at: *const u8,
    n: usize,
    weight: *const u8,
    of: PhantomData<&'a u8>,
    #[cfg(debug_assertions)]
    item: usize,
}

impl<'a> BagRow<'a> {
    /// The addresses of the first column and of the weight.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn start(self) -> (*const u8, *const u8) {
        (self.at, self.weight)
    }

    /// The elements, of the reduced type.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn elements<T: Copy>(self) -> &'a [Unaligned<T>] {
        #[cfg(debug_assertions)]
        debug_assert_eq!(size_of::<T>(), self.item, "B1");
        // SAFETY: B8, by B1: the row is not skipped, and its `n` elements are values of the reduced type.
        unsafe { core::slice::from_raw_parts(self.at.cast(), self.n) }
    }

    #[inline(always)]
    pub(in crate::kernels::reduce) fn bytes(self) -> &'a [u8] {
        // SAFETY: B8, by B7: the row is not skipped, and has `n` bytes.
        unsafe { core::slice::from_raw_parts(self.at, self.n) }
    }

    /// The weight, in a reduction with weights.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn weight<T: Copy>(self) -> T {
        debug_assert!(!self.weight.is_null(), "B3");
        // SAFETY: B3, or B7 for fused rows: a reduction with weights is given rows with one weight each.
        unsafe { self.weight.cast::<T>().read_unaligned() }
    }
}
