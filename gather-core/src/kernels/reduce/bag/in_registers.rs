//! Sums in registers, in vectors: sums, means and maxima of floats, sums and means of halves.
//!
//! A panel has a constant number of vectors of sums, so all loops except the loop over rows are unrolled. Only a few
//! sizes of panels exist. If the columns need fewer vectors, the last vectors of the panel end with the last column,
//! and overlap the vectors before them.
//!
//! Halves are widened when loaded, and their `f32` sums are rounded when stored.
//!
//! Embedding bags use these reductions; `in_memory` has all others.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

use crate::kernels::by_level::{ByLevel, by_level};
use crate::kernels::level_fn::{Avx2, Avx512, LevelFn, Token, scalar};
use crate::kernels::nest::args::start_of_part;
use crate::kernels::prefetch::{LINE, prefetch};
use crate::kernels::reduce::accumulate::Accumulate;
use crate::kernels::reduce::bag::in_memory::InMemory;
use crate::kernels::reduce::bag::rows::{AddRows, Bag, BagRow, ReduceBags};
use crate::kernels::reduce::bag::{BagFn, BagFns, BagRows, CompiledBagFn, Start};
use crate::kernels::reduce::number::{Add, Average, Max, Mean, Number, Ordered};
use crate::kernels::reduce::vectors::{First, FirstLanes, Stored, SumVector};
use crate::kernels::x86::{__m256, __m256d, __m512, __m512d};
use crate::types::element::{Element, Unaligned};

/// A reduction with a vector form.
pub(in crate::kernels::reduce) trait InVector<V: SumVector>:
    Accumulate<Item = V::Item, Sum = V::Item>
{
    /// The sum before the first row.
    const START: V::Item;

    fn add_to(sum: V, row: V) -> V;
}

macro_rules! in_vector {
    ($($Reduction:ident: $bound:ident, $start:expr, $add:ident;)*) => {$(
        impl<V: SumVector<Item: $bound>> InVector<V> for $Reduction<V::Item> {
            const START: V::Item = $start;

            #[inline(always)]
            fn add_to(sum: V, row: V) -> V {
                sum.$add(row)
            }
        }
    )*};
}

in_vector! {
    Add: Number, V::Item::NOTHING, plus;
    Max: Ordered, V::Item::ENDS[0], greatest;
}

/// Elements with vectors of floats as sums.
pub(in crate::kernels::reduce) trait InVectors:
    Element + Stored<Self::Of256> + Stored<Self::Of512>
{
    type Of256: SumVector<Item = Self::Sum, Level = Avx2>;
    type Of512: SumVector<Item = Self::Sum, Level = Avx512>;
    type Sum: Number + Ordered + Element;

    /// The function for rows narrower than an AVX2 vector; `None` if there are no masked loads of the elements.
    fn narrow<S: InVector<Self::Of256>, const WEIGHTED: bool>(level: Avx2) -> Option<BagFn>;
}

macro_rules! in_vectors {
    ($($(#[$attr:meta])* $ty:ty: $of256:ident, $of512:ident of $sum:ident, |$level:ident| $narrow:expr;)*) => {$(
        $(#[$attr])*
        impl InVectors for $ty {
            type Of256 = $of256;
            type Of512 = $of512;
            type Sum = $sum;

            fn narrow<S: InVector<Self::Of256>, const WEIGHTED: bool>($level: Avx2) -> Option<BagFn> {
                $narrow
            }
        }
    )*};
}

in_vectors! {
    f32: __m256, __m512 of f32, |level| Some(level.entry::<Narrow<f32, S, WEIGHTED>>());
    f64: __m256d, __m512d of f64, |level| Some(level.entry::<Narrow<f64, S, WEIGHTED>>());
    #[cfg(feature = "half")]
    half::f16: __m256, __m512 of f32, |_level| None;
    #[cfg(feature = "half")]
    half::bf16: __m256, __m512 of f32, |_level| None;
}

/// Sums of bags, with and without weights; `A` is the reduction in memory.
pub(in crate::kernels::reduce) const fn sums<T: InVectors, A: Accumulate<Item = T>>() -> BagFns {
    BagFns { weighted: Some(fns::<T, Add<T::Sum>, A, true>()), ..plain::<T>(fns::<T, Add<T::Sum>, A, false>()) }
}

/// Means of bags: sums in registers, divided at the end.
pub(in crate::kernels::reduce) const fn means<T: InVectors + Average>() -> BagFns {
    BagFns { divides: true, ..plain::<T>(fns::<T, Add<<T as InVectors>::Sum>, Mean<T>, false>()) }
}

pub(in crate::kernels::reduce) const fn maxima<T: InVectors<Sum = T> + Ordered>() -> BagFns {
    plain::<T>(fns::<T, Max<T>, Max<T>, false>())
}

const fn plain<T: InVectors>(plain: ByLevel<CompiledBagFn>) -> BagFns {
    BagFns { plain, weighted: None, sum: size_of::<T::Sum>(), divides: false }
}

/// The functions of a reduction: `S` in registers, `M` in memory.
const fn fns<
    T: InVectors,
    S: InVector<T::Of256> + InVector<T::Of512>,
    M: Accumulate<Item = T>,
    const WEIGHTED: bool,
>() -> ByLevel<CompiledBagFn> {
    by_level!(fn InMemory<M, WEIGHTED>, fn WithAvx2<T, S, M, WEIGHTED>, fn WithAvx512<T, S, M, WEIGHTED>)
}

struct WithAvx2<T, S, M, const WEIGHTED: bool>(PhantomData<(T, S, M)>);

impl<T: InVectors, S: InVector<T::Of256>, M: Accumulate<Item = T>, const WEIGHTED: bool> LevelFn
    for WithAvx2<T, S, M, WEIGHTED>
{
    type Args<'a> = &'a BagRows<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(here: Here, bag: &BagRows<'_>) {
        let Some(level) = here.avx2() else { unreachable!("the function of AVX2") };
        if bag.elements() > 2 * T::Of256::N {
            return level.run::<Wide<T, S, T::Of256, WEIGHTED, 14>>(bag);
        }
        if bag.elements() >= T::Of256::N {
            return level.run::<OneOrTwo<T, S, T::Of256, WEIGHTED>>(bag);
        }
        match T::narrow::<S, WEIGHTED>(level) {
            Some(narrow) => narrow(bag),
            // Rows this short may fill the shorter vectors of the scalar level.
            None => scalar::<InMemory<M, WEIGHTED>>(bag),
        }
    }
}

struct WithAvx512<T, S, M, const WEIGHTED: bool>(PhantomData<(T, S, M)>);

impl<T: InVectors, S: InVector<T::Of256> + InVector<T::Of512>, M: Accumulate<Item = T>, const WEIGHTED: bool> LevelFn
    for WithAvx512<T, S, M, WEIGHTED>
{
    type Args<'a> = &'a BagRows<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(here: Here, bag: &BagRows<'_>) {
        let Some(level) = here.avx512() else { unreachable!("the function of AVX-512") };
        if bag.elements() < T::Of512::N {
            return level.run::<WithAvx2<T, S, M, WEIGHTED>>(bag);
        }
        let reduce: BagFn = if bag.elements() <= 2 * T::Of512::N {
            level.entry_of_its_own::<OneOrTwo<T, S, T::Of512, WEIGHTED>>()
        } else {
            level.entry_of_its_own::<Wide<T, S, T::Of512, WEIGHTED, 16>>()
        };
        reduce(bag);
    }
}

/// Reduces rows of at least one column, but fewer than an AVX2 vector has lanes, under a mask.
struct Narrow<T, S, const WEIGHTED: bool>(PhantomData<(T, S)>);

impl<T: InVectors<Of256: FirstLanes<Item = T>>, S: InVector<T::Of256>, const WEIGHTED: bool> LevelFn
    for Narrow<T, S, WEIGHTED>
{
    type Args<'a> = &'a BagRows<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(here: Here, bag: &BagRows<'_>) {
        let Some(level) = here.avx2() else { unreachable!("the function of AVX2") };
        bag.debug_check(WEIGHTED);
        let columns = bag.elements();
        let lanes = T::Of256::first(level, columns);
        Panel::<S, T, T::Of256, First<_>, WEIGHTED, 1, 1>::with_lanes(level, columns, 0, lanes)
            .reduce(bag, &(0..columns));
    }
}

/// Reduces rows of one or two vectors of columns: finding the panel of `Wide` would take as long as the work.
struct OneOrTwo<T, S, V, const WEIGHTED: bool>(PhantomData<(T, S, V)>);

impl<T: Stored<V>, S: InVector<V>, V: SumVector, const WEIGHTED: bool> LevelFn for OneOrTwo<T, S, V, WEIGHTED> {
    type Args<'a> = &'a BagRows<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(here: Here, bag: &BagRows<'_>) {
        let Some(level) = V::level(here) else { unreachable!("the function of the vector's level") };
        bag.debug_check(WEIGHTED);
        let columns = 0..bag.elements();
        if columns.len() == V::N {
            Panel::<S, T, V, Full, WEIGHTED, 1, 1>::new(level, columns.len()).reduce(bag, &columns);
        } else {
            Panel::<S, T, V, Full, WEIGHTED, 2, 1>::new(level, columns.len()).reduce(bag, &columns);
        }
    }
}

/// Reduces rows of more than two vectors of columns, in panels of at most `MOST` vectors of sums and about equal size.
struct Wide<T, S, V, const WEIGHTED: bool, const MOST: usize>(PhantomData<(T, S, V)>);

impl<T: Stored<V>, S: InVector<V>, V: SumVector, const WEIGHTED: bool, const MOST: usize> LevelFn
    for Wide<T, S, V, WEIGHTED, MOST>
{
    type Args<'a> = &'a BagRows<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(here: Here, bag: &BagRows<'_>) {
        let Some(level) = V::level(here) else { unreachable!("the function of the vector's level") };
        bag.debug_check(WEIGHTED);
        let vectors = bag.elements().div_ceil(V::N);
        // A division takes as long as all other work of a short call.
        let panels = if vectors <= MOST { 1 } else { vectors.div_ceil(MOST) };
        let start = |part| if part == panels { vectors } else { start_of_part(vectors, part, panels) };
        let mut end = 0;
        for i in 0..panels {
            let first = end;
            end = start(i + 1);
            let columns = first * V::N..(end * V::N).min(bag.elements());
            macro_rules! panel {
                ($vectors:literal, $ending:literal) => {
                    Panel::<S, T, V, Full, WEIGHTED, $vectors, $ending>::new(level, columns.len()).reduce(bag, &columns)
                };
            }
            // Each panel has three vectors or more, and only the last panel may end inside a vector.
            match end - first {
                3..=4 => panel!(4, 2),
                5..=8 => panel!(8, 4),
                9..=12 => panel!(12, 4),
                13..=14 if const { MOST == 14 } => panel!(14, 2),
                13..=16 if const { MOST == 16 } => panel!(16, 4),
                _ => unreachable!("more vectors than a panel has"),
            }
        }
    }
}

impl<
    S: InVector<V>,
    T: Stored<V>,
    V: SumVector,
    L: Lanes<T, V> + Lanes<V::Item, V>,
    const WEIGHTED: bool,
    const N: usize,
    const ENDING: usize,
> AddRows for Panel<S, T, V, L, WEIGHTED, N, ENDING>
{
    /// Prefetches all lines of the columns; the last byte may lie in a line in which no vector starts.
    #[inline(always)]
    fn prefetch(&self, later: *const u8) {
        let per_line = const { LINE / (V::N * size_of::<T>()) };
        let at = |vector| later.cast::<T>().wrapping_add(self.column(vector)).cast::<u8>();
        for vector in 0..N {
            if vector.is_multiple_of(per_line) {
                prefetch(at(vector), 1);
            }
        }
        prefetch(at(N).wrapping_sub(1), 1);
    }

    #[inline(always)]
    fn add(&mut self, row: BagRow<'_>) {
        let Panel { level, lanes, mut sums, .. } = *self;
        let (weight, elements) = (self.weight(row), row.elements::<T>());
        for (vector, sum) in sums.iter_mut().enumerate() {
            let row = lanes.read(level, self.part(elements, vector));
            *sum = S::add_to(*sum, if WEIGHTED { row.times(weight) } else { row });
        }
        self.sums = sums;
    }
}

impl<
    S: InVector<V>,
    T: Stored<V>,
    V: SumVector,
    L: Lanes<T, V> + Lanes<V::Item, V>,
    const WEIGHTED: bool,
    const N: usize,
    const ENDING: usize,
> ReduceBags for Panel<S, T, V, L, WEIGHTED, N, ENDING>
{
    #[inline(always)]
    fn begin(&mut self, bag: &Bag<'_>) {
        self.sums = match bag.begin() {
            Start::Row => [V::splat(self.level, S::START); N],
            Start::Carried => self.read(bag.carried()),
        };
    }

    #[inline(always)]
    fn end(&mut self, bag: &mut Bag<'_>) {
        match bag.count() {
            Some(count) => self.finish(&self.sums, bag.output().elements(), self.divides.then_some(count)),
            None => self.write::<V::Item>(&self.sums, bag.carry()),
        }
    }

    #[inline(always)]
    fn without_rows(&mut self, bag: &mut Bag<'_>) {
        self.write::<T>(&[V::splat(self.level, V::Item::ZERO); N], bag.output().elements());
    }
}

/// The lanes of a vector that are loaded and stored.
trait Lanes<T: Copy, V: SumVector>: Copy {
    fn n(self) -> usize;

    /// Loads an element per lane.
    fn read(self, level: V::Level, from: &[Unaligned<T>]) -> V;

    /// Stores an element per lane.
    fn write(self, vector: V, to: &mut [MaybeUninit<Unaligned<T>>]);
}

#[derive(Clone, Copy)]
struct Full;

impl<T: Stored<V>, V: SumVector> Lanes<T, V> for Full {
    #[inline(always)]
    fn n(self) -> usize {
        V::N
    }

    #[inline(always)]
    fn read(self, level: V::Level, from: &[Unaligned<T>]) -> V {
        T::read(level, from)
    }

    #[inline(always)]
    fn write(self, vector: V, to: &mut [MaybeUninit<Unaligned<T>>]) {
        T::write(vector, to);
    }
}

impl<V: FirstLanes> Lanes<V::Item, V> for First<V> {
    #[inline(always)]
    fn n(self) -> usize {
        self.lanes()
    }

    #[inline(always)]
    fn read(self, _: V::Level, from: &[Unaligned<V::Item>]) -> V {
        V::read_first(from, self)
    }

    #[inline(always)]
    fn write(self, vector: V, to: &mut [MaybeUninit<Unaligned<V::Item>>]) {
        vector.write_first(to, self);
    }
}

/// A panel of `columns` columns with `N` vectors of sums. The last `ENDING` vectors end with the last column, so all
/// lanes of a vector are columns of the panel.
struct Panel<
    S: InVector<V>,
    T: Stored<V>,
    V: SumVector,
    L: Lanes<T, V> + Lanes<V::Item, V>,
    const WEIGHTED: bool,
    const N: usize,
    const ENDING: usize,
> {
    level: V::Level,
    columns: usize,
    /// Columns before the last `ENDING` vectors.
    before: usize,
    lanes: L,
    sums: [V; N],
    divides: bool,
    types: PhantomData<(S, T)>,
}

impl<S: InVector<V>, T: Stored<V>, V: SumVector, const WEIGHTED: bool, const N: usize, const ENDING: usize>
    Panel<S, T, V, Full, WEIGHTED, N, ENDING>
{
    /// For `columns` columns: `(N - ENDING) * V::N < columns`, and `ENDING * V::N <= columns <= N * V::N`.
    #[inline(always)]
    fn new(level: V::Level, columns: usize) -> Self {
        debug_assert!(columns > (N - ENDING) * V::N && columns >= ENDING * V::N && columns <= N * V::N);
        Panel::with_lanes(level, columns, columns.saturating_sub(ENDING * V::N), Full)
    }
}

impl<
    S: InVector<V>,
    T: Stored<V>,
    V: SumVector,
    L: Lanes<T, V> + Lanes<V::Item, V>,
    const WEIGHTED: bool,
    const N: usize,
    const ENDING: usize,
> Panel<S, T, V, L, WEIGHTED, N, ENDING>
{
    /// A panel without rows; each vector uses `lanes`.
    #[inline(always)]
    fn with_lanes(level: V::Level, columns: usize, before: usize, lanes: L) -> Self {
        let sums = [V::splat(level, S::START); N];
        Panel { level, columns, before, lanes, sums, divides: false, types: PhantomData }
    }

    #[inline(always)]
    fn column(&self, vector: usize) -> usize {
        if vector < N - ENDING { vector * V::N } else { self.before + (vector - (N - ENDING)) * V::N }
    }

    /// Reduces `columns` of all bags.
    ///
    /// # Panics
    /// If `columns.len() != self.columns`, or a vector reaches beyond the columns.
    #[inline(always)]
    fn reduce(mut self, bag: &BagRows<'_>, columns: &Range<usize>) {
        let lanes = <L as Lanes<T, V>>::n(self.lanes).max(<L as Lanes<V::Item, V>>::n(self.lanes));
        // Two vectors may end farthest: the last vector before the last `ENDING` vectors, and the last vector.
        let first = const { if N == ENDING { N } else { N - ENDING } } - 1;
        let end = self.column(N - 1).max(self.column(first)) + lanes;
        assert!(columns.len() == self.columns && end <= self.columns, "columns of the panel");
        let columns = bag.columns(columns, size_of::<T>(), size_of::<V::Item>());
        self.divides = columns.divides();
        columns.reduce(&mut self);
    }

    /// Stores the sums, divided by `count` if given.
    #[inline(always)]
    fn finish(&self, sums: &[V; N], out: &mut [MaybeUninit<Unaligned<T>>], count: Option<usize>) {
        let mut sums = *sums;
        if let Some(count) = count {
            for sum in &mut sums {
                *sum = sum.divided(count);
            }
        }
        self.write::<T>(&sums, out);
    }

    /// The elements of a vector, from the elements of all columns.
    #[inline(always)]
    fn part<'a, E: Copy>(&self, all: &'a [Unaligned<E>], vector: usize) -> &'a [Unaligned<E>]
    where
        L: Lanes<E, V>,
    {
        let (first, n) = (self.column(vector), <L as Lanes<E, V>>::n(self.lanes));
        debug_assert!(all.len() == self.columns && first + n <= self.columns, "columns of the panel");
        // SAFETY: `reduce` asserted that all lanes are columns of the panel; `all` has an element per column.
        unsafe { all.get_unchecked(first..first + n) }
    }

    #[inline(always)]
    fn read(&self, from: &[Unaligned<V::Item>]) -> [V; N] {
        let mut sums = [V::splat(self.level, V::Item::ZERO); N];
        for (vector, sum) in sums.iter_mut().enumerate() {
            *sum = <L as Lanes<V::Item, V>>::read(self.lanes, self.level, self.part(from, vector));
        }
        sums
    }

    #[inline(always)]
    fn write<E: Copy>(&self, sums: &[V; N], to: &mut [MaybeUninit<Unaligned<E>>])
    where
        L: Lanes<E, V>,
    {
        for (vector, &sum) in sums.iter().enumerate() {
            let (first, n) = (self.column(vector), <L as Lanes<E, V>>::n(self.lanes));
            debug_assert!(to.len() == self.columns && first + n <= self.columns, "columns of the panel");
            // SAFETY: `reduce` asserted that all lanes are columns of the panel; `to` has an element per column.
            let to = unsafe { to.get_unchecked_mut(first..first + n) };
            <L as Lanes<E, V>>::write(self.lanes, sum, to);
        }
    }

    /// The weight of a row in every lane; zeros without weights.
    #[inline(always)]
    fn weight(&self, row: BagRow<'_>) -> V {
        V::splat(self.level, if WEIGHTED { row.weight::<T>().widen() } else { V::Item::ZERO })
    }
}
