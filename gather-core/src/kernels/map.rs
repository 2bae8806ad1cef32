//! Converting while gathering: the kernels of maps.
//!
//! ```text
//! for each outer coordinate:                 nest of any rank (an odometer)
//!     for each block of lanes:
//!         resolve the block's indices        (`arch`: index type x level), as every index operator does
//!         for each lane:                     mover (map x level), called through a pointer once a block
//!             look its parameters up         by the resolved index: the position along the axis
//!             convert the row                a loop over two slices, which the compiler vectorises
//!         patch the lanes out of range       (`OutOfBounds::Zero` only) with zeros of the output's type
//! ```
//!
//! The bytes of the input are read once and those of the output written once; nothing lies between. What depends on the
//! index type (the nests, here) and what depends on the map (its two movers, where the map is made) meet at a pointer, so
//! that a map costs two functions to compile and not one for each index type.
//!
//! Rows that are not in the cache are fetched ahead piece by piece, between the pieces that are converted: asking for a whole
//! row at once, as the kernels that only move rows do, fills the queue of outstanding misses, in which the stores stand too.
//! Rows of 768 f16 took 2.5 ms so, and take 2.0; asking for many rows before any is converted takes 3.5, and streaming
//! stores 3.1 (8,192 rows of 50,257; 2026-11-21, 2-core EPYC of the Zen 4 class, `maps/f16_to_f32_50257x768_8k`).
//!
//! A lane out of range is converted as if it were position 0, which every axis has, before it is patched.

use core::mem::MaybeUninit;

use crate::index::{Index, IndexType};
use crate::kernels::arch::{Scalar, Tier};
use crate::kernels::args::{Cursor, IndexArgs, Verdict};
use crate::kernels::block::{BLOCK, Block, Units, fill_row};
use crate::kernels::nest::index_odometer;
use crate::kernels::rows::prefetch;
use crate::kernels::unit::{Lanes, Next};
use crate::level::Level;
use crate::map::{Convert, Params};
use crate::ops::{IndexRules, OutOfBounds};

/// Everything that a kernel of a map works on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapArgs<'a> {
    /// `row` is in bytes of the output.
    pub(crate) index: IndexArgs<'a>,
    pub(crate) mover: MapMover,
    /// The map's `Params::Lookups`.
    pub(crate) params: *const (),
    /// Elements that a lane converts.
    pub(crate) elements: usize,
}

/// Resolved lanes of a map.
pub(crate) struct MapLanes {
    /// `row` is in elements.
    lanes: Lanes,
    params: *const (),
    /// Position along the axis that unit 0 stands for.
    first: usize,
}

/// Converts resolved lanes: a map at a level.
///
/// # Safety
/// K1, K2, K4, K7 and K8 for the lanes, for the types of the map.
pub(crate) type MapMover = unsafe fn(&MapLanes);

/// A nest of a map.
pub(crate) type MapNest = unsafe fn(&MapArgs<'_>) -> Verdict;

/// The nest for an index type at a level.
pub(crate) fn map_nest(index: IndexType, level: Level) -> MapNest {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => block_nest::<crate::kernels::Avx2>(index),
        _ => block_nest::<Scalar>(index),
    }
}

macro_rules! by_word {
    ($index:expr, $nest:ident $(, $level:ty)?) => {
        match $index.word() {
            IndexType::I8 => $nest::<i8 $(, $level)?>,
            IndexType::I16 => $nest::<i16 $(, $level)?>,
            IndexType::I32 => $nest::<i32 $(, $level)?>,
            IndexType::I64 | IndexType::Isize => $nest::<i64 $(, $level)?>,
            IndexType::U8 => $nest::<u8 $(, $level)?>,
            IndexType::U16 => $nest::<u16 $(, $level)?>,
            IndexType::U32 => $nest::<u32 $(, $level)?>,
            IndexType::U64 | IndexType::Usize => $nest::<u64 $(, $level)?>,
        }
    };
}

fn block_nest<L: Tier>(index: IndexType) -> MapNest {
    by_word!(index, nest, L)
}

/// The nest for axes and offsets beyond `i32`.
#[cold]
pub(crate) fn wide_map_nest(index: IndexType) -> MapNest {
    by_word!(index, nest_wide)
}

/// Resolves blocks of lanes and converts them.
///
/// # Safety
/// The kernel contract for `args`, and K8.
unsafe fn nest<I: Index, L: Tier>(args: &MapArgs<'_>) -> Verdict {
    let (mut units, mut block) = (Units::new(), Block::new());
    let (lane, mut resolved, mut out_of_range) = (*args.index.lane(), core::ptr::null(), false);
    index_odometer(&args.index, &mut |at| {
        let mut done = 0;
        while done < lane.n {
            let n = (lane.n - done).min(BLOCK);
            let at = at.skip(&lane, done);
            // Several blocks share the buffer when the lanes are more than one.
            if at.index != resolved || n != lane.n {
                let component = &args.index.components[0];
                // SAFETY: K3 for `n` lanes from here on.
                let found =
                    unsafe { block.resolve::<I, L>(&mut units, &args.index, component, at.index, lane.index, n) };
                out_of_range |= found.out_of_range;
                resolved = at.index;
            }
            // SAFETY: the kernel contract and K8 for these lanes, which the block holds.
            unsafe { convert_block(args, &block, &units, at, n) };
            done += n;
        }
    });
    Verdict { out_of_range }
}

/// Converts `n <= BLOCK` resolved lanes, and fills those that are out of range.
///
/// # Safety
/// The kernel contract and K8 for the lanes from `at` on; the block holds them resolved.
unsafe fn convert_block(args: &MapArgs<'_>, block: &Block, units: &Units, at: Cursor, n: usize) {
    if block.has_bad && args.index.out_of_bounds == OutOfBounds::Error {
        return;
    }
    let job = MapLanes { lanes: lanes(args, at, units.as_ptr(), n), params: args.params, first: 0 };
    // SAFETY: K1, K2, K4, K7 and K8 for these lanes; every unit in the block is in range or redirected to 0.
    unsafe { (args.mover)(&job) };
    // SAFETY: K1 and K6 for these lanes.
    unsafe { block.patch(&args.index, at.out) };
}

/// `n` lanes from `at` on, counted in elements.
fn lanes(args: &MapArgs<'_>, at: Cursor, units: *const i32, n: usize) -> Lanes {
    Lanes { row: args.elements, ..Lanes::at(&args.index, at, units, n, Next::NONE) }
}

/// Resolves and converts lane by lane, in 64-bit arithmetic.
///
/// # Safety
/// The kernel contract for `args`, and K8.
unsafe fn nest_wide<I: Index>(args: &MapArgs<'_>) -> Verdict {
    let IndexArgs { negative, out_of_bounds, components, .. } = args.index;
    let rules = IndexRules { negative, out_of_bounds };
    let (lane, component, mut out_of_range) = (args.index.lane(), &components[0], false);
    index_odometer(&args.index, &mut |mut at| {
        for _ in 0..lane.n {
            let index = at.index.wrapping_offset(component.index).cast::<I>();
            // SAFETY: K3 for this lane.
            let value = unsafe { index.read_unaligned() };
            match rules.resolve(value, component.dim) {
                Some(position) => {
                    let data = at.data.wrapping_offset(args.index.unit.wrapping_mul(position as isize));
                    let lanes = lanes(args, Cursor { data, ..at }, &raw const ZERO, 1);
                    let job = MapLanes { lanes, params: args.params, first: position as usize };
                    // SAFETY: K1, K2, K4, K7 and K8 for this lane: the position is in range, and unit 0 is there.
                    unsafe { (args.mover)(&job) };
                }
                None => {
                    out_of_range = true;
                    if out_of_bounds == OutOfBounds::Zero {
                        // SAFETY: K1 and K6 for this lane.
                        unsafe { fill_row(&args.index, at.out) };
                    }
                }
            }
            at = at.step(lane);
        }
    });
    Verdict { out_of_range }
}

/// The unit of a lane whose position is in its address already.
static ZERO: i32 = 0;

/// The scalar level of a map.
///
/// # Safety
/// As for [`MapMover`].
pub(crate) unsafe fn mapped_scalar<C: Convert>(job: &MapLanes) {
    // SAFETY: the caller's promise.
    unsafe { convert_lanes::<C>(job, row_scalar::<C>) }
}

/// The AVX2 level of a map.
///
/// # Safety
/// As for [`MapMover`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn mapped_avx2<C: Convert>(job: &MapLanes) {
    let row = |from: &[C::In], to: &mut [MaybeUninit<C::Out>], params| {
        // SAFETY: K7: the machine has AVX2.
        unsafe { row_avx2::<C>(from, to, params) }
    };
    // SAFETY: the caller's promise.
    unsafe { convert_lanes::<C>(job, row) }
}

/// A row at the scalar level.
#[inline(never)]
fn row_scalar<C: Convert>(from: &[C::In], to: &mut [MaybeUninit<C::Out>], params: C::Params) {
    convert_row::<C>(from, to, params);
}

/// A row at the AVX2 level.
///
/// # Safety
/// K7: the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn row_avx2<C: Convert>(from: &[C::In], to: &mut [MaybeUninit<C::Out>], params: C::Params) {
    convert_row::<C>(from, to, params);
}

/// Converts resolved lanes.
///
/// # Safety
/// As for [`MapMover`].
#[inline(always)]
unsafe fn convert_lanes<C: Convert>(job: &MapLanes, row: impl Fn(&[C::In], &mut [MaybeUninit<C::Out>], C::Params)) {
    let lanes = &job.lanes;
    if lanes.row == 1 {
        for lane in 0..lanes.n {
            // SAFETY: the caller's promise; `lane < n`.
            let (from, to, params) = unsafe { ends::<C>(job, lane) };
            // SAFETY: K2 and K8: a value of the map's input, aligned for it.
            let value = unsafe { from.read() };
            // SAFETY: K1 and K8: memory for a value of the map's output, aligned for it.
            unsafe { to.write(MaybeUninit::new(C::convert(value, params))) };
        }
        return;
    }
    let piece = (PIECE / size_of::<C::In>()).max(1);
    for lane in 0..lanes.n {
        // SAFETY: the caller's promise; `lane < n`.
        let (from, to, params) = unsafe { ends::<C>(job, lane) };
        // SAFETY: K2 and K8: `row` values of the map's input, aligned for it.
        let from = unsafe { core::slice::from_raw_parts(from, lanes.row) };
        // SAFETY: K1, K4 and K8: memory for `row` values of the map's output, aligned for it, that nothing else uses.
        let to = unsafe { core::slice::from_raw_parts_mut(to, lanes.row) };
        if lanes.ahead == 0 {
            row(from, to, params);
            continue;
        }
        // SAFETY: below `n`.
        let next = unsafe { lanes.source((lane + lanes.ahead).min(lanes.n - 1)) };
        let pieces = from.chunks(piece).zip(to.chunks_mut(piece));
        for (k, (from, to)) in pieces.enumerate() {
            prefetch(next.wrapping_add(k * piece * size_of::<C::In>()), size_of_val(from));
            row(from, to, params);
        }
    }
}

/// Bytes of a row that are fetched at once.
const PIECE: usize = 256;

/// Where a lane comes from, where it goes, and the values of the parameters for it.
///
/// # Safety
/// K8 for the lanes; `lane < n`.
#[inline(always)]
unsafe fn ends<C: Convert>(job: &MapLanes, lane: usize) -> (*const C::In, *mut MaybeUninit<C::Out>, C::Params) {
    let lanes = &job.lanes;
    // SAFETY: K8: the lookups of this map's parameters.
    let lookups = unsafe { &*job.params.cast::<<C::Params as Params>::Lookups<'_>>() };
    // SAFETY: `units` has `n` entries.
    let unit = unsafe { lanes.units.wrapping_add(lane).read() };
    // SAFETY: K8: the unit, which is in range, is a position along the axis.
    let params = unsafe { C::Params::at(lookups, job.first + unit as usize) };
    // SAFETY: `lane < n`.
    let from = unsafe { lanes.source(lane) };
    (from.cast(), lanes.target(lane).cast(), params)
}

/// Converts a row into one of the same length.
#[inline(always)]
fn convert_row<C: Convert>(from: &[C::In], to: &mut [MaybeUninit<C::Out>], params: C::Params) {
    for (to, &value) in to.iter_mut().zip(from) {
        to.write(C::convert(value, params));
    }
}
