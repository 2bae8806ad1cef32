//! Filling rows whose index is out of range, under `Missing::Fill`.
//!
//! A row of up to [`MOST_SELECTED`] bytes is copied from its row of data or from a [`RowOfFill`]. The source is
//! selected without a branch, which random indices would mispredict. Longer rows, and contiguous rows to fill, are
//! filled by `memset` if the fill is one repeated byte, else by copies that double in length.

use core::hint::select_unpredictable;
use core::mem::MaybeUninit;

use crate::kernels::level_fn::{LevelFn, Scalar, Token};
use crate::kernels::moves::placed::CopyRow;
use crate::kernels::moves::strided::{MoveStrided, StridedRows};
use crate::kernels::moves::{RowLoop, Rows, Width};
use crate::kernels::nest::args::KernelSpec;
use crate::kernels::nest::plane::OutputRows;
use crate::kernels::nest::rows::ResolvedRows;
use crate::kernels::prefetch::prefetch;

/// Maximum bytes of a row whose source is selected; copying a longer row takes longer than a mispredicted branch.
pub(crate) const MOST_SELECTED: usize = 256;

/// Rows to move, or to fill if their index is out of range.
pub(crate) struct FillJob<'a> {
    rows: &'a ResolvedRows<'a>,
    fill: &'a RowOfFill,
}

impl<'a> FillJob<'a> {
    /// The rows, and a fill row of the same length.
    #[inline(always)]
    pub(crate) fn new(rows: &'a ResolvedRows<'_>, fill: &'a RowOfFill) -> Self {
        debug_assert!(rows.row() <= MOST_SELECTED);
        FillJob { rows, fill }
    }
}

/// Moves rows by their positions, and fills rows out of range.
pub(crate) type SelectFn = fn(&FillJob<'_>);

/// A row of the plan's fill, once made; made only if rows have at most [`MOST_SELECTED`] bytes.
#[repr(align(64))]
pub(crate) struct RowOfFill([MaybeUninit<u8>; MOST_SELECTED]);

impl RowOfFill {
    #[inline(always)]
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }
}

/// The fill of one kernel run. The fill row is made on first use.
pub(crate) struct FillRow {
    row: RowOfFill,
    kind: FillKind,
}

#[derive(Clone, Copy)]
enum FillKind {
    /// Not determined yet.
    Unknown,
    Byte(u8),
    /// Different bytes.
    Bytes,
}

impl FillRow {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        FillRow { row: RowOfFill([const { MaybeUninit::uninit() }; MOST_SELECTED]), kind: FillKind::Unknown }
    }

    /// The fill row. Every call passes the same spec.
    #[inline(always)]
    pub(crate) fn row(&mut self, spec: &KernelSpec) -> &RowOfFill {
        debug_assert!(spec.row <= MOST_SELECTED, "a row of {} bytes", spec.row);
        self.kind(spec);
        &self.row
    }

    /// The kind of the fill. The first call makes the fill row if rows are short.
    #[inline(always)]
    fn kind(&mut self, spec: &KernelSpec) -> FillKind {
        if let FillKind::Unknown = self.kind {
            self.make(spec);
        }
        self.kind
    }

    /// [`FillRow::kind`] on the first call.
    #[cold]
    #[inline(never)]
    fn make(&mut self, spec: &KernelSpec) {
        self.kind = match spec.fill.as_slice() {
            &[first, ref rest @ ..] if rest.iter().all(|&byte| byte == first) => FillKind::Byte(first),
            _ => FillKind::Bytes,
        };
        if spec.row <= MOST_SELECTED {
            // SAFETY: `row <= MOST_SELECTED`. The buffer is apart from the fill, whose length divides `row` (K6).
            unsafe { fill_bytes(self.kind, &spec.fill, self.row.0.as_mut_ptr().cast(), spec.row) };
        }
    }

    /// Fills rows of the output.
    #[inline(never)]
    pub(crate) fn fill(&mut self, spec: &KernelSpec, rows: OutputRows) {
        let (row, fill, n, step) = (spec.row, &spec.fill, rows.n(), rows.step());
        let kind = self.kind(spec);
        if step == row as isize {
            // SAFETY: K1: the `n` rows are contiguous, and the fill's length divides `row` (K6).
            return unsafe { fill_bytes(kind, fill, rows.at(), n * row) };
        }
        if row <= MOST_SELECTED {
            // SAFETY: `self.kind` has made the fill row, which does not overlap the output rows (K1).
            let rows = unsafe { StridedRows::new(self.row.as_ptr(), 0, rows, row) };
            return Rows::by_way::<MoveStrided>(Scalar, row)(&rows);
        }
        for i in 0..n {
            // SAFETY: K1 for row `i < n` of the output; the fill's length divides `row` (K6).
            unsafe { fill_bytes(kind, fill, rows.part(i, 1).at(), row) };
        }
    }
}

/// Fills `bytes` bytes at `to` with a fill of a kind.
///
/// # Safety
/// The bytes may be written and do not overlap `fill`, and `bytes` is a multiple of `fill.len()`.
unsafe fn fill_bytes(kind: FillKind, fill: &[u8], to: *mut u8, bytes: usize) {
    debug_assert!(!fill.is_empty() && bytes.is_multiple_of(fill.len()), "K6: a fill");
    if let FillKind::Byte(byte) = kind {
        // SAFETY: by the caller's contract.
        return unsafe { to.write_bytes(byte, bytes) };
    }
    let mut done = fill.len().min(bytes);
    // SAFETY: by the caller's contract, with `done <= fill.len()` and `done <= bytes`.
    unsafe { to.copy_from_nonoverlapping(fill.as_ptr(), done) };
    while done < bytes {
        let next = done.min(bytes - done);
        // SAFETY: `next <= done` bytes that have been written, and `next` bytes after the first `done`.
        unsafe { to.wrapping_add(done).copy_from_nonoverlapping(to, next) };
        done += next;
    }
}

/// Moves rows; the source of a row whose position is below `least` is the fill.
pub(crate) enum Select {}

impl RowLoop for Select {
    type Args<'a> = &'a FillJob<'a>;

    #[inline(always)]
    fn run<C: CopyRow>(&FillJob { rows, fill }: &FillJob<'_>) {
        let (job, least, fill) = (rows.unchecked_job(), rows.block().least(), fill.as_ptr());
        let copy = C::of(job.row);
        let (mut data, mut out, ahead) = (job.data, job.out, job.prefetch_distance);
        job.next.fetch_steps(job.n);
        for i in 0..job.n {
            if ahead != 0 {
                prefetch(job.source((i + ahead).min(job.n - 1)), job.row);
            }
            let position = job.position(i);
            let from = data.wrapping_offset(job.stride.wrapping_mul(position as isize));
            let from = select_unpredictable(position < least, fill, from);
            // SAFETY: K1, K2 and K4 for row `i < n`: its position is in range, or `from` is the fill, of `row` bytes.
            unsafe { copy.copy(from, out) };
            (data, out) = (data.wrapping_offset(job.data_step), out.wrapping_offset(job.out_step));
        }
    }
}

/// Overwrites elements of 1, 2, 4 or 8 bytes whose position is below `least` with the fill; compilers vectorise it.
pub(crate) enum Blend {}

impl LevelFn for Blend {
    type Args<'a> = &'a FillJob<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, &FillJob { rows, fill }: &FillJob<'_>) {
        let (job, least) = (rows.unchecked_job(), rows.block().least());
        debug_assert_eq!(job.out_step, job.row as isize);
        macro_rules! of {
            ($unit:ty) => {{
                // SAFETY: the fill row has the `job.row` bytes of an element.
                let fill = unsafe { fill.as_ptr().cast::<$unit>().read_unaligned() };
                for i in 0..job.n {
                    let to = job.out.cast::<$unit>().wrapping_add(i);
                    // SAFETY: K1 for element `i < n` of contiguous rows, all of which `move_or_fill` has written.
                    let element = unsafe { to.read_unaligned() };
                    // SAFETY: K1 for the same element.
                    unsafe { to.write_unaligned(if job.position(i) < least { fill } else { element }) };
                }
            }};
        }
        match job.row {
            1 => of!(u8),
            2 => of!(u16),
            4 => of!(u32),
            8 => of!(u64),
            row => unreachable!("elements of {row} bytes"),
        }
    }
}
