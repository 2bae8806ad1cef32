//! Rows of different lengths: lists and strings by their offsets.

use alloc::vec::Vec;
use core::hint::select_unpredictable;
use core::mem::MaybeUninit;

use crate::call::source::Source;
use crate::call::source::checked::{Checked, Position, by_positions, check_fits};
use crate::call::source::chunks::each_pair;
use crate::call::source::kind::IndexKind;
use crate::call::source::mask::Mask;
use crate::kernels::{Piece, copy_pieces, prefetch};
use crate::tensor::memory;
use crate::tensor::output::behind;
use crate::types::caches::Caches;
use crate::types::declare::{accessors, debug_by};
use crate::types::element::{Element, HasBytes};
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::level::Level;
use crate::types::op::{Argument, Op};

/// Rows of different lengths: row `r` is `values[offsets[r]..offsets[r + 1]]`. Lists, strings and rows of a sparse
/// matrix are held so by Arrow, by PyTorch's jagged tensors, TensorFlow's ragged tensors and SciPy.
///
/// ```
/// use gather_core::Ragged;
///
/// fn main() -> Result<(), gather_core::Error> {
///     let names = Ragged::new(&[0i32, 3, 3, 8], b"cathorse")?;
///     let (offsets, bytes) = names.gather(&[2u32, 0, 1])?;
///     assert_eq!((&offsets[..], &bytes[..]), (&[0, 5, 8, 8][..], &b"horsecat"[..]));
///     Ok(())
/// }
/// ```
/// Rows of a sparse matrix, held by compressed rows: column numbers and values have the same offsets.
/// ```
/// use gather_core::Ragged;
///
/// fn main() -> Result<(), gather_core::Error> {
///     // 1 0 2
///     // 0 0 3
///     // 4 5 0
///     let (offsets, columns, values) = ([0i64, 2, 3, 5], [0u32, 2, 2, 0, 1], [1.0, 2.0, 3.0, 4.0, 5.0]);
///     let (of_rows, columns) = Ragged::new(&offsets, &columns)?.gather(&[2u8, 1])?;
///     let (_, values) = Ragged::new(&offsets, &values)?.gather(&[2u8, 1])?;
///     assert_eq!((of_rows, columns, values), (vec![0, 2, 3], vec![0, 1, 2], vec![4.0, 5.0, 3.0]));
///     Ok(())
/// }
/// ```
#[doc(alias("jagged", "nested", "csr", "string", "list", "varlen", "StringArray", "ListArray"))]
#[derive(Clone, Copy)]
pub struct Ragged<'a, O, T> {
    offsets: &'a [O],
    values: &'a [T],
}

debug_by!(self: [O, T] Ragged<'_, O, T> { rows: self.offsets.len() - 1, values: self.values.len() });

impl<'a, O: Position> Ragged<'a, O, ()> {
    /// Rows of `n` values that are somewhere else: for [`Ragged::positions`] of children of any type.
    ///
    /// # Errors
    /// As for [`Ragged::new`].
    pub fn from_offsets(offsets: &'a [O], n: usize) -> Result<Self, Error> {
        Self::new(offsets, &[(); usize::MAX][..n])
    }
}

impl<'a, O: Position, T: Copy> Ragged<'a, O, T> {
    /// Rows of values by `n + 1` offsets. A call checks the offsets of each row that it reads; others may be any.
    ///
    /// Cost: constant.
    ///
    /// # Errors
    /// [`Error::NoOffsets`].
    pub fn new(offsets: &'a [O], values: &'a [T]) -> Result<Self, Error> {
        if offsets.is_empty() { Err(Error::NoOffsets) } else { Ok(Ragged { offsets, values }) }
    }

    accessors! { self:
        /// The number of rows.
        pub fn len() -> usize => self.offsets.len() - 1;
        /// Whether there is no row.
        pub fn is_empty() -> bool => self.len() == 0;
    }

    /// The positions of the values of rows, as [`Checked`] indices along their axis, and the offsets of the rows:
    /// gathers of one or several columns of values by these are gathers of the rows.
    ///
    /// Cost: two passes over the ids, and an allocation for each result.
    ///
    /// ```
    /// use gather_core::{Gather, Ragged};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let lists = Ragged::from_offsets(&[0i32, 2, 3, 5], 5)?;
    ///     let (offsets, positions) = lists.positions::<i32, _>(&[2u8, 1])?;
    ///     assert_eq!(Gather::new(0).run(&[1.5, 2.5, 3.5, 4.5, 5.5], &positions)?.as_slice(), [4.5, 5.5, 3.5]);
    ///     assert_eq!(offsets, [0, 2, 3]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::CheckedAxisTooLong`] if `I` does not count the values, then as for [`Ragged::gather`].
    pub fn positions<I: Position, X>(&self, ids: &X) -> Result<(Vec<O>, Checked<'static, I>), Error>
    where
        X: Source<Kind: IndexKind> + ?Sized,
    {
        check_fits::<I>(self.values.len())?;
        by_positions!(ids, self.len(), |ids| {
            let (rows, n) = (self.named::<false, _>(&ids), ids.as_slice().len());
            if self.is_plain(&ids) {
                return self.positions_of(self.named::<true, _>(&ids), self.named::<true, _>(&ids), n);
            }
            self.positions_of(rows.clone(), rows, n)
        })
    }

    /// As [`Ragged::positions`], of the rows where a mask is true.
    ///
    /// # Errors
    /// [`Error::CheckedAxisTooLong`], then as for [`Ragged::masked`].
    pub fn positions_masked<I: Position>(&self, mask: &Mask<'_>) -> Result<(Vec<O>, Checked<'static, I>), Error> {
        check_fits::<I>(self.values.len())?;
        self.check_mask(mask)?;
        self.positions_of(self.chosen::<true>(mask), self.chosen::<false>(mask), mask.count())
    }

    /// # Errors
    /// The errors of [`append_ends`], [`Error::AllocationFailed`].
    fn positions_of<I: Position>(
        &self,
        rows: impl Iterator<Item = Row<'a, O, T>> + Clone,
        runs: impl Iterator<Item = Row<'a, O, T>>,
        count: usize,
    ) -> Result<(Vec<O>, Checked<'static, I>), Error> {
        let mut offsets = Vec::new();
        let mut positions = memory::reserve(append_ends(rows, count, 0, &mut offsets)?)?;
        runs.for_each(|row| positions.extend((row.from.widen()..row.to.widen()).map(I::truncated)));
        Ok((offsets, Checked::from_positions(positions, self.values.len())))
    }

    /// The row with a number.
    #[inline(always)]
    fn row(&self, number: usize) -> Row<'a, O, T> {
        Row { number, from: self.offsets[number], to: self.offsets[number + 1], values: self.values }
    }

    /// Whether values are beyond the caches, so that rows in no order are prefetched.
    fn is_far(&self) -> bool {
        size_of_val(self.values) > 4 * Caches::get().second
    }

    /// Whether no position is missing, and values are in the caches.
    fn is_plain<P>(&self, ids: &Checked<'_, P>) -> bool {
        !ids.may_miss() && !self.is_far()
    }

    /// The rows at positions, which are empty where a position is missing. `PLAIN`: as [`Ragged::is_plain`] says.
    fn named<const PLAIN: bool, P: Position>(
        self,
        ids: &Checked<'_, P>,
    ) -> impl Iterator<Item = Row<'a, O, T>> + Clone {
        let (Ragged { offsets, values }, positions) = (self, ids.as_slice());
        // Slices of one length: one comparison for both.
        let (begins, ends) = (&offsets[..self.len()], &offsets[1..][..self.len()]);
        let mut ahead = positions.get(AHEAD..).filter(|_| self.is_far()).unwrap_or_default().iter();
        positions.iter().map(move |position| {
            if !PLAIN && let Some(later) = ahead.next() {
                prefetch(begins.as_ptr().wrapping_offset(later.widen() as isize).cast(), 1);
            }
            let number = position.bits() as usize;
            // Missing positions in no order would mispredict a branch.
            let is_row = PLAIN || number < begins.len();
            let at = select_unpredictable(is_row, number, 0);
            let (from, to) = match (begins.get(at), ends.get(at)) {
                (Some(&from), Some(&to)) => (from, to),
                _ => (O::ZERO, O::ZERO),
            };
            let or_zero = |offset: O| select_unpredictable(is_row, offset, O::ZERO);
            Row { number, from: or_zero(from), to: or_zero(to), values }
        })
    }

    /// The rows where a mask is true. Unless `SINGLE`, rows that follow each other in a word of the mask are one.
    fn chosen<const SINGLE: bool>(self, mask: &Mask<'_>) -> impl Iterator<Item = Row<'a, O, T>> + Clone {
        mask.bitmap().runs::<SINGLE>().map(move |(first, n)| Row { to: self.offsets[first + n], ..self.row(first) })
    }

    /// # Errors
    /// [`Error::ShapeMismatch`].
    fn check_mask(&self, mask: &Mask<'_>) -> Result<(), Error> {
        let (op, argument, expected, got) = (Op::Gather, Argument::Mask, [self.len()].into(), mask.shape().into());
        if mask.shape() == [self.len()] { Ok(()) } else { Err(Error::ShapeMismatch { op, argument, expected, got }) }
    }
}

impl<'a, O: Position, T: Element> Ragged<'a, O, T> {
    /// Rows by their ids, and their offsets, from 0 on. Ids are indices of any type, negative ones counted from the
    /// end, or [`Checked`] positions, where a missing position gives an empty row.
    ///
    /// Cost: two passes over the ids, an allocation for each result, and a copy of the rows; another allocation and a
    /// pass for ids that [`Checked::new`] does not borrow. Short rows are copied by whole vectors.
    ///
    /// # Errors
    /// The errors of [`Checked::new`] under [`OutOfBounds::Error`](crate::OutOfBounds), [`Error::AllocationFailed`] for
    /// offsets, [`Error::RowOffsets`] for the first row whose offsets descend, are negative or exceed the values,
    /// [`Error::OffsetsTooLong`] if `O` does not count the values of the result, [`Error::LevelUnavailable`], then
    /// [`Error::AllocationFailed`] for values.
    #[doc(alias("take", "jagged_index_select"))]
    pub fn gather<X: Source<Kind: IndexKind> + ?Sized>(&self, ids: &X) -> Result<(Vec<O>, Vec<T>), Error> {
        let (mut offsets, mut values) = (Vec::new(), Vec::new());
        self.gather_into(ids, &mut offsets, &mut values)?;
        Ok((offsets, values))
    }

    /// As [`Ragged::gather`], behind the rows of `offsets` and `values`. The first offset of empty `offsets` is the
    /// number of `values`. After an error both are unchanged.
    ///
    /// ```
    /// use gather_core::Ragged;
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let (mut offsets, mut bytes) = (vec![0i32, 1], b"a".to_vec());
    ///     Ragged::new(&[0i32, 3, 5], b"onetwo")?.gather_into(&[0u8], &mut offsets, &mut bytes)?;
    ///     assert_eq!((&offsets[..], &bytes[..]), (&[0, 1, 4][..], &b"aone"[..]));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::LastOffsetMismatch`] if the last of `offsets` is not the number of `values`, then as for
    /// [`Ragged::gather`].
    pub fn gather_into<X>(&self, ids: &X, offsets: &mut Vec<O>, values: &mut Vec<T>) -> Result<(), Error>
    where
        X: Source<Kind: IndexKind> + ?Sized,
    {
        if let Some(last) = offsets.last().filter(|last| last.exact() != values.len() as i128) {
            return Err(Error::LastOffsetMismatch { last: last.exact(), values: values.len() });
        }
        by_positions!(ids, self.len(), |ids| {
            let (rows, n) = (self.named::<false, _>(&ids), ids.as_slice().len());
            if self.is_plain(&ids) {
                let rows = self.named::<true, _>(&ids);
                return append(rows.clone(), (rows, false), n, (offsets, values));
            }
            append(rows.clone(), (rows, self.is_far()), n, (offsets, values))
        })
    }

    /// The rows where a mask is true, and their offsets, from 0 on: Arrow's `filter` of lists and strings. Rows that
    /// follow each other are copied at once.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for a mask of another shape than `[len]`, then as for [`Ragged::gather`].
    #[doc(alias("filter", "boolean_mask"))]
    pub fn masked(&self, mask: &Mask<'_>) -> Result<(Vec<O>, Vec<T>), Error> {
        self.check_mask(mask)?;
        if mask.count() < mask.len() / SPARSE && i32::try_from(mask.len()).is_ok() {
            return self.gather(&mask.positions::<i32>()?);
        }
        let (mut offsets, mut values, runs) = (Vec::new(), Vec::new(), self.chosen::<false>(mask));
        append(self.chosen::<true>(mask), (runs, false), mask.count(), (&mut offsets, &mut values))?;
        Ok((offsets, values))
    }
}

/// The rows `rows[i]` of the lists `sources[i]`, and their offsets, from 0 on: Arrow's `interleave` of lists and strings.
///
/// Cost: three passes over the pairs, an allocation for each result, and a copy of the rows.
///
/// # Errors
/// [`Error::PairsMismatch`], [`Error::PairOutOfRange`] for the first pair that names no row, or has a negative number,
/// then as for [`Ragged::gather`].
///
/// ```
/// use gather_core::{Ragged, ragged_pairs};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let batches = [Ragged::new(&[0i32, 3, 5], b"onetwo")?, Ragged::new(&[0, 5], b"three")?];
///     let (offsets, bytes) = ragged_pairs(&batches, &[1u32, 0], &[0u32, 0])?;
///     assert_eq!((&offsets[..], &bytes[..]), (&[0, 5, 8][..], &b"threeone"[..]));
///     Ok(())
/// }
/// ```
#[doc(alias("interleave"))]
pub fn ragged_pairs<O: Position, T: Element, S: Index, R: Index>(
    lists: &[Ragged<'_, O, T>],
    sources: &[S],
    rows: &[R],
) -> Result<(Vec<O>, Vec<T>), Error> {
    each_pair(sources, rows, lists.len(), |source| lists[source].len())?.try_for_each(|pair| pair.map(drop))?;
    let pairs = sources.iter().zip(rows);
    let rows = pairs.map(|(source, row)| lists[source.bits() as usize].row(row.bits() as usize));
    let (mut offsets, mut values, is_far) = (Vec::new(), Vec::new(), lists.iter().any(Ragged::is_far));
    append(rows.clone(), (rows, is_far), sources.len(), (&mut offsets, &mut values))?;
    Ok((offsets, values))
}

/// Rows from the row that is read to the row whose offsets are prefetched.
const AHEAD: usize = 32;

/// Elements of a mask for each true from which a list of positions is faster than two passes over the mask.
const SPARSE: usize = 16;

/// A row of values, or several that follow each other.
struct Row<'a, O, T> {
    /// The number of the first row.
    number: usize,
    from: O,
    to: O,
    values: &'a [T],
}

/// Appends `count` rows to offsets and values. `runs` are the same rows, of which some are one. If `is_far`, they are
/// beyond the caches, in no order.
///
/// # Errors
/// The errors of [`append_ends`], [`Error::LevelUnavailable`], [`Error::AllocationFailed`]; then nothing is appended.
fn append<'a, O: Position, T: Element>(
    rows: impl Iterator<Item = Row<'a, O, T>> + Clone,
    (runs, is_far): (impl Iterator<Item = Row<'a, O, T>>, bool),
    count: usize,
    (offsets, values): (&mut Vec<O>, &mut Vec<T>),
) -> Result<(), Error> {
    let before = offsets.len();
    let appended = append_ends(rows, count, values.len(), offsets)
        .and_then(|end| append_values(runs, is_far, end - values.len(), values));
    appended.inspect_err(|_| offsets.truncate(before))
}

/// Appends the ends of `count` rows to offsets, the last or first of which is `begin`. Returns the last end.
///
/// # Errors
/// [`Error::AllocationFailed`], then [`Error::RowOffsets`] and [`Error::OffsetsTooLong`], after which ends have been
/// appended.
fn append_ends<'a, O: Position, T: 'a>(
    rows: impl Iterator<Item = Row<'a, O, T>> + Clone,
    count: usize,
    begin: usize,
    offsets: &mut Vec<O>,
) -> Result<usize, Error> {
    let bytes = count.saturating_add(1).saturating_mul(size_of::<O>());
    offsets.try_reserve(count + 1).map_err(|_| Error::AllocationFailed { bytes })?;
    if offsets.is_empty() {
        offsets.push(O::truncated(begin as i64));
    }
    let first = offsets.len();
    offsets.resize(first + count, O::ZERO);
    // The state of `fold` stays in registers; variables that a closure changes do not.
    let minus = |a: O, b: O| O::truncated(a.widen().wrapping_sub(b.widen()));
    let most = O::TYPE.bounds().1 as u64 as usize;
    let state = (O::truncated(begin as i64), O::ZERO, offsets[first..].iter_mut());
    let (end, signs, _) = rows.clone().fold(state, |(end, signs, mut ends), Row { from, to, values, .. }| {
        let end = minus(end, minus(from, to));
        if let Some(place) = ends.next() {
            *place = end;
        }
        // A sign says that a number is negative, or that the sum overflows.
        let below = minus(O::truncated(values.len().min(most) as i64), to);
        let signs = [from, to, minus(to, from), below, end].iter().fold(signs.widen(), |signs, of| signs | of.widen());
        (end, O::truncated(signs), ends)
    });
    match usize::try_from(end.bits()) {
        Ok(end) if signs.widen() >= 0 && begin <= most => Ok(end),
        _ => Err(refused(rows, begin)),
    }
}

/// The error of the first row that [`append_ends`] refuses, or of all rows.
#[cold]
fn refused<'a, O: Position, T: 'a>(rows: impl Iterator<Item = Row<'a, O, T>>, begin: usize) -> Error {
    let mut end = begin as i128;
    for Row { number: row, from, to, values } in rows {
        let (from, to, len) = (from.exact(), to.exact(), values.len());
        if from < 0 || to < from || to > len as i128 {
            return Error::RowOffsets { row, from, to, len };
        }
        end += to - from;
    }
    Error::OffsetsTooLong { end, index: O::TYPE }
}

/// Appends the `len` values of rows that [`append_ends`] has checked.
///
/// # Errors
/// [`Error::LevelUnavailable`], [`Error::AllocationFailed`].
fn append_values<'a, O: Position, T: Element>(
    rows: impl Iterator<Item = Row<'a, O, T>>,
    is_far: bool,
    len: usize,
    values: &mut Vec<T>,
) -> Result<(), Error> {
    const { HasBytes::<T>::CHECK };
    let (level, at) = (Level::resolve(None)?, behind(values, len)?);
    let bytes = len * size_of::<T>();
    // SAFETY: `behind` gave memory for `len` elements, which the vector does not use meanwhile.
    let out = unsafe { core::slice::from_raw_parts_mut(at.cast::<MaybeUninit<u8>>(), bytes) };
    let pieces = rows.map(|row| {
        let tail = row.values.get(row.from.bits() as usize..).unwrap_or_default();
        // SAFETY: an element has no byte that is not initialised, and may be read as bytes while it is borrowed.
        let tail = unsafe { core::slice::from_raw_parts(tail.as_ptr().cast::<u8>(), size_of_val(tail)) };
        Piece { tail, len: (row.to.widen() - row.from.widen()) as usize * size_of::<T>() }
    });
    assert_eq!(copy_pieces(level, pieces, is_far, out), bytes, "bytes of rows");
    // SAFETY: the pieces have written the `len` elements behind the vector's, bytes of elements of `T`.
    unsafe { values.set_len(values.len() + len) };
    Ok(())
}
