//! Reducing rows one by one, in their order.
//!
//! ```text
//! for some rows at a time, in order:
//!     prefetch both ends of later rows              (destinations beyond the caches only)
//!     write down where these come from and go to
//!     for each row, and each line's worth of its elements:    load both ends, combine, store
//! ```
//!
//! Only the last of these is compiled for each reduction and level.
//!
//! A line's worth of elements (a vector's at the scalar level of x86-64) is combined by value, in a form that compilers
//! vectorise for each level: no store stands between its loads, so that nothing has to be known about where the other
//! end lies. Rows that go to the same place follow one another, so that each sees what the one before has left.

use core::marker::PhantomData;
use core::sync::atomic::{Ordering, compiler_fence};

use crate::kernels::by_level::{by_level, level_pointers};
use crate::kernels::moves::ResolvedRows;
use crate::kernels::moves::placed::FIRST_BYTES;
use crate::kernels::moves::prefetch::{LINE, prefetch};
use crate::kernels::reduce::scatter::RowFns;
use crate::kernels::reduce::scatter::by_index::{ChooseByIndex, TakeFew};
use crate::types::element::{Element, Unaligned};

/// A row, for the functions that take rows.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) elements: usize,
    /// Bytes of an update's row, and of a row or record that it goes to.
    pub(crate) bytes: usize,
    pub(crate) destination_bytes: usize,
}

/// Where a row of updates comes from and goes to.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) updates: *const u8,
    pub(crate) destination: *mut u8,
}

/// Reduces rows into their destinations, in their order.
///
/// # Safety
/// S1, S2, S3 and K4 for the rows, of the type that the function is for; K7.
pub(crate) type ReduceFn = fn(&ReduceJob<'_>);
level_pointers! { ReduceFn, unsafe fn(&ReduceJob<'_>); }

/// Rows to be reduced.
#[derive(Clone, Copy)]
pub(crate) struct ReduceJob<'a> {
    pub(crate) rows: &'a [Ends],
    pub(crate) row: Row,
}

/// Some of the rows of a job, in their order.
#[derive(Clone, Copy)]
pub(crate) struct Chosen<'a> {
    /// Where rows come from (`target`) and go to (`source`): a gather's job, run the other way.
    pub(crate) rows: &'a ResolvedRows,
    /// Which of them; `None` for all.
    pub(crate) which: Option<&'a [u16]>,
}

impl Chosen<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.which.map_or(self.rows.n(), <[u16]>::len)
    }

    /// The `k`-th of the rows.
    #[inline(always)]
    fn row(&self, k: usize) -> usize {
        self.which.map_or(k, |which| usize::from(which[k]))
    }

    /// Whether all that are listed are rows of the job.
    pub(in crate::kernels::reduce) fn is_sound(&self) -> bool {
        self.which.is_none_or(|which| which.iter().all(|&row| usize::from(row) < self.rows.n()))
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

/// The functions of a reduction, with those for elements by their indices.
pub(in crate::kernels::reduce) const fn reduce<C: Combine>(by_index: ChooseByIndex) -> RowFns {
    RowFns { resolved: by_level!(reduce_scalar::<C>, reduce_avx2::<C>), by_index }
}

/// Bytes of elements that the scalar level combines at a time. On x86-64, where few machines run it, a vector will do.
pub(in crate::kernels::reduce) const SCALAR_CHUNK: usize = if cfg!(target_arch = "x86_64") { 16 } else { LINE };

/// The scalar level of a reduction. It reduces rows of one element at the level AVX2, too.
pub(in crate::kernels::reduce) fn reduce_scalar<C: Combine>(&ReduceJob { rows, row }: &ReduceJob<'_>) {
    debug_assert_eq!(row.bytes, row.elements * size_of::<C::Item>(), "S3");
    if row.elements == 1 {
        // SAFETY: the caller's promise.
        return unsafe { each(rows, &One::<C>(PhantomData)) };
    }
    // SAFETY: as above.
    unsafe { each(rows, &Several::<C, SCALAR_CHUNK>(row.elements, PhantomData)) }
}

/// The AVX2 level of a reduction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn reduce_avx2<C: Combine>(job: &ReduceJob<'_>) {
    let &ReduceJob { rows, row } = job;
    if row.elements == 1 && const { size_of::<C::Item>() <= SCALAR_CHUNK } {
        return reduce_scalar::<C>(job);
    }
    debug_assert_eq!(row.bytes, row.elements * size_of::<C::Item>(), "S3");
    // SAFETY: the caller's promise.
    unsafe { each(rows, &Several::<C, LINE>(row.elements, PhantomData)) }
}

/// Takes one row: a trait, since a closure that is called in several places might become a function of its own,
/// compiled for no level.
pub(in crate::kernels::reduce) trait TakeRow {
    /// # Safety
    /// S1, S2, S3 and K4 for the row.
    unsafe fn take(&self, from: *const u8, to: *mut u8);
}

/// Reduces a row of one element.
pub(in crate::kernels::reduce) struct One<C>(pub(in crate::kernels::reduce) PhantomData<C>);

/// Reduces a row of the given number of elements, `BYTES` bytes of them at a time.
pub(in crate::kernels::reduce) struct Several<C, const BYTES: usize>(usize, PhantomData<C>);

impl<C: Combine> TakeFew for One<C> {
    const BYTES: usize = size_of::<C::Item>();

    #[inline(always)]
    fn of(_: usize) -> Self {
        One(PhantomData)
    }
}

/// Reduces a row of a few elements.
pub(in crate::kernels::reduce) type Few<C> = Several<C, 16>;

impl<C> Few<C> {
    #[inline(always)]
    pub(in crate::kernels::reduce) fn of(elements: usize) -> Self {
        Several(elements, PhantomData)
    }
}

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

/// Takes rows one after another.
///
/// # Safety
/// As for [`ReduceFn`], for rows that `row` takes.
#[inline(always)]
pub(in crate::kernels::reduce) unsafe fn each(rows: &[Ends], row: &impl TakeRow) {
    for ends in rows {
        // SAFETY: the caller's promise.
        unsafe { row.take(ends.updates, ends.destination) };
    }
}

/// Rows whose ends are written down before they are reduced: so no function of a reduction depends on how rows were
/// found.
pub(in crate::kernels::reduce) const ENDS: usize = 16;
/// Bytes of rows that are prefetched and reduced at a time, unless one row is longer.
const BYTES_AT_ONCE: usize = 1 << 10;

/// Reduces rows whose positions have been resolved, and prefetches later ones: those after them, or others.
///
/// # Safety
/// The contract of a scatter for the rows, whose positions are in range; the positions of the later ones have been
/// written. `reduce` is a function of the type.
pub(in crate::kernels::reduce) unsafe fn reduce_rows(
    reduce: ReduceFn,
    row: Row,
    these: Chosen<'_>,
    later: Option<Chosen<'_>>,
) {
    let (found, later_found) = (Found::of(these.rows), Found::of(later.unwrap_or(these).rows));
    let distance = these.rows.addresses().prefetch_distance();
    let first = if later.is_some() { 0 } else { distance.min(these.len()) };
    let later = later.unwrap_or(these);
    let (n, asked) = (these.len(), if distance == 0 { 0 } else { later.len() - first });
    let at_once = if asked == 0 { ENDS } else { (BYTES_AT_ONCE / row.destination_bytes.max(1)).clamp(1, ENDS) };
    let mut ends = [Ends { updates: core::ptr::null(), destination: core::ptr::null_mut() }; ENDS];
    for start in (0..n.max(asked)).step_by(at_once) {
        for k in start..asked.min(start + at_once) {
            // SAFETY: a row of the later ones, whose position has been written.
            ask_for(unsafe { later_found.ends(later.row(first + k)) }, later_found.updates_step, row);
        }
        let ends = &mut ends[..n.saturating_sub(start).min(at_once)];
        if ends.is_empty() {
            continue;
        }
        match these.which {
            None => {
                for (i, ends) in ends.iter_mut().enumerate() {
                    // SAFETY: a row of the job, whose position has been written.
                    *ends = unsafe { found.ends(start + i) };
                }
            }
            Some(which) => {
                for (ends, &i) in ends.iter_mut().zip(&which[start..]) {
                    // SAFETY: as above: those listed are rows of the job.
                    *ends = unsafe { found.ends(usize::from(i)) };
                }
            }
        }
        reduce(&ReduceJob { rows: ends, row });
    }
}

/// Where rows have been found. A copy: for all that the compiler knows, a store might change the job.
struct Found {
    updates: *const u8,
    updates_step: isize,
    data: *const u8,
    data_step: isize,
    positions: *const i32,
    stride: isize,
}

impl Found {
    #[inline(always)]
    fn of(rows: &ResolvedRows) -> Self {
        let rows = rows.addresses();
        Found {
            updates: rows.out(),
            updates_step: rows.out_step(),
            data: rows.data(),
            data_step: rows.data_step(),
            positions: rows.positions(),
            stride: rows.stride(),
        }
    }

    /// The ends of row `i`.
    ///
    /// # Safety
    /// The position of the row has been written.
    #[inline(always)]
    unsafe fn ends(&self, i: usize) -> Ends {
        // SAFETY: the caller's promise.
        let position = unsafe { self.positions.wrapping_add(i).read() };
        let data = self.data.wrapping_offset(self.data_step.wrapping_mul(i as isize));
        Ends {
            updates: self.updates.wrapping_offset(self.updates_step.wrapping_mul(i as isize)),
            destination: data.wrapping_offset(self.stride.wrapping_mul(position as isize)).cast_mut(),
        }
    }
}

/// The distance by which updates are prefetched beyond those of the rows that are prefetched, in bytes (workload
/// `index_add/512Kx64_into_16K`).
const UPDATES_AHEAD: usize = 6 << 10;

/// Prefetches the destination of a row; and for updates behind it, whose stream the processor loses sight of between
/// rows that go anywhere.
#[inline(always)]
fn ask_for(ends: Ends, updates_step: isize, row: Row) {
    let bytes = row.destination_bytes;
    if bytes <= 8 {
        return prefetch(ends.destination, 1);
    }
    ask_for_lines(ends.destination, bytes);
    if bytes >= LINE && updates_step == bytes as isize {
        ask_for_lines(ends.updates.wrapping_add(UPDATES_AHEAD), bytes);
    }
}

/// Prefetches a row, or the first lines of a long one.
#[inline(always)]
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
    if done == elements {
        return;
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
pub(in crate::kernels::reduce) fn between_ends() {
    compiler_fence(Ordering::SeqCst);
}
