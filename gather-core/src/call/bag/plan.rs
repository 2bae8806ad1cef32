//! Plans of bags, by kinds.

#![forbid(unsafe_code)]

use core::borrow::Borrow;
use core::marker::PhantomData;

use crate::call::bag::BagOperator;
use crate::call::bag::bags::{BagsOf, PlanBags};
use crate::call::bag::kinds::{self, BagKind, BaggedBy, with_tensors};
use crate::call::bag::planned::PlannedBag;
use crate::call::bag::tables::PlannedTables;
use crate::call::gather::fused::check_format;
use crate::call::gather::maps::check_names;
use crate::call::plan_type::plan_type;
use crate::call::source::kind::IndexKind;
use crate::call::source::reader::{Format, Reader};
use crate::call::source::{Describe, Source};
use crate::plan::Explain;
use crate::tensor::output::{Output, written};
use crate::tensor::typing::Typing;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::fused::FusedFormat;
use crate::types::index::IndexType;
use crate::types::op::Op;

/// The part of an [`EmbeddingBag`](crate::EmbeddingBag) call that depends on shapes, types and the bounds of its bags:
/// made once, run many times, from any thread.
///
/// As for a [`Plan`](crate::Plan), `K` is the [`Kind`](crate::Kind) of data and `I` the kind of indices. The plan runs
/// on any [`Source`] of kind `K` and of the planned layout, with any bags, or with other indices and weights in the
/// planned bags ([`Bags::planned`](crate::Bags::planned)). To plan before any bags exist, plan on bags without indices:
/// `Bags::new(&[0i64; 0], &[0i64])`. The number of planned bags does not restrict other bags.
///
/// ```
/// use gather_core::{BagPlan, Bags, EmbeddingBag, Reduction, Spec, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (ids, offsets, table) = ([0u32, 2, 1], [0u32, 2], [1.0f32, 2.0, 4.0]);
///     let sum = EmbeddingBag::new(Reduction::Add);
///     let plan: BagPlan<f32, u32> = sum.plan(&Spec::<f32>::new(&[3])?, &Bags::new(&ids, &offsets))?;
///     assert_eq!(plan.run(&table, &Bags::planned(&[1, 1, 0]))?.as_slice(), [4.0, 1.0]);
///
///     // Two requests of a server.
///     assert_eq!(plan.run(&table, &Bags::new(&ids, &offsets))?.as_slice(), [5.0, 2.0]);
///     let ids = View::new(&[2u32, 2], &[1, 2])?;
///     assert_eq!(plan.run(&table, &Bags::packed(&ids))?.as_slice(), [8.0]);
///     Ok(())
/// }
/// ```
pub struct BagPlan<K, I> {
    plan: PlannedBags,
    kinds: PhantomData<fn(K, I)>,
}

plan_type!(BagPlan<K, I>: plan);

/// A plan without its kinds.
#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "most plans are of one table")]
pub(super) enum PlannedBags {
    Rows(PlannedBag, Reads),
    Tables(PlannedTables),
}

/// How a plan reads rows, by the kind of its data.
#[derive(Clone, Copy)]
pub(super) enum Reads {
    Elements,
    /// Elements by a map with parameters of these names, or in chunks; and the number of chunks with rows.
    Converted(&'static [&'static str], usize),
    Fused(FusedFormat),
}

impl Reads {
    /// Checks that a reader has the planned format, and one chunk or several as planned.
    ///
    /// # Errors
    /// [`Error::PlanChunksMismatch`], [`Error::PlanParametersMismatch`], [`Error::FusedFormatMismatch`].
    pub(super) fn check(self, reader: &Reader<'_>) -> Result<(), Error> {
        let (op, chunks) = (Op::EmbeddingBag, if let Reads::Converted(_, chunks) = self { chunks } else { 1 });
        reader.check_chunks(op, chunks)?;
        match (self, reader.format) {
            (Reads::Converted(names, _), Format::Mapped(map, _)) => check_names(op, (map.name, map.params), names),
            (Reads::Fused(format), Format::Fused(table)) => check_format(format, table),
            _ => Ok(()),
        }
    }
}

impl PlannedBags {
    #[inline]
    pub(super) fn dtype(&self) -> DType {
        match self {
            PlannedBags::Rows(planned, _) => planned.types().0,
            PlannedBags::Tables(planned) => planned.dtype(),
        }
    }

    #[inline]
    pub(super) fn index(&self, table: usize) -> Option<IndexType> {
        match self {
            PlannedBags::Rows(planned, _) => Some(planned.types().1),
            PlannedBags::Tables(planned) => planned.index(table),
        }
    }

    fn output_shape(&self) -> &[usize] {
        match self {
            PlannedBags::Rows(planned, _) => planned.output_shape(),
            PlannedBags::Tables(planned) => planned.output_shape(),
        }
    }

    fn explain(&self) -> Explain<'_> {
        match self {
            PlannedBags::Rows(planned, _) => planned.explain(),
            PlannedBags::Tables(planned) => planned.explain(),
        }
    }
}

impl<R> BagOperator<R> {
    /// Makes a plan, which does once the work that depends on shapes and on the bounds of bags. The plan runs on any
    /// data of this layout, with any bags, into row-major outputs. Planning reads the offsets, and the layouts of
    /// indices and weights. Data may be a [`Spec`](crate::Spec).
    ///
    /// # Errors
    /// As for [`Self::run`], without errors of parameters, fresh memory and index values.
    pub fn plan<S, B>(&self, data: &S, bags: &B) -> Result<BagPlan<S::Kind, B::Index>, Error>
    where
        S: Describe<Kind: BaggedBy<R>> + ?Sized,
        B: BagsOf<<S::Kind as BagKind>::Weight> + ?Sized,
    {
        let held = data.held();
        let reader = data.reader(held.borrow());
        let plan = bags.with(
            S::Kind::weight(reader.dtype),
            |_| None,
            |bags| {
                let request = S::Kind::request::<B::Index>(self, &reader, bags)?;
                kinds::plan(request, &reader, bags)
            },
        );
        Ok(BagPlan { plan: plan?, kinds: PhantomData })
    }
}

impl<K: BagKind, I: IndexKind> BagPlan<K, I> {
    /// The plan without its kinds.
    pub(super) fn inner(&self) -> &PlannedBags {
        &self.plan
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// For types that are known at run time, [`Error::DTypeMismatch`] for data and indices, [`Error::NotAnIndexType`]
    /// for offsets, and [`Error::DTypeMismatch`] for weights. Then [`Error::PlanParametersMismatch`] for a map and
    /// [`Error::FusedFormatMismatch`] for fused rows; [`Error::PlanMismatch`] for data, and for the indices of planned
    /// bags; for other bags [`Error::RankOutOfRange`], [`Error::NoOffsets`], [`Error::AllocationFailed`] and
    /// [`Error::BagOffsetOutOfRange`]. Then [`Error::WeightsUnavailable`], [`Error::ShapeMismatch`] for weights,
    /// errors of the parameters of the source's adaptor, [`Error::TooManyElements`], [`Error::AllocationFailed`], and
    /// last [`Error::IndexOutOfRange`].
    ///
    /// # Panics
    /// If a map or a reduction panics.
    pub fn run<S, B>(&self, data: &S, bags: &B) -> Result<<K::Out as Typing>::Tensor, Error>
    where
        S: Source<Kind = K> + ?Sized,
        B: PlanBags<K::Weight, Index = I> + ?Sized,
    {
        written(K::Out::empty(self.plan.dtype()), |out| self.run_into(data, bags, out))
    }

    /// Runs the plan into an [`Output`]: a row-major view, uninitialised memory, or a reused tensor.
    ///
    /// Allocates only sums of bags of more than 512 rows, counters for rows of more than six loops, the bounds of bags
    /// with offsets, and the memory of a tensor that is too small; for [`tables`](crate::tables()) also three lists of
    /// one entry per table, and for several threads lists of their tasks. With a map every call allocates its scratch,
    /// as [`BagOperator::run`] does. Packed bags of up to 512 rows of one table of elements allocate nothing on one
    /// thread.
    ///
    /// # Errors
    /// As for [`BagPlan::run`], with [`Error::DTypeMismatch`] for the output after errors of types, and
    /// [`Error::PlanMismatch`] for the output after [`Error::TooManyElements`]. On an error the output is as after
    /// [`EmbeddingBag::run_into`](BagOperator::run_into).
    ///
    /// # Panics
    /// If a map or a reduction panics.
    pub fn run_into<S, B, O>(&self, data: &S, bags: &B, out: &mut O) -> Result<(), Error>
    where
        S: Source<Kind = K> + ?Sized,
        B: PlanBags<K::Weight, Index = I> + ?Sized,
        O: Output<K::Out>,
    {
        let (plan, dtype) = (&self.plan, self.plan.dtype());
        K::Out::check(dtype, data.dtype())?;
        with_tensors(
            (data, bags, out),
            |table| plan.index(table),
            |_, _| Ok(()),
            |(), data, tensors| kinds::run_plan::<K>(plan, data, tensors),
        )
    }
}
