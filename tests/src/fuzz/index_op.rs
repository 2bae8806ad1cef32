//! An index operator of any kind, with the doors that cases go through.

use gather_core::{
    DynOutput, DynPlan, DynTensor, DynView, Element, Error, Gather, GatherElements, GatherNd, Index, Layout, Map,
    MapPlan, Method, Nulls, Output, Params, Plan, Registry, Shape, Tensor, Validity, View,
};

use super::draw::Tuning;
use super::elements::OWN;

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

    pub(super) fn plan<T: Element, I: Index>(&self, data: &Layout, indices: &Layout) -> Ran<Plan<T, I>> {
        with_op!(self, op => op.plan(data, indices))
    }

    pub(super) fn run<T: Element, I: Index>(&self, data: &View<'_, T>, indices: &View<'_, I>) -> Ran<Tensor<T>> {
        with_op!(self, op => op.run(data, indices))
    }

    pub(super) fn run_into<T: Element, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        out: &mut impl Output<T>,
    ) -> Ran<()> {
        with_op!(self, op => op.run_into(data, indices, out))
    }

    pub(super) fn run_valid<T: Element, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        nulls: Nulls<'_>,
    ) -> Ran<(Tensor<T>, Option<Validity>)> {
        with_op!(self, op => op.run_valid(data, indices, nulls))
    }

    pub(super) fn run_valid_dyn(
        &self,
        data: &DynView<'_>,
        indices: &DynView<'_>,
        nulls: Nulls<'_>,
    ) -> Ran<(DynTensor, Option<Validity>)> {
        with_op!(self, op => op.run_valid_dyn(&Registry::builtin().with(&OWN), data, indices, nulls))
    }

    pub(super) fn run_cloned<T: Clone + Default, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
    ) -> Ran<Tensor<T>> {
        with_op!(self, op => op.run_cloned(data, indices))
    }

    pub(super) fn run_dyn(&self, data: &DynView<'_>, indices: &DynView<'_>) -> Ran<DynTensor> {
        with_op!(self, op => op.run_dyn(&Registry::builtin().with(&OWN), data, indices))
    }

    pub(super) fn run_dyn_into(&self, data: &DynView<'_>, indices: &DynView<'_>, out: &mut impl DynOutput) -> Ran<()> {
        with_op!(self, op => op.run_dyn_into(&Registry::builtin().with(&OWN), data, indices, out))
    }

    pub(super) fn plan_dyn<T: Element, I: Index>(&self, data: &Layout, indices: &Layout) -> Ran<DynPlan> {
        with_op!(self, op => op.plan_dyn(&Registry::builtin().with(&OWN), T::DTYPE, data, I::TYPE, indices))
    }

    pub(super) fn plan_into<T: Element, I: Index>(
        &self,
        data: &Layout,
        indices: &Layout,
        out: &Layout,
    ) -> Ran<Plan<T, I>> {
        with_op!(self, op => op.plan_into(data, indices, out))
    }

    pub(super) fn plan_any_count<T: Element, I: Index>(&self, data: &Layout, indices: &Layout) -> Ran<Plan<T, I>> {
        with_op!(self, op => op.plan_any_count(data, indices))
    }

    pub(super) fn run_map<T: Element, U: Element, P: Params, I: Index>(
        &self,
        map: &Map<T, U, P>,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        params: P::Given<'_>,
    ) -> Ran<Tensor<U>> {
        with_op!(self, op => op.run_map(map, data, indices, params))
    }

    pub(super) fn run_map_into<T: Element, U: Element, P: Params, I: Index>(
        &self,
        map: &Map<T, U, P>,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        params: P::Given<'_>,
        out: &mut impl Output<U>,
    ) -> Ran<()> {
        with_op!(self, op => op.run_map_into(map, data, indices, params, out))
    }

    pub(super) fn plan_map<T: Element, U: Element, P: Params, I: Index>(
        &self,
        map: &Map<T, U, P>,
        data: &Layout,
        indices: &Layout,
    ) -> Ran<MapPlan<T, U, P, I>> {
        with_op!(self, op => op.plan_map(map, data, indices))
    }
}
