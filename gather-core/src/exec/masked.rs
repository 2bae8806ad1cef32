//! Execution of masked gathers: lines of rows, selected by the bits of a mask.
//!
//! ```text
//! for each coordinate of the dimensions before the mask, and of strided rows      `outer`
//!     for each line of the mask, which a stride of data ends                      `lines`
//!         select rows of the line by bits                                         a kernel
//! ```

use alloc::vec::Vec;
use core::ops::Range;

use crate::exec::cuts::Cuts;
use crate::exec::nulls::PositionType;
use crate::exec::threads::{CHUNKS_PER_THREAD, parallel_for, pool_threads};
use crate::kernels::{Loop, SelectFn, SelectJob, count_ones, select_fn};
use crate::plan::Work;
use crate::plan::fold::{Loops, count, fold_into, for_each, merge_into};
use crate::tensor::bitmap::{Bitmap, WORD};
use crate::tensor::layout::Layout;
use crate::tensor::memory;
use crate::types::error::Error;
use crate::types::level::Available;
use crate::types::policy::Par;

/// A masked gather of elements that are moved unchanged.
#[derive(Clone, Copy)]
pub(crate) struct MaskedCall<'a> {
    /// The mask in row-major order.
    pub(crate) bits: Bitmap<'a>,
    /// The number of its ones.
    pub(crate) count: usize,
    /// The dimensions of data that the mask covers: `dims.0..dims.1`.
    pub(crate) dims: (usize, usize),
    /// Bytes of an element.
    pub(crate) size: usize,
    pub(crate) level: Available,
    pub(crate) par: Par,
}

/// The loops of a call, with steps in bytes. Its invariant is the contract of [`run`].
struct MaskedNest<'a> {
    call: MaskedCall<'a>,
    outer: &'a [Loop],
    /// Lines follow each other in the mask and in the output, where `out` is 0 here.
    lines: &'a [Loop],
    /// The loop over the rows of a line. `out` is the step from a selected row to the next.
    line: Loop,
    row: usize,
    select: SelectFn,
    data: *const u8,
    out: *mut u8,
}

// SAFETY: X2: chunks have different coordinates of the outer loops, or different bits of the mask, and so different
// rows of the output. Data and the mask are only read.
unsafe impl Sync for MaskedNest<'_> {}

/// Runs a call. Neither data nor the output may be empty.
///
/// # Safety
/// V1: elements of `call.size` bytes may be read from `data` along the layout `from`, and written from `out` on along
/// the layout `to`. No two coordinates of the output share a byte with each other, or with data. `call.bits` has a bit
/// for each coordinate of the dimensions `call.dims` of data, and `call.count` ones. The output has the shape of data,
/// with one dimension of size `call.count` in place of these.
#[inline]
pub(crate) unsafe fn run(call: MaskedCall<'_>, (data, from): (*const u8, &Layout), (out, to): (*mut u8, &Layout)) {
    let (first, end) = call.dims;
    let mut nest = MaskedNest {
        call,
        outer: &[],
        lines: &[],
        line: Loop::ONCE,
        row: call.size,
        select: select_fn(call.level, call.size, true),
        data,
        out,
    };
    if !from.is_row_major() || !to.is_row_major() {
        return run_strided(nest, from, to);
    }
    nest.row *= from.shape()[end..].iter().product::<usize>();
    let bytes = |rows: usize| (rows * nest.row) as isize;
    nest.line = Loop { n: call.bits.len(), data: bytes(1), out: bytes(1), index: 1 };
    let n = from.shape()[..first].iter().product();
    let outer = Loop { n, data: bytes(call.bits.len()), out: bytes(call.count), index: 0 };
    if nest.row != call.size {
        nest.select = select_fn(call.level, nest.row, true);
    }
    MaskedNest { outer: if n == 1 { &[] } else { core::slice::from_ref(&outer) }, ..nest }.run();
}

/// Runs a call on layouts of any strides: completes the loops of `nest`, which holds everything else.
#[inline(never)]
fn run_strided(nest: MaskedNest<'_>, from: &Layout, to: &Layout) {
    let (call, (first, end)) = (nest.call, nest.call.dims);
    let size = call.size as isize;
    let dim = |d: usize, o: usize| Loop { n: from.shape()[d], out: to.strides()[o], data: from.strides()[d], index: 0 };
    let (mut outer, mut rows, mut lines) = (Loops::new(), Loops::new(), Loops::new());
    merge_into(&mut outer, (0..first).map(|d| dim(d, d)));
    let row = call.size * fold_into(&mut rows, (end..from.rank()).map(|d| dim(d, first + 1 + d - end)));
    outer.extend(rows);
    // Dimensions of the mask merge if data merges.
    merge_into(&mut lines, (first..end).map(|d| Loop { out: from.strides()[d], ..dim(d, first) }));
    let line = Loop { out: to.strides()[first], ..lines.pop().unwrap_or(Loop::ONCE) };
    let bytes = |along: &Loop, out| Loop { data: along.data.wrapping_mul(size), out, ..*along };
    outer.iter_mut().for_each(|along| *along = bytes(along, along.out.wrapping_mul(size)));
    lines.iter_mut().for_each(|along| *along = bytes(along, 0));
    let line = bytes(&line, line.out.wrapping_mul(size));
    let select = select_fn(call.level, row, [line.data, line.out] == [row as isize; 2]);
    MaskedNest { outer: &outer, lines: &lines, line, row, select, ..nest }.run();
}

/// The offsets in data and in the output after `n` iterations of a loop.
#[inline(always)]
fn after((data, out): (isize, isize), along: &Loop, n: usize) -> (isize, isize) {
    let steps = |step: isize| step.wrapping_mul(n as isize);
    (data.wrapping_add(steps(along.data)), out.wrapping_add(steps(along.out)))
}

impl MaskedNest<'_> {
    /// Runs all loops, on several threads if that is worth it.
    fn run(&self) {
        let units = self.units();
        let tasks = self.work().tasks(self.call.par, pool_threads);
        if tasks == 1 {
            return self.run_units(self.outer, (0, 0), 0..units);
        }
        let lengths = self.outer.iter().map(|along| along.n).chain([units]);
        let cuts = Cuts::new(lengths, tasks.saturating_mul(CHUNKS_PER_THREAD));
        parallel_for(tasks, cuts.chunks(), |chunk, _| {
            let (mut outer, mut at) = (Loops::from_slice(self.outer), (0, 0));
            for (d, along) in outer.iter_mut().enumerate() {
                let range = cuts.range(chunk, d, along.n);
                at = after(at, along, range.start);
                along.n = range.len();
            }
            self.run_units(&outer, at, cuts.range(chunk, outer.len(), units));
        });
    }

    fn work(&self) -> Work {
        let bytes = |rows: usize| count(self.outer).saturating_mul(rows).saturating_mul(self.row);
        // Few ones read few lines of data.
        let read = self.call.bits.len().min(self.call.count.saturating_mul(8));
        Work { bytes: bytes(self.call.count), rows: 0, read: bytes(read) }
    }

    /// The number of units of the mask that threads share: lines, or the words of one line.
    fn units(&self) -> usize {
        if self.lines.is_empty() { self.line.n.div_ceil(WORD) } else { count(self.lines) }
    }

    /// Selects rows by some units of the mask, at each coordinate of the outer loops from the offsets `at` on.
    fn run_units(&self, outer: &[Loop], at: (isize, isize), units: Range<usize>) {
        let MaskedCall { bits, count, level, .. } = self.call;
        let unit = if self.lines.is_empty() { WORD } else { self.line.n };
        let (first, end) = (units.start * unit, (units.end * unit).min(bits.len()));
        let before = if first == 0 { 0 } else { count_ones(level, &bits, 0, first) };
        let is_rest = end == bits.len();
        let ones = if is_rest { count - before } else { count_ones(level, &bits, first, end - first) };
        let at = after(at, &Loop { data: 0, ..self.line }, before);
        for_each(outer, at, |at, along| after(at, along, 1), &mut |at| {
            let done = if self.lines.is_empty() {
                self.select(after(at, &Loop { out: 0, ..self.line }, first), (first, end - first), ones)
            } else {
                units.clone().fold(0, |done, line| {
                    let at = after(self.line_at(at, line), &Loop { data: 0, ..self.line }, done);
                    done + self.select(at, (line * unit, unit), ones - done)
                })
            };
            // X3: every row of the output has been written.
            assert_eq!(done, ones, "the count of a mask is not the number of its ones");
        });
    }

    /// The offsets at a line of the mask.
    fn line_at(&self, mut at: (isize, isize), mut line: usize) -> (isize, isize) {
        for along in self.lines.iter().rev() {
            at = after(at, along, line % along.n);
            line /= along.n;
        }
        at
    }

    /// Selects rows by `n` bits of a line from bit `first` on; there are `most` ones at most. Returns their number.
    #[inline(always)]
    fn select(&self, (data, out): (isize, isize), (first, n): (usize, usize), most: usize) -> usize {
        let ends = (self.data.wrapping_offset(data), self.out.wrapping_offset(out));
        let steps = [self.line.data, self.line.out];
        // SAFETY: S1: the offsets are at coordinates of the outer loops and of the line, so that `n` rows of data and,
        // at most `most` of them, rows of the output lie along its steps. Rows are contiguous (`fold_into`).
        let job = unsafe { SelectJob::new((self.call.bits, first, n), ends, steps, (most, self.row)) };
        (self.select)(&job)
    }
}

/// The positions of the `count` ones of some bits.
///
/// # Errors
/// [`Error::AllocationFailed`].
pub(crate) fn mask_positions<P: PositionType>(
    level: Available,
    bits: Bitmap<'_>,
    count: usize,
) -> Result<Vec<P>, Error> {
    let (numbers, size) = (P::NUMBERS, size_of::<P>());
    let (mut positions, select) = (memory::reserve::<P>(count)?, select_fn(level, size, true));
    for at in (0..bits.len()).step_by(numbers.len()) {
        let (n, done) = (numbers.len().min(bits.len() - at), positions.len());
        let out = positions.spare_capacity_mut();
        let ends = (numbers.as_ptr().cast(), out.as_mut_ptr().cast());
        let most = out.len().min(count - done);
        // SAFETY: S1: `n` numbers may be read, and memory for the other `count - done` ones may be written.
        let job = unsafe { SelectJob::new((bits, at, n), ends, [size as isize; 2], (most, size)) };
        let selected = select(&job);
        // SAFETY: the job has written `selected` numbers, for which there was memory.
        unsafe { positions.set_len(done + selected) };
        positions[done..].iter_mut().for_each(|number| *number = P::truncated(number.widen() + at as i64));
    }
    assert_eq!(positions.len(), count, "the count of a mask is not the number of its ones");
    Ok(positions)
}
