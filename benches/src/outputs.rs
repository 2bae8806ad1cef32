//! The kinds of outputs that callers have, for one workload of any kind: memory of their own, a tensor that is used
//! again, one of a pool, a fresh one.

use gather_core::{Element, Index, Level, Output, Par, RearrangePlan, ScatterPlan, Tensor, View};

use crate::buffer::Buffer;
use crate::case::Case;
use crate::peers::gather::{AnyPlan, Operands, Operator};
use crate::scatters;
use crate::spaces::{Rearrange, Space};
use crate::workloads::{WORKLOADS, Workload};
use crate::{with_positions, with_values};

/// A workload with its tensors and its plan, on one thread.
pub trait Calls<T: Element> {
    /// The shape of the output.
    fn shape(&self) -> Vec<usize>;

    /// The planned call.
    fn planned(&self, out: &mut impl Output<T>);

    /// The operator, unplanned, into a tensor that is used again.
    fn again(&self, out: &mut Tensor<T>);

    /// The operator, unplanned, into a fresh tensor.
    fn fresh(&self) -> Tensor<T>;
}

/// What is done with a workload.
pub trait Visitor {
    /// Visits a workload.
    fn visit<T: Element + bytemuck::Pod>(&mut self, name: &str, calls: &impl Calls<T>);
}

/// Why no call can fail.
const LEGAL: &str = "a legal workload";

/// Visits the workloads whose names contain `filter`: gathers, scatters, operators that rearrange space.
pub fn each(filter: &str, visitor: &mut impl Visitor) {
    for workload in WORKLOADS.iter().filter(|workload| workload.name.contains(filter)) {
        let case = Case::new(workload);
        with_values!(&case.data, data => with_positions!(&case.indices, indices => {
            let operands = Operands { data: data.view(), indices: indices.view() };
            let op = Operator::new(workload, Par::Seq, Level::preferred());
            let plan = op.plan(workload).expect(LEGAL);
            visitor.visit(workload.name, &Gathers { workload, op, plan, operands });
        }));
    }
    for workload in scatters::WORKLOADS.iter().filter(|workload| workload.name.contains(filter)) {
        let tensors = scatters::Tensors::new(workload);
        let plan = tensors.plan(1).expect(LEGAL);
        visitor.visit(workload.name, &Scatters { shape: workload.data, tensors, plan });
    }
    let is_new = |space: &&Space| WORKLOADS.iter().all(|workload| workload.name != space.name);
    for space in crate::spaces::SPACES.iter().filter(|space| space.name.contains(filter)).filter(is_new) {
        let mut data = Buffer::zeroed(&space.shape);
        data.as_mut_slice().iter_mut().enumerate().for_each(|(at, value)| *value = at as f32 + 0.5);
        let (plan, shape) = space.planned(1);
        visitor.visit(space.name, &Spaces { op: (space.op)(Par::Seq), plan, data, shape });
    }
}

struct Gathers<'a, T, I> {
    workload: &'a Workload,
    op: Operator,
    plan: AnyPlan<T, I>,
    operands: Operands<'a, T, I>,
}

impl<T: Element, I: Index> Calls<T> for Gathers<'_, T, I> {
    fn shape(&self) -> Vec<usize> {
        self.workload.output_shape()
    }

    fn planned(&self, out: &mut impl Output<T>) {
        self.plan.run_into(&self.operands, out).expect(LEGAL);
    }

    fn again(&self, out: &mut Tensor<T>) {
        self.op.run_into(&self.operands, out).expect(LEGAL);
    }

    fn fresh(&self) -> Tensor<T> {
        self.op.run(&self.operands).expect(LEGAL)
    }
}

struct Scatters {
    shape: &'static [usize],
    tensors: scatters::Tensors,
    plan: ScatterPlan<f32, i64>,
}

impl Calls<f32> for Scatters {
    fn shape(&self) -> Vec<usize> {
        self.shape.to_vec()
    }

    fn planned(&self, out: &mut impl Output<f32>) {
        self.tensors.run_to(&self.plan, out);
    }

    fn again(&self, out: &mut Tensor<f32>) {
        self.tensors.run_again(1, out);
    }

    fn fresh(&self) -> Tensor<f32> {
        crate::inverse::Ways::fresh(&self.tensors, 1)
    }
}

struct Spaces {
    op: Box<dyn Rearrange>,
    plan: RearrangePlan<f32>,
    data: Buffer<f32>,
    shape: Vec<usize>,
}

impl Spaces {
    fn view(&self) -> View<'_, f32> {
        self.data.view()
    }
}

impl Calls<f32> for Spaces {
    fn shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    fn planned(&self, out: &mut impl Output<f32>) {
        self.plan.run_into(&self.view(), out).expect(LEGAL);
    }

    fn again(&self, out: &mut Tensor<f32>) {
        self.op.run_again(&self.view(), out);
    }

    fn fresh(&self) -> Tensor<f32> {
        self.op.run(&self.view())
    }
}
