//! A block of resolved indices: the units of its lanes, which of them are out of range, and what is done about those.

use core::mem::MaybeUninit;

use crate::index::Index;
use crate::kernels::arch::Tier;
use crate::kernels::args::{Component, IndexArgs, Verdict};
use crate::kernels::resolve::{Resolve, Tuples};
use crate::ops::OutOfBounds;

/// Lanes resolved at once: 2 KiB of units, an eighth of the smallest first-level cache in use.
pub(crate) const BLOCK: usize = 512;

/// The lanes of a block that are out of range, one bit each.
type Lanes = [u64; BLOCK / 64];

/// The room for a block's units. The nest owns it: moving a body must not move two kilobytes.
pub struct Units([MaybeUninit<i32>; BLOCK]);

impl Units {
    /// Room that holds nothing yet.
    #[inline(always)]
    #[must_use]
    #[expect(clippy::new_without_default, reason = "made by emitted nests alone")]
    pub fn new() -> Self {
        Units([const { MaybeUninit::uninit() }; BLOCK])
    }

    #[inline(always)]
    pub(crate) fn as_ptr(&self) -> *const i32 {
        self.0.as_ptr().cast()
    }

    #[inline(always)]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut i32 {
        self.0.as_mut_ptr().cast()
    }

    /// Gives the units from `done` to `n` the value of the one before.
    #[inline(always)]
    fn repeat_last(&mut self, done: usize, n: usize) {
        if let (1.., true) = (done, done < n) {
            let last = self.0[done - 1];
            self.0[done..n].fill(last);
        }
    }

    fn scale(&mut self, n: usize, scale: i32) {
        if scale != 1 {
            for unit in &mut self.0[..n] {
                // SAFETY: `resolve` has written the first `n` units.
                let value = unsafe { unit.assume_init() };
                unit.write(value.wrapping_mul(scale));
            }
        }
    }

    fn add_scaled(&mut self, other: &Units, n: usize, scale: i32) {
        for (sum, unit) in self.0[..n].iter_mut().zip(&other.0[..n]) {
            // SAFETY: `resolve` has written the first `n` units of both.
            let value = unsafe { unit.assume_init() };
            // SAFETY: as above.
            let before = unsafe { sum.assume_init() };
            sum.write(before.wrapping_add(value.wrapping_mul(scale)));
        }
    }
}

/// A resolved block: which of its lanes are out of range. The units of the lanes lie in [`Units`].
pub(crate) struct Block {
    /// Only looked at when `has_bad`.
    bad: Lanes,
    pub(crate) has_bad: bool,
}

impl Block {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Block { bad: [0; BLOCK / 64], has_bad: false }
    }

    /// Resolves `n <= BLOCK` lanes of a single component from `index` on. Lanes out of range get unit 0 and are
    /// remembered; returns whether there were any.
    ///
    /// # Safety
    /// K3 for these lanes.
    #[inline(always)]
    pub(crate) unsafe fn resolve<I: Index, L: Tier>(
        &mut self,
        units: &mut Units,
        args: &IndexArgs<'_>,
        component: &Component,
        index: *const u8,
        stride: isize,
        n: usize,
    ) -> Verdict {
        // One index for all lanes is resolved once.
        let apart = if stride == 0 { n.min(1) } else { n };
        let job = Resolve::new(units, args, component, index, stride, apart);
        // SAFETY: K3, passed on; `units` has room for BLOCK >= n.
        let out_of_range = unsafe { L::resolve::<I>(&job) };
        units.repeat_last(apart, n);
        // SAFETY: the first `n` units have been written.
        unsafe { self.note(units.as_mut_ptr(), n, out_of_range) };
        Verdict { out_of_range }
    }

    /// Resolves `n <= BLOCK` lanes of all components and adds them up in units.
    ///
    /// # Safety
    /// K3 for these lanes; K2: the sums fit in `i32`.
    #[inline(never)]
    pub(crate) unsafe fn resolve_all<I: Index, L: Tier>(
        &mut self,
        units: &mut Units,
        args: &IndexArgs<'_>,
        index: *const u8,
        stride: isize,
        n: usize,
    ) -> Verdict {
        if let Some(verdict) = {
            // SAFETY: the caller's promise.
            unsafe { self.resolve_tuples::<I, L>(units, args, index, stride, n) }
        } {
            return verdict;
        }
        let [first, rest @ ..] = args.components else { unreachable!("K5: there is a component") };
        // SAFETY: the caller's promise.
        let mut verdict = unsafe { self.resolve::<I, L>(units, args, first, index, stride, n) };
        units.scale(n, first.scale as i32);
        for component in rest {
            let (mut next, mut next_units) = (Block::new(), Units::new());
            // SAFETY: the caller's promise.
            let found = unsafe { next.resolve::<I, L>(&mut next_units, args, component, index, stride, n) };
            units.add_scaled(&next_units, n, component.scale as i32);
            if found.out_of_range {
                self.merge_bad(&next);
                verdict = found;
            }
        }
        verdict
    }

    /// As [`Block::resolve_all`], where the level has a way of its own for these tuples.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn resolve_tuples<I: Index, L: Tier>(
        &mut self,
        units: &mut Units,
        args: &IndexArgs<'_>,
        index: *const u8,
        stride: isize,
        n: usize,
    ) -> Option<Verdict> {
        let components = args.components;
        let size = size_of::<I>() as isize;
        let contiguous = stride == size * components.len() as isize
            && components.iter().enumerate().all(|(k, c)| c.index == size * k as isize && c.scale > 0);
        if !contiguous {
            return None;
        }
        let job = Tuples {
            index,
            n,
            components,
            negative: args.negative,
            out_of_bounds: args.out_of_bounds,
            out: units.as_mut_ptr(),
        };
        // SAFETY: K3, passed on; `units` has room for BLOCK >= n.
        let out_of_range = unsafe { L::resolve_tuples::<I>(&job) }?;
        // SAFETY: the first `n` units have been written.
        unsafe { self.note(units.as_mut_ptr(), n, out_of_range) };
        Some(Verdict { out_of_range })
    }

    /// Takes in that a block of `n <= BLOCK` lanes has been resolved.
    ///
    /// # Safety
    /// `units` are `n` units that have been written, and may be again.
    #[inline(always)]
    pub(crate) unsafe fn note(&mut self, units: *mut i32, n: usize, out_of_range: bool) {
        self.has_bad = out_of_range;
        if out_of_range {
            self.bad = [0; BLOCK / 64];
            // SAFETY: the caller's promise.
            self.redirect(unsafe { core::slice::from_raw_parts_mut(units, n) });
        }
    }

    #[cold]
    fn merge_bad(&mut self, other: &Block) {
        if !self.has_bad {
            self.bad = [0; BLOCK / 64];
            self.has_bad = true;
        }
        for (mine, theirs) in self.bad.iter_mut().zip(&other.bad) {
            *mine |= theirs;
        }
    }

    /// Turns the lanes out of range (-1) into unit 0, which every axis has, and remembers them. Mostly they are few: eight
    /// lanes are looked at together before each is.
    #[inline(never)]
    fn redirect(&mut self, units: &mut [i32]) {
        for (lanes, bits) in units.chunks_mut(64).zip(&mut self.bad) {
            for (few, lanes) in lanes.chunks_mut(8).enumerate() {
                if lanes.iter().fold(0, |signs, unit| signs | unit) < 0 {
                    *bits |= redirect_few(lanes) << (few * 8);
                }
            }
        }
    }

    /// Writes the fill over the rows from `out` on of the lanes out of range, where that is the policy.
    ///
    /// # Safety
    /// K1 and K6 for the lanes resolved last.
    #[inline(always)]
    pub(crate) unsafe fn patch(&self, args: &IndexArgs<'_>, out: *mut u8) {
        if self.has_bad && args.out_of_bounds == OutOfBounds::Zero {
            // SAFETY: the caller's promise.
            unsafe { self.fill(args, out) };
        }
    }

    /// As [`Block::patch`], where there are some.
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn fill(&self, args: &IndexArgs<'_>, out: *mut u8) {
        let step = args.lane().out;
        for (word, &bits) in self.bad.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                let lane = word * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                // SAFETY: K1: the lane's row may be written; K6: the fill divides it.
                unsafe { fill_row(args, out.wrapping_offset(step.wrapping_mul(lane as isize))) };
            }
        }
    }
}

/// Turns the negative units among a few into 0; returns which they were.
fn redirect_few(units: &mut [i32]) -> u64 {
    let mut found = 0;
    for (lane, unit) in units.iter_mut().enumerate() {
        found |= u64::from(*unit < 0) << lane;
        *unit = (*unit).max(0);
    }
    found
}

/// Writes the fill over one row.
///
/// # Safety
/// K1 and K6 for the row at `out`.
#[inline(always)]
pub(crate) unsafe fn fill_row(args: &IndexArgs<'_>, out: *mut u8) {
    let mut at = 0;
    while at < args.row {
        // SAFETY: K6: `at + fill_len <= row`, which K1 lets us write.
        let to = unsafe { out.add(at) };
        // SAFETY: K6: `fill` has `fill_len` readable bytes; it is a constant of ours, apart from the output.
        unsafe { to.copy_from_nonoverlapping(args.fill, args.fill_len) };
        at += args.fill_len;
    }
}
