//! Planned calls on block-quantised data.

use core::marker::PhantomData;

use crate::call::planned::Inputs;
use crate::call::{check_layout, check_output, will_need};
use crate::exec::{self, pool_threads};
use crate::kernels::convert::quantized::{Quantized, ScaleRows, ZeroPoints};
use crate::plan::{Explain, IndexPlan};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, written};
use crate::tensor::owned::Tensor;
use crate::tensor::pages::WillNeed;
use crate::tensor::view::View;
use crate::types::codes::{Codes, Scale};
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::op::{Argument, Op};

/// Everything about a call on block-quantised data that depends on shapes and types: made once by
/// [`plan`](crate::BlockQuantized::plan), run many times, from any thread.
pub struct BlockQuantizedPlan<T, I> {
    /// For an output of values of whole bytes.
    pub(super) plan: IndexPlan,
    pub(super) codes: Codes,
    /// Bytes of a block, as a power of two.
    pub(super) block_log2: u32,
    /// Row-major, of one dimension or more.
    pub(super) data: Layout,
    pub(super) indices: Layout,
    /// With a scale for each block.
    pub(super) scales: Shape,
    pub(super) zero_points: Shape,
    pub(super) output: Shape,
    pub(super) types: PhantomData<fn(I) -> T>,
}

impl<T, I> Clone for BlockQuantizedPlan<T, I> {
    fn clone(&self) -> Self {
        BlockQuantizedPlan {
            plan: self.plan.clone(),
            data: self.data.clone(),
            indices: self.indices.clone(),
            scales: self.scales.clone(),
            zero_points: self.zero_points.clone(),
            output: self.output.clone(),
            ..*self
        }
    }
}

impl<T, I> core::fmt::Debug for BlockQuantizedPlan<T, I> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(&Explain::index(&self.plan, pool_threads), f)
    }
}

impl<T: Scale, I: Index> BlockQuantizedPlan<T, I> {
    /// The shape of the result.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        &self.output
    }

    /// A description of a call: method, loops, bytes, tasks. Loops count bytes of data, not values.
    #[must_use]
    pub fn explain(&self) -> Explain<'_> {
        Explain::index(&self.plan, pool_threads)
    }

    /// Asks the system for the pages of data that a run on these indices will touch, as
    /// [`IndexOperator::will_need`](crate::IndexOperator::will_need) does. Nothing is requested for tensors of other
    /// layouts than the plan's.
    pub fn will_need(&self, data: &View<'_, u8>, indices: &View<'_, I>) -> WillNeed {
        if !self.data.matches(data.layout()) || !self.indices.matches(indices.layout()) {
            return WillNeed::default();
        }
        // SAFETY: the layouts are those of the plan, as just checked, and the types too.
        unsafe { will_need::advise::<u8, I>(&self.plan, data, indices) }
    }

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
        check_layout(Argument::Data, &self.data, data.layout())?;
        check_layout(Argument::Indices, &self.indices, indices.layout())?;
        let out = out.target();
        if let Some(layout) = out.layout() {
            check_output(self.plan.op(), &self.output, layout.shape())?;
            check_row_major(self.plan.op(), Argument::Output, layout)?;
        }
        let given = self.given(data, scales, zero_points)?;
        let inputs = Inputs { params: (&raw const given).cast(), ..Inputs::new(data, indices) };
        // SAFETY: X1: the layouts have just been checked; O1 for `T`, and an array of values is aligned as a value, so
        // that the output is one of arrays; it is borrowed mutably, so that it overlaps no input. What is given is
        // `Sync`, of the type that the plan's functions take, and data is row-major (K8).
        let run = |out| unsafe { exec::run_index(&self.plan, inputs.operands(out)) };
        // SAFETY: a run that succeeds has initialised every value of its output (X3).
        unsafe { out.write(|| Ok((&self.output, Shape::checked_len(&self.output)?)), run) }
    }

    /// Scales and zero points, with one of each for every block of data.
    fn given<'a>(
        &self,
        data: &View<'_, u8>,
        scales: &View<'a, T>,
        zero_points: Option<&View<'a, u8>>,
    ) -> Result<Quantized<'a, T>, Error> {
        let (scales, scale_rows) = self.scales(scales)?;
        let per_byte = self.codes.per_byte();
        let codes = zero_points.map(|given| self.values(Argument::ZeroPoints, &self.zero_points, given)).transpose()?;
        let zero_points = match codes {
            // Of floating-point codes the list is empty.
            Some(codes) if !self.codes.is_float() => {
                let blocks = self.scales.last().copied().unwrap_or(0);
                let lists = self.codes.lists_zero_points();
                ZeroPoints::Packed { codes, row: if lists { blocks } else { blocks.next_multiple_of(per_byte) } }
            }
            _ => ZeroPoints::All(self.codes.default_zero_point().into()),
        };
        let row = self.data.shape().last().copied().unwrap_or(0).max(1);
        Ok(Quantized { data: data.origin().addr(), row, block_log2: self.block_log2, scales, scale_rows, zero_points })
    }

    /// The scales, and which of their rows belong to rows of data.
    fn scales<'a>(&self, given: &View<'a, T>) -> Result<(&'a [T], ScaleRows), Error> {
        let fits = |(&own, &expected): (&usize, &usize)| own == expected || own == 1;
        match (&self.scales[..], given.layout().shape()) {
            ([rows @ .., expected], [own @ .., blocks])
                if self.codes.is_float()
                    && blocks == expected
                    && own.len() == rows.len()
                    && own.iter().zip(rows).all(fits) =>
            {
                Ok((self.in_order(Argument::Scales, given)?, ScaleRows::new(rows, own)))
            }
            _ => Ok((self.values(Argument::Scales, &self.scales, given)?, ScaleRows::default())),
        }
    }

    /// The values of a tensor of the shape that is asked for, in row-major order.
    fn values<'a, V>(&self, argument: Argument, expected: &Shape, given: &View<'a, V>) -> Result<&'a [V], Error> {
        let op = self.plan.op();
        if expected[..] != *given.layout().shape() {
            let (expected, got) = (expected[..].into(), given.layout().shape().into());
            return Err(Error::ShapeMismatch { op, argument, expected, got });
        }
        self.in_order(argument, given)
    }

    /// The values of a tensor of any shape in row-major order.
    fn in_order<'a, V>(&self, argument: Argument, given: &View<'a, V>) -> Result<&'a [V], Error> {
        check_row_major(self.plan.op(), argument, given.layout())?;
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
