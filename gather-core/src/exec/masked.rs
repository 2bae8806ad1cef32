//! Execution of masked gathers: lines of rows, selected by the bits of a mask.

use alloc::vec::Vec;

use crate::exec::cuts::Cuts;
use crate::exec::nulls::PositionType;
use crate::exec::threads::{CHUNKS_PER_THREAD, parallel_for, pool_threads};
use crate::kernels::{Loop, SelectJob, count_ones, select_fn};
use crate::plan::Work;
use crate::plan::fold::{Loops, count, fold_into, for_each, merge_into};
use crate::tensor::bitmap::{Bitmap, WORD};
use crate::tensor::layout::Layout;
use crate::tensor::memory;
use crate::types::error::Error;
use crate::types::level::Available;
use crate::types::policy::Par;

/// A masked gather of elements that are moved unchanged, at coordinate 0.
#[derive(Clone, Copy)]
pub(crate) struct MaskedCall<'a> {
    /// The mask in row-major order, and the number of its ones.
    pub(crate) bits: Bitmap<'a>,
    pub(crate) count: usize,
    pub(crate) data: *const u8,
    pub(crate) out: *mut u8,
    /// Bytes of an element.
    pub(crate) size: usize,
}

/// The loops of a call, with steps in elements. Its invariant is the contract of [`run`].
struct MaskedNest<'a> {
    call: MaskedCall<'a>,
    level: Available,
    /// The loops over dimensions that the mask does not cover.
    outer: &'a [Loop],
    /// The loops over lines, which follow each other in the mask and in the output.
    lines: &'a [Loop],
    /// The loop over the rows of a line. `out` is the step from one selected row to the next.
    line: Loop,
    row: usize,
}

// SAFETY: X2: chunks have different coordinates of the outer loops, or different bits of the mask, and so different
// rows of the output. Data and the mask are only read.
unsafe impl Sync for MaskedNest<'_> {}

/// Runs a call along the layouts of data and of the output, which are not empty. The mask covers dimensions
/// `first..end` of data.
///
/// # Safety
/// V1: elements may be read along the layout of data, and written along the layout of the output. No two coordinates of
/// the output share a byte with each other, or with data. The mask has a bit for each coordinate of the dimensions that
/// it covers, and `call.count` ones. The output has the shape of data, with one dimension of size `call.count` in place
/// of these.
#[inline]
pub(crate) unsafe fn run(
    call: MaskedCall<'_>,
    (first, end): (usize, usize),
    [from, to]: [&Layout; 2],
    (level, par): (Available, Par),
) {
    let (n, count) = (call.bits.len(), call.count as isize);
    if from.is_row_major() && to.is_row_major() {
        let [outer, row] = [&from.shape()[..first], &from.shape()[end..]].map(|dims| dims.iter().product::<usize>());
        let line = Loop { n, out: row as isize, data: row as isize, index: 0 };
        let loops = [Loop { n: outer, out: count * line.out, data: n as isize * line.data, index: 0 }];
        return MaskedNest { call, level, outer: &loops[usize::from(outer == 1)..], lines: &[], line, row }.run(par);
    }
    let dim = |d: usize, o: usize| Loop { n: from.shape()[d], out: to.strides()[o], data: from.strides()[d], index: 0 };
    let (mut outer, mut rows, mut lines) = (Loops::new(), Loops::new(), Loops::new());
    merge_into(&mut outer, (0..first).map(|d| dim(d, d)));
    let row = fold_into(&mut rows, (end..from.rank()).map(|d| dim(d, first + 1 + d - end)));
    outer.extend(rows);
    // Dimensions of the mask merge if data merges.
    merge_into(&mut lines, (first..end).map(|d| Loop { out: from.strides()[d], ..dim(d, first) }));
    let line = Loop { out: to.strides()[first], ..lines.pop().unwrap_or(Loop::ONCE) };
    MaskedNest { call, level, outer: &outer, lines: &lines, line, row }.run(par);
}

/// The offsets in data and in the output after `n` iterations of a loop.
#[inline(always)]
fn after((data, out): (isize, isize), along: &Loop, n: usize) -> (isize, isize) {
    let steps = |step: isize| step.wrapping_mul(n as isize);
    (data.wrapping_add(steps(along.data)), out.wrapping_add(steps(along.out)))
}

/// Maximum chunks of a call.
const MOST_CHUNKS: usize = 256;

impl MaskedNest<'_> {
    /// Runs all loops, on several threads if that is worth it: they share outer loops, and the words of a lone line.
    #[inline]
    fn run(&self, par: Par) {
        // Bits are no work: to count those before each chunk takes a third of the time that one thread needs.
        let bytes = count(self.outer).saturating_mul(self.call.count).saturating_mul(self.row * self.call.size);
        let tasks = Work { bytes, rows: 0, read: 0 }.tasks(par, pool_threads);
        if tasks == 1 {
            return self.run_part(self.outer, (0, 0), (0, self.line.n), (0, self.call.count));
        }
        self.share(tasks);
    }

    /// Runs chunks of the loops on several threads.
    #[inline(never)]
    fn share(&self, tasks: usize) {
        let (MaskedCall { bits, count: ones, .. }, level) = (self.call, self.level);
        let (d, words) = (self.outer.len(), if self.lines.is_empty() { self.line.n.div_ceil(WORD) } else { 1 });
        let lengths = self.outer.iter().map(|along| along.n).chain([words]);
        let cuts = Cuts::new(lengths, tasks.saturating_mul(CHUNKS_PER_THREAD).min(MOST_CHUNKS));
        // Of each part of a line: the first bit, and the number of ones before it, each counted once.
        let (mut parts, mut n) = ([(0, 0); MOST_CHUNKS + 1], 0);
        while parts[n].0 < self.line.n {
            let ((first, before), end) = (parts[n], cuts.range(n, d, words).end);
            n += 1;
            let inside = |end| (end, before + count_ones(level, &bits, first, end - first));
            parts[n] = if end == words { (self.line.n, ones) } else { inside(end * WORD) };
        }
        parallel_for(tasks, cuts.chunks(), |chunk, _| {
            let (mut outer, mut at) = (Loops::from_slice(self.outer), (0, 0));
            for (d, along) in outer.iter_mut().enumerate() {
                let range = cuts.range(chunk, d, along.n);
                at = after(at, along, range.start);
                along.n = range.len();
            }
            let [(first, before), (end, ones)] = [parts[chunk % n], parts[chunk % n + 1]];
            self.run_part(&outer, at, (first, end), (before, ones));
        });
    }

    /// Selects rows at each coordinate of the outer loops from the offsets `at` on: of all lines, or of a lone line by
    /// bits `first..end`, which are the ones `before..ones` of the mask.
    #[inline]
    fn run_part(
        &self,
        outer: &[Loop],
        at: (isize, isize),
        (first, end): (usize, usize),
        (before, ones): (usize, usize),
    ) {
        let (MaskedCall { bits, size, data, out, .. }, line, n) = (self.call, &self.line, end - first);
        let (row, bytes) = (self.row * size, |elements: isize| elements.wrapping_mul(size as isize));
        let steps = [bytes(line.data), bytes(line.out)];
        let select = select_fn(self.level, row, steps == [row as isize; 2]);
        let from = (first as isize).wrapping_mul(line.data);
        let (along, others) = self.lines.split_last().unwrap_or((&Loop::ONCE, &[]));
        for_each(outer, at, |at, along| after(at, along, 1), &mut |at| {
            let (mut bit, mut done) = (first, before);
            for_each(others, at.0.wrapping_add(from), |at, along| at.wrapping_add(along.data), &mut |from| {
                let (_, to) = after(at, line, done);
                let ends = (data.wrapping_offset(bytes(from)), out.wrapping_offset(bytes(to)));
                let lines = (n, along.n, bytes(along.data));
                // SAFETY: G2: the offsets are at coordinates of the outer loops and of the lines, so that the rows of
                // these bits, and `ones - done` rows of the output, lie along its steps. Rows are contiguous
                // (`fold_into`).
                done += select(&unsafe { SelectJob::new((bits, bit), lines, ends, steps, (ones - done, row)) });
                bit += along.n * n;
            });
            // X3: every row of the output has been written.
            assert_eq!(done, ones, "the count of a mask is not the number of its ones");
        });
    }
}

/// The positions of the ones of some bits.
///
/// # Errors
/// [`Error::AllocationFailed`].
pub(crate) fn mask_positions<P: PositionType>(level: Available, bits: Bitmap<'_>) -> Result<Vec<P>, Error> {
    let count = count_ones(level, &bits, 0, bits.len());
    let (numbers, size) = (core::array::from_fn::<P, 256, _>(|number| P::truncated(number as i64)), size_of::<P>());
    let (mut positions, select) = (memory::reserve::<P>(count)?, select_fn(level, size, true));
    for at in (0..bits.len()).step_by(numbers.len()) {
        let (n, done) = (numbers.len().min(bits.len() - at), positions.len());
        let ends = (numbers.as_ptr().cast(), positions.spare_capacity_mut().as_mut_ptr().cast());
        // SAFETY: G2: `n` numbers may be read. `count` ones have memory in all, and `done` have been written.
        let job = unsafe { SelectJob::new((bits, at), (n, 1, 0), ends, [size as isize; 2], (count - done, size)) };
        let selected = select(&job);
        // SAFETY: the job has written `selected` numbers, for which there was memory.
        unsafe { positions.set_len(done + selected) };
        positions[done..].iter_mut().for_each(|number| *number = P::truncated(number.widen() + at as i64));
    }
    Ok(positions)
}
