//! BatchToSpace, which has no ids.

use std::hint::black_box;
use std::time::Duration;

use gather_core::ViewMut;
use gather_core::{BatchToSpace, Dyn, DynView, DynViewMut, Element, Par, RearrangePlan, Spec, View};

use super::{Call, LEGAL, Way, clock, layout, loops};

/// The sides of an image and of a block.
const SIDE: usize = 8;
const BLOCK: usize = 2;
/// As many images as a block has places.
const SHAPE: [usize; 3] = [BLOCK * BLOCK, SIDE, SIDE];
const OUT: [usize; 3] = [1, BLOCK * SIDE, BLOCK * SIDE];
/// Elements.
const LEN: usize = BLOCK * BLOCK * SIDE * SIDE;

/// A call with its inputs.
pub(super) struct Space {
    op: BatchToSpace,
    data: Vec<f32>,
    plan: RearrangePlan<f32>,
    dynamic: RearrangePlan<Dyn>,
    out: Vec<f32>,
}

impl Space {
    pub(super) fn new() -> Self {
        let op = BatchToSpace::new(&[1, BLOCK as i64, BLOCK as i64], &[0; 3], &[0; 3]).par(Par::Seq);
        let plan = op.plan(&Spec::from_layout(&layout(&SHAPE))).expect(LEGAL);
        let dynamic = op.plan(&Spec::from_dtype(f32::DTYPE, &layout(&SHAPE))).expect(LEGAL);
        Space { op, data: (0..LEN).map(|at| at as f32).collect(), plan, dynamic, out: vec![0.0; LEN] }
    }
}

impl Call for Space {
    fn ways(&self) -> &'static [Way] {
        Way::WITHOUT_COUNT
    }

    fn batch_len(&self) -> usize {
        32
    }

    fn batch(&mut self, way: Way, calls: usize) -> Duration {
        let Space { op, data, plan, dynamic, out } = self;
        if way == Way::Loop {
            return clock(|| {
                (0..calls).for_each(|_| loops::blocks(black_box(data), black_box([SIDE; 2]), black_box(BLOCK), out));
            });
        }
        let data = View::new(data, &SHAPE).expect(LEGAL);
        let mut out = ViewMut::new(out, &OUT).expect(LEGAL);
        let data = black_box(&data);
        match way {
            Way::Dyn | Way::DynUnplanned => {
                let (data, mut out) = (DynView::from(data), DynViewMut::from(&mut out));
                clock(|| {
                    (0..calls).for_each(|_| match way {
                        Way::Dyn => dynamic.run_into(black_box(&data), &mut out).expect(LEGAL),
                        _ => op.run_into(black_box(&data), &mut out).expect(LEGAL),
                    });
                })
            }
            Way::Unplanned => clock(|| (0..calls).for_each(|_| op.run_into(black_box(data), &mut out).expect(LEGAL))),
            _ => clock(|| (0..calls).for_each(|_| plan.run_into(black_box(data), &mut out).expect(LEGAL))),
        }
    }

    fn rewind(&mut self) {}

    fn output(&mut self) -> &mut [f32] {
        &mut self.out
    }
}
