//! BatchToSpace, which has no ids.

use std::hint::black_box;
use std::time::Duration;

use gather_core::{BatchToSpace, Layout, Par, RearrangePlan, View, ViewMut};

use super::{Call, LEGAL, Way, clock, loops};

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
    data: Vec<f32>,
    plan: RearrangePlan<f32>,
    out: Vec<f32>,
}

impl Space {
    pub(super) fn new() -> Self {
        let op = BatchToSpace::new(&[1, BLOCK as i64, BLOCK as i64], &[0; 3], &[0; 3]).par(Par::Seq);
        let plan = op.plan(&Layout::contiguous(&SHAPE).expect(LEGAL)).expect(LEGAL);
        Space { data: (0..LEN).map(|at| at as f32).collect(), plan, out: vec![0.0; LEN] }
    }
}

impl Call for Space {
    fn ways(&self) -> &'static [Way] {
        &[Way::Loop, Way::Planned]
    }

    fn batch_len(&self) -> usize {
        32
    }

    fn batch(&mut self, way: Way, calls: usize) -> Duration {
        let Space { data, plan, out } = self;
        if way == Way::Loop {
            return clock(|| {
                (0..calls).for_each(|_| loops::blocks(black_box(data), black_box([SIDE; 2]), black_box(BLOCK), out));
            });
        }
        let data = View::new(data, &SHAPE).expect(LEGAL);
        let mut out = ViewMut::new(out, &OUT).expect(LEGAL);
        clock(|| (0..calls).for_each(|_| plan.run_into(black_box(&data), &mut out).expect(LEGAL)))
    }

    fn rewind(&mut self) {}

    fn output(&mut self) -> &mut [f32] {
        &mut self.out
    }
}
