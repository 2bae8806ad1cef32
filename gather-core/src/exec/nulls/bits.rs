//! Bitmap of a result: the bits of data, gathered like its rows, and the validity of the indices.

#![forbid(unsafe_code)]

use crate::exec::nulls::PositionType;
use crate::kernels::{LookUpBitsFn, Loop};
use crate::plan::IndexLowered;
use crate::plan::fold::{Loops, for_each, merge_into};
use crate::tensor::bitmap::{BitWriter, Bitmap, Nulls, WORD, first_bits, word_of};
use crate::types::level::Available;

/// Writes the validity bit of each coordinate of the result. The loops of `lowered` step through bits of data and
/// numbers of indices. Returns the number of nulls. `positions` come from [`NullIndices::resolve`], for `count`
/// indices. A missing position does not make a value null; a null index does.
///
/// [`NullIndices::resolve`]: crate::exec::nulls::NullIndices::resolve
pub(crate) fn gather_bits<P: PositionType>(
    level: Available,
    lowered: &IndexLowered,
    nulls: &Nulls<'_>,
    positions: &[P],
    count: usize,
    out: &mut [u8],
) -> usize {
    let all: usize = lowered.dims.iter().map(|dim| dim.n).product();
    if all == 0 {
        return 0;
    }
    let dims = lowered.dims.iter().map(|dim| Loop { n: dim.n, out: 0, data: dim.data, index: dim.index });
    let mut loops = Loops::new();
    merge_into(&mut loops, dims);
    let inner = loops.pop().unwrap_or(Loop::ONCE);
    // Data without rows has no bits to read: all positions are missing.
    let data = nulls.data.filter(|data| !data.is_empty());
    if let (None, Some(valid), 1, []) = (data, nulls.indices, inner.index, loops.as_slice()) {
        return all - valid.copy_to(out);
    }
    let rows = data.map(|bits| RowsOfBits { bits, lowered, positions, count, look_up: P::BITS.look_up.at(level) });
    let mut writer = BitWriter::new(out);
    let step =
        |(bit, number): (isize, isize), along: &Loop| (bit.wrapping_add(along.data), number.wrapping_add(along.index));
    if let (Some(rows), [axis]) = (&rows, lowered.axes.as_slice())
        && let Some(along) = loops.last().copied().filter(|along| along.index == 1)
        && inner.index == 0
        && inner.n <= WORD / 2
    {
        loops.pop();
        let most = WORD / inner.n;
        for_each(&loops, (0, 0), step, &mut |(bit, number)| {
            for first in (0..along.n).step_by(most) {
                let n = most.min(along.n - first);
                let row = |lane: usize| rows.short_row(bit, number, axis.data, (first + lane, &along), &inner);
                let valid =
                    |lane: usize| nulls.indices.is_none_or(|valid| valid.bit(number as usize + first + lane) != 0);
                let word =
                    (0..n).fold(0, |word, lane| word | (if valid(lane) { row(lane) } else { 0 }) << (lane * inner.n));
                writer.push(word, n * inner.n);
            }
        });
        return all - writer.finish();
    }
    for_each(&loops, (0, 0), step, &mut |(bit, number)| {
        for done in (0..inner.n).step_by(WORD) {
            let n = WORD.min(inner.n - done);
            let skip = |step: isize| step.wrapping_mul(done as isize);
            let (bit, number) = (bit.wrapping_add(skip(inner.data)), number.wrapping_add(skip(inner.index)));
            let word = nulls.indices.map_or(first_bits(n), |valid| valid.stepped_word(number, inner.index, n));
            let rows = rows.as_ref().map_or(u64::MAX, |rows| rows.word(bit, number, &inner, n));
            writer.push(word & rows, n);
        }
    });
    all - writer.finish()
}

/// Bits of data, and the positions that gather them.
struct RowsOfBits<'a, P> {
    bits: Bitmap<'a>,
    lowered: &'a IndexLowered,
    positions: &'a [P],
    count: usize,
    look_up: LookUpBitsFn<P>,
}

impl<P: PositionType> RowsOfBits<'_, P> {
    /// The bits of `n <= WORD` coordinates of the inner loop, from `bit` and `number` on. A missing position gives 1.
    #[inline(always)]
    fn word(&self, bit: isize, number: isize, inner: &Loop, n: usize) -> u64 {
        match (self.lowered.axes.as_slice(), inner.index) {
            (_, 0) => match self.offset(number) {
                Some(offset) => self.bits.stepped_word(bit.wrapping_add(offset), inner.data, n),
                None => first_bits(n),
            },
            ([axis], 1) if inner.data == 0 && axis.data == 1 => {
                let [bits, missing] =
                    (self.look_up)((&self.bits, bit as usize, &self.positions[number as usize..][..n]));
                bits | missing
            }
            ([axis], 1) => {
                let positions = &self.positions[number as usize..][..n];
                word_of(n, |lane| {
                    let position = positions[lane].widen();
                    let at = bit.wrapping_add(inner.data.wrapping_mul(lane as isize));
                    let at = at.wrapping_add(axis.data.wrapping_mul(position.max(0) as isize));
                    self.bits.bit(at as usize) | u64::from(position < 0)
                })
            }
            _ => word_of(n, |lane| {
                let skip = |step: isize| step.wrapping_mul(lane as isize);
                let offset = self.offset(number.wrapping_add(skip(inner.index)));
                let bit = bit.wrapping_add(skip(inner.data));
                offset.map_or(1, |offset| self.bits.bit(bit.wrapping_add(offset) as usize))
            }),
        }
    }

    /// The bits of a row of `inner.n <= WORD` bits: iteration `i` of `along`. A missing position gives 1.
    #[inline(always)]
    fn short_row(&self, bit: isize, number: isize, axis: isize, (i, along): (usize, &Loop), inner: &Loop) -> u64 {
        let position = self.positions[number as usize + i].widen();
        if position < 0 {
            return first_bits(inner.n);
        }
        let at = bit.wrapping_add(along.data.wrapping_mul(i as isize));
        self.bits.stepped_word(at.wrapping_add(axis.wrapping_mul(position as isize)), inner.data, inner.n)
    }

    /// Offset in bits of the row that index `number` names; `None` if a component is missing.
    fn offset(&self, number: isize) -> Option<isize> {
        self.lowered.axes.iter().enumerate().try_fold(0isize, |offset, (component, axis)| {
            let position = self.positions[component * self.count + number as usize].widen();
            (position >= 0).then(|| offset.wrapping_add(axis.data.wrapping_mul(position as isize)))
        })
    }
}
