//! The workloads of EmbeddingBag: their tensors, and the plain loop that says what must come out.

use gather_core::{BagPlan, Bags, EmbeddingBag, Output, Reduction, Spec, Tensor, View, ViewMut};

use crate::buffer::Buffer;
use crate::inverse::{IntoOutput, Ways, par};
use crate::random::Random;

/// A workload: `f32` rows and `i64` indices, bags of equal length.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// The name.
    pub name: &'static str,
    /// The reduction applied to each bag.
    pub reduction: Reduction,
    /// Rows and columns of the table.
    pub table: [usize; 2],
    /// Bags, and indices of each.
    pub bags: [usize; 2],
    /// Whether rows have weights.
    pub weighted: bool,
}

const fn workload(
    name: &'static str,
    reduction: Reduction,
    table: [usize; 2],
    bags: [usize; 2],
    weighted: bool,
) -> Workload {
    Workload { name, reduction, table, bags, weighted }
}

/// Every workload.
pub const WORKLOADS: [Workload; 8] = [
    workload("embedding_bag/sum_1Mx64_16Kx32", Reduction::Add, [1 << 20, 64], [16384, 32], false),
    workload("embedding_bag/mean_50257x768_256x128", Reduction::Mean, [50257, 768], [256, 128], false),
    workload("embedding_bag/weighted_1Mx64_16Kx32", Reduction::Add, [1 << 20, 64], [16384, 32], true),
    workload("embedding_bag/max_1Mx64_16Kx32", Reduction::Max, [1 << 20, 64], [16384, 32], false),
    workload("embedding_bag/sum_1Mx16_64Kx8", Reduction::Add, [1 << 20, 16], [65536, 8], false),
    workload("embedding_bag/sum_4096x64_16Kx32", Reduction::Add, [4096, 64], [16384, 32], false),
    workload("embedding_bag/sum_1000x100_16Kx4", Reduction::Add, [1000, 100], [16384, 4], false),
    workload("embedding_bag/sum_32x16_1x8", Reduction::Add, [32, 16], [1, 8], false),
];

/// The tensors of a workload.
pub struct Tensors {
    workload: Workload,
    table: Buffer<f32>,
    ids: Buffer<i64>,
    offsets: Buffer<i64>,
    weights: Buffer<f32>,
}

/// Elements in memory like that of native engines.
fn buffer<T: bytemuck::Pod>(shape: &[usize], values: impl Iterator<Item = T>) -> Buffer<T> {
    let mut buffer = Buffer::zeroed(shape);
    buffer.as_mut_slice().iter_mut().zip(values).for_each(|(to, value)| *to = value);
    buffer
}

impl Tensors {
    /// The tensors of a workload: the same every time.
    ///
    /// # Panics
    /// When they do not fit in memory.
    #[must_use]
    pub fn new(workload: &Workload) -> Self {
        let mut random = Random::named(workload.name);
        let ([rows, columns], [bags, len]) = (workload.table, workload.bags);
        let mut numbers = |count: usize| -> Vec<f32> { (0..count).map(|_| random.fraction() as f32 - 0.5).collect() };
        let table = buffer(&workload.table, numbers(rows * columns).into_iter());
        let weights = buffer(&[bags * len], numbers(bags * len).into_iter());
        let ids = buffer(&[bags * len], (0..bags * len).map(|_| random.below(rows) as i64));
        let offsets = buffer(&[bags], (0..bags).map(|bag| (bag * len) as i64));
        Tensors { workload: *workload, table, ids, offsets, weights }
    }

    /// Memory for the result.
    #[must_use]
    pub fn output(&self) -> Buffer<f32> {
        Buffer::zeroed(&self.out_shape())
    }

    fn out_shape(&self) -> [usize; 2] {
        [self.workload.bags[0], self.workload.table[1]]
    }

    fn op(&self, threads: usize) -> EmbeddingBag {
        EmbeddingBag::torch(self.workload.reduction).par(par(threads))
    }

    /// A plan for a number of threads.
    ///
    /// # Panics
    /// When it is refused.
    #[must_use]
    pub fn plan(&self, threads: usize) -> BagPlan<f32, i64> {
        let (ids, offsets) = (self.ids.view(), self.offsets.view());
        let table = Spec::<f32>::new(&self.workload.table).expect("a table in memory");
        self.op(threads).plan(&table, &Bags::new(&ids, &offsets)).expect("a workload of the list")
    }

    /// Runs a plan into an output.
    ///
    /// # Panics
    /// When it is refused.
    pub fn run_into(&self, plan: &BagPlan<f32, i64>, out: &mut [f32]) {
        let weights = self.weights.view();
        let weights = self.workload.weighted.then_some(&weights);
        let mut out = ViewMut::new(out, &self.out_shape()).expect("an output of this shape");
        plan.run_into(&self.table.view(), &Bags::planned(&self.ids.view()).weights(weights), &mut out)
            .expect("indices in range");
    }

    /// Runs the operator, unplanned, into a tensor that is used again.
    fn run_unplanned(&self, threads: usize, out: &mut impl Output<f32>) {
        let (ids, offsets, weights): (View<'_, i64>, _, _) =
            (self.ids.view(), self.offsets.view(), self.weights.view());
        let bags = Bags::new(&ids, &offsets);
        let bags = bags.weights(self.workload.weighted.then_some(&weights));
        self.op(threads).run_into(&self.table.view(), &bags, out).expect("indices in range");
    }

    /// The loop that one would write.
    ///
    /// # Panics
    /// When an index is out of range.
    pub fn plain(&self, out: &mut [f32]) {
        let ([_, columns], [_, len]) = (self.workload.table, self.workload.bags);
        let (ids, weights) = (self.ids.as_slice(), self.weights.as_slice());
        for (bag, out) in out.chunks_mut(columns).enumerate() {
            let bag = bag * len..(bag + 1) * len;
            match self.workload.reduction {
                Reduction::Max => out.fill(f32::NEG_INFINITY),
                _ => out.fill(0.0),
            }
            for (&id, &weight) in ids[bag.clone()].iter().zip(&weights[bag]) {
                let row = &self.table.as_slice()[id as usize * columns..][..columns];
                for (sum, &x) in out.iter_mut().zip(row) {
                    match self.workload.reduction {
                        Reduction::Max => *sum = if x > *sum { x } else { *sum },
                        _ if self.workload.weighted => *sum += x * weight,
                        _ => *sum += x,
                    }
                }
            }
            if self.workload.reduction == Reduction::Mean {
                out.iter_mut().for_each(|sum| *sum /= len as f32);
            }
        }
    }
}

impl Ways for Tensors {
    fn output_shape(&self) -> Vec<usize> {
        self.out_shape().to_vec()
    }

    fn looped(&self, out: &mut [f32]) {
        self.plain(out);
    }

    fn planned(&self, threads: usize) -> IntoOutput<'_> {
        let plan = self.plan(threads);
        Box::new(move |out| self.run_into(&plan, out))
    }

    fn unplanned(&self, threads: usize, out: &mut [f32]) {
        self.run_unplanned(threads, &mut ViewMut::new(out, &self.out_shape()).expect("an output of this shape"));
    }

    fn fresh(&self, threads: usize) -> Tensor<f32> {
        let mut out = Tensor::default();
        self.run_unplanned(threads, &mut out);
        out
    }
}
