//! A block of resolved indices: their positions, and which of them are out of range.

use core::mem::MaybeUninit;

use crate::kernels::args::KernelSpec;
use crate::kernels::levels::Isa;
use crate::kernels::plane::Strip;
use crate::kernels::resolve::{ResolveFn, ResolveJob, TupleJob, TuplesFn};
use crate::types::index::Index;

/// Indices resolved at once: their positions take 2 KiB, a small part of any first-level cache.
pub(crate) const BLOCK: usize = 512;

/// A buffer for the positions of a block, at the begin of a line: what is read soon after it was written should not
/// have been written across two.
#[repr(align(64))]
pub(crate) struct Positions([MaybeUninit<i32>; BLOCK]);

impl Positions {
    /// An uninitialised buffer.
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

    /// Writes the first positions, up to the length of the buffer.
    #[inline(always)]
    pub(crate) fn write(&mut self, positions: impl Iterator<Item = i32>) {
        self.0.iter_mut().zip(positions).for_each(|(room, position)| {
            room.write(position);
        });
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

/// The functions that resolve indices of a type at a level: what loops over blocks are given, which know neither.
#[derive(Clone, Copy)]
pub(crate) struct ResolveFns {
    one: ResolveFn,
    tuples: Option<TuplesFn>,
}

impl ResolveFns {
    /// Those of an index type at a level.
    #[inline(always)]
    pub(crate) fn of<I: Index, L: Isa>(level: L) -> Self {
        ResolveFns { one: level.resolve::<I>(), tuples: level.resolve_tuples::<I>() }
    }

    /// The function for tuples that are contiguous, if the level has one and these are.
    #[inline(always)]
    pub(crate) fn of_tuples(self, spec: &KernelSpec) -> Option<TuplesFn> {
        self.tuples.filter(|_| spec.adjacent_tuples)
    }
}

/// A resolved block: whether an index is out of range, and which positions stand for those. The positions themselves
/// lie in [`Positions`].
#[derive(Clone, Copy)]
pub(crate) struct Block {
    has_bad: bool,
    /// Positions below it stand for an index out of range. Only looked at when `has_bad`.
    least: i32,
}

/// The position of a tuple out of range. Positions of others may be negative, where scales are.
const BAD_TUPLE: i32 = i32::MIN;

impl Block {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Block { has_bad: false, least: 0 }
    }

    /// Resolves the indices of a strip of at most [`BLOCK`] iterations, each of all its components. Those out of range
    /// get a position that [`Block::is_bad`] knows; returns whether there are any.
    #[inline(always)]
    pub(crate) fn resolve(&mut self, positions: &mut Positions, strip: &Strip<'_>, fns: ResolveFns) -> bool {
        match strip.spec().components.as_slice() {
            [component] => {
                let out_of_range = (fns.one)(&ResolveJob::new(strip, component, positions));
                self.note(out_of_range);
                // SAFETY: the position of each iteration of the strip has just been written.
                let positions = unsafe { positions.written(strip.n()) };
                debug_assert!(positions.iter().all(|&x| (-1..component.dim).contains(&x.into())), "K2: {positions:?}");
                out_of_range
            }
            _ => self.resolve_tuples(positions, strip, fns),
        }
    }

    /// As [`Block::resolve`], of several components.
    #[inline(never)]
    fn resolve_tuples(&mut self, positions: &mut Positions, strip: &Strip<'_>, fns: ResolveFns) -> bool {
        let (spec, n) = (strip.spec(), strip.n());
        if let Some(resolve_tuples) = fns.of_tuples(spec) {
            let mut out_of_range = false;
            let mut note = |_, bad| {
                out_of_range = bad;
                true
            };
            if resolve_tuples((&TupleJob::one_chunk(strip, positions), &mut note)) {
                self.note(out_of_range);
                return out_of_range;
            }
        }
        self.note(false);
        let mut next = Positions::new();
        for (k, component) in spec.components.iter().enumerate() {
            let out_of_range = (fns.one)(&ResolveJob::new(strip, component, &mut next));
            // SAFETY: the position of each iteration of the strip has just been written.
            let resolved = unsafe { next.written(n) };
            let scale = component.scale as i32;
            if k == 0 {
                positions.write(resolved.iter().map(|position| position.wrapping_mul(scale)));
            }
            // SAFETY: the first component has written them.
            let sums = unsafe { positions.written(n) };
            if k > 0 && !self.has_bad {
                sums.iter_mut().zip(&*resolved).for_each(|(sum, position)| {
                    *sum = sum.wrapping_add(position.wrapping_mul(scale));
                });
            } else if k > 0 {
                sums.iter_mut().zip(&*resolved).for_each(|(sum, position)| {
                    let next = sum.wrapping_add(position.wrapping_mul(scale));
                    *sum = if *sum == BAD_TUPLE { BAD_TUPLE } else { next };
                });
            }
            if out_of_range {
                *self = Block { has_bad: true, least: BAD_TUPLE + 1 };
                sums.iter_mut().zip(&*resolved).for_each(|(sum, position)| {
                    *sum = if *position < 0 { BAD_TUPLE } else { *sum };
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

    /// Positions below this one stand for an index out of range, where the block has such.
    #[inline(always)]
    pub(crate) fn least(&self) -> i32 {
        self.least
    }

    /// Whether a position of the block stands for an index out of range, where the block has such.
    #[inline(always)]
    pub(crate) fn is_bad(&self, position: i32) -> bool {
        position < self.least
    }

    /// Notes whether an index is out of range of resolved ones: -1 stands for it.
    #[inline(always)]
    pub(crate) fn note(&mut self, out_of_range: bool) {
        *self = Block { has_bad: out_of_range, least: 0 };
    }
}
