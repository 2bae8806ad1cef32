//! Remapping: under `Clamp` and `Wrap`, each index out of range is replaced before a kernel reads it.
//!
//! ```text
//! for each block of at most 512 indices:
//!     buffer = the indices, each replaced by an index in range of the same type       (`Remap::replace`)
//!     run the kernel over the loops of the block, on the buffer instead of the indices
//! ```
//!
//! A kernel then meets only indices in range and missing indices. A block takes whole inner loops that move indices, as
//! long as they fit, and a chunk of the next loop. Loops around the block that move data but no indices run inside the
//! kernel, so each block is remapped once. All other loops run here, in order.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use smallvec::SmallVec;

use crate::kernels::by_level::{by_level, level_pointers};
use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::nest::args::{Cursor, IndexArgs, IndexKernel, Loop, Loops, Outcome, each_coordinate};
use crate::kernels::nest::plane::Indices;
use crate::kernels::nest::positions::BLOCK;
use crate::types::index::{Index, IndexType, by_index};
use crate::types::level::Available;
use crate::types::policy::{KernelPolicy, Remap};

/// The indices of an axis and the buffer they are remapped into.
pub(crate) struct RemapJob {
    indices: Indices,
    /// The size of the axis, at least 1.
    dim: i64,
    remap: Remap,
    from_end: bool,
    out: *mut u8,
    /// Bytes between indices in the buffer.
    step: usize,
}

type RemapFn = fn(&RemapJob);
level_pointers! { fn(&RemapJob); }

impl RemapJob {
    /// A job that remaps indices of an axis of `dim >= 1` positions into a buffer at `out`.
    ///
    /// # Safety
    /// The buffer takes `indices.n()` values of the indices' type, at any alignment, `step` bytes apart.
    unsafe fn new(
        indices: Indices,
        dim: i64,
        (remap, policy): (Remap, KernelPolicy),
        (out, step): (*mut u8, usize),
    ) -> Self {
        debug_assert!(dim >= 1);
        RemapJob { indices, dim, remap, from_end: policy.from_end, out, step }
    }

    #[inline(always)]
    fn write<I: Index>(&self, at: usize, index: I) {
        debug_assert!(at < self.indices.n());
        // SAFETY: `RemapJob::new`: the buffer takes `n` values of the indices' type, `I`. Callers keep `at < n`.
        unsafe { self.out.wrapping_add(at * self.step).cast::<I>().write_unaligned(index) };
    }

    /// Remaps the indices. The match makes the policy a constant of each loop.
    #[inline(never)]
    fn each<I: Index>(&self) {
        match self.remap {
            Remap::Clamp => self.each_by::<I>(Remap::Clamp),
            remap => self.each_by::<I>(remap),
        }
    }

    #[inline(always)]
    fn each_by<I: Index>(&self, remap: Remap) {
        for at in 0..self.indices.n() {
            self.write(at, remap.replace(self.indices.read::<I>(at), self.dim, self.from_end));
        }
    }
}

/// [`RemapFn`] for an index type. At its level, contiguous indices are clamped by vectors.
struct RemapOf<I>(PhantomData<I>);

impl<I: Index> LevelFn for RemapOf<I> {
    type Args<'a> = &'a RemapJob;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, job: &RemapJob) {
        // Only common index types have the vectorised loop: a program links one per type.
        let vectors = const { matches!(I::TYPE.fixed_width(), IndexType::I32 | IndexType::I64 | IndexType::U32) };
        match (job.remap, job.indices.contiguous(size_of::<I>())) {
            (remap @ Remap::Clamp, Some(indices)) if vectors && job.step == size_of::<I>() => {
                // Constant steps let compilers vectorise the loop.
                let job = RemapJob { indices, step: size_of::<I>(), ..*job };
                for at in 0..job.indices.n() {
                    job.write(at, remap.replace(indices.read::<I>(at), job.dim, job.from_end));
                }
            }
            _ => job.each::<I>(),
        }
    }
}

fn remap_fn(index: IndexType, level: Available) -> RemapFn {
    by_index!(index, I => by_level!(fn RemapOf<I>).at(level))
}

/// Remaps indices outside of a loop nest, along an axis of `dim >= 1` positions, in blocks of at most `BLOCK`. Calls
/// `run(first, remapped)` for each block: `first` is the number of the block's first index.
///
/// # Safety
/// K3: the indices are of the type `index`.
pub(crate) unsafe fn each_block(
    indices: Indices,
    (index, level): (IndexType, Available),
    dim: i64,
    (remap, policy): (Remap, KernelPolicy),
    mut run: impl FnMut(usize, Indices),
) {
    assert!(dim >= 1, "an axis without positions");
    let mut buffer = [MaybeUninit::<u64>::uninit(); BLOCK];
    let (start, size): (*mut u8, usize) = (buffer.as_mut_ptr().cast(), index.size());
    for first in (0..indices.n()).step_by(BLOCK) {
        let block = indices.part(first, BLOCK.min(indices.n() - first));
        // SAFETY: the buffer takes `BLOCK` values of 8 bytes; a block has at most `BLOCK` indices, none longer.
        remap_fn(index, level)(&unsafe { RemapJob::new(block, dim, (remap, policy), (start, size)) });
        // SAFETY: the job has just written `block.n()` adjacent indices to the buffer.
        run(first, unsafe { Indices::new(start, size as isize, block.n()) });
    }
}

/// Calls a kernel, on remapped indices if the policy says so.
///
/// # Safety
/// The kernel takes the arguments, except for the policy's remapping, and also with fewer iterations of each loop. The
/// indices are of the type `index`.
#[inline(always)]
pub(crate) unsafe fn call(kernel: IndexKernel, index: IndexType, args: &IndexArgs<'_>) -> Outcome {
    match args.spec().policy.remap {
        None => {
            // SAFETY: by the caller's contract, the kernel takes the arguments; their policy does not remap.
            unsafe { kernel(args) }
        }
        Some(remap) => {
            // SAFETY: by the caller's contract, which `in_blocks` shares.
            unsafe { in_blocks(kernel, remap, index, args) }
        }
    }
}

/// [`call`] for a policy that remaps.
///
/// # Safety
/// As for [`call`].
#[inline(never)]
unsafe fn in_blocks(kernel: IndexKernel, remap: Remap, index: IndexType, args: &IndexArgs<'_>) -> Outcome {
    let (size, tuple) = (index.size(), args.spec().components.len());
    let blocks = Blocks::new(args.loops(), (BLOCK / tuple).max(1));
    let mut buffer: SmallVec<[MaybeUninit<u64>; BLOCK]> =
        SmallVec::from_elem(MaybeUninit::uninit(), (blocks.tuples * tuple * size).div_ceil(size_of::<u64>()));
    let start: *mut u8 = buffer.as_mut_ptr().cast();
    let mut spec = args.spec().clone();
    let policy = spec.policy;
    spec.policy.remap = None;
    for (k, component) in spec.components.iter_mut().enumerate() {
        component.index = (k * size) as isize;
    }
    let (remap_all, mut loops, mut outcome) = (remap_fn(index, spec.level), Loops::new(), Outcome::NOTHING);
    blocks.each(args, |origin, moving| {
        let mut filled = 0;
        let (around, inner) = moving.split_at(moving.len().saturating_sub(1));
        let inner = inner.first().unwrap_or(&Loop::ONCE);
        each_coordinate(around, *origin, |at| {
            for (k, component) in args.spec().components.iter().enumerate() {
                let first = at.index.wrapping_offset(component.index);
                // SAFETY: K3 of `args`: the indices of the inner loop at a coordinate of the loops around it.
                let indices = unsafe { Indices::new(first, inner.index, inner.n) };
                let out = start.wrapping_add((filled * tuple + k) * size);
                // SAFETY: the buffer takes `blocks.tuples * tuple` indices, the most that a block has (`Blocks`).
                let job = unsafe { RemapJob::new(indices, component.dim, (remap, policy), (out, tuple * size)) };
                remap_all(&job);
            }
            filled += inner.n;
        });
        debug_assert!(filled <= blocks.tuples, "{filled} tuples of {}", blocks.tuples);
        loops.clear();
        loops.extend(blocks.loops_of_kernel(args.loops(), moving, tuple * size));
        let origin = Cursor { index: start, ..*origin };
        // SAFETY: the contract of `args`, for a subset of the iterations of its loops. K3: their indices are in the
        // buffer, tuple by tuple, in the order of the loops that move indices.
        let part = unsafe { IndexArgs::new(&spec, origin, &loops, args.stride(), args.params()) };
        // SAFETY: by the caller's contract, the kernel also takes fewer iterations of each loop of `args`.
        outcome = outcome.and(unsafe { kernel(&part) });
    });
    outcome
}

/// The blocks of indices of a loop nest.
struct Blocks {
    /// The loop that is cut; inner loops run whole.
    cut: usize,
    /// Iterations of the cut loop per block.
    part: usize,
    /// Maximum tuples per block.
    tuples: usize,
}

impl Blocks {
    /// Blocks of at most `most` tuples.
    fn new(loops: &[Loop], most: usize) -> Self {
        let mut tuples = 1;
        for (cut, along) in loops.iter().enumerate().rev().filter(|(_, along)| along.index != 0) {
            if along.n > most / tuples {
                let part = (most / tuples).max(1);
                return Blocks { cut, part, tuples: tuples * part };
            }
            tuples *= along.n;
        }
        Blocks { cut: 0, part: loops.first().map_or(1, |outer| outer.n), tuples }
    }

    /// Whether a loop around the blocks runs inside the kernel: it repeats the same indices and, in a scatter, is free
    /// (P1), so the order of its iterations does not matter.
    fn is_inside(along: &Loop) -> bool {
        along.index == 0 && along.data != 0
    }

    /// Calls `run(cursor, moving)` for each block in the order of the loops: `cursor` is at the block's first
    /// iteration, and `moving` are the loops that move its indices.
    fn each(&self, args: &IndexArgs<'_>, mut run: impl FnMut(&Cursor, &[Loop])) {
        let (around, [cut, inner @ ..]) = args.loops().split_at(self.cut) else { unreachable!("K5: an inner loop") };
        let around: Loops = around.iter().filter(|along| !Self::is_inside(along)).copied().collect();
        let mut moving = Loops::new();
        each_coordinate(&around, *args.origin(), |at| {
            for first in (0..cut.n).step_by(self.part) {
                let part = Loop { n: self.part.min(cut.n - first), ..*cut };
                moving.clear();
                moving.extend([part].iter().chain(inner).filter(|along| along.index != 0).copied());
                run(&at.skip(cut, first), &moving);
            }
        });
    }

    /// The loops of a kernel on a block, one per loop of the nest. `moving` are the loops that move the block's
    /// indices, which are contiguous tuples of `tuple` bytes in the buffer.
    fn loops_of_kernel<'l>(
        &'l self,
        loops: &'l [Loop],
        moving: &'l [Loop],
        tuple: usize,
    ) -> impl Iterator<Item = Loop> + 'l {
        let (mut left, mut step) = (moving, moving.iter().fold(tuple, |bytes, along| bytes * along.n));
        loops.iter().enumerate().map(move |(depth, along)| match left {
            _ if depth < self.cut && Self::is_inside(along) => *along,
            _ if depth < self.cut => Loop { n: 1, index: 0, ..*along },
            [first, rest @ ..] if along.index != 0 => {
                left = rest;
                step /= first.n;
                Loop { index: step as isize, ..*first }
            }
            _ => *along,
        })
    }
}
