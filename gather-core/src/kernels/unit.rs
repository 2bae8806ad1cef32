//! Moving resolved lanes: units of a fixed width.
//!
//! A unit is what one lane moves. Plain types of one size share a unit; a contiguous slice whose bytes are a power of
//! two up to 16 is moved as a unit of that size, whatever its type. Everything longer is a row (`rows.rs`).

use crate::index::Index;
use crate::kernels::arch::Tier;
use crate::kernels::args::{Cursor, IndexArgs, Loop};
use crate::kernels::resolve::Resolve;
use crate::kernels::rows::prefetch;

/// Resolved lanes on their way: from `data + lane · data_step + unit · units[lane]` to `out + lane · out_step`.
#[derive(Clone, Copy)]
pub struct Lanes {
    pub(crate) out: *mut u8,
    pub(crate) out_step: isize,
    pub(crate) data: *const u8,
    pub(crate) data_step: isize,
    pub(crate) units: *const i32,
    pub(crate) unit: isize,
    pub(crate) n: usize,
    pub(crate) row: usize,
    /// Lanes that are fetched ahead; 0 for none.
    pub(crate) ahead: usize,
    /// Whether rows are written past the caches.
    pub(crate) stream: bool,
    /// What else is fetched meanwhile.
    pub(crate) next: Next,
    pub(crate) table: usize,
    /// What fills a lane out of range: `fill_len` bytes, repeated.
    pub(crate) fill: *const u8,
    pub(crate) fill_len: usize,
}

impl Lanes {
    /// The `n` lanes from `at` on, whose units are or will be at `units`.
    #[inline(always)]
    pub(crate) fn at(args: &IndexArgs<'_>, at: Cursor, units: *const i32, n: usize, next: Next) -> Self {
        let lane = args.lane();
        Lanes {
            out: at.out,
            out_step: lane.out,
            data: at.data,
            data_step: lane.data,
            units,
            unit: args.unit,
            n,
            row: args.row,
            ahead: args.ahead,
            stream: args.stream,
            next,
            table: args.table,
            fill: args.fill,
            fill_len: args.fill_len,
        }
    }

    /// Where a lane comes from.
    ///
    /// # Safety
    /// `lane < n`.
    #[inline(always)]
    pub(crate) unsafe fn source(&self, lane: usize) -> *const u8 {
        // SAFETY: `units` has `n` entries.
        let unit = unsafe { self.units.wrapping_add(lane).read() };
        self.source_of(lane, unit)
    }

    /// Where a lane comes from whose index resolves to `unit`.
    #[inline(always)]
    pub(crate) fn source_of(&self, lane: usize, unit: i32) -> *const u8 {
        self.data
            .wrapping_offset(self.data_step.wrapping_mul(lane as isize))
            .wrapping_offset(self.unit.wrapping_mul(unit as isize))
    }

    /// The same lanes of the outer coordinate at a cursor.
    #[inline(always)]
    pub(crate) fn moved_to(&self, at: Cursor) -> Lanes {
        Lanes { out: at.out, data: at.data, ..*self }
    }

    /// The lanes from `first` on, `first <= n`.
    #[inline(always)]
    pub(crate) fn from(&self, first: usize) -> Lanes {
        let at = first as isize;
        Lanes {
            out: self.out.wrapping_offset(self.out_step.wrapping_mul(at)),
            data: self.data.wrapping_offset(self.data_step.wrapping_mul(at)),
            units: self.units.wrapping_add(first),
            n: self.n - first,
            next: self.next.from(first / STEP),
            ..*self
        }
    }

    /// Goes on to the lanes from `count` on, which are resolved into the same room. Field by field: to load all of them at
    /// once, as a copy of the whole does, would wait for what was just written.
    #[inline(always)]
    pub(crate) fn advance(&mut self, count: usize) {
        let by = count as isize;
        self.out = self.out.wrapping_offset(self.out_step.wrapping_mul(by));
        self.data = self.data.wrapping_offset(self.data_step.wrapping_mul(by));
        self.next.at = self.next.from(count / STEP).at;
    }

    /// Where a lane goes.
    #[inline(always)]
    pub(crate) fn target(&self, lane: usize) -> *mut u8 {
        self.out.wrapping_offset(self.out_step.wrapping_mul(lane as isize))
    }
}

/// Data of the next outer coordinate, to be fetched while the lanes of this one are moved.
///
/// Along the last axis every coordinate has a row of data of its own, next to the one before it. Indices read it in any
/// order, in which the hardware sees no stream. Asking for all of the next row at once holds the lanes up until most of it
/// has come; line by line between the lanes it costs nothing: gathering 512 of 1,024 `f32` from each of 4,096 rows takes 0.80 ms
/// in place of 2.7, and 3.9 without (2026-11-21, 2-core EPYC of the Zen 4 class).
#[derive(Clone, Copy)]
pub(crate) struct Next {
    at: *const u8,
    /// Bytes for each [`STEP`] lanes; 0 for none.
    bytes: usize,
}

/// Lanes between which data of the next coordinate is fetched: a vector of 4 bytes each.
pub(crate) const STEP: usize = 8;

impl Next {
    pub(crate) const NONE: Next = Next { at: core::ptr::null(), bytes: 0 };

    /// `span` bytes from `at` on, spread over `n` lanes, from lane `done` on.
    #[inline(always)]
    pub(crate) fn spread(at: *const u8, span: usize, n: usize, done: usize) -> Self {
        let bytes = (span * STEP).div_ceil(n);
        Next { at: at.wrapping_add(done / STEP * bytes), bytes }
    }

    /// What is left after `steps` times [`STEP`] lanes.
    #[inline(always)]
    fn from(self, steps: usize) -> Self {
        Next { at: self.at.wrapping_add(steps * self.bytes), ..self }
    }

    /// Whether there is anything to fetch.
    #[inline(always)]
    pub(crate) fn is_some(self) -> bool {
        self.bytes != 0
    }

    /// Asks for what belongs to a step of [`STEP`] lanes.
    #[inline(always)]
    pub(crate) fn fetch(self, step: usize) {
        prefetch(self.at.wrapping_add(step * self.bytes), self.bytes);
    }
}

/// What one lane moves.
pub trait Unit: 'static {
    /// Moves the lanes.
    ///
    /// # Safety
    /// K1, K2, K4, K6 and K7 for the lanes.
    unsafe fn move_lanes<L: Tier>(lanes: &Lanes);

    /// Looks lanes up in a table, straight from their indices, where the level can; returns how many.
    ///
    /// # Safety
    /// As for [`Tier::look_up`].
    #[inline(always)]
    unsafe fn look_up<I: Index, L: Tier>(_: &Resolve, _: &Lanes) -> usize {
        0
    }

    /// Whether it is worth asking the level to resolve and move these lanes at once.
    #[inline(always)]
    fn fuses(_: &IndexArgs<'_>) -> bool {
        false
    }

    /// Resolves and moves the lanes of one outer coordinate after the other, at once, where the level can; returns whether
    /// an index was out of range.
    ///
    /// # Safety
    /// As for [`Tier::fused`].
    #[inline(always)]
    unsafe fn fused<I: Index, L: Tier>(_: &Resolve, _: &Lanes, _: &Loop) -> Option<bool> {
        None
    }

    /// Moves the lanes of a BatchToSpace nest.
    ///
    /// # Safety
    /// As for [`crate::kernels::interleave`]'s body.
    unsafe fn copy<L: Tier>(streams: &crate::kernels::interleave::Streams);
}

/// A unit of `BYTES` bytes.
pub enum Fixed<const BYTES: usize> {}

/// A row of bytes of any length.
pub enum Rows {}

impl<const BYTES: usize> Unit for Fixed<BYTES> {
    #[inline(always)]
    unsafe fn move_lanes<L: Tier>(lanes: &Lanes) {
        // SAFETY: the caller's promise.
        unsafe { L::move_fixed::<BYTES>(lanes) }
    }

    #[inline(always)]
    unsafe fn look_up<I: Index, L: Tier>(job: &Resolve, lanes: &Lanes) -> usize {
        if BYTES != 1 || size_of::<I>() != 1 || lanes.table == 0 {
            return 0;
        }
        // SAFETY: the caller's promise.
        unsafe { L::look_up::<I>(job, lanes) }
    }

    #[inline(always)]
    fn fuses(_: &IndexArgs<'_>) -> bool {
        matches!(BYTES, 4 | 8)
    }

    #[inline(always)]
    unsafe fn fused<I: Index, L: Tier>(job: &Resolve, lanes: &Lanes, outer: &Loop) -> Option<bool> {
        if !matches!(BYTES, 4 | 8) {
            return None;
        }
        // SAFETY: the caller's promise.
        unsafe { L::fused::<BYTES, I>(job, lanes, outer) }
    }

    #[inline(always)]
    unsafe fn copy<L: Tier>(streams: &crate::kernels::interleave::Streams) {
        // SAFETY: the caller's promise.
        unsafe { L::copy_fixed::<BYTES>(streams) }
    }
}

impl Unit for Rows {
    #[inline(always)]
    unsafe fn move_lanes<L: Tier>(lanes: &Lanes) {
        // SAFETY: the caller's promise.
        unsafe { L::move_rows(lanes) }
    }

    #[inline(always)]
    fn fuses(args: &IndexArgs<'_>) -> bool {
        args.row == 12 && args.ahead != 0
    }

    #[inline(always)]
    unsafe fn fused<I: Index, L: Tier>(job: &Resolve, lanes: &Lanes, outer: &Loop) -> Option<bool> {
        if lanes.row != 12 {
            return None;
        }
        // SAFETY: the caller's promise.
        unsafe { L::fused::<12, I>(job, lanes, outer) }
    }

    #[inline(always)]
    unsafe fn copy<L: Tier>(streams: &crate::kernels::interleave::Streams) {
        // SAFETY: the caller's promise.
        unsafe { L::copy_rows(streams) }
    }
}

/// Copies `BYTES` bytes, a constant: a few moves, no call.
///
/// # Safety
/// Both ends reach `BYTES` bytes, to read and to write.
#[inline(always)]
pub(crate) unsafe fn copy_fixed<const BYTES: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise; an array of bytes has no alignment.
    let bytes = unsafe { from.cast::<[u8; BYTES]>().read() };
    // SAFETY: as above.
    unsafe { to.cast::<[u8; BYTES]>().write(bytes) };
}

/// Moves lanes of `BYTES` bytes.
///
/// # Safety
/// K1, K2, K4 for the lanes, with rows of `BYTES` bytes.
#[inline(always)]
pub(crate) unsafe fn move_fixed<const BYTES: usize>(lanes: &Lanes) {
    if !lanes.next.is_some() {
        // SAFETY: the caller's promise.
        return unsafe { move_step::<BYTES>(lanes) };
    }
    for first in (0..lanes.n).step_by(STEP) {
        let step = lanes.from(first);
        step.next.fetch(0);
        // SAFETY: the caller's promise, for some of the lanes.
        unsafe { move_step::<BYTES>(&Lanes { n: step.n.min(STEP), ..step }) };
    }
}

/// Moves lanes of `BYTES` bytes, and fetches nothing.
///
/// # Safety
/// As for [`move_fixed`].
#[inline(always)]
unsafe fn move_step<const BYTES: usize>(lanes: &Lanes) {
    let packed = lanes.unit == BYTES as isize && lanes.out_step == BYTES as isize;
    if packed && lanes.data_step == 0 {
        let (data, out) = (lanes.data.cast::<[u8; BYTES]>(), lanes.out.cast::<[u8; BYTES]>());
        for lane in 0..lanes.n {
            // SAFETY: `units` has `n` entries.
            let unit = unsafe { lanes.units.wrapping_add(lane).read() };
            // SAFETY: K2: the unit is in range, and its bytes may be read.
            let bytes = unsafe { data.wrapping_offset(unit as isize).read() };
            // SAFETY: K1: the lane may be written.
            unsafe { out.wrapping_add(lane).write(bytes) };
        }
    } else {
        for lane in 0..lanes.n {
            // SAFETY: `lane < n`.
            let from = unsafe { lanes.source(lane) };
            // SAFETY: K1 and K2 for the lane.
            unsafe { copy_fixed::<BYTES>(from, lanes.target(lane)) };
        }
    }
}
