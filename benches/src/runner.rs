//! A workload with its tensors in memory, ready to be run by gather-core, by the plain loop, and as a copy.

use gather_core::{BatchToSpace, CopyPlan, Element, Gather, GatherElements, GatherNd, Index, Layout, Par, Plan, View};
use half::f16;

use crate::buffer::Buffer;
use crate::inputs::{Position, Value, inputs};
use crate::naive;
use crate::workloads::{Data, Indices, Kind, Workload};

/// What benchmarks call.
pub trait Runner {
    /// A planned call into warm memory.
    fn planned(&mut self);
    /// A call from scratch into fresh memory.
    fn fresh(&self);
    /// The plain loop into warm memory.
    fn naive(&mut self);
    /// A plain copy of the output's bytes between warm buffers.
    fn copy(&mut self);
    /// Bytes of the output.
    fn bytes(&self) -> usize;
    /// What the plan will do.
    fn explain(&self) -> String;
    /// Checks the planned call's output against the plain loop's.
    ///
    /// # Panics
    /// When they differ.
    fn check(&mut self);
}

/// Sets a workload up.
#[must_use]
pub fn prepare(workload: &Workload, par: Par) -> Box<dyn Runner + Send> {
    match (workload.data, workload.indices) {
        (Data::F32, Indices::I64) => Box::new(Prepared::<f32, i64>::new(workload, par)),
        (Data::F32, Indices::I32) => Box::new(Prepared::<f32, i32>::new(workload, par)),
        (Data::F32, Indices::U8) => Box::new(Prepared::<f32, u8>::new(workload, par)),
        (Data::F16, Indices::I64) => Box::new(Prepared::<f16, i64>::new(workload, par)),
        (Data::F16, Indices::I32) => Box::new(Prepared::<f16, i32>::new(workload, par)),
        (Data::F16, Indices::U8) => Box::new(Prepared::<f16, u8>::new(workload, par)),
        (Data::U8, Indices::I64) => Box::new(Prepared::<u8, i64>::new(workload, par)),
        (Data::U8, Indices::I32) => Box::new(Prepared::<u8, i32>::new(workload, par)),
        (Data::U8, Indices::U8) => Box::new(Prepared::<u8, u8>::new(workload, par)),
    }
}

enum Planned<T, I> {
    Index(Box<Plan<T, I>>),
    Copy(Box<CopyPlan<T>>),
}

struct Prepared<T, I> {
    workload: Workload,
    par: Par,
    plan: Planned<T, I>,
    data: Buffer<T>,
    indices: Buffer<I>,
    out: Buffer<T>,
    other: Buffer<T>,
}

impl<T: Element + Value, I: Index + Position> Prepared<T, I> {
    fn new(workload: &Workload, par: Par) -> Self {
        let (data, indices) = inputs(workload);
        let out_shape = workload.output_shape();
        let [out, other] = [(); 2].map(|()| Buffer::zeroed(&out_shape));
        Prepared { workload: *workload, par, plan: plan(workload, par), data, indices, out, other }
    }

    fn data(&self) -> View<'_, T> {
        self.data.view()
    }

    fn indices(&self) -> View<'_, I> {
        self.indices.view()
    }
}

fn plan<T: Element, I: Index>(workload: &Workload, par: Par) -> Planned<T, I> {
    let data = Layout::contiguous(workload.shape).expect("a shape that fits");
    let indices = Layout::contiguous(workload.index_shape).expect("a shape that fits");
    let plan = match workload.kind {
        Kind::Gather { axis, batch_dims } => {
            Gather::new(axis as i64).batch_dims(batch_dims as i64).par(par).plan(&data, &indices)
        }
        Kind::GatherElements { axis } => GatherElements::new(axis as i64).par(par).plan(&data, &indices),
        Kind::GatherNd { batch_dims } => GatherNd::new().batch_dims(batch_dims as i64).par(par).plan(&data, &indices),
        Kind::BatchToSpace { block, begin, end } => {
            let plan = BatchToSpace::new(&block, &begin, &end).par(par).plan(&data);
            return Planned::Copy(Box::new(plan.expect("a legal workload")));
        }
    };
    Planned::Index(Box::new(plan.expect("a legal workload")))
}

impl<T: Element + Value, I: Index + Position> Runner for Prepared<T, I> {
    fn planned(&mut self) {
        let (data, mut out) = (self.data.view(), self.out.view_mut());
        match &self.plan {
            Planned::Index(plan) => plan.run_into(&data, &self.indices.view(), &mut out).expect("indices in range"),
            Planned::Copy(plan) => plan.run_into(&data, &mut out).expect("the planned layouts"),
        }
    }

    fn fresh(&self) {
        let (data, par) = (self.data(), self.par);
        let out = match self.workload.kind {
            Kind::Gather { axis, batch_dims } => {
                Gather::new(axis as i64).batch_dims(batch_dims as i64).par(par).run(&data, &self.indices())
            }
            Kind::GatherElements { axis } => GatherElements::new(axis as i64).par(par).run(&data, &self.indices()),
            Kind::GatherNd { batch_dims } => {
                GatherNd::new().batch_dims(batch_dims as i64).par(par).run(&data, &self.indices())
            }
            Kind::BatchToSpace { block, begin, end } => BatchToSpace::new(&block, &begin, &end).par(par).run(&data),
        };
        std::hint::black_box(out.expect("a legal workload"));
    }

    fn naive(&mut self) {
        naive::run(&self.workload, self.data.as_slice(), self.indices.as_slice(), self.other.as_mut_slice());
    }

    fn copy(&mut self);
    /// Bytes of the output.
    fn bytes(&self) -> usize;
    /// What the plan will do.
    fn explain(&self) -> String;
    /// Checks the planned call's output against the plain loop's.
    ///
    /// # Panics
    /// When they differ.
    fn check(&mut self);
}

/// Sets a workload up.
#[must_use]
pub fn prepare(workload: &Workload, par: Par) -> Box<dyn Runner + Send> {
    match (workload.data, workload.indices) {
        (Data::F32, Indices::I64) => Box::new(Prepared::<f32, i64>::new(workload, par)),
        (Data::F32, Indices::I32) => Box::new(Prepared::<f32, i32>::new(workload, par)),
        (Data::F32, Indices::U8) => Box::new(Prepared::<f32, u8>::new(workload, par)),
        (Data::F16, Indices::I64) => Box::new(Prepared::<f16, i64>::new(workload, par)),
        (Data::F16, Indices::I32) => Box::new(Prepared::<f16, i32>::new(workload, par)),
        (Data::F16, Indices::U8) => Box::new(Prepared::<f16, u8>::new(workload, par)),
        (Data::U8, Indices::I64) => Box::new(Prepared::<u8, i64>::new(workload, par)),
        (Data::U8, Indices::I32) => Box::new(Prepared::<u8, i32>::new(workload, par)),
        (Data::U8, Indices::U8) => Box::new(Prepared::<u8, u8>::new(workload, par)),
    }
}

enum Planned<T, I> {
    Index(Box<Plan<T, I>>),
    Copy(Box<CopyPlan<T>>),
}

struct Prepared<T, I> {
    workload: Workload,
    par: Par,
    plan: Planned<T, I>,
    data: Buffer<T>,
    indices: Buffer<I>,
    out: Buffer<T>,
    other: Buffer<T>,
}

impl<T: Element + Value, I: Index + Position> Prepared<T, I> {
    fn new(workload: &Workload, par: Par) -> Self {
        let (data, indices) = inputs(workload);
        let out_shape = workload.output_shape();
        let [out, other] = [(); 2].map(|()| Buffer::zeroed(&out_shape));
        Prepared { workload: *workload, par, plan: plan(workload, par), data, indices, out, other }
    }

    fn data(&self) -> View<'_, T> {
        self.data.view()
    }

    fn indices(&self) -> View<'_, I> {
        self.indices.view()
    }
}

fn plan<T: Element, I: Index>(workload: &Workload, par: Par) -> Planned<T, I> {
    let data = Layout::contiguous(workload.shape).expect("a shape that fits");
    let indices = Layout::contiguous(workload.index_shape).expect("a shape that fits");
    let plan = match workload.kind {
        Kind::Gather { axis, batch_dims } => {
            Gather::new(axis as i64).batch_dims(batch_dims as i64).par(par).plan(&data, &indices)
        }
        Kind::GatherElements { axis } => GatherElements::new(axis as i64).par(par).plan(&data, &indices),
        Kind::GatherNd { batch_dims } => GatherNd::new().batch_dims(batch_dims as i64).par(par).plan(&data, &indices),
        Kind::BatchToSpace { block, begin, end } => {
            let plan = BatchToSpace::new(&block, &begin, &end).par(par).plan(&data);
            return Planned::Copy(Box::new(plan.expect("a legal workload")));
        }
    };
    Planned::Index(Box::new(plan.expect("a legal workload")))
}

impl<T: Element + Value, I: Index + Position> Runner for Prepared<T, I> {
    fn planned(&mut self) {
        let (data, mut out) = (self.data.view(), self.out.view_mut());
        match &self.plan {
            Planned::Index(plan) => plan.run_into(&data, &self.indices.view(), &mut out).expect("indices in range"),
            Planned::Copy(plan) => plan.run_into(&data, &mut out).expect("the planned layouts"),
        }
    }

    fn fresh(&self) {
        let (data, par) = (self.data(), self.par);
        let out = match self.workload.kind {
            Kind::Gather { axis, batch_dims } => {
                Gather::new(axis as i64).batch_dims(batch_dims as i64).par(par).run(&data, &self.indices())
            }
            Kind::GatherElements { axis } => GatherElements::new(axis as i64).par(par).run(&data, &self.indices()),
            Kind::GatherNd { batch_dims } => {
                GatherNd::new().batch_dims(batch_dims as i64).par(par).run(&data, &self.indices())
            }
            Kind::BatchToSpace { block, begin, end } => BatchToSpace::new(&block, &begin, &end).par(par).run(&data),
        };
        std::hint::black_box(out.expect("a legal workload"));
    }

    fn naive(&mut self) {
        let Workload { shape, index_shape, kind, .. } = self.workload;
        let (data, indices) = (self.data.as_slice(), self.indices.as_slice());
        let out = self.other.as_mut_slice();
        match kind {
            Kind::Gather { axis, batch_dims } => {
                naive::gather(data, shape, indices, index_shape, axis, batch_dims, out);
            }
            Kind::GatherElements { axis } => naive::gather_elements(data, shape, indices, axis, out),
            Kind::GatherNd { batch_dims } => naive::gather_nd(data, shape, indices, index_shape, batch_dims, out),
            Kind::BatchToSpace { block, begin, end } => naive::batch_to_space(data, shape, block, begin, end, out),
        }
    }

    fn copy(&mut self) {
        self.other.as_mut_slice().copy_from_slice(self.out.as_slice());
    }

    fn bytes(&self) -> usize {
        size_of_val(self.out.as_slice())
    }

    fn explain(&self) -> String {
        match &self.plan {
            Planned::Index(plan) => plan.explain().to_string(),
            Planned::Copy(plan) => plan.explain().to_string(),
        }
    }

    fn check(&mut self) {
        self.planned();
        self.naive();
        assert!(
            self.out.as_slice() == self.other.as_slice(),
            "{}: the plan and the plain loop disagree",
            self.workload.name
        );
    }
}
