//! EmbeddingBag: a bag of a few rows, in `f32` or in codes of 8 bits that a map converts.

use std::hint::black_box;
use std::time::Duration;

use gather_core::{
    BagPlan, Bags, Dyn, DynView, DynViewMut, Element, EmbeddingBag, Given, Mapped, Par, Reduction, Spec, View, ViewMut,
    maps,
};

use super::ring::Ring;
use super::{Call, LEGAL, Way, clock, layout, loops};

/// Elements of a row, and rows of the table.
const DIM: usize = 64;
const ROWS: usize = 4096;
const SHAPE: [usize; 2] = [ROWS, DIM];
const OUT: [usize; 2] = [1, DIM];

/// Views of these lists stay in the first-level cache.
fn batch_len(count: usize) -> usize {
    (512 / count).clamp(4, 128)
}

/// A sum of rows.
pub(super) struct Sum<'a> {
    table: &'a [f32],
    op: EmbeddingBag,
    count: usize,
    plan: BagPlan<f32, u32>,
    dynamic: BagPlan<Dyn, Dyn>,
    ring: Ring<u32>,
    out: Vec<f32>,
}

impl<'a> Sum<'a> {
    /// The sum of `count` rows of a table, of which only as much is used as the caches hold.
    pub(super) fn new(table: &'a [f32], count: usize) -> Self {
        let op = EmbeddingBag::new(Reduction::Add).par(Par::Seq);
        let ids = vec![0u32; count];
        let ids = View::new(&ids, &[1, count]).expect(LEGAL);
        let data = layout(&SHAPE);
        let plan = op.plan(&Spec::<f32>::from_layout(&data), &Bags::packed(&ids)).expect(LEGAL);
        let ids = DynView::from(&ids);
        let dynamic = op.plan(&Spec::from_dtype(f32::DTYPE, &data), &Bags::packed(&ids)).expect(LEGAL);
        Sum { table: &table[..ROWS * DIM], op, count, plan, dynamic, ring: Ring::new(ROWS), out: vec![0.0; DIM] }
    }
}

impl Call for Sum<'_> {
    fn ways(&self) -> &'static [Way] {
        Way::ON_VIEWS
    }

    fn batch_len(&self) -> usize {
        batch_len(self.count)
    }

    fn batch(&mut self, way: Way, calls: usize) -> Duration {
        let Sum { table, op, count, plan, dynamic, ring, out } = self;
        let lists = ring.take(calls * *count).chunks_exact(*count);
        if way == Way::Loop {
            return clock(|| lists.for_each(|ids| loops::sum(table, black_box(DIM), ids, out)));
        }
        let data = View::new(table, &SHAPE).expect(LEGAL);
        let data = black_box(&data);
        let lists: Vec<_> = lists.map(|ids| View::new(ids, &[1, *count]).expect(LEGAL)).collect();
        let mut out = ViewMut::new(out, &OUT).expect(LEGAL);
        let (dyn_data, dyn_lists) = (DynView::from(data), lists.iter().map(DynView::from).collect::<Vec<_>>());
        match way {
            Way::Unplanned => clock(|| {
                lists.iter().for_each(|ids| op.run_into(data, &Bags::packed(black_box(ids)), &mut out).expect(LEGAL));
            }),
            Way::AnyCount => clock(|| {
                let run = |ids| plan.run_into(data, &Bags::packed(black_box(ids)), &mut out);
                lists.iter().map(run).for_each(|outcome| outcome.expect(LEGAL));
            }),
            Way::Dyn | Way::DynUnplanned => {
                let mut out = DynViewMut::from(&mut out);
                clock(|| {
                    dyn_lists.iter().map(black_box).for_each(|ids| match way {
                        Way::Dyn => dynamic.run_into(&dyn_data, &Bags::planned(ids), &mut out).expect(LEGAL),
                        _ => op.run_into(&dyn_data, &Bags::packed(ids), &mut out).expect(LEGAL),
                    });
                })
            }
            _ => clock(|| {
                lists
                    .iter()
                    .for_each(|ids| plan.run_into(data, &Bags::planned(black_box(ids)), &mut out).expect(LEGAL));
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

/// A sum of rows of codes.
pub(super) struct Codes {
    codes: Vec<u8>,
    scales: Vec<f32>,
    op: EmbeddingBag,
    count: usize,
    plan: BagPlan<Mapped<u8, f32>, u32>,
    ring: Ring<u32>,
    out: Vec<f32>,
}

/// The code of zero.
const ZERO: u8 = 128;

impl Codes {
    pub(super) fn new(count: usize) -> Self {
        let op = EmbeddingBag::new(Reduction::Add).par(Par::Seq);
        let ids = vec![0u32; count];
        let ids = View::new(&ids, &[1, count]).expect(LEGAL);
        let plan =
            op.plan(&Spec::from_layout(&layout(&SHAPE)).map(&maps::dequantize()), &Bags::packed(&ids)).expect(LEGAL);
        let codes = (0..ROWS * DIM).map(|at| (at * 7 % 251) as u8).collect();
        let scales = (0..ROWS).map(|row| 0.5 + (row % 5) as f32).collect();
        Codes { codes, scales, op, count, plan, ring: Ring::new(ROWS), out: vec![0.0; DIM] }
    }
}

impl Call for Codes {
    fn ways(&self) -> &'static [Way] {
        &[Way::Loop, Way::Planned, Way::AnyCount, Way::Unplanned]
    }

    fn batch_len(&self) -> usize {
        batch_len(self.count)
    }

    fn batch(&mut self, way: Way, calls: usize) -> Duration {
        let Codes { codes, scales, op, count, plan, ring, out } = self;
        let lists = ring.take(calls * *count).chunks_exact(*count);
        if way == Way::Loop {
            return clock(|| lists.for_each(|ids| loops::codes(codes, scales, ZERO, black_box(DIM), ids, out)));
        }
        let data = View::new(codes, &SHAPE).expect(LEGAL);
        let data = black_box(&data);
        let lists: Vec<_> = lists.map(|ids| View::new(ids, &[1, *count]).expect(LEGAL)).collect();
        let mut out = ViewMut::new(out, &OUT).expect(LEGAL);
        let params = || (Given::PerRow(&scales[..]), Given::All(ZERO));
        clock(|| {
            lists.iter().map(black_box).for_each(|ids| {
                let bags = Bags::packed(ids);
                let outcome = match way {
                    Way::Unplanned => op.run_into(&data.map(&maps::dequantize(), params()), &bags, &mut out),
                    Way::AnyCount => plan.run_into(&data.map(&maps::dequantize(), params()), &bags, &mut out),
                    _ => plan.run_into(&data.map(&maps::dequantize(), params()), &Bags::planned(ids), &mut out),
                };
                outcome.expect(LEGAL);
            });
        })
    }

    fn rewind(&mut self) {
        self.ring.rewind();
    }

    fn output(&mut self) -> &mut [f32] {
        &mut self.out
    }
}
