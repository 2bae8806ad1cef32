//! Gather and GatherElements, whose ids differ from call to call.

use std::hint::black_box;
use std::time::Duration;

use gather_core::{Error, Gather, GatherElements, Layout, Par, Plan, View, ViewMut};

use super::{Call, LEGAL, Way, clock, loops};
use crate::random::Random;

/// Ids in a ring. Lines of as many rows are twice what the caches of most machines hold.
const RING: usize = 1 << 21;

/// Ids that follow one another.
struct Ring {
    ids: Vec<u32>,
    next: usize,
}

impl Ring {
    fn new(below: usize) -> Self {
        let mut random = Random::new(1);
        Ring { ids: (0..RING).map(|_| random.below(below) as u32).collect(), next: 0 }
    }

    /// The next `count` ids, from the first one on where too few are left.
    fn take(&mut self, count: usize) -> &[u32] {
        if self.next + count > self.ids.len() {
            self.next = 0;
        }
        self.next += count;
        &self.ids[self.next - count..self.next]
    }
}

/// The operator.
enum Op {
    Rows(Gather),
    Elements,
}

/// A call with its inputs.
pub(super) struct Indexed<'a> {
    op: Op,
    table: &'a [f32],
    shape: [usize; 2],
    /// The shape of a list of ids.
    list: Vec<usize>,
    plan: Plan<f32, u32>,
    ring: Ring,
    out: Vec<f32>,
    out_shape: [usize; 2],
}

impl<'a> Indexed<'a> {
    /// `count` rows out of a table of the shape `[rows, dim]`.
    pub(super) fn rows(table: &'a [f32], shape: [usize; 2], count: usize) -> Self {
        let op = Gather::new(0).par(Par::Seq);
        let plan = op.plan(&layout(&shape), &layout(&[count])).expect(LEGAL);
        Self::new(Op::Rows(op), table, shape, vec![count], shape[0], [count, shape[1]], plan)
    }

    /// As many elements as data has, each out of its row.
    pub(super) fn elements(data: &'a [f32], shape: [usize; 2]) -> Self {
        let op = GatherElements::new(1).par(Par::Seq);
        let plan = op.plan(&layout(&shape), &layout(&shape)).expect(LEGAL);
        Self::new(Op::Elements, data, shape, shape.to_vec(), shape[1], shape, plan)
    }

    fn new(
        op: Op,
        table: &'a [f32],
        shape: [usize; 2],
        list: Vec<usize>,
        below: usize,
        out_shape: [usize; 2],
        plan: Plan<f32, u32>,
    ) -> Self {
        let out = vec![0.0; out_shape.iter().product()];
        Indexed { op, table, shape, list, plan, ring: Ring::new(below), out, out_shape }
    }
}

fn layout(shape: &[usize]) -> Layout {
    Layout::contiguous(shape).expect(LEGAL)
}

impl Call for Indexed<'_> {
    fn ways(&self) -> &'static [Way] {
        match self.op {
            Op::Rows(_) => Way::ALL,
            Op::Elements => &[Way::Loop, Way::Slices, Way::Planned],
        }
    }

    /// Views of so many lists stay in the first-level cache; one look at the clock takes little beside so many calls.
    fn batch_len(&self) -> usize {
        (512 / self.list.iter().product::<usize>()).clamp(4, 128)
    }

    fn batch(&mut self, way: Way, calls: usize) -> Duration {
        let Indexed { op, table, shape, list, plan, ring, out, out_shape } = self;
        let count = list.iter().product::<usize>();
        let lists = ring.take(calls * count).chunks_exact(count);
        if way == Way::Loop {
            return match op {
                Op::Rows(_) => clock(|| lists.for_each(|ids| loops::rows(table, black_box(shape[1]), ids, out))),
                Op::Elements => clock(|| lists.for_each(|ids| loops::elements(table, black_box(*shape), ids, out))),
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
        match (way, op) {
            (Way::Unplanned, Op::Rows(op)) => each(&lists, |ids| op.run_into(data, ids, &mut out)),
            _ => each(&lists, |ids| plan.run_into(data, ids, &mut out)),
        }
    }

    fn rewind(&mut self) {
        self.ring.next = 0;
    }

    fn output(&mut self) -> &mut [f32] {
        &mut self.out
    }
}

/// The time of a call for each list.
fn each(lists: &[View<'_, u32>], mut call: impl FnMut(&View<'_, u32>) -> Result<(), Error>) -> Duration {
    clock(|| lists.iter().for_each(|ids| call(black_box(ids)).expect(LEGAL)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_goes_round() {
        let mut ring = Ring::new(100);
        assert!(ring.ids.iter().all(|&id| id < 100) && ring.ids.iter().max() == Some(&99));
        let first = ring.take(5).to_vec();
        assert_ne!(ring.take(5), first);
        ring.next = RING - 4;
        assert_eq!(ring.take(5), first);
    }
}
