//! Planned calls on block-quantised data.

use core::marker::PhantomData;

use crate::call::check_output;
use crate::call::plan_type::plan_type;
use crate::call::planned::{Inputs, Planned};
use crate::call::will_need::will_need;
use crate::exec;
use crate::kernels::convert::quantized::{Quantized, ScaleRows, ZeroPoints};
use crate::plan::Explain;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, written};
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::codes::{Codes, Scale};
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::op::{Argument, Op};

/// Everything about a call on block-quantised data that depends on shapes and types: made once by
/// [`plan`](crate::BlockQuantized::plan), run many times, from any thread. It describes loops over bytes of data, not
/// over values.
pub struct BlockQuantizedPlan<T, I> {
    pub(super) blocks: Blocks,
    pub(super) types: PhantomData<fn(I) -> T>,
}

plan_type!(BlockQuantizedPlan<T, I>: blocks);
will_need!(BlockQuantizedPlan<T, I>: blocks.planned, u8, I);

/// A plan without its types.
#[derive(Clone)]
pub(super) struct Blocks {
    /// For an output of values of whole bytes. Data is row-major, of one dimension or more.
    pub(super) planned: Planned,
    pub(super) codes: Codes,
    /// Bytes of a block, as a power of two.
    pub(super) block_log2: u32,
    /// With a scale for each block.
    pub(super) scales: Shape,
    pub(super) zero_points: Shape,
    pub(super) output: Shape,
}

impl Blocks {
    fn output_shape(&self) -> &[usize] {
        &self.output
    }

    fn explain(&self) -> Explain<'_> {
        self.planned.explain()
    }
}

impl<T: Scale, I: Index> BlockQuantizedPlan<T, I> {
    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`]; for scales, and after them for zero points, [`Error::ShapeMismatch`] and
    /// [`Error::NotRowMajor`]; [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    pub fn run(
        &self,
        data: &View<'_, u8>,
        indices: &View<'_, I>,
        scales: &View<'_, T>,
        zero_points: Option<&View<'_, u8>>,
    ) -> Result<Tensor<T>, Error> {
        written(Tensor::default(), |out| self.run_into(data, indices, scales, zero_points, out))
    }

    /// Runs the plan into an [`Output`]: a row-major view, uninitialised memory, or a tensor that is used again.
    /// Allocates nothing but the memory of a tensor that is too small.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`]; [`Error::ShapeMismatch`], and [`Error::NotRowMajor`] for a view; those of
    /// [`Self::run`] for scales and zero points, then [`Error::IndexOutOfRange`]; the output is then as after
    /// [`BlockQuantized::run_into`](crate::BlockQuantized::run_into).
    pub fn run_into(
        &self,
        data: &View<'_, u8>,
        indices: &View<'_, I>,
        scales: &View<'_, T>,
        zero_points: Option<&View<'_, u8>>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        let Blocks { planned: Planned { plan, .. }, output, .. } = &self.blocks;
        self.blocks.planned.check_inputs(data.layout(), indices.layout())?;
        let out = out.target();
        if let Some(layout) = out.layout() {
            check_output(plan.op(), output, layout.shape())?;
            check_row_major(plan.op(), Argument::Output, layout)?;
        }
        let given = self.given(data, scales, zero_points)?;
        let inputs = Inputs { params: (&raw const given).cast(), ..Inputs::new(data, indices) };
        // SAFETY: X1: the layouts have just been checked; O1 for `T`, and an array of values is aligned as a value, so
        // that the output is one of arrays; it is borrowed mutably, so that it overlaps no input. What is given is
        // `Sync`, of the type that the plan's functions take, and data is row-major (K8).
        let run = |out| unsafe { exec::run_index(plan, inputs.operands(out)) };
        // SAFETY: a run that succeeds has initialised every value of its output (X3).
        unsafe { out.write(|| Ok((output, Shape::checked_len(output)?)), run) }
    }

    /// Scales and zero points, with one of each for every block of data.
    fn given<'a>(
        &self,
        data: &View<'_, u8>,
        scales: &View<'a, T>,
        zero_points: Option<&View<'a, u8>>,
    ) -> Result<Quantized<'a, T>, Error> {
        let (scales, scale_rows) = self.scales(scales)?;
        let Blocks { planned, codes, block_log2, scales: blocks, zero_points: expected, .. } = &self.blocks;
        let zeros = zero_points.map(|given| self.values(Argument::ZeroPoints, expected, given)).transpose()?;
        let zero_points = match zeros {
            // Of floating-point codes the list is empty.
            Some(zeros) if !codes.is_float() => {
                let blocks = blocks.last().copied().unwrap_or(0);
                let lists = codes.lists_zero_points();
                let row = if lists { blocks } else { blocks.next_multiple_of(codes.per_byte()) };
                ZeroPoints::Packed { codes: zeros, row }
            }
            _ => ZeroPoints::All(codes.default_zero_point().into()),
        };
        let row = planned.data.shape().last().copied().unwrap_or(0).max(1);
        let (data, block_log2) = (data.origin().addr(), *block_log2);
        Ok(Quantized { data, row, block_log2, scales, scale_rows, zero_points })
    }

    /// The scales, and which of their rows belong to rows of data.
    fn scales<'a>(&self, given: &View<'a, T>) -> Result<(&'a [T], ScaleRows), Error> {
        let fits = |(&own, &expected): (&usize, &usize)| own == expected || own == 1;
        match (&self.blocks.scales[..], given.layout().shape()) {
            ([rows @ .., expected], [own @ .., blocks])
                if self.blocks.codes.is_float()
                    && blocks == expected
                    && own.len() == rows.len()
                    && own.iter().zip(rows).all(fits) =>
            {
                Ok((self.in_order(Argument::Scales, given)?, ScaleRows::new(rows, own)))
            }
            _ => Ok((self.values(Argument::Scales, &self.blocks.scales, given)?, ScaleRows::default())),
        }
    }

    /// The values of a tensor of the shape that is asked for, in row-major order.
    fn values<'a, V>(&self, argument: Argument, expected: &Shape, given: &View<'a, V>) -> Result<&'a [V], Error> {
        let op = self.blocks.planned.plan.op();
        if expected[..] != *given.layout().shape() {
            let (expected, got) = (expected[..].into(), given.layout().shape().into());
            return Err(Error::ShapeMismatch { op, argument, expected, got });
        }
        self.in_order(argument, given)
    }

    /// The values of a tensor of any shape in row-major order.
    fn in_order<'a, V>(&self, argument: Argument, given: &View<'a, V>) -> Result<&'a [V], Error> {
        check_row_major(self.blocks.planned.plan.op(), argument, given.layout())?;
        if given.is_empty() {
            return Ok(&[]);
        }
        // SAFETY: V1: the elements of a view may be read for its lifetime; being row-major they are contiguous.
        Ok(unsafe { core::slice::from_raw_parts(given.origin(), given.layout().len()) })
    }
}

fn check_row_major(op: Op, argument: Argument, layout: &Layout) -> Result<(), Error> {
    if layout.is_contiguous() { Ok(()) } else { Err(Error::NotRowMajor { op, argument }) }
}
