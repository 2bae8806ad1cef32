//! Sums in registers: for the sums, means and greatest values of floats, and the sums and means of halves, by vectors.
//!
//! A panel is a number of vectors of sums that the compiler knows, so that all loops except the one over rows are unrolled.
//! There are panels of some numbers of vectors only. Where columns need fewer, the last vectors of the panel end with
//! the last column, and share columns with those before them.
//!
//! Rows of halves are widened as they are loaded, and their sums, which are `f32`, rounded as they are stored.
//!
//! These are the reductions of embedding bags. Others, which are rare, are left to `in_memory`.

use core::marker::PhantomData;
use core::ops::Range;

use crate::kernels::args::start_of_part;
use crate::kernels::by_level::{ByLevel, by_level};
use crate::kernels::moves::prefetch::{LINE, prefetch};
use crate::kernels::reduce::bag::in_memory;
use crate::kernels::reduce::bag::step::{Plain, Step, Weigh, Weighted};
use crate::kernels::reduce::bag::vectors::{Masked, Stored, Vector};
use crate::kernels::reduce::bag::{BagFns, BagRows, Begin, CompiledBagFn, LEFT_OUT};
use crate::kernels::reduce::number::{Add, Average, Max, Mean, Number, Ordered};
use crate::types::element::Element;

/// The step of each row, on vectors: on every element the scalar step.
pub(in crate::kernels::reduce) trait VectorStep<V: Vector>:
    Step<Item = V::Item, Sum = V::Item>
{
    /// The sums after the first row.
    ///
    /// # Safety
    /// K7.
    unsafe fn first_of(row: V, weight: V) -> V;

    /// One row more.
    ///
    /// # Safety
    /// K7.
    unsafe fn add_to(sum: V, row: V, weight: V) -> V;
}

impl<V: Vector<Item: Number>> VectorStep<V> for Plain<Add<V::Item>> {
    #[inline(always)]
    unsafe fn first_of(row: V, _: V) -> V {
        // SAFETY: K7.
        let zero = unsafe { V::zero() };
        // SAFETY: K7.
        unsafe { zero.plus(row) }
    }

    #[inline(always)]
    unsafe fn add_to(sum: V, row: V, _: V) -> V {
        // SAFETY: K7.
        unsafe { sum.plus(row) }
    }
}

impl<V: Vector<Item: Number>> VectorStep<V> for Weighted<Add<V::Item>> {
    #[inline(always)]
    unsafe fn first_of(row: V, weight: V) -> V {
        // SAFETY: K7.
        let product = unsafe { row.times(weight) };
        // SAFETY: K7.
        unsafe { <Plain<Add<V::Item>> as VectorStep<V>>::first_of(product, weight) }
    }

    #[inline(always)]
    unsafe fn add_to(sum: V, row: V, weight: V) -> V {
        // SAFETY: K7.
        let product = unsafe { row.times(weight) };
        // SAFETY: K7.
        unsafe { sum.plus(product) }
    }
}

impl<V: Vector<Item: Ordered>> VectorStep<V> for Plain<Max<V::Item>> {
    #[inline(always)]
    unsafe fn first_of(row: V, _: V) -> V {
        row
    }

    #[inline(always)]
    unsafe fn add_to(sum: V, row: V, _: V) -> V {
        // SAFETY: K7.
        unsafe { sum.greatest(row) }
    }
}

/// Elements whose sums are vectors of floats.
pub(in crate::kernels::reduce) trait InVectors:
    Element + Stored<Self::Of256> + Stored<Self::Of512>
{
    /// The sums of AVX2.
    type Of256: Vector<Item = Self::Sum>;
    /// The sums of AVX-512.
    type Of512: Vector<Item = Self::Sum>;
    /// A sum.
    type Sum: Number + Ordered + Element;

    /// Chooses the function that reduces rows of fewer columns than a vector of AVX2 has; `None` where memory is not
    /// read under a mask.
    fn narrow<S: VectorStep<Self::Of256>>() -> Option<CompiledBagFn>;
}

macro_rules! in_vectors {
    ($($(#[$attr:meta])* $ty:ty: $of256:ident, $of512:ident of $sum:ident, $narrow:expr;)*) => {$(
        $(#[$attr])*
        impl InVectors for $ty {
            type Of256 = core::arch::x86_64::$of256;
            type Of512 = core::arch::x86_64::$of512;
            type Sum = $sum;

            fn narrow<S: VectorStep<Self::Of256>>() -> Option<CompiledBagFn> {
                $narrow
            }
        }
    )*};
}

in_vectors! {
    f32: __m256, __m512 of f32, Some(narrow_avx2::<f32, S>);
    f64: __m256d, __m512d of f64, Some(narrow_avx2::<f64, S>);
    #[cfg(feature = "half")]
    half::f16: __m256, __m512 of f32, None;
    #[cfg(feature = "half")]
    half::bf16: __m256, __m512 of f32, None;
}

/// A step on the vectors of both levels.
pub(in crate::kernels::reduce) trait BothSteps<T: InVectors>:
    VectorStep<T::Of256> + VectorStep<T::Of512>
{
}

impl<T: InVectors, S: VectorStep<T::Of256> + VectorStep<T::Of512>> BothSteps<T> for S {}

/// Sums of bags, with weights too: in memory by `A`.
pub(in crate::kernels::reduce) const fn sums<T: InVectors, A: Weigh<Item = T>>() -> BagFns {
    BagFns {
        weighted: Some(fns::<T, Weighted<Add<T::Sum>>, Weighted<A>>()),
        ..plain::<T>(fns::<T, Plain<Add<T::Sum>>, Plain<A>>())
    }
}

/// Means of bags: sums in registers, which are divided at the end.
pub(in crate::kernels::reduce) const fn means<T: InVectors + Average>() -> BagFns {
    BagFns { divides: true, ..plain::<T>(fns::<T, Plain<Add<<T as InVectors>::Sum>>, Plain<Mean<T>>>()) }
}

/// The greatest values of bags.
pub(in crate::kernels::reduce) const fn maxima<T: InVectors<Sum = T> + Ordered>() -> BagFns {
    plain::<T>(fns::<T, Plain<Max<T>>, Plain<Max<T>>>())
}

const fn plain<T: InVectors>(plain: ByLevel<CompiledBagFn>) -> BagFns {
    BagFns { plain, weighted: None, sum: size_of::<T::Sum>(), divides: false }
}

/// The functions of a reduction: by the step `S` in registers, and by `M` in memory.
const fn fns<T: InVectors, S: BothSteps<T>, M: Step<Item = T>>() -> ByLevel<CompiledBagFn> {
    by_level!(in_memory::scalar::<M>, avx2::<T, S, M>, avx512::<T, S, M>)
}

/// The AVX2 level of a reduction.
fn avx2<T: InVectors, S: VectorStep<T::Of256>, M: Step<Item = T>>(bag: &BagRows<'_>) {
    if bag.elements < T::Of256::N {
        let narrow = T::narrow::<S>().unwrap_or(in_memory::scalar::<M>);
        // SAFETY: the caller's promise. The scalar level has shorter vectors.
        return unsafe { narrow(bag) };
    }
    // SAFETY: the caller's promise, for a vector of columns or more.
    unsafe { columns_avx2::<T, S>(bag) }
}

/// The AVX-512 level of a reduction.
fn avx512<T: InVectors, S: BothSteps<T>, M: Step<Item = T>>(bag: &BagRows<'_>) {
    if bag.elements < T::Of512::N {
        return avx2::<T, S, M>(bag);
    }
    // SAFETY: the caller's promise, for a vector of columns or more.
    unsafe { columns_avx512::<T, S>(bag) }
}

/// [`reduce_columns`] compiled for AVX2.
///
/// # Safety
/// As for [`reduce_columns`]; K7: the machine has AVX2.
#[target_feature(enable = "avx2,f16c")]
unsafe fn columns_avx2<T: InVectors, S: VectorStep<T::Of256>>(bag: &BagRows<'_>) {
    // SAFETY: the caller's promise.
    unsafe { reduce_columns::<S, T, T::Of256, 12>(bag) }
}

/// Reduces rows of fewer columns than a vector has, under a mask.
///
/// # Safety
/// As for [`BagFn`], for the type of the reduction; there are fewer columns than a vector has, and one or more. K7: the
/// machine has AVX2.
#[target_feature(enable = "avx2,f16c")]
unsafe fn narrow_avx2<T: InVectors<Of256: Masked<Item = T>>, S: VectorStep<T::Of256>>(bag: &BagRows<'_>) {
    bag.debug_check(S::WEIGHTED);
    // SAFETY: K7.
    let lanes = First(unsafe { T::Of256::first(bag.elements) });
    let panel = Panel::<S, T, T::Of256, First<_>, 1, 1> { before: 0, lanes, types: PhantomData };
    // SAFETY: the caller's promise: the mask leaves out what lies beyond the columns.
    unsafe { panel.reduce(bag, &(0..bag.elements)) }
}

/// [`reduce_columns`] compiled for AVX-512.
///
/// # Safety
/// As for [`reduce_columns`]; K7: the machine has AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn columns_avx512<T: InVectors, S: VectorStep<T::Of512>>(bag: &BagRows<'_>) {
    // SAFETY: the caller's promise.
    unsafe { reduce_columns::<S, T, T::Of512, 16>(bag) }
}

/// Reduces rows in panels of up to `MOST` vectors of sums, all of about as many.
///
/// # Safety
/// As for [`BagFn`], for the type of the reduction; there are as many columns as a vector has, or more. K7: the machine
/// has the vector's instructions.
#[inline(always)]
unsafe fn reduce_columns<S: VectorStep<V>, T: Stored<V>, V: Vector, const MOST: usize>(bag: &BagRows<'_>) {
    bag.debug_check(S::WEIGHTED);
    let vectors = bag.elements.div_ceil(V::N);
    let panels = vectors.div_ceil(MOST);
    for i in 0..panels {
        let [first, end] = [i, i + 1].map(|part| start_of_part(vectors, part, panels));
        let columns = first * V::N..(end * V::N).min(bag.elements);
        macro_rules! panel {
            ($vectors:literal, $ending:literal) => {{
                // SAFETY: the caller's promise, for columns that there are.
                unsafe { Panel::<S, T, V, Full, $vectors, $ending>::new(columns.len()).reduce(bag, &columns) }
            }};
        }
        // Where there are several panels, each has a vector or more, and only the last may end inside one.
        match end - first {
            1 => panel!(1, 1),
            2 => panel!(2, 1),
            3..=4 => panel!(4, 2),
            5..=8 => panel!(8, 4),
            9..=12 => panel!(12, 4),
            13..=16 if const { MOST > 12 } => panel!(16, 4),
            _ => unreachable!("more vectors than a panel has"),
        }
    }
}

/// The lanes of a vector that elements are loaded to and stored from.
trait Lanes<T, V>: Copy {
    /// Reads a vector of elements.
    ///
    /// # Safety
    /// From `from` on, there is an element for each of the lanes that may be read, at any alignment. K7.
    unsafe fn read(self, from: *const u8) -> V;

    /// Writes a vector of elements.
    ///
    /// # Safety
    /// From `to` on, an element for each of the lanes may be written, at any alignment. K7.
    unsafe fn write(self, vector: V, to: *mut u8);
}

/// All lanes.
#[derive(Clone, Copy)]
struct Full;

impl<T: Stored<V>, V: Vector> Lanes<T, V> for Full {
    #[inline(always)]
    unsafe fn read(self, from: *const u8) -> V {
        // SAFETY: the caller's promise.
        unsafe { T::read(from) }
    }

    #[inline(always)]
    unsafe fn write(self, vector: V, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { T::write(vector, to) }
    }
}

/// The first lanes, by a mask.
#[derive(Clone, Copy)]
struct First<M>(M);

impl<V: Masked> Lanes<V::Item, V> for First<V::Mask> {
    #[inline(always)]
    unsafe fn read(self, from: *const u8) -> V {
        // SAFETY: the caller's promise.
        unsafe { V::read_first(from, self.0) }
    }

    #[inline(always)]
    unsafe fn write(self, vector: V, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { vector.write_first(to, self.0) }
    }
}

/// A panel of columns, whose sums are `N` vectors, of which the last `ENDING` end with the last column.
struct Panel<S: VectorStep<V>, T: Stored<V>, V: Vector, L: Lanes<T, V>, const N: usize, const ENDING: usize> {
    /// Columns before the last `ENDING` vectors.
    before: usize,
    lanes: L,
    types: PhantomData<(S, T, V)>,
}

impl<S: VectorStep<V>, T: Stored<V>, V: Vector, const N: usize, const ENDING: usize> Panel<S, T, V, Full, N, ENDING> {
    /// For `columns` columns: more than those of `N - ENDING` vectors, at least those of `ENDING`, and at most those of
    /// `N`.
    #[inline(always)]
    fn new(columns: usize) -> Self {
        debug_assert!(columns > (N - ENDING) * V::N && columns >= ENDING * V::N && columns <= N * V::N);
        Panel { before: columns - ENDING * V::N, lanes: Full, types: PhantomData }
    }
}

impl<S: VectorStep<V>, T: Stored<V>, V: Vector, L: Lanes<T, V>, const N: usize, const ENDING: usize>
    Panel<S, T, V, L, N, ENDING>
{
    /// Where a vector begins in elements, or sums, `E`, which begin with the first column.
    #[inline(always)]
    fn at<E>(&self, first: *const u8, vector: usize) -> *const u8 {
        let column = if vector < N - ENDING { vector * V::N } else { self.before + (vector - (N - ENDING)) * V::N };
        first.cast::<E>().wrapping_add(column).cast()
    }

    /// Reduces these columns of the rows of all bags.
    ///
    /// # Safety
    /// As for [`BagFn`], for the type of the reduction and columns that there are, as many as those of the panel.
    #[inline(always)]
    unsafe fn reduce(&self, bag: &BagRows<'_>, columns: &Range<usize>) {
        let start = columns.start * size_of::<T>();
        let first_sum = columns.start * size_of::<V::Item>();
        let carried = bag.part.map_or(core::ptr::null_mut(), |part| part.carried.wrapping_add(first_sum));
        let (mut out, mut end) = (bag.out.wrapping_add(start), 0);
        // Where rows begin with lines and are whole lines, none has a line beyond those of its vectors.
        let steps = [bag.data.addr().wrapping_add(start), bag.stride as usize, columns.len() * size_of::<T>()];
        let ends_apart = !steps.iter().all(|step| step.is_multiple_of(LINE));
        for number in 0..bag.bags.bags() {
            let (first, mut at) = (end, end);
            end = bag.bags.end(number);
            let mut sums = match bag.begin() {
                Begin::Row => {
                    while bag.positions[at] == LEFT_OUT {
                        at += 1;
                    }
                    debug_assert!(at < end, "B4: no row counts");
                    if bag.distance > 0 {
                        self.ask(bag.later_row(bag.positions[at + bag.distance]).wrapping_add(start), ends_apart);
                    }
                    let row = bag.row(bag.positions[at]).wrapping_add(start);
                    // SAFETY: B3.
                    let weight = unsafe { weight::<S, T, V>(bag, at) };
                    // SAFETY: B1: elements of each column.
                    let sums = unsafe { self.first(row, weight) };
                    at += 1;
                    sums
                }
                // SAFETY: B4: sums of each column.
                Begin::Carried => unsafe { self.read::<V::Item, _>(carried, Full) },
            };
            let (these, later) = (&bag.positions[at..end], &bag.positions[at + bag.distance..end + bag.distance]);
            for (&position, &later) in these.iter().zip(later) {
                if bag.distance > 0 {
                    self.ask(bag.later_row(later).wrapping_add(start), ends_apart);
                }
                if position != LEFT_OUT {
                    // SAFETY: B3.
                    let weight = unsafe { weight::<S, T, V>(bag, at) };
                    // SAFETY: B1: elements of each column.
                    unsafe { self.add(&mut sums, bag.row(position).wrapping_add(start), weight) };
                }
                at += 1;
            }
            match bag.count(end - first) {
                // SAFETY: B2: elements of each column, which are sums, or sums divided.
                Some(count) => unsafe { self.end(&sums, out, bag.divides.then_some(count)) },
                // SAFETY: B4: room for sums of each column.
                None => unsafe { self.write::<V::Item, _>(&sums, carried, Full) },
            }
            out = out.wrapping_offset(bag.out_stride);
        }
    }

    /// Prefetches the columns of a row, and the line of the last one where that may be one more.
    #[inline(always)]
    fn ask(&self, row: *const u8, ends_apart: bool) {
        let per_line = const { LINE / (V::N * size_of::<T>()) };
        for vector in 0..N {
            if vector.is_multiple_of(per_line) {
                prefetch(self.at::<T>(row, vector), 1);
            }
        }
        if ends_apart {
            prefetch(self.at::<T>(row, N).wrapping_sub(1), 1);
        }
    }

    /// The sums of a row.
    ///
    /// # Safety
    /// There are elements of all columns from `row` on that may be read. K7.
    #[inline(always)]
    unsafe fn first(&self, row: *const u8, weight: V) -> [V; N] {
        // SAFETY: the caller's promise.
        let mut sums = unsafe { self.read::<T, _>(row, self.lanes) };
        for sum in &mut sums {
            // SAFETY: K7.
            *sum = unsafe { S::first_of(*sum, weight) };
        }
        sums
    }

    /// One row more.
    ///
    /// # Safety
    /// As for [`Panel::first`].
    #[inline(always)]
    unsafe fn add(&self, sums: &mut [V; N], row: *const u8, weight: V) {
        for (vector, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            let row = unsafe { self.lanes.read(self.at::<T>(row, vector)) };
            // SAFETY: K7.
            *sum = unsafe { S::add_to(*sum, row, weight) };
        }
    }

    /// Writes sums, divided by how many rows count where they are to be.
    ///
    /// # Safety
    /// There are elements of all columns from `out` on that may be written. K7.
    #[inline(always)]
    unsafe fn end(&self, sums: &[V; N], out: *mut u8, count: Option<usize>) {
        let mut sums = *sums;
        if let Some(count) = count {
            for sum in &mut sums {
                // SAFETY: K7.
                *sum = unsafe { sum.divided(count) };
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.write::<T, _>(&sums, out, self.lanes) }
    }

    /// Reads sums, or elements that are some.
    ///
    /// # Safety
    /// There are as many from `from` on as columns that may be read. K7.
    #[inline(always)]
    unsafe fn read<E, M: Lanes<E, V>>(&self, from: *const u8, lanes: M) -> [V; N] {
        // SAFETY: K7.
        let mut sums = [unsafe { V::zero() }; N];
        for (vector, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *sum = unsafe { lanes.read(self.at::<E>(from, vector)) };
        }
        sums
    }

    /// Writes sums.
    ///
    /// # Safety
    /// There is room for as many from `to` on as there are columns. K7.
    #[inline(always)]
    unsafe fn write<E, M: Lanes<E, V>>(&self, sums: &[V; N], to: *mut u8, lanes: M) {
        for (vector, &sum) in sums.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { lanes.write(sum, self.at::<E>(to, vector).cast_mut()) };
        }
    }
}

/// The weight of a row in every element, or nothing without weights.
///
/// # Safety
/// B3. K7.
#[inline(always)]
unsafe fn weight<S: VectorStep<V>, T: Stored<V>, V: Vector>(bag: &BagRows<'_>, row: usize) -> V {
    let weight = if S::WEIGHTED {
        // SAFETY: B3: at any alignment.
        unsafe { bag.weight(row).cast::<T>().read_unaligned() }.widen()
    } else {
        V::Item::ZERO
    };
    // SAFETY: K7.
    unsafe { V::splat(weight) }
}
