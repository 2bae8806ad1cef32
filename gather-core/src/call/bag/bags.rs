//! Bags: the indices and weights of each bag.

use alloc::vec::Vec;
use core::borrow::Borrow;
use core::marker::PhantomData;

use crate::call::Sealed;
use crate::call::bag::erased::{BagStarts, ErasedBags, ErasedTensor, Offsets};
use crate::call::bag::tables::in_table;
use crate::call::source::Source;
use crate::call::source::checked::checked_axis;
use crate::call::source::kind::{IndexKind, Kind};
use crate::tensor::dynamic::check_dtype;
use crate::tensor::layout::Layout;
use crate::tensor::typing::{Dyn, Typing};
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::index::IndexType;

/// Indices of rows, their division into bags, and optional weights.
///
/// Indices, offsets and weights are [`Source`]s of independent kinds: views, lists, or tensors whose types are known
/// at run time. Weights have the number type of the reduced elements ([`Element::Number`]): the table's elements, the
/// results of its map, or `f32` for fused rows.
///
/// ```
/// use gather_core::{Bags, EmbeddingBag, Reduction, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (table, ids, sum) = ([1.0f32, 2.0, 4.0], vec![0u32, 2, 1], EmbeddingBag::new(Reduction::Add));
///     let sums = sum.run(&table, &Bags::new(&ids, &[0, 2]).weights(&[1.0, 0.5, -1.0]))?;
///     assert_eq!(sums.as_slice(), [3.0, -2.0]);
///     let sums = sum.run(&table, &Bags::packed(&View::new(&ids, &[1, 3])?))?;
///     assert_eq!(sums.as_slice(), [7.0]);
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Bags<'a, X: ?Sized, O: ?Sized = X, W: ?Sized = Unweighted> {
    indices: &'a X,
    offsets: Option<&'a O>,
    weights: Option<&'a W>,
}

impl<X: ?Sized, O: ?Sized, W: ?Sized> Clone for Bags<'_, X, O, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<X: ?Sized, O: ?Sized, W: ?Sized> Copy for Bags<'_, X, O, W> {}

/// The type of weights of bags without weights.
#[derive(Clone, Copy, Debug)]
pub enum Unweighted {}

/// The type of offsets of planned bags: [`Bags::planned`].
#[derive(Clone, Copy, Debug)]
pub enum AsPlanned {}

/// The weights of bags of several [`tables`](crate::tables()): the bags of each table have weights `W`, or no weights.
#[derive(Debug)]
pub struct PerTable<W>(PhantomData<fn() -> W>);

impl<'a, X: Source + ?Sized, O: Source + ?Sized> Bags<'a, X, O> {
    /// Bags of any lengths, from lists of indices and offsets. Bag `b` is `indices[offsets[b]..offsets[b + 1]]`; the
    /// last bag ends at `indices.len()`. The first offset is 0, and offsets ascend; a bag with
    /// `offsets[b] == offsets[b + 1]` is empty. With [`include_last_offset`](crate::BagOperator::include_last_offset),
    /// the last offset is the end of the last bag. As offsets, [`Checked`](crate::Checked) positions are plain numbers:
    /// their axis is not compared.
    #[must_use]
    pub fn new(indices: &'a X, offsets: &'a O) -> Self {
        Bags { indices, offsets: Some(offsets), weights: None }
    }
}

impl<'a, X: Source + ?Sized> Bags<'a, X> {
    /// Bags of equal length: each row of rank-2 indices is a bag.
    #[must_use]
    pub fn packed(indices: &'a X) -> Self {
        Bags { indices, offsets: None, weights: None }
    }
}

impl<'a, X: Source + ?Sized> Bags<'a, X, AsPlanned> {
    /// The bags of a [`BagPlan`](crate::BagPlan), with other indices of the same layout. Offsets are not read again.
    /// Only a plan runs these bags.
    ///
    /// ```
    /// use gather_core::{Bags, EmbeddingBag, Reduction};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let table = [1.0f32, 2.0, 4.0];
    ///     let plan = EmbeddingBag::new(Reduction::Add).plan(&table, &Bags::new(&[0u32, 2, 1], &[0u32, 2]))?;
    ///     let sums = plan.run(&table, &Bags::planned(&[1, 1, 0]).weights(&[1.0, 0.5, 3.0]))?;
    ///     assert_eq!(sums.as_slice(), [3.0, 3.0]);
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn planned(indices: &'a X) -> Self {
        Bags { indices, offsets: None, weights: None }
    }
}

impl<'a, X: ?Sized, O: ?Sized, W: ?Sized> Bags<'a, X, O, W> {
    /// Sets a weight for each index: a reference to weights, or an `Option` of such a reference.
    #[must_use]
    pub fn weights<V: OptionalWeights<'a>>(self, weights: V) -> Bags<'a, X, O, V::Weights> {
        Bags { indices: self.indices, offsets: self.offsets, weights: weights.optional() }
    }
}

/// Optional weights of bags: a reference to a [`Source`], or an `Option` of such a reference. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no weights of bags",
    label = "no weights",
    note = "weights are given by reference, as a view or a list of numbers, or as an `Option` of such a reference"
)]
pub trait OptionalWeights<'a>: Sealed {
    /// The source.
    type Weights: ?Sized;

    #[doc(hidden)]
    fn optional(self) -> Option<&'a Self::Weights>;
}

impl<W: Source + ?Sized> Sealed for Option<&W> {}

impl<'a, W: Source + ?Sized> OptionalWeights<'a> for &'a W {
    type Weights = W;

    #[inline(always)]
    fn optional(self) -> Option<&'a W> {
        Some(self)
    }
}

impl<'a, W: Source + ?Sized> OptionalWeights<'a> for Option<&'a W> {
    type Weights = W;

    #[inline(always)]
    fn optional(self) -> Option<&'a W> {
        self
    }
}

/// Bags that a [`BagPlan`](crate::BagPlan) runs: [`BagsOf<W>`](BagsOf), and planned bags ([`Bags::planned`]). Sealed.
///
/// # Safety
/// Indices and offsets that [`PlanBags::with`] passes on may be read along their layouts as values of their index
/// types, for as long as the bags are borrowed (V1, V3). Weights may be read along their layouts as values of data type
/// `weight`, if `W` has this data type or is [`Dyn`]. The slice has one entry, or for [`PerTable`] one per item of the
/// list.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no bags of rows with weights `{W}`",
    label = "no bags with weights `{W}`",
    note = "`Bags::new(&ids, &offsets)` makes a bag from each offset on, `Bags::packed(&ids)` one of each row of ids, \
            and several tables take a list of bags; ids and offsets are of an index type",
    note = "`.weights(&weights)` takes numbers of the type that is reduced, and `f32` for fused rows"
)]
pub unsafe trait PlanBags<W>: Sealed {
    /// The kind of indices.
    type Index: IndexKind;

    /// Calls `run` with the type-erased bags. `weight` is the data type of weights. `planned(table)` is the required
    /// type of the indices of a table, or `None` for any type.
    ///
    /// # Errors
    /// For types that are known at run time: [`Error::DTypeMismatch`] for indices of a type other than planned,
    /// [`Error::NotAnIndexType`] for indices and for offsets, [`Error::DTypeMismatch`] for weights, each in
    /// [`Error::InTable`] if there are several tables; then errors of `run`.
    #[doc(hidden)]
    fn with<Y>(
        &self,
        weight: DType,
        planned: impl Fn(usize) -> Option<IndexType>,
        run: impl FnOnce(&[ErasedBags<'_>]) -> Result<Y, Error>,
    ) -> Result<Y, Error>;
}

/// Bags of rows with weights `W`, or without weights: [`Bags`], or a list of bags for several tables. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no bags of rows with weights `{W}`",
    label = "no bags with weights `{W}`",
    note = "`Bags::new(&ids, &offsets)` makes a bag from each offset on, `Bags::packed(&ids)` one of each row of ids, \
            and several tables take a list of bags; ids and offsets are of an index type, and `Bags::planned` is for plans",
    note = "`.weights(&weights)` takes numbers of the type that is reduced, and `f32` for fused rows"
)]
pub trait BagsOf<W>: PlanBags<W> {}

/// Where bags start: a source of offsets, or [`AsPlanned`].
pub trait SaysStarts {
    type Held<'s>: Borrow<Layout>
    where
        Self: 's;

    /// The starts of bags whose `offsets` are `None`.
    const WITHOUT: BagStarts<'static>;

    fn held(&self) -> Self::Held<'_>;

    /// # Errors
    /// [`Error::NotAnIndexType`].
    fn starts<'s>(&self, layout: &'s Layout) -> Result<BagStarts<'s>, Error>;
}

#[diagnostic::do_not_recommend]
impl<S: Source<Kind: IndexKind> + ?Sized> SaysStarts for S {
    type Held<'s>
        = S::Held<'s>
    where
        S: 's;

    const WITHOUT: BagStarts<'static> = BagStarts::EachRow;

    #[inline(always)]
    fn held(&self) -> S::Held<'_> {
        Source::held(self)
    }

    #[inline(always)]
    fn starts<'s>(&self, layout: &'s Layout) -> Result<BagStarts<'s>, Error> {
        let index = S::Kind::index(self.dtype())?;
        Ok(BagStarts::At(Offsets { of: ErasedTensor { origin: self.start(), layout }, index }))
    }
}

impl SaysStarts for AsPlanned {
    type Held<'s> = &'s Layout;

    const WITHOUT: BagStarts<'static> = BagStarts::AsPlanned;

    fn held(&self) -> &Layout {
        match *self {}
    }

    fn starts<'s>(&self, _: &'s Layout) -> Result<BagStarts<'s>, Error> {
        match *self {}
    }
}

/// Kinds of weights for numbers `W`.
pub trait Weighs<W>: Kind {
    /// Whether the kind is `W` itself, so that no data types have to be compared.
    const IS_KNOWN: bool = false;
}

impl<T: Element> Weighs<T> for T {
    const IS_KNOWN: bool = true;
}

impl<T: Element> Weighs<Dyn> for T {}

impl<W> Weighs<W> for Dyn {}

/// Weights of numbers `W`, or [`Unweighted`].
///
/// # Safety
/// Weights that [`WeightsOf::read`] returns may be read along their layout as values of data type `expected`, if `W`
/// has this data type or is [`Dyn`] (V1, V3).
pub unsafe trait WeightsOf<W> {
    type Held<'s>: Borrow<Layout>
    where
        Self: 's;

    fn held(&self) -> Self::Held<'_>;

    /// # Errors
    /// [`Error::DTypeMismatch`].
    fn read<'s>(&self, layout: &'s Layout, expected: DType) -> Result<ErasedTensor<'s>, Error>;
}

// SAFETY: V1, V3 of `Source`. If `IS_KNOWN`, the kind is `W`; otherwise `check_dtype` compared the data type.
#[diagnostic::do_not_recommend]
unsafe impl<W, S: Source<Kind: Weighs<W>> + ?Sized> WeightsOf<W> for S {
    type Held<'s>
        = S::Held<'s>
    where
        S: 's;

    #[inline(always)]
    fn held(&self) -> S::Held<'_> {
        Source::held(self)
    }

    #[inline(always)]
    fn read<'s>(&self, layout: &'s Layout, expected: DType) -> Result<ErasedTensor<'s>, Error> {
        if !S::Kind::IS_KNOWN {
            check_dtype(expected, self.dtype())?;
        }
        Ok(ErasedTensor { origin: self.start(), layout })
    }
}

// SAFETY: `Unweighted` has no values, so `read` is never called.
unsafe impl<W> WeightsOf<W> for Unweighted {
    type Held<'s> = &'s Layout;

    fn held(&self) -> &Layout {
        match *self {}
    }

    fn read<'s>(&self, _: &'s Layout, _: DType) -> Result<ErasedTensor<'s>, Error> {
        match *self {}
    }
}

type Layouts<'s, W, X, O, V> =
    (<X as Source>::Held<'s>, Option<<O as SaysStarts>::Held<'s>>, Option<<V as WeightsOf<W>>::Held<'s>>);

impl<X, O, V> Bags<'_, X, O, V>
where
    X: Source<Kind: IndexKind> + ?Sized,
    O: SaysStarts + ?Sized,
    V: ?Sized,
{
    #[inline(always)]
    fn layouts<W>(&self) -> Layouts<'_, W, X, O, V>
    where
        V: WeightsOf<W>,
    {
        (self.indices.held(), self.offsets.map(SaysStarts::held), self.weights.map(WeightsOf::held))
    }

    /// # Errors
    /// As for [`PlanBags::with`].
    #[inline(always)]
    fn read<'s, W>(
        &self,
        (indices, offsets, weights): &'s Layouts<'_, W, X, O, V>,
        weight: DType,
        planned: Option<IndexType>,
    ) -> Result<ErasedBags<'s>, Error>
    where
        V: WeightsOf<W>,
    {
        let dtype = self.indices.dtype();
        let index = match planned {
            None => X::Kind::index(dtype)?,
            Some(planned) => <X::Kind as Kind>::Out::check(planned.dtype(), dtype).map(|()| planned)?,
        };
        let starts = match (self.offsets, offsets) {
            (Some(of), Some(layout)) => of.starts(layout.borrow())?,
            _ => O::WITHOUT,
        };
        let weights = match (self.weights, weights) {
            (Some(of), Some(layout)) => Some(of.read(layout.borrow(), weight)?),
            _ => None,
        };
        let indices = ErasedTensor { origin: self.indices.start(), layout: indices.borrow() };
        Ok(ErasedBags { indices, index, starts, weights, checked: checked_axis(self.indices) })
    }
}

impl<X: ?Sized, O: ?Sized, V: ?Sized> Sealed for Bags<'_, X, O, V> {}

// SAFETY: V1, V3: the contracts of `Source` and `WeightsOf`. `IndexKind::index` returned the index type of offsets, and
// of indices unless they were compared with `planned`. The slice has one entry.
#[diagnostic::do_not_recommend]
unsafe impl<W, X, O, V> PlanBags<W> for Bags<'_, X, O, V>
where
    W: Typing,
    X: Source<Kind: IndexKind> + ?Sized,
    O: SaysStarts + ?Sized,
    V: WeightsOf<W> + ?Sized,
{
    type Index = X::Kind;

    #[inline(always)]
    fn with<Y>(
        &self,
        weight: DType,
        planned: impl Fn(usize) -> Option<IndexType>,
        run: impl FnOnce(&[ErasedBags<'_>]) -> Result<Y, Error>,
    ) -> Result<Y, Error> {
        let layouts = self.layouts::<W>();
        run(&[self.read::<W>(&layouts, weight, planned(0))?])
    }
}

#[diagnostic::do_not_recommend]
impl<W, X, O, V> BagsOf<W> for Bags<'_, X, O, V>
where
    W: Typing,
    X: Source<Kind: IndexKind> + ?Sized,
    O: Source<Kind: IndexKind> + ?Sized,
    V: WeightsOf<W> + ?Sized,
{
}

/// Implements the traits for lists of bags.
macro_rules! lists {
    ($([$($generics:tt)*] $List:ty;)*) => {$(
        impl<X: ?Sized, O: ?Sized, V: ?Sized, $($generics)*> Sealed for $List {}

        // SAFETY: each item of the list has the contract of `Bags`, and yields one entry.
        #[diagnostic::do_not_recommend]
        unsafe impl<W, X, O, V, $($generics)*> PlanBags<PerTable<W>> for $List
        where
            X: Source<Kind: IndexKind> + ?Sized,
            O: SaysStarts + ?Sized,
            V: WeightsOf<W> + ?Sized,
        {
            type Index = X::Kind;

            fn with<Y>(
                &self,
                weight: DType,
                planned: impl Fn(usize) -> Option<IndexType>,
                run: impl FnOnce(&[ErasedBags<'_>]) -> Result<Y, Error>,
            ) -> Result<Y, Error> {
                let layouts: Vec<_> = self.iter().map(Bags::layouts::<W>).collect();
                // Not `collect`, which does not know the length of results.
                let mut read = Vec::with_capacity(layouts.len());
                for (table, (bags, layouts)) in self.iter().zip(&layouts).enumerate() {
                    read.push(bags.read::<W>(layouts, weight, planned(table)).map_err(in_table(table))?);
                }
                run(&read)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<W, X, O, V, $($generics)*> BagsOf<PerTable<W>> for $List
        where
            X: Source<Kind: IndexKind> + ?Sized,
            O: Source<Kind: IndexKind> + ?Sized,
            V: WeightsOf<W> + ?Sized,
        {
        }
    )*};
}
lists! {
    [] [Bags<'_, X, O, V>];
    [const N: usize] [Bags<'_, X, O, V>; N];
    [] Vec<Bags<'_, X, O, V>>;
}
