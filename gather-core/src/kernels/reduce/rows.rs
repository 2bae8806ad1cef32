//! Reducing rows one by one, in their order.
//!
//! ```text
//! for each row, in order:
//!     prefetch both ends of a later row         (destinations beyond the caches only)
//!     for each line's worth of its elements:    load both ends, combine, store
//! ```
//!
//! A line's worth of elements (a vector's at the scalar level of x86-64) is combined by value, in a form that compilers
//! vectorise for each level: no store stands between its loads, so that nothing has to be known about where the other
//! end lies. Rows that go to the same place follow one another, so that each sees what the one before has left.

use core::marker::PhantomData;
use core::sync::atomic::{Ordering, compiler_fence};

use crate::kernels::by_level::by_level;
use crate::kernels::moves::MoveJob;
use crate::kernels::moves::placed::FIRST_BYTES;
use crate::kernels::moves::prefetch::{LINE, prefetch};
use crate::kernels::reduce::RowFns;
use crate::kernels::reduce::by_index;
use crate::types::element::{Element, Unaligned};

/// Reduces resolved rows into their destinations.
///
/// # Safety
/// The contract of a scatter for the rows, whose positions are in range.
pub(crate) type ReduceFn = unsafe fn(&ReduceJob<'_>);

/// Rows to be reduced.
pub(crate) struct ReduceJob<'a> {
    pub(crate) these: Chosen<'a>,
    /// Rows that are reduced after these, and are prefetched at the same time; `None` where they are among these.
    pub(crate) later: Option<Chosen<'a>>,
    /// Elements of a row.
    pub(crate) elements: usize,
}

/// Some of the rows of a job, in their order.
#[derive(Clone, Copy)]
pub(crate) struct Chosen<'a> {
    /// Where rows come from (`target`) and go to (`source`): a gather's job, run the other way.
    pub(crate) rows: &'a MoveJob,
    /// Which of them; `None` for all.
    pub(crate) which: Option<&'a [u16]>,
}

impl Chosen<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.which.map_or(self.rows.n, <[u16]>::len)
    }

    /// The `k`-th of the rows.
    #[inline(always)]
    fn row(&self, k: usize) -> usize {
        self.which.map_or(k, |which| usize::from(which[k]))
    }

    /// Whether all that are listed are rows of the job.
    pub(super) fn is_sound(&self) -> bool {
        self.which.is_none_or(|which| which.iter().all(|&row| usize::from(row) < self.rows.n))
    }
}

/// Reduces an element and an update: emitted by [`reduce_kernels!`](crate::reduce_kernels!) for a closure, and
/// implemented by the built-in reductions.
#[doc(hidden)]
pub trait Combine: 'static {
    /// The type of both.
    type Item: Element;
    /// The name.
    const NAME: &'static str = "built in";
    /// The element of which and an update `combine` makes what `first` makes of the update, if there is one.
    const IDENTITY: Option<Self::Item> = None;

    /// The new value of the element.
    fn combine(kept: Self::Item, new: Self::Item) -> Self::Item;

    /// The new value of an element that does not count, after the first update.
    #[inline(always)]
    fn first(new: Self::Item) -> Self::Item {
        new
    }
}

/// The functions of a reduction.
pub(crate) const fn reduce<C: Combine>() -> RowFns {
    RowFns { resolved: by_level!(reduce_scalar::<C>, reduce_avx2::<C>), by_index: by_index::choose::<C> }
}

/// Bytes of elements that the scalar level combines at a time. On x86-64, where few machines run it, a vector will do.
pub(super) const SCALAR_CHUNK: usize = if cfg!(target_arch = "x86_64") { 16 } else { LINE };

/// The scalar level of a reduction. It reduces rows of one element at the level AVX2, too.
///
/// # Safety
/// As for [`ReduceFn`], for the type of the reduction.
unsafe fn reduce_scalar<C: Combine>(job: &ReduceJob<'_>) {
    let (elements, row) = (job.elements, job.these.rows.row);
    debug_assert_eq!(row, elements * size_of::<C::Item>(), "S3");
    // SAFETY: the caller's promise.
    if elements == 1 && unsafe { each_short(job, size_of::<C::Item>(), size_of::<C::Item>(), &One::<C>(PhantomData)) } {
        return;
    }
    // SAFETY: as above.
    unsafe { each(job, row, &Several::<C, SCALAR_CHUNK>(elements, PhantomData)) }
}

/// The AVX2 level of a reduction.
///
/// # Safety
/// As for [`ReduceFn`], for the type of the reduction; K7: the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn reduce_avx2<C: Combine>(job: &ReduceJob<'_>) {
    let (elements, row) = (job.elements, job.these.rows.row);
    if elements == 1 && const { size_of::<C::Item>() <= SCALAR_CHUNK } {
        // SAFETY: the caller's promise. AVX2 does no better by single elements.
        return unsafe { reduce_scalar::<C>(job) };
    }
    debug_assert_eq!(row, elements * size_of::<C::Item>(), "S3");
    // SAFETY: the caller's promise.
    unsafe { each(job, row, &Several::<C, LINE>(elements, PhantomData)) }
}

/// Takes one row: a trait, since a closure that is called in several places might become a function of its own,
/// compiled for no level.
pub(super) trait TakeRow {
    /// # Safety
    /// S1, S2, S3 and K4 for the row.
    unsafe fn take(&self, from: *const u8, to: *mut u8);
}

/// Reduces a row of one element.
pub(super) struct One<C>(pub(super) PhantomData<C>);

/// Reduces a row of the given number of elements, `BYTES` bytes of them at a time.
struct Several<C, const BYTES: usize>(usize, PhantomData<C>);

impl<C: Combine> TakeRow for One<C> {
    #[inline(always)]
    unsafe fn take(&self, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { reduce_chunk::<C, 1>(from, to) }
    }
}

impl<C: Combine, const BYTES: usize> TakeRow for Several<C, BYTES> {
    #[inline(always)]
    unsafe fn take(&self, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { reduce_row::<C, BYTES>(from, to, self.0) }
    }
}

/// Takes every row of a job, of `bytes` bytes, in their order, and prefetches later ones.
///
/// # Safety
/// As for [`ReduceFn`]; `row` takes rows of the job.
#[inline(always)]
pub(super) unsafe fn each(job: &ReduceJob<'_>, bytes: usize, row: &impl TakeRow) {
    let distance = job.these.rows.prefetch_distance;
    let later = job.later.unwrap_or(job.these);
    let first = if job.later.is_some() { 0 } else { distance.min(later.len()) };
    let asked = if distance == 0 { 0 } else { later.len() - first };
    let (ends, later_ends, n) = (Ends::of(job.these.rows), Ends::of(later.rows), job.these.len());
    for k in 0..n.max(asked) {
        if k < asked {
            let i = later.row(first + k);
            // SAFETY: a row of the later ones, whose position has been written.
            ask_for(&later_ends, i, unsafe { later_ends.to(i) }, bytes);
        }
        if k < n {
            let i = job.these.row(k);
            // SAFETY: a row of the job, whose position has been written.
            let to = unsafe { ends.to(i) };
            // SAFETY: the caller's promise.
            unsafe { row.take(ends.from(i), to) };
        }
    }
}

/// As [`each`], for rows of so few instructions that a branch, or a step that is loaded from memory, would show. It
/// takes only jobs in which no row is left out, and returns whether it did.
///
/// # Safety
/// As for [`each`].
#[inline(always)]
#[must_use]
pub(super) unsafe fn each_short(job: &ReduceJob<'_>, updates: usize, data: usize, row: &impl TakeRow) -> bool {
    let Chosen { rows, which } = job.these;
    if which.is_some() || job.later.is_some_and(|later| later.which.is_some()) {
        return false;
    }
    let (these, distance) = (Ends::of(rows), rows.prefetch_distance);
    let (later, asked) = match job.later {
        Some(later) => (Ends::of(later.rows), later.rows.n),
        None if distance == 0 => (these, 0),
        None => (these.skip(distance.min(rows.n)), rows.n.saturating_sub(distance)),
    };
    macro_rules! with_steps {
        ($($data:expr),*) => {$(
            let steps = Steps { updates: updates as isize, data: $data };
            if these.steps == steps {
                debug_assert!(later.steps == steps, "rows of one loop");
                let (these, later) = (Ends { steps, ..these }, Ends { steps, ..later });
                // SAFETY: the caller's promise.
                unsafe { each_of(&these, rows.n, &later, asked, data, row) };
                return true;
            }
        )*};
    }
    // Along the axis, and along another one.
    with_steps!(0, data as isize);
    // SAFETY: as above.
    unsafe { each_of(&these, rows.n, &later, asked, data, row) };
    true
}

/// Takes `n` rows, and prefetches `asked` later ones.
///
/// # Safety
/// As for [`each`], for rows of these ends.
#[inline(always)]
unsafe fn each_of(these: &Ends, n: usize, later: &Ends, asked: usize, bytes: usize, row: &impl TakeRow) {
    let both = n.min(asked);
    for i in 0..both {
        // SAFETY: row `i` of the later ones, whose positions have been written.
        ask_for(later, i, unsafe { later.to(i) }, bytes);
        // SAFETY: `i < n`, whose position has been written.
        let to = unsafe { these.to(i) };
        // SAFETY: the caller's promise, for row `i`.
        unsafe { row.take(these.from(i), to) };
    }
    for i in both..asked {
        // SAFETY: as above.
        ask_for(later, i, unsafe { later.to(i) }, bytes);
    }
    for i in both..n {
        // SAFETY: `i < n`, as above.
        let to = unsafe { these.to(i) };
        // SAFETY: as above.
        unsafe { row.take(these.from(i), to) };
    }
}

/// The ends of rows, in registers: what is written might else be the job itself. They are read from it one by one,
/// since to load them at once would wait for what was just written.
#[derive(Clone, Copy)]
struct Ends {
    updates: *const u8,
    data: *const u8,
    positions: *const i32,
    stride: isize,
    steps: Steps,
}

/// Bytes from a row to the next.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Steps {
    updates: isize,
    data: isize,
}

impl Ends {
    #[inline(always)]
    fn of(rows: &MoveJob) -> Self {
        let MoveJob { out, out_step, data, data_step, positions, stride, .. } = *rows;
        Ends { updates: out, data, positions, stride, steps: Steps { updates: out_step, data: data_step } }
    }

    /// The rows from `first` on.
    #[inline(always)]
    fn skip(self, first: usize) -> Self {
        let data = self.data.wrapping_offset(self.steps.data.wrapping_mul(first as isize));
        Ends { updates: self.from(first), data, positions: self.positions.wrapping_add(first), ..self }
    }

    /// Where row `i` comes from.
    #[inline(always)]
    fn from(&self, i: usize) -> *const u8 {
        self.updates.wrapping_offset(self.steps.updates.wrapping_mul(i as isize))
    }

    /// Where row `i` goes.
    ///
    /// # Safety
    /// The position of the row has been written.
    #[inline(always)]
    unsafe fn to(&self, i: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        let position = unsafe { self.positions.wrapping_add(i).read() };
        let data = self.data.wrapping_offset(self.steps.data.wrapping_mul(i as isize));
        data.wrapping_offset(self.stride.wrapping_mul(position as isize)).cast_mut()
    }
}

/// The distance by which updates are prefetched beyond those of the rows that are prefetched, in bytes (workload
/// `index_add/512Kx64_into_16K`).
const UPDATES_AHEAD: usize = 6 << 10;

/// Prefetches the destination of row `i`, of `bytes` bytes; and for updates behind it, whose stream the processor loses
/// sight of between rows that go anywhere.
#[inline(always)]
fn ask_for(ends: &Ends, i: usize, to: *const u8, bytes: usize) {
    if bytes <= 8 {
        return prefetch(to, 1);
    }
    ask_for_lines(to, bytes);
    if bytes >= LINE && ends.steps.updates == bytes as isize {
        ask_for_lines(ends.from(i).wrapping_add(UPDATES_AHEAD), bytes);
    }
}

/// Prefetches a row, or the first lines of a long one. It takes no [`Ends`], which would be in memory for it.
#[inline(never)]
fn ask_for_lines(row: *const u8, bytes: usize) {
    let first = bytes.min(FIRST_BYTES);
    prefetch(row, first);
    prefetch(row.wrapping_add(first - 1), 1);
}

/// Reduces a row of `elements` elements: `BYTES` bytes of them at a time, then half as many, and so on.
///
/// # Safety
/// The contract of a scatter for the row.
#[inline(always)]
unsafe fn reduce_row<C: Combine, const BYTES: usize>(from: *const u8, to: *mut u8, elements: usize) {
    match const { BYTES / size_of::<C::Item>() } {
        // SAFETY: the caller's promise.
        64 => unsafe { reduce_chunks::<C, 64>(from, to, elements) },
        // SAFETY: as above.
        32 => unsafe { reduce_chunks::<C, 32>(from, to, elements) },
        // SAFETY: as above.
        16 => unsafe { reduce_chunks::<C, 16>(from, to, elements) },
        // SAFETY: as above.
        8 => unsafe { reduce_chunks::<C, 8>(from, to, elements) },
        // SAFETY: as above.
        4 => unsafe { reduce_chunks::<C, 4>(from, to, elements) },
        // SAFETY: as above.
        2 => unsafe { reduce_chunks::<C, 2>(from, to, elements) },
        // SAFETY: as above.
        _ => unsafe { reduce_chunks::<C, 1>(from, to, elements) },
    }
}

/// Reduces a row in chunks of `LONG` elements, a power of two, then of half as many, and so on.
///
/// # Safety
/// As for [`reduce_row`].
#[inline(always)]
unsafe fn reduce_chunks<C: Combine, const LONG: usize>(from: *const u8, to: *mut u8, elements: usize) {
    let ends = |at: usize| (from.wrapping_add(at * size_of::<C::Item>()), to.wrapping_add(at * size_of::<C::Item>()));
    let mut done = 0;
    while elements - done >= LONG {
        let (from, to) = ends(done);
        // SAFETY: the caller's promise, for some of the elements.
        unsafe { reduce_chunk::<C, LONG>(from, to) };
        done += LONG;
    }
    // Compilers would make loops of vectors of a loop over what is left.
    macro_rules! halves {
        ($($half:literal)*) => {$(
            if LONG > $half && (elements - done) & $half != 0 {
                let (from, to) = ends(done);
                // SAFETY: as above.
                unsafe { reduce_chunk::<C, $half>(from, to) };
                done += $half;
            }
        )*};
    }
    halves!(32 16 8 4 2 1);
    debug_assert_eq!(done, elements);
}

/// Reduces `N` contiguous elements.
///
/// # Safety
/// The contract of a scatter for these elements of a row.
#[inline(always)]
unsafe fn reduce_chunk<C: Combine, const N: usize>(from: *const u8, to: *mut u8) {
    let (from, to) = (from.cast::<[Unaligned<C::Item>; N]>(), to.cast::<[Unaligned<C::Item>; N]>());
    // SAFETY: S1: elements of updates, at any alignment.
    let new = unsafe { from.read() };
    // SAFETY: S2: elements of the destination, at any alignment, which nothing else uses meanwhile.
    let mut kept = unsafe { to.read() };
    for (k, kept) in kept.iter_mut().enumerate() {
        *kept = Unaligned(C::combine(kept.0, new[k].0));
    }
    // A huge element does not stay on the stack.
    if const { N > 1 && N * size_of::<C::Item>() <= LINE } {
        between_ends();
    }
    // SAFETY: as above.
    unsafe { to.write(kept) };
}

/// Stands between the load of elements and the store of what they become, and is no instruction. Without it, compilers
/// make a store under a mask of the least or the greatest of two, which many processors take apart, and of some loops
/// over two vectors one of shuffles (`find_cliffs --case 1:1655`).
#[inline(always)]
pub(super) fn between_ends() {
    compiler_fence(Ordering::SeqCst);
}
