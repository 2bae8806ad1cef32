//! gather-core, in three ways: a plan that is run again and again; an unplanned call into warm memory; an unplanned
//! call into fresh memory, which is freed within the timing.
//!
//! Not equal: nothing that favours it. Indices are read at their own width and checked; a bad one would be an error.
//! With more than one thread each call decides whether it is worth the threads of the pool.

use gather_core::{
    BatchToSpace, Element, Error, Gather, GatherElements, GatherNd, Index, Layout, Level, Output, Par, Plan,
    RearrangePlan, Spec, Tensor, View, ViewMut,
};

use super::{NotRun, Peer, Ready, into_fresh, into_warm};
use crate::buffer::Buffer;
use crate::case::Case;
use crate::workloads::{Kind, Workload};
use crate::{with_positions, with_values};

/// Why no call can fail.
const LEGAL: &str = "a legal workload";

/// A way of calling gather-core.
pub(super) enum Ours {
    /// Planned ahead, into warm memory.
    Planned,
    /// As planned, at a level of instructions.
    At(Level),
    /// Unplanned, into warm memory.
    Unplanned,
    /// Unplanned, into fresh memory.
    Fresh,
}

impl Peer for Ours {
    fn name(&self) -> &'static str {
        match self {
            Ours::Planned => "gather-core",
            Ours::At(level) => level.name(),
            Ours::Unplanned => "gather-core-unplanned",
            Ours::Fresh => "gather-core-fresh",
        }
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").into()
    }

    fn unequal(&self) -> &'static str {
        match self {
            Ours::Planned | Ours::At(_) => "shapes are checked ahead; into warm memory",
            Ours::Unplanned => "into warm memory",
            Ours::Fresh => "allocates its output",
        }
    }

    fn fresh(&self) -> bool {
        matches!(self, Ours::Fresh)
    }

    fn prepare<'a>(&self, case: &'a Case, threads: usize) -> Result<Ready<'a>, NotRun> {
        let level = if let Ours::At(level) = self { *level } else { Level::preferred() };
        let op = Operator::new(&case.workload, if threads == 1 { Par::Seq } else { Par::Auto }, level);
        with_values!(&case.data, data => with_positions!(&case.indices, indices => {
            let operands = Operands { data: data.view(), indices: indices.view() };
            Ok(match self {
                Ours::Planned | Ours::At(_) => {
                    let plan = op.plan(&case.workload).map_err(NotRun::failed)?;
                    let run = move |out: &mut Buffer<_>| plan.run_into(&operands, &mut operands.output(out)).expect(LEGAL);
                    into_warm(&case.output_shape, run)
                }
                Ours::Unplanned => {
                    into_warm(&case.output_shape, move |out| op.run_into(&operands, &mut operands.output(out)).expect(LEGAL))
                }
                Ours::Fresh => into_fresh(
                    move || op.run(&operands).expect(LEGAL),
                    |out| Ok(bytemuck::cast_slice(out.as_slice()).to_vec()),
                ),
            })
        }))
    }
}

/// The inputs of a call.
pub(crate) struct Operands<'a, T, I> {
    pub(crate) data: View<'a, T>,
    pub(crate) indices: View<'a, I>,
}

impl<T: bytemuck::Pod, I> Operands<'_, T, I> {
    /// A view of an output, whose elements are those of data.
    fn output<'o>(&self, out: &'o mut Buffer<T>) -> ViewMut<'o, T> {
        out.view_mut()
    }
}

/// The operator of a workload.
pub(crate) enum Operator {
    Gather(Gather),
    Elements(GatherElements),
    Nd(GatherNd),
    Space(BatchToSpace),
}

impl Operator {
    pub(crate) fn new(workload: &Workload, par: Par, level: Level) -> Self {
        match workload.kind {
            Kind::Gather { axis, batch_dims } => {
                Operator::Gather(Gather::new(axis as i64).batch_dims(batch_dims as i64).par(par).level(level))
            }
            Kind::GatherElements { axis } => Operator::Elements(GatherElements::new(axis as i64).par(par).level(level)),
            Kind::GatherNd { batch_dims } => {
                Operator::Nd(GatherNd::new().batch_dims(batch_dims as i64).par(par).level(level))
            }
            Kind::BatchToSpace { block, begin, end } => {
                Operator::Space(BatchToSpace::new(&block, &begin, &end).par(par).level(level))
            }
        }
    }

    pub(crate) fn plan<T: Element, I: Index>(&self, workload: &Workload) -> Result<AnyPlan<T, I>, Error> {
        let data = Layout::contiguous(workload.shape)?;
        let indices = Layout::contiguous(workload.index_shape)?;
        match self {
            Operator::Gather(op) => op
                .plan(&Spec::from_layout(&data), &Spec::from_layout(&indices))
                .map(|plan| AnyPlan::Index(Box::new(plan))),
            Operator::Elements(op) => op
                .plan(&Spec::from_layout(&data), &Spec::from_layout(&indices))
                .map(|plan| AnyPlan::Index(Box::new(plan))),
            Operator::Nd(op) => op
                .plan(&Spec::from_layout(&data), &Spec::from_layout(&indices))
                .map(|plan| AnyPlan::Index(Box::new(plan))),
            Operator::Space(op) => op.plan(&Spec::from_layout(&data)).map(|plan| AnyPlan::Copy(Box::new(plan))),
        }
    }

    pub(crate) fn run<T: Element, I: Index>(
        &self,
        Operands { data, indices }: &Operands<'_, T, I>,
    ) -> Result<Tensor<T>, Error> {
        match self {
            Operator::Gather(op) => op.run(data, indices),
            Operator::Elements(op) => op.run(data, indices),
            Operator::Nd(op) => op.run(data, indices),
            Operator::Space(op) => op.run(data),
        }
    }

    pub(crate) fn run_into<T: Element, I: Index>(
        &self,
        Operands { data, indices }: &Operands<'_, T, I>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        match self {
            Operator::Gather(op) => op.run_into(data, indices, out),
            Operator::Elements(op) => op.run_into(data, indices, out),
            Operator::Nd(op) => op.run_into(data, indices, out),
            Operator::Space(op) => op.run_into(data, out),
        }
    }
}

/// A plan of any operator.
pub(crate) enum AnyPlan<T, I> {
    Index(Box<Plan<T, I>>),
    Copy(Box<RearrangePlan<T>>),
}

impl<T: Element, I: Index> AnyPlan<T, I> {
    pub(crate) fn run_into(
        &self,
        Operands { data, indices }: &Operands<'_, T, I>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        match self {
            AnyPlan::Index(plan) => plan.run_into(data, indices, out),
            AnyPlan::Copy(plan) => plan.run_into(data, out),
        }
    }
}
