//! gather-core, three times: a plan that is run again and again, a call from scratch into warm memory, and a call from
//! scratch into fresh memory, which is freed within the timing.
//!
//! Not equal: nothing that favours it. Indices are read at their own width and checked; a bad one would be an error. With
//! more than one thread a call decides whether it is worth the threads of the pool.

use gather_core::{
    BatchToSpace, CopyPlan, Element, Error, Gather, GatherElements, GatherNd, Index, Layout, Par, Plan, Tensor, View,
    ViewMut,
};

use super::{Call, NotRun, Peer};
use crate::buffer::Buffer;
use crate::case::Case;
use crate::inputs::{Position, Value};
use crate::workloads::{Kind, Workload};
use crate::{with_positions, with_values};

/// A way of calling gather-core.
pub(super) enum Ours {
    /// Planned ahead, into warm memory.
    Planned,
    /// From scratch, into warm memory.
    Unplanned,
    /// From scratch, into fresh memory.
    Fresh,
}

impl Peer for Ours {
    fn name(&self) -> &'static str {
        match self {
            Ours::Planned => "gather-core",
            Ours::Unplanned => "gather-core-unplanned",
            Ours::Fresh => "gather-core-fresh",
        }
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").into()
    }

    fn unequal(&self) -> &'static str {
        match self {
            Ours::Planned => "shapes are checked ahead; into warm memory",
            Ours::Unplanned => "into warm memory",
            Ours::Fresh => "allocates its output",
        }
    }

    fn prepare<'a>(&self, case: &'a Case, threads: usize) -> Result<Box<dyn Call + 'a>, NotRun> {
        let op = Operator::new(&case.workload, if threads == 1 { Par::Seq } else { Par::Auto });
        with_values!(&case.data, data => with_positions!(&case.indices, indices => {
            let operands = Operands { data: data.view(), indices: indices.view() };
            let warm = || Buffer::zeroed(&case.output_shape);
            Ok(match self {
                Ours::Planned => {
                    let plan = op.plan(&case.workload).map_err(NotRun::failed)?;
                    Box::new(Planned { plan, operands, out: warm() })
                }
                Ours::Unplanned => Box::new(Unplanned { op, operands, out: warm() }),
                Ours::Fresh => Box::new(Fresh { op, operands, out: None }),
            })
        }))
    }
}

struct Operands<'a, T, I> {
    data: View<'a, T>,
    indices: View<'a, I>,
}

enum Operator {
    Gather(Gather),
    Elements(GatherElements),
    Nd(GatherNd),
    Space(BatchToSpace),
}

impl Operator {
    fn new(workload: &Workload, par: Par) -> Self {
        match workload.kind {
            Kind::Gather { axis, batch_dims } => {
                Operator::Gather(Gather::new(axis as i64).batch_dims(batch_dims as i64).par(par))
            }
            Kind::GatherElements { axis } => Operator::Elements(GatherElements::new(axis as i64).par(par)),
            Kind::GatherNd { batch_dims } => Operator::Nd(GatherNd::new().batch_dims(batch_dims as i64).par(par)),
            Kind::BatchToSpace { block, begin, end } => {
                Operator::Space(BatchToSpace::new(&block, &begin, &end).par(par))
            }
        }
    }

    fn plan<T: Element, I: Index>(&self, workload: &Workload) -> Result<AnyPlan<T, I>, Error> {
        let data = Layout::contiguous(workload.shape)?;
        let indices = Layout::contiguous(workload.index_shape)?;
        match self {
            Operator::Gather(op) => op.plan(&data, &indices).map(AnyPlan::Index),
            Operator::Elements(op) => op.plan(&data, &indices).map(AnyPlan::Index),
            Operator::Nd(op) => op.plan(&data, &indices).map(AnyPlan::Index),
            Operator::Space(op) => op.plan(&data).map(AnyPlan::Copy),
        }
    }

    fn run<T: Element, I: Index>(&self, Operands { data, indices }: &Operands<'_, T, I>) -> Result<Tensor<T>, Error> {
        match self {
            Operator::Gather(op) => op.run(data, indices),
            Operator::Elements(op) => op.run(data, indices),
            Operator::Nd(op) => op.run(data, indices),
            Operator::Space(op) => op.run(data),
        }
    }

    fn run_into<T: Element, I: Index>(
        &self,
        Operands { data, indices }: &Operands<'_, T, I>,
        out: &mut ViewMut<'_, T>,
    ) -> Result<(), Error> {
        match self {
            Operator::Gather(op) => op.run_into(data, indices, out),
            Operator::Elements(op) => op.run_into(data, indices, out),
            Operator::Nd(op) => op.run_into(data, indices, out),
            Operator::Space(op) => op.run_into(data, out),
        }
    }
}

enum AnyPlan<T, I> {
    Index(Plan<T, I>),
    Copy(CopyPlan<T>),
}

struct Planned<'a, T, I> {
    plan: AnyPlan<T, I>,
    operands: Operands<'a, T, I>,
    out: Buffer<T>,
}

impl<T: Element + Value, I: Index + Position> Call for Planned<'_, T, I> {
    fn run(&mut self) {
        let (Operands { data, indices }, mut out) = (&self.operands, self.out.view_mut());
        match &self.plan {
            AnyPlan::Index(plan) => plan.run_into(data, indices, &mut out).expect("indices in range"),
            AnyPlan::Copy(plan) => plan.run_into(data, &mut out).expect("the planned layouts"),
        }
    }

    fn output(&mut self) -> Result<Vec<u8>, String> {
        Ok(self.out.as_bytes().to_vec())
    }
}

struct Unplanned<'a, T, I> {
    op: Operator,
    operands: Operands<'a, T, I>,
    out: Buffer<T>,
}

impl<T: Element + Value, I: Index + Position> Call for Unplanned<'_, T, I> {
    fn run(&mut self) {
        self.op.run_into(&self.operands, &mut self.out.view_mut()).expect("a legal workload");
    }

    fn output(&mut self) -> Result<Vec<u8>, String> {
        Ok(self.out.as_bytes().to_vec())
    }
}

struct Fresh<'a, T, I> {
    op: Operator,
    operands: Operands<'a, T, I>,
    out: Option<Tensor<T>>,
}

impl<T: Element + Value, I: Index + Position> Call for Fresh<'_, T, I> {
    fn run(&mut self) {
        self.out = None;
        self.out = Some(self.op.run(&self.operands).expect("a legal workload"));
    }

    fn output(&mut self) -> Result<Vec<u8>, String> {
        let out = self.out.as_ref().ok_or("not run yet")?;
        Ok(bytemuck::cast_slice(out.as_slice()).to_vec())
    }
}
