//! Rows that are filled: those whose index is out of range, under `OutOfBounds::Zero`.
//!
//! A row of up to [`MOST_SELECTED`] bytes is filled as a valid row is copied: the source is selected, without a branch
//! that random indices would mispredict. The source of the fill is a [`FillRow`]. Longer rows, and rows that follow one
//! another, are filled at once: by `memset` where the fill is one repeated byte, else by copies twice as long each
//! time.

use core::hint::select_unpredictable;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::kernels::args::IndexArgs;
use crate::kernels::level_fn::{LevelFn, Token, scalar};
use crate::kernels::moves::MoveJob;
use crate::kernels::moves::placed::{CopyRow, Exactly, Halves, Long, NARROW, RowSize, by_size};
use crate::kernels::moves::prefetch::prefetch;
use crate::kernels::moves::strided::{MoveStrided, StridedRows};

/// The most bytes of a row whose source is selected: longer ones take longer than a mispredicted branch.
pub(crate) const MOST_SELECTED: usize = 256;

/// Rows to be moved, or to be filled where their position is below `least`.
pub struct FillJob<'a> {
    pub(crate) job: &'a MoveJob,
    /// A row of fill.
    pub(crate) fill: *const u8,
    pub(crate) least: i32,
}

/// Moves rows by their positions. Those whose position is below `least` get the row at `fill`.
///
/// # Safety
/// K1, K2, K4, K6 and K7 for the rows whose position is not below `least`; K1 for the others. `fill` reaches a row.
pub(crate) type SelectFn = fn(&FillJob<'_>);

/// A row of fill, made when it is first asked for: until then it costs nothing.
#[repr(align(64))]
pub(crate) struct FillRow {
    row: [MaybeUninit<u8>; MOST_SELECTED],
    kind: Kind,
}

/// The bytes of a fill.
#[derive(Clone, Copy)]
enum Kind {
    /// Nobody has asked.
    Unknown,
    /// One byte, repeated.
    Byte(u8),
    /// Bytes that differ.
    Bytes,
}

impl FillRow {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        FillRow { row: [const { MaybeUninit::uninit() }; MOST_SELECTED], kind: Kind::Unknown }
    }

    /// A row of fill.
    ///
    /// # Safety
    /// K6, for rows of at most [`MOST_SELECTED`] bytes. It has been asked for by the same arguments alone.
    #[inline(always)]
    pub(crate) unsafe fn row(&mut self, args: &IndexArgs<'_>) -> *const u8 {
        debug_assert!(args.spec.row <= MOST_SELECTED, "a row of {} bytes", args.spec.row);
        // SAFETY: the caller's promise.
        unsafe { self.kind(args) };
        self.row.as_ptr().cast()
    }

    /// The fill. Makes the row of it, if that is short.
    ///
    /// # Safety
    /// K6; as for [`FillRow::row`].
    #[inline(always)]
    unsafe fn kind(&mut self, args: &IndexArgs<'_>) -> Kind {
        if let Kind::Unknown = self.kind {
            // SAFETY: the caller's promise.
            unsafe { self.make(args) };
        }
        self.kind
    }

    /// As [`FillRow::kind`], at the first time.
    ///
    /// # Safety
    /// As for [`FillRow::kind`].
    #[cold]
    #[inline(never)]
    unsafe fn make(&mut self, args: &IndexArgs<'_>) {
        self.kind = match args.spec.fill.as_slice() {
            &[first, ref rest @ ..] if rest.iter().all(|&byte| byte == first) => Kind::Byte(first),
            _ => Kind::Bytes,
        };
        if args.spec.row <= MOST_SELECTED {
            // SAFETY: there is room for the row, apart from the plan's fill.
            unsafe { fill_bytes(self.kind, &args.spec.fill, self.row.as_mut_ptr().cast(), args.spec.row) };
        }
    }

    /// Fills `n` rows of the inner loop from `out` on.
    ///
    /// # Safety
    /// K1 and K6 for the rows; as for [`FillRow::row`].
    #[inline(never)]
    pub(crate) unsafe fn fill(&mut self, args: &IndexArgs<'_>, out: *mut u8, n: usize) {
        let (row, step, fill) = (args.spec.row, args.inner().out, &args.spec.fill);
        // SAFETY: the caller's promise.
        let kind = unsafe { self.kind(args) };
        if step == row as isize {
            // SAFETY: K1: the rows follow one another; K6 for each.
            return unsafe { fill_bytes(kind, fill, out, n * row) };
        }
        if row <= MOST_SELECTED {
            let rows = StridedRows { from: self.row.as_ptr().cast(), from_step: 0, to: out, to_step: step, n, row };
            return by_size!(RowSize::of(row), |Way| scalar::<MoveStrided<Way>>(&rows));
        }
        for i in 0..n as isize {
            // SAFETY: K1 and K6 for the row.
            unsafe { fill_bytes(kind, fill, out.wrapping_offset(step.wrapping_mul(i)), row) };
        }
    }
}

/// Fills `bytes` bytes from `to` on with a fill of a kind.
///
/// # Safety
/// The bytes may be written, are a multiple of the fill's, and do not overlap it.
unsafe fn fill_bytes(kind: Kind, fill: &[u8], to: *mut u8, bytes: usize) {
    debug_assert!(!fill.is_empty() && bytes.is_multiple_of(fill.len()), "K6: a fill");
    if let Kind::Byte(byte) = kind {
        // SAFETY: the caller's promise.
        return unsafe { to.write_bytes(byte, bytes) };
    }
    let mut done = fill.len().min(bytes);
    // SAFETY: the caller's promise: the bytes hold the fill at least once, if there are any.
    unsafe { to.copy_from_nonoverlapping(fill.as_ptr(), done) };
    while done < bytes {
        let next = done.min(bytes - done);
        // SAFETY: `next <= done` bytes that have been written, and as many behind them.
        unsafe { to.wrapping_add(done).copy_from_nonoverlapping(to, next) };
        done += next;
    }
}

/// Moves rows, each by the way `C`, or the fill where its position is below `least`.
pub(crate) struct Select<C>(PhantomData<C>);

impl<C: CopyRow> LevelFn for Select<C> {
    type Args<'a> = &'a FillJob<'a>;
    type Output = ();

    const NARROW: bool = C::MOST <= NARROW;

    #[inline(always)]
    fn call<Here: Token>(_: Here, &FillJob { job, fill, least }: &FillJob<'_>) {
        let copy = C::of(job.row);
        let (mut data, mut out, ahead) = (job.data, job.out, job.prefetch_distance);
        job.next.fetch_steps(job.n);
        for i in 0..job.n {
            if ahead != 0 {
                // SAFETY: below `n`. A prefetch takes any address.
                prefetch(unsafe { job.source((i + ahead).min(job.n - 1)) }, job.row);
            }
            // SAFETY: `positions` has `n` entries.
            let position = unsafe { job.positions.wrapping_add(i).read() };
            let from = data.wrapping_offset(job.stride.wrapping_mul(position as isize));
            let from = select_unpredictable(position < least, fill, from);
            // SAFETY: K1, K2 and K4 for a row whose position is in range; or the fill, which is as long.
            unsafe { copy.copy(from, out) };
            (data, out) = (data.wrapping_offset(job.data_step), out.wrapping_offset(job.out_step));
        }
    }
}

/// Writes the fill over elements of 1, 2, 4 or 8 bytes whose position is below `least`, in a form that compilers
/// vectorise.
pub(crate) enum Blend {}

impl LevelFn for Blend {
    type Args<'a> = &'a FillJob<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, &FillJob { job, fill, least }: &FillJob<'_>) {
        macro_rules! of {
            ($unit:ty) => {{
                // SAFETY: the caller's promise: the fill has the bytes of an element.
                let fill = unsafe { fill.cast::<$unit>().read_unaligned() };
                for i in 0..job.n {
                    // SAFETY: `positions` has `n` entries.
                    let position = unsafe { job.positions.wrapping_add(i).read() };
                    let to = job.out.cast::<$unit>().wrapping_add(i);
                    // SAFETY: the caller's promise: an element that has been written.
                    let element = unsafe { to.read_unaligned() };
                    // SAFETY: K1 for the element.
                    unsafe { to.write_unaligned(if position < least { fill } else { element }) };
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
