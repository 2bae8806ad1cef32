//! Gather and GatherElements, whose ids differ from call to call.

use std::hint::black_box;
use std::time::Duration;

use gather_core::{DynPlan, DynView, DynViewMut, Element, Gather, GatherElements, Index, Par, Plan, Spec, View};
use gather_core::{GatherOperator, IndexAttributes, ViewMut};

use super::ring::Ring;
use super::{Call, LEGAL, Way, clock, each, layout, loops};
use crate::inputs::Position;

/// The operator.
enum Op {
    Rows(Gather),
    Elements(GatherElements),
}

/// A call with its inputs.
pub(super) struct Indexed<'a, I> {
    op: Op,
    table: &'a [f32],
    shape: [usize; 2],
    /// The shape of a list of ids.
    list: Vec<usize>,
    plans: Plans<I>,
    ring: Ring<I>,
    out: Vec<f32>,
    out_shape: [usize; 2],
}

/// Plans of a call that were made ahead.
struct Plans<I> {
    plan: Plan<f32, I>,
    any_count: Plan<f32, I>,
    dynamic: DynPlan,
}

impl<I: Index> Plans<I> {
    fn new<A: IndexAttributes>(op: &GatherOperator<A>, data: &[usize], ids: &[usize]) -> Self {
        let (data, ids) = (layout(data), layout(ids));
        let typed = (Spec::from_layout(&data), Spec::from_layout(&ids));
        let any_count = op.plan_any_count(&typed.0, &typed.1).or_else(|_| op.plan(&typed.0, &typed.1)).expect(LEGAL);
        let dynamic =
            op.plan(&Spec::from_dtype(f32::DTYPE, &data), &Spec::from_dtype(I::TYPE.dtype(), &ids)).expect(LEGAL);
        Plans { plan: op.plan(&typed.0, &typed.1).expect(LEGAL), any_count, dynamic }
    }
}

impl<'a, I: Index + Position> Indexed<'a, I> {
    /// `count` rows out of a table of the shape `[rows, dim]`.
    pub(super) fn rows(table: &'a [f32], shape: [usize; 2], count: usize) -> Self {
        let op = Gather::new(0).par(Par::Seq);
        let plans = Plans::new(&op, &shape, &[count]);
        Self::new(Op::Rows(op), table, shape, vec![count], shape[0], [count, shape[1]], plans)
    }

    /// As many elements as data has, each out of its row.
    pub(super) fn elements(data: &'a [f32], shape: [usize; 2]) -> Self {
        let op = GatherElements::new(1).par(Par::Seq);
        let plans = Plans::new(&op, &shape, &shape);
        Self::new(Op::Elements(op), data, shape, shape.to_vec(), shape[1], shape, plans)
    }

    fn new(
        op: Op,
        table: &'a [f32],
        shape: [usize; 2],
        list: Vec<usize>,
        below: usize,
        out_shape: [usize; 2],
        plans: Plans<I>,
    ) -> Self {
        let out = vec![0.0; out_shape.iter().product()];
        Indexed { op, table, shape, list, plans, ring: Ring::new(below), out, out_shape }
    }
}

impl<I: Index + Position> Call for Indexed<'_, I> {
    fn ways(&self) -> &'static [Way] {
        match self.op {
            Op::Rows(_) => Way::ALL,
            Op::Elements(_) => Way::WITHOUT_COUNT,
        }
    }

    /// Views of these lists stay in the first-level cache; one look at the clock takes little beside all their calls.
    fn batch_len(&self) -> usize {
        (512 / self.list.iter().product::<usize>()).clamp(4, 128)
    }

    fn batch(&mut self, way: Way, calls: usize) -> Duration {
        let Indexed { op, table, shape, list, plans, ring, out, out_shape } = self;
        let Plans { plan, any_count, dynamic } = plans;
        let count = list.iter().product::<usize>();
        let lists = ring.take(calls * count).chunks_exact(count);
        if way == Way::Loop {
            return match op {
                Op::Rows(_) => clock(|| lists.for_each(|ids| loops::rows(table, black_box(shape[1]), ids, out))),
                Op::Elements(_) => clock(|| lists.for_each(|ids| loops::elements(table, black_box(*shape), ids, out))),
            };
        }
        if way == Way::Slices {
            let table = black_box(*table);
            return clock(|| lists.for_each(|ids| plan.run_slices(table, black_box(ids), out).expect(LEGAL)));
        }
        let data = View::new(table, shape).expect(LEGAL);
        let lists: Vec<_> = lists.map(|ids| View::new(ids, list).expect(LEGAL)).collect();
        let mut out = ViewMut::new(out, out_shape).expect(LEGAL);
        let data = black_box(&data);
        let (dyn_data, dyn_lists) = (DynView::from(data), lists.iter().map(DynView::from).collect::<Vec<_>>());
        match (way, op) {
            (Way::Dyn, _) => {
                let mut out = DynViewMut::from(&mut out);
                each(&dyn_lists, |ids| dynamic.run_into(&dyn_data, ids, &mut out))
            }
            (Way::DynUnplanned, op) => {
                let mut out = DynViewMut::from(&mut out);
                match op {
                    Op::Rows(op) => each(&dyn_lists, |ids| op.run_into(&dyn_data, ids, &mut out)),
                    Op::Elements(op) => each(&dyn_lists, |ids| op.run_into(&dyn_data, ids, &mut out)),
                }
            }
            (Way::Unplanned, Op::Rows(op)) => each(&lists, |ids| op.run_into(data, ids, &mut out)),
            (Way::Unplanned, Op::Elements(op)) => each(&lists, |ids| op.run_into(data, ids, &mut out)),
            (Way::AnyCount, _) => each(&lists, |ids| any_count.run_into(data, ids, &mut out)),
            _ => each(&lists, |ids| plan.run_into(data, ids, &mut out)),
        }
    }

    fn rewind(&mut self) {
        self.ring.rewind();
    }

    fn output(&mut self) -> &mut [f32] {
        &mut self.out
    }
}
