//! The tensors of a workload, and the plain loop.

use gather_core::{Error, Gather, Output, Reduction, ScatterElements, ScatterNd, ScatterPlan, Spec, Tensor, ViewMut};

use super::{Kind, Spread, Workload};
use crate::buffer::Buffer;
use crate::inverse::{IntoOutput, Ways, par};
use crate::random::Random;

/// The tensors of a workload.
pub struct Tensors {
    workload: Workload,
    data: Buffer<f32>,
    indices: Buffer<i64>,
    updates: Buffer<f32>,
}

/// Elements in memory like that of native engines.
fn buffer<T: bytemuck::Pod>(shape: &[usize], values: &[T]) -> Buffer<T> {
    let mut buffer = Buffer::zeroed(shape);
    buffer.as_mut_slice().copy_from_slice(values);
    buffer
}

/// Numbers whose sums are exact, whatever their order.
fn numbers(len: usize, random: &mut Random) -> Vec<f32> {
    (0..len).map(|_| random.below(17) as f32 - 8.0).collect()
}

impl Tensors {
    /// The tensors of a workload: the same every time.
    ///
    /// # Panics
    /// When they do not fit in memory.
    #[must_use]
    pub fn new(workload: &Workload) -> Self {
        let mut random = Random::named(workload.name);
        let data = numbers(workload.data.iter().product(), &mut random);
        let updates = numbers(workload.updates().iter().product(), &mut random);
        let (data, updates) = (buffer(workload.data, &data), buffer(&workload.updates(), &updates));
        let indices = buffer(workload.indices, &indices(workload, &mut random));
        Tensors { workload: *workload, data, indices, updates }
    }

    /// Data, row-major.
    #[must_use]
    pub fn data(&self) -> &[f32] {
        self.data.as_slice()
    }

    /// Bytes of the tensors that a call reads: data, indices and updates.
    #[must_use]
    pub fn bytes_read(&self) -> usize {
        self.data.as_bytes().len() + self.indices.as_bytes().len() + self.updates.as_bytes().len()
    }

    /// A copy of data.
    #[must_use]
    pub fn output(&self) -> Buffer<f32> {
        buffer(self.workload.data, self.data())
    }

    /// The layout of indices.
    fn specs(&self) -> Result<[Spec<f32>; 2], Error> {
        Ok([Spec::new(self.workload.data)?, Spec::new(&self.workload.updates())?])
    }

    /// A plan for a number of threads.
    ///
    /// # Errors
    /// None for a workload of the list.
    pub fn plan(&self, threads: usize) -> Result<ScatterPlan<f32, i64>, Error> {
        let ([data, updates], indices) = (self.specs()?, Spec::new(self.workload.indices)?);
        match self.op(threads) {
            Op::Elements(op) => op.plan(&data, &indices, &updates),
            Op::Nd(op) => op.plan(&data, &indices, &updates),
            Op::Adjoint(op) => op.adjoint().plan(&data, &indices, &updates),
        }
    }

    fn op(&self, threads: usize) -> Op {
        let par = par(threads);
        let reduction = if self.workload.adds { Reduction::Add } else { Reduction::None };
        match self.workload.kind {
            Kind::Elements(axis) => Op::Elements(ScatterElements::onnx18(axis as i64, reduction).par(par)),
            Kind::Nd => Op::Nd(ScatterNd::onnx18(reduction).par(par)),
            Kind::Adjoint => Op::Adjoint(Gather::new(0).par(par)),
        }
    }

    /// Runs a plan in place.
    ///
    /// # Panics
    /// When it is refused.
    pub fn run_on(&self, plan: &ScatterPlan<f32, i64>, out: &mut [f32]) {
        let mut out = ViewMut::new(out, self.workload.data).expect("an output of this shape");
        plan.run_on(&mut out, &self.indices.view(), &self.updates.view()).expect("indices in range");
    }

    /// Runs a plan into an output.
    ///
    /// # Panics
    /// When it is refused.
    pub fn run_into(&self, plan: &ScatterPlan<f32, i64>, out: &mut [f32]) {
        self.run_to(plan, &mut ViewMut::new(out, self.workload.data).expect("an output of this shape"));
    }

    /// Runs a plan into an output of any kind.
    ///
    /// # Panics
    /// When it is refused.
    pub fn run_to(&self, plan: &ScatterPlan<f32, i64>, out: &mut impl Output<f32>) {
        plan.run_into(&self.data.view(), &self.indices.view(), &self.updates.view(), out).expect("indices in range");
    }

    /// Runs the operator, unplanned, into a tensor that is used again.
    ///
    /// # Panics
    /// When it is refused.
    pub fn run_again(&self, threads: usize, out: &mut Tensor<f32>) {
        let (data, indices, updates) = (self.data.view(), self.indices.view(), self.updates.view());
        let done = match self.op(threads) {
            Op::Elements(op) => op.run_into(&data, &indices, &updates, out),
            Op::Nd(op) => op.run_into(&data, &indices, &updates, out),
            Op::Adjoint(_) => {
                // In place, on a copy of data, of which the first is fresh.
                if out.is_empty() {
                    *out = Tensor::full(self.workload.data, 0.0).expect("a tensor that fits");
                }
                return self.unplanned(threads, out.as_mut_slice());
            }
        };
        done.expect("indices in range");
    }

    /// Runs a plan into a fresh tensor.
    ///
    /// # Panics
    /// When it is refused.
    #[must_use]
    pub fn run(&self, plan: &ScatterPlan<f32, i64>) -> Vec<f32> {
        plan.run(&self.data.view(), &self.indices.view(), &self.updates.view()).expect("indices in range").into_vec()
    }

    /// The loop that one would write, in place.
    ///
    /// # Panics
    /// When an index is out of range.
    pub fn plain(&self, out: &mut [f32]) {
        let (data, adds) = (self.workload.data, self.workload.adds);
        let put = |to: &mut f32, new: f32| *to = if adds { *to + new } else { new };
        match self.workload.kind {
            Kind::Elements(axis) => {
                let inner: usize = data[axis + 1..].iter().product();
                let (dim, count) = (data[axis], self.workload.indices[axis]);
                for (at, (&index, &new)) in self.indices.as_slice().iter().zip(self.updates.as_slice()).enumerate() {
                    let (outer, q) = (at / (count * inner), at % inner);
                    put(&mut out[(outer * dim + index as usize) * inner + q], new);
                }
            }
            Kind::Nd | Kind::Adjoint => {
                let tuple = if self.workload.kind == Kind::Nd { self.workload.indices[1] } else { 1 };
                let row: usize = data[tuple..].iter().product();
                for (ids, new) in self.indices.as_slice().chunks(tuple).zip(self.updates.as_slice().chunks(row)) {
                    let to = ids.iter().zip(data).fold(0, |to, (&index, &dim)| to * dim + index as usize);
                    for (to, &new) in out[to * row..][..row].iter_mut().zip(new) {
                        put(to, new);
                    }
                }
            }
        }
    }
}

/// What a workload runs.
enum Op {
    Elements(ScatterElements),
    Nd(ScatterNd),
    Adjoint(Gather),
}

impl Ways for Tensors {
    fn output_shape(&self) -> Vec<usize> {
        self.workload.data.to_vec()
    }

    fn looped(&self, out: &mut [f32]) {
        out.copy_from_slice(self.data());
        self.plain(out);
    }

    fn planned(&self, threads: usize) -> IntoOutput<'_> {
        let plan = self.plan(threads).expect("a workload of the list");
        Box::new(move |out| self.run_into(&plan, out))
    }

    fn unplanned(&self, threads: usize, out: &mut [f32]) {
        let (data, indices, updates) = (self.data.view(), self.indices.view(), self.updates.view());
        if self.workload.kind == Kind::Adjoint {
            out.copy_from_slice(self.data());
        }
        let mut to = ViewMut::new(out, self.workload.data).expect("an output of this shape");
        let done = match self.op(threads) {
            Op::Elements(op) => op.run_into(&data, &indices, &updates, &mut to),
            Op::Nd(op) => op.run_into(&data, &indices, &updates, &mut to),
            Op::Adjoint(op) => op.adjoint().run_on(&mut to, &indices, &updates),
        };
        done.expect("indices in range");
    }

    fn fresh(&self, threads: usize) -> Tensor<f32> {
        let (data, indices, updates) = (self.data.view(), self.indices.view(), self.updates.view());
        let done = match self.op(threads) {
            Op::Elements(op) => op.run(&data, &indices, &updates),
            Op::Nd(op) => op.run(&data, &indices, &updates),
            Op::Adjoint(op) => Tensor::new(self.data().to_vec(), self.workload.data)
                .and_then(|mut out| op.adjoint().run_on(&mut out.view_mut(), &indices, &updates).map(|()| out)),
        };
        done.expect("indices in range")
    }
}

/// The indices of a workload.
fn indices(workload: &Workload, random: &mut Random) -> Vec<i64> {
    let len: usize = workload.indices.iter().product();
    match workload.spread {
        Spread::Uniform => {
            let tuple = if workload.kind == Kind::Nd { workload.indices[1] } else { 1 };
            let dim = |at: usize| match workload.kind {
                Kind::Elements(axis) => workload.data[axis],
                _ => workload.data[at % tuple],
            };
            (0..len).map(|at| random.below(dim(at)) as i64).collect()
        }
        Spread::Permutation => {
            let (rows, columns) = (workload.indices[0], workload.indices[1]);
            let mut all = vec![0; len];
            for column in 0..columns {
                for (row, index) in shuffled(rows, random).into_iter().enumerate() {
                    all[row * columns + column] = index;
                }
            }
            all
        }
        Spread::Distinct => shuffled(workload.data[0], random)[..len].to_vec(),
        Spread::Zipf => {
            let mut sums = Vec::with_capacity(workload.data[0]);
            let mut sum = 0.0f64;
            for place in 1..=workload.data[0] {
                sum += (place as f64).powf(-1.2);
                sums.push(sum);
            }
            let names = shuffled(workload.data[0], random);
            let mut draw = || {
                let at = random.fraction() * sum;
                names[sums.partition_point(|&below| below < at).min(names.len() - 1)]
            };
            (0..len).map(|_| draw()).collect()
        }
    }
}

/// The numbers below `n` in any order.
fn shuffled(n: usize, random: &mut Random) -> Vec<i64> {
    let mut all: Vec<i64> = (0..n as i64).collect();
    for last in (1..n).rev() {
        all.swap(last, random.below(last + 1));
    }
    all
}
