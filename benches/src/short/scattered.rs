//! ScatterNd: a few rows of updates, added to a table in the caches.

use std::hint::black_box;
use std::time::Duration;

use gather_core::{Dyn, DynView, DynViewMut, Element, IndexType, Par, Reduction, ScatterNd, Spec};
use gather_core::{ScatterPlan, View, ViewMut};

use super::ring::Ring;
use super::{Call, LEGAL, Way, clock, layout, loops};

/// Elements of a row, and rows of the destination.
const DIM: usize = 16;
const ROWS: usize = 1024;
const SHAPE: [usize; 2] = [ROWS, DIM];

/// Rows of updates that are added.
pub(super) struct Added {
    op: ScatterNd,
    count: usize,
    plan: ScatterPlan<f32, u32>,
    any_count: ScatterPlan<f32, u32>,
    dynamic: ScatterPlan<Dyn, Dyn>,
    ring: Ring<u32>,
    updates: Vec<f32>,
    out: Vec<f32>,
}

impl Added {
    /// `count` rows a call.
    pub(super) fn new(count: usize) -> Self {
        let op = ScatterNd::new().reduction(Reduction::Add).par(Par::Seq);
        let (ids, updates) = (layout(&[count, 1]), layout(&[count, DIM]));
        let (from, to, by) = (Spec::from_layout(&layout(&SHAPE)), Spec::from_layout(&updates), Spec::from_layout(&ids));
        let dtype = f32::DTYPE;
        Added {
            op,
            count,
            plan: op.plan(&from, &by, &to).expect(LEGAL),
            any_count: op.plan_any_count(&from, &by, &to).expect(LEGAL),
            dynamic: op
                .plan(
                    &Spec::from_dtype(dtype, &layout(&SHAPE)),
                    &Spec::from_dtype(IndexType::U32.dtype(), &ids),
                    &Spec::from_dtype(dtype, &updates),
                )
                .expect(LEGAL),
            ring: Ring::new(ROWS),
            updates: (0..count * DIM).map(|at| (at % 13) as f32).collect(),
            out: vec![0.0; ROWS * DIM],
        }
    }
}

impl Call for Added {
    fn ways(&self) -> &'static [Way] {
        Way::ON_VIEWS
    }

    fn batch_len(&self) -> usize {
        (512 / self.count).clamp(4, 128)
    }

    fn batch(&mut self, way: Way, calls: usize) -> Duration {
        let Added { op, count, plan, any_count, dynamic, ring, updates, out } = self;
        let lists = ring.take(calls * *count).chunks_exact(*count);
        if way == Way::Loop {
            return clock(|| lists.for_each(|ids| loops::add(updates, black_box(DIM), ids, out)));
        }
        let updates = View::new(updates, &[*count, DIM]).expect(LEGAL);
        let updates = black_box(&updates);
        let lists: Vec<_> = lists.map(|ids| View::new(ids, &[*count, 1]).expect(LEGAL)).collect();
        let mut out = ViewMut::new(out, &SHAPE).expect(LEGAL);
        let (dyn_updates, dyn_lists) = (DynView::from(updates), lists.iter().map(DynView::from).collect::<Vec<_>>());
        match way {
            Way::Dyn | Way::DynUnplanned => {
                let mut out = DynViewMut::from(&mut out);
                clock(|| {
                    dyn_lists.iter().map(black_box).for_each(|ids| match way {
                        Way::Dyn => dynamic.run_on(&mut out, ids, &dyn_updates).expect(LEGAL),
                        _ => op.run_on(&mut out, ids, &dyn_updates).expect(LEGAL),
                    });
                })
            }
            _ => clock(|| {
                lists.iter().map(black_box).for_each(|ids| {
                    let outcome = match way {
                        Way::Unplanned => op.run_on(&mut out, ids, updates),
                        Way::AnyCount => any_count.run_on(&mut out, ids, updates),
                        _ => plan.run_on(&mut out, ids, updates),
                    };
                    outcome.expect(LEGAL);
                });
            }),
        }
    }

    fn rewind(&mut self) {
        self.ring.rewind();
    }

    fn output(&mut self) -> &mut [f32] {
        &mut self.out
    }
}
