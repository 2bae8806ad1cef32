//! A block of resolved indices: their positions, which of them are out of range, and what is done about those.

use core::mem::MaybeUninit;

use crate::kernels::args::{Component, IndexArgs};
use crate::kernels::isa::Isa;
use crate::kernels::resolve::{ResolveJob, TupleJob};
use crate::types::index::Index;
use crate::types::policy::OutOfBounds;

/// Indices resolved at once: their positions take 2 KiB, a small part of any first-level cache.
pub(crate) const BLOCK: usize = 512;

/// Room for the positions of a block, at the begin of a line: what is read soon after it was written should not have
/// been written across two.
#[repr(align(64))]
pub(crate) struct Positions([MaybeUninit<i32>; BLOCK]);

impl Positions {
    /// Room that holds nothing yet.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Positions([const { MaybeUninit::uninit() }; BLOCK])
    }

    #[inline(always)]
    pub(crate) fn as_ptr(&self) -> *const i32 {
        self.0.as_ptr().cast()
    }

    #[inline(always)]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut i32 {
        self.0.as_mut_ptr().cast()
    }

    /// The first `n` positions.
    ///
    /// # Safety
    /// They have been written.
    #[inline(always)]
    unsafe fn written(&mut self, n: usize) -> &mut [i32] {
        debug_assert!(n <= BLOCK);
        // SAFETY: `n <= BLOCK` positions, which the caller promises to have been written.
        unsafe { core::slice::from_raw_parts_mut(self.as_mut_ptr(), n) }
    }
}

/// A resolved block: which of its positions stand for an index out of range. The positions themselves lie in
/// [`Positions`].
pub(crate) struct Block {
    /// One bit an index. Only looked at when `has_bad`.
    bad: [u64; BLOCK / 64],
    has_bad: bool,
}

impl Block {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Block { bad: [0; BLOCK / 64], has_bad: false }
    }

    /// Resolves `n <= BLOCK` indices from `index` on, each of all its components. Those out of range get position 0,
    /// which every axis has, and are remembered; returns whether there are any.
    ///
    /// # Safety
    /// K2 and K3 for these indices.
    #[inline(always)]
    pub(crate) unsafe fn resolve<I: Index, L: Isa>(
        &mut self,
        positions: &mut Positions,
        args: &IndexArgs<'_>,
        index: *const u8,
        n: usize,
    ) -> bool {
        match args.spec.components.as_slice() {
            [component] => {
                let job = ResolveJob::new(positions.as_mut_ptr(), args, component, index, n);
                // SAFETY: K3, passed on; there is room for BLOCK >= n positions.
                let out_of_range = unsafe { L::resolve::<I>(&job) };
                // SAFETY: `n` positions have just been written.
                unsafe { self.note(positions.as_mut_ptr(), n, out_of_range) };
                // SAFETY: as above.
                let positions = unsafe { positions.written(n) };
                debug_assert!(positions.iter().all(|&x| (0..component.dim).contains(&x.into())), "K2: {positions:?}");
                out_of_range
            }
            // SAFETY: the caller's promise.
            components => unsafe { self.resolve_tuples::<I, L>(positions, args, components, index, n) },
        }
    }

    /// As [`Block::resolve`], of several components.
    ///
    /// # Safety
    /// As for [`Block::resolve`].
    #[inline(never)]
    unsafe fn resolve_tuples<I: Index, L: Isa>(
        &mut self,
        positions: &mut Positions,
        args: &IndexArgs<'_>,
        components: &[Component],
        index: *const u8,
        n: usize,
    ) -> bool {
        if args.spec.adjacent_tuples {
            let (out, policy, mut out_of_range) = (positions.as_mut_ptr(), args.spec.policy, false);
            let job = TupleJob { index, n, chunk: n, components, policy, rooms: [out; 2] };
            let mut note = |_, bad| {
                out_of_range = bad;
                true
            };
            // SAFETY: K3, passed on: the plan found the tuples side by side; there is room for BLOCK >= n positions.
            if unsafe { L::resolve_tuples::<I>(&job, &mut note) } {
                // SAFETY: `n` positions have just been written.
                unsafe { self.note(positions.as_mut_ptr(), n, out_of_range) };
                return out_of_range;
            }
        }
        self.clear();
        let mut next = Positions::new();
        for (k, component) in components.iter().enumerate() {
            let job = ResolveJob::new(next.as_mut_ptr(), args, component, index, n);
            // SAFETY: K3, passed on; there is room for BLOCK >= n positions.
            let out_of_range = unsafe { L::resolve::<I>(&job) };
            // SAFETY: `n` positions have just been written.
            let resolved = unsafe { next.written(n) };
            if out_of_range {
                self.redirect(resolved);
            }
            let scale = component.scale as i32;
            if k == 0 {
                // SAFETY: they are written here, before they are read.
                let sums =
                    unsafe { core::slice::from_raw_parts_mut(positions.as_mut_ptr().cast::<MaybeUninit<i32>>(), n) };
                sums.iter_mut().zip(resolved).for_each(|(sum, position)| {
                    sum.write(position.wrapping_mul(scale));
                });
            } else {
                // SAFETY: the first component wrote them.
                let sums = unsafe { positions.written(n) };
                sums.iter_mut().zip(resolved).for_each(|(sum, position)| {
                    *sum = sum.wrapping_add(position.wrapping_mul(scale));
                });
            }
        }
        self.has_bad
    }

    /// Whether an index of the block is out of range.
    #[inline(always)]
    pub(crate) fn has_bad(&self) -> bool {
        self.has_bad
    }

    /// Becomes the same as another. The bits are copied only if an index is out of range.
    #[inline(always)]
    pub(crate) fn copy_from(&mut self, other: &Block) {
        self.has_bad = other.has_bad;
        if other.has_bad {
            self.bad = other.bad;
        }
    }

    /// Whether the index of a row is out of range, where the block has such.
    #[inline(always)]
    pub(crate) fn is_bad(&self, row: usize) -> bool {
        self.bad[row / 64] >> (row % 64) & 1 != 0
    }

    /// Notes which of a block of `n <= BLOCK` resolved indices are out of range: -1 stands for them.
    ///
    /// # Safety
    /// `positions` are `n` positions that have been written, and may be again.
    #[inline(always)]
    pub(crate) unsafe fn note(&mut self, positions: *mut i32, n: usize, out_of_range: bool) {
        self.has_bad = false;
        if out_of_range {
            self.clear();
            // SAFETY: the caller's promise.
            self.redirect(unsafe { core::slice::from_raw_parts_mut(positions, n) });
        }
    }

    fn clear(&mut self) {
        (self.bad, self.has_bad) = ([0; BLOCK / 64], false);
    }

    /// Turns positions out of range (-1) into position 0, and adds them to those that are known. Mostly they
    /// are few, so that eight positions are looked at together first.
    #[inline(never)]
    fn redirect(&mut self, positions: &mut [i32]) {
        self.has_bad = true;
        for (positions, bits) in positions.chunks_mut(64).zip(&mut self.bad) {
            for (eighth, few) in positions.chunks_mut(8).enumerate() {
                if few.iter().fold(0, |signs, position| signs | position) < 0 {
                    *bits |= redirect_few(few) << (eighth * 8);
                }
            }
        }
    }

    /// Writes the fill over the rows from `out` on whose index is out of range, where that is the policy.
    ///
    /// # Safety
    /// K1 and K6 for the rows resolved last.
    #[inline(always)]
    pub(crate) unsafe fn fill(&self, args: &IndexArgs<'_>, out: *mut u8) {
        if self.has_bad && args.spec.policy.out_of_bounds == OutOfBounds::Zero {
            // SAFETY: the caller's promise.
            unsafe { self.fill_bad(args, out) };
        }
    }

    /// As [`Block::fill`], where there are some.
    ///
    /// # Safety
    /// As for [`Block::fill`].
    #[inline(never)]
    unsafe fn fill_bad(&self, args: &IndexArgs<'_>, out: *mut u8) {
        for (group, &bits) in self.bad.iter().enumerate() {
            let out = out.wrapping_offset(args.inner().out.wrapping_mul(group as isize * 64));
            // SAFETY: the caller's promise, for 64 of the rows.
            unsafe { fill_rows(args, out, bits) };
        }
    }
}

/// Turns negative positions among a few into 0; returns which they were.
fn redirect_few(positions: &mut [i32]) -> u64 {
    let mut found = 0;
    for (at, position) in positions.iter_mut().enumerate() {
        found |= u64::from(*position < 0) << at;
        *position = (*position).max(0);
    }
    found
}

/// Writes the fill over those of 64 rows from `out` on whose bits are set.
///
/// # Safety
/// K1 and K6 for the rows.
#[inline(always)]
pub(crate) unsafe fn fill_rows(args: &IndexArgs<'_>, out: *mut u8, bits: u64) {
    let mut left = bits;
    while left != 0 {
        let row = left.trailing_zeros() as isize;
        left &= left - 1;
        // SAFETY: the caller's promise.
        unsafe { fill_row(args, out.wrapping_offset(args.inner().out.wrapping_mul(row))) };
    }
}

/// Writes the fill over one row.
///
/// # Safety
/// K1 and K6 for the row at `out`.
#[inline(always)]
pub(crate) unsafe fn fill_row(args: &IndexArgs<'_>, out: *mut u8) {
    let fill = args.spec.fill.as_slice();
    debug_assert!(!fill.is_empty(), "K6: a fill");
    let mut at = 0;
    while at < args.spec.row {
        // SAFETY: K6: `at + fill.len() <= row`, which K1 lets us write; the fill belongs to the plan, apart from the
        // output.
        unsafe { out.wrapping_add(at).copy_from_nonoverlapping(fill.as_ptr(), fill.len()) };
        at += fill.len();
    }
}
