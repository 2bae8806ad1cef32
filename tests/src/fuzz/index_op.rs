//! An index operator of any kind, with the doors that cases go through.

use gather_core::{
    Describe, Error, Gather, GatherAttributes, GatherElements, GatherElementsAttributes, GatherNd, GatherNdAttributes,
    GatheredBy, Index, IndexKind, Kind, Layout, Method, Nulls, Output, Plan, Registry, Shape, Source, Tensor, TensorOf,
    Validity, View,
};

use super::draw::Tuning;
use super::elements::OWN;

/// The kernels of cases whose types are known at run time.
pub(super) static REGISTRY: Registry = Registry::builtin().with(&OWN);

/// Kinds of data that every operator gathers.
pub(super) trait ByAll:
    GatheredBy<GatherAttributes> + GatheredBy<GatherElementsAttributes> + GatheredBy<GatherNdAttributes>
{
}

impl<K> ByAll for K where
    K: GatheredBy<GatherAttributes> + GatheredBy<GatherElementsAttributes> + GatheredBy<GatherNdAttributes>
{
}

/// An index operator.
#[derive(Clone, Debug)]
pub(super) enum IndexOp {
    Gather(Gather),
    Elements(GatherElements),
    Nd(GatherNd),
}

macro_rules! with_op {
    ($chosen:expr, $op:ident => $body:expr) => {
        match $chosen {
            IndexOp::Gather($op) => $body,
            IndexOp::Elements($op) => $body,
            IndexOp::Nd($op) => $body,
        }
    };
}

impl From<Gather> for IndexOp {
    fn from(op: Gather) -> Self {
        IndexOp::Gather(op)
    }
}

impl From<GatherElements> for IndexOp {
    fn from(op: GatherElements) -> Self {
        IndexOp::Elements(op)
    }
}

impl From<GatherNd> for IndexOp {
    fn from(op: GatherNd) -> Self {
        IndexOp::Nd(op)
    }
}

/// What a call comes to.
pub(super) type Ran<T> = std::result::Result<T, Error>;

impl IndexOp {
    pub(super) fn tuned(self, tuning: &Tuning) -> Self {
        with_op!(self, op => op
            .negative_index(tuning.negative)
            .out_of_bounds(tuning.out_of_bounds)
            .par(tuning.par)
            .level(tuning.level)
            .into())
    }

    pub(super) fn method(self, method: Method) -> Self {
        with_op!(self, op => op.method(method).into())
    }

    pub(super) fn output_shape(&self, data: &[usize], indices: &[usize]) -> Ran<Shape> {
        with_op!(self, op => op.output_shape(data, indices))
    }

    pub(super) fn run<S, X>(&self, data: &S, indices: &X) -> Ran<TensorOf<S>>
    where
        S: Source<Kind: ByAll>,
        X: Source<Kind: IndexKind>,
    {
        with_op!(self, op => op.registry(&REGISTRY).run(data, indices))
    }

    pub(super) fn run_into<S, X, O>(&self, data: &S, indices: &X, out: &mut O) -> Ran<()>
    where
        S: Source<Kind: ByAll>,
        X: Source<Kind: IndexKind>,
        O: Output<<S::Kind as Kind>::Out>,
    {
        with_op!(self, op => op.registry(&REGISTRY).run_into(data, indices, out))
    }

    pub(super) fn plan<S, X>(&self, data: &S, indices: &X) -> Ran<Plan<S::Kind, X::Kind>>
    where
        S: Describe<Kind: ByAll>,
        X: Describe<Kind: IndexKind>,
    {
        with_op!(self, op => op.registry(&REGISTRY).plan(data, indices))
    }

    pub(super) fn plan_into<S, X>(&self, data: &S, indices: &X, out: &Layout) -> Ran<Plan<S::Kind, X::Kind>>
    where
        S: Describe<Kind: ByAll>,
        X: Describe<Kind: IndexKind>,
    {
        with_op!(self, op => op.registry(&REGISTRY).plan_into(data, indices, out))
    }

    pub(super) fn plan_any_count<S, X>(&self, data: &S, indices: &X) -> Ran<Plan<S::Kind, X::Kind>>
    where
        S: Describe<Kind: ByAll>,
        X: Describe<Kind: IndexKind>,
    {
        with_op!(self, op => op.registry(&REGISTRY).plan_any_count(data, indices))
    }

    pub(super) fn run_nullable<S, X>(
        &self,
        data: &S,
        indices: &X,
        nulls: Nulls<'_>,
    ) -> Ran<(TensorOf<S>, Option<Validity>)>
    where
        S: Source<Kind: ByAll>,
        X: Source<Kind: IndexKind>,
    {
        with_op!(self, op => op.registry(&REGISTRY).nullable().run(data, indices, nulls))
    }

    pub(super) fn run_cloned<T: Clone + Default, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
    ) -> Ran<Tensor<T>> {
        with_op!(self, op => op.run_cloned(data, indices))
    }
}
