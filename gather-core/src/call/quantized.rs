//! Gathering from block-quantised data: codes of a few bits, with a scale and a zero point for each block.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::call::erased::Request;
use crate::call::operator::{IndexAttributes, IndexOperator};
use crate::call::{check_layout, check_output, will_need};
use crate::exec::{self, Operands, pool_threads};
use crate::kernels::convert;
use crate::kernels::convert::quantized::{Quantized, ZeroPoints, convert_fns};
use crate::kernels::select::Kernels;
use crate::plan::{Converting, Explain, IndexPlan, IndexRequest};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::memory;
use crate::tensor::owned::Tensor;
use crate::tensor::pages::WillNeed;
use crate::tensor::view::{View, ViewMut};
use crate::types::codes::{Codes, Scale};
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::level::Level;
use crate::types::op::{Argument, Op};
use crate::types::policy::{NegativeIndex, OutOfBounds, Par};

/// An operator on indices whose data is block-quantised, made by
/// [`Gather::block_quantized`](crate::Gather::block_quantized).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlockQuantized<A> {
    operator: IndexOperator<A>,
    codes: Codes,
    block_size: usize,
}

impl<A> BlockQuantized<A> {
    pub(crate) fn from_operator(operator: IndexOperator<A>, codes: Codes, block_size: usize) -> Self {
        BlockQuantized { operator, codes, block_size }
    }

    /// Sets what negative indices mean.
    #[must_use]
    pub fn negative_index(mut self, negative: NegativeIndex) -> Self {
        self.operator = self.operator.negative_index(negative);
        self
    }

    /// Sets what out-of-range indices do.
    #[must_use]
    pub fn out_of_bounds(mut self, out_of_bounds: OutOfBounds) -> Self {
        self.operator = self.operator.out_of_bounds(out_of_bounds);
        self
    }

    /// Sets how many threads a call may use.
    #[must_use]
    pub fn par(mut self, par: Par) -> Self {
        self.operator = self.operator.par(par);
        self
    }

    /// Forces a level.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.operator = self.operator.level(level);
        self
    }

    /// How data holds its codes.
    #[must_use]
    pub fn get_codes(&self) -> Codes {
        self.codes
    }

    /// How many values of the last axis share a scale.
    #[must_use]
    pub fn get_block_size(&self) -> usize {
        self.block_size
    }
}

impl<A: IndexAttributes> BlockQuantized<A> {
    /// Runs the operator into a fresh tensor: `(code - zero point) * scale` of every value, computed in `f32` and
    /// rounded to the type of the scales.
    ///
    /// - `data` is bytes of codes. Its last axis has [`Codes::per_byte`] values a byte; blocks run along it.
    /// - `scales` has the shape of data, but for the last axis, which has an entry for each block: values divided by
    ///   `block_size`, rounded up. The last block of a row may be short.
    /// - `zero_points` are codes as data has them, one for each block. For [`Codes::Bits2`], [`Codes::Bits4`] and
    ///   [`Codes::Bits8`] the shape is that of scales, but for the last axis, divided by [`Codes::per_byte`] and
    ///   rounded up. For [`Codes::U4`] and [`Codes::I4`] they are one list of bytes, half as many as scales, rounded
    ///   up. Without them, [`Codes::default_zero_point`] holds for all.
    ///
    /// The result has the shape that the operator gives, with the values of a byte each on its own.
    ///
    /// Cost: one pass over the indices, one over the bytes of the result, one allocation.
    ///
    /// # Errors
    /// [`Error::BlockSizeOutOfRange`], errors of attributes and shapes, [`Error::LevelUnavailable`],
    /// [`Error::TooManyBytes`], [`Error::QuantizedAxis`], [`Error::DimensionTooLarge`], [`Error::NotRowMajor`] for
    /// data; then for scales, and after them for zero points, [`Error::ShapeMismatch`] and
    /// [`Error::NotRowMajor`];
    /// [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`], which [`OutOfBounds::Zero`] excludes.
    ///
    /// # Examples
    /// Two rows of 16 values in bytes of two, with a scale for each row:
    /// ```
    /// use gather_core::{Codes, Gather, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let codes = [[0x98u8; 8], [0x1f; 8]];
    ///     let (table, ids) = (View::new(codes.as_flattened(), &[2, 8])?, View::new(&[1i64, 2, -2], &[3])?);
    ///     let scales = View::new(&[0.5f32, 2.0], &[2, 1])?;
    ///     let rows = Gather::block_quantized(0, Codes::Bits4, 16).run(&table, &ids, &scales, None)?;
    ///     assert_eq!(rows.shape(), [3, 16]);
    ///     assert_eq!(rows.as_slice()[..2], [14.0, -14.0]);
    ///     // Out of range, and the first row, by a negative index.
    ///     assert_eq!(rows.as_slice()[16..18], [0.0, 0.0]);
    ///     assert_eq!(rows.as_slice()[32..34], [0.0, 0.5]);
    ///     Ok(())
    /// }
    /// ```
    pub fn run<T: Scale, I: Index>(
        &self,
        data: &View<'_, u8>,
        indices: &View<'_, I>,
        scales: &View<'_, T>,
        zero_points: Option<&View<'_, u8>>,
    ) -> Result<Tensor<T>, Error> {
        self.plan(data.layout(), indices.layout())?.run(data, indices, scales, zero_points)
    }

    /// As [`Self::run`], into a given row-major output.
    ///
    /// # Errors
    /// As for [`Self::run`], and, before those of scales, [`Error::ShapeMismatch`], and [`Error::NotRowMajor`]
    /// for the output. The output is untouched but for [`Error::IndexOutOfRange`]: it then holds a mix of results and what
    /// it held before.
    pub fn run_into<T: Scale, I: Index>(
        &self,
        data: &View<'_, u8>,
        indices: &View<'_, I>,
        scales: &View<'_, T>,
        zero_points: Option<&View<'_, u8>>,
        out: &mut ViewMut<'_, T>,
    ) -> Result<(), Error> {
        self.plan(data.layout(), indices.layout())?.run_into(data, indices, scales, zero_points, out)
    }

    /// Does once what depends on shapes and types only: the plan runs on any tensors of these layouts.
    ///
    /// # Errors
    /// As for [`Self::run`], up to [`Error::NotRowMajor`] for data.
    pub fn plan<T: Scale, I: Index>(&self, data: &Layout, indices: &Layout) -> Result<BlockQuantizedPlan<T, I>, Error> {
        let BlockQuantized { operator, codes, block_size } = self;
        let (op, per_byte) = (operator.attributes().op(), codes.per_byte());
        if !block_size.is_power_of_two() || *block_size < 16 {
            return Err(Error::BlockSizeOutOfRange { op, block_size: *block_size as i128 });
        }
        let planned = IndexRequest {
            op,
            policy: operator.policy(),
            options: operator.options(),
            kernels: Kernels::of::<I>(),
            dtype: bytes_values::<T>(*codes),
            index: I::TYPE,
            converting: Some(Converting {
                convert_fns: convert_fns::<T>(*codes),
                size_in: 1,
                kernel: convert::kernel::<I>,
            }),
        };
        let request = Request { attributes: operator.attributes(), planned, data, indices };
        let (plan, out) = request.plan()?;
        let last = data.rank().saturating_sub(1);
        if let Some(axis) = plan.axes().iter().find(|axis| axis.axis >= last) {
            return Err(Error::QuantizedAxis { op, axis: axis.axis });
        }
        let size = data.shape()[last];
        let values = size.checked_mul(per_byte);
        let values = values.ok_or(Error::DimensionTooLarge { op, dim: last, size, blocks: Some(per_byte) })?;
        if !data.is_contiguous() {
            return Err(Error::NotRowMajor { op, argument: Argument::Data });
        }
        let blocks = values.div_ceil(*block_size);
        let (output, scales) = (with_last(out.shape(), values), with_last(data.shape(), blocks));
        Shape::checked_len(&output)?;
        let zero_points = if codes.lists_zero_points() {
            [Shape::checked_len(&scales)?.div_ceil(per_byte)].into()
        } else {
            with_last(&scales, blocks.div_ceil(per_byte))
        };
        let (data, indices) = (data.clone(), indices.clone());
        let (codes, block_size) = (*codes, *block_size);
        Ok(BlockQuantizedPlan {
            plan,
            codes,
            block_size,
            data,
            indices,
            scales,
            zero_points,
            output,
            types: PhantomData,
        })
    }
}

/// A shape with another last dimension.
fn with_last(shape: &[usize], last: usize) -> Shape {
    let rest = shape.len().saturating_sub(1);
    shape[..rest].iter().copied().chain([last]).collect()
}

/// The data type of the values of a byte of codes.
fn bytes_values<T: Scale>(codes: Codes) -> DType {
    match codes.per_byte() {
        1 => <[T; 1]>::DTYPE,
        2 => <[T; 2]>::DTYPE,
        _ => <[T; 4]>::DTYPE,
    }
}

/// Everything about a call on block-quantised data that depends on shapes and types: made once by
/// [`plan`](BlockQuantized::plan), run many times, from any thread.
pub struct BlockQuantizedPlan<T, I> {
    /// For an output of values of whole bytes.
    plan: IndexPlan,
    codes: Codes,
    block_size: usize,
    /// Row-major, of one dimension or more.
    data: Layout,
    indices: Layout,
    scales: Shape,
    zero_points: Shape,
    output: Shape,
    types: PhantomData<fn(I) -> T>,
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

    /// What a call will do: method, loops, bytes, tasks. Loops count bytes of data, not values.
    #[must_use]
    pub fn explain(&self) -> Explain<'_> {
        Explain::index(&self.plan, pool_threads)
    }

    /// Asks the system for the pages of data that a run on these indices will touch, as
    /// [`IndexOperator::will_need`] does. For tensors of other layouts than the plan's, nothing is asked for.
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
        self.check(data, indices)?;
        let given = self.given(data, scales, zero_points)?;
        let run = |out: *mut MaybeUninit<T>| {
            // SAFETY: the layouts have just been checked; the memory is fresh, row-major and long enough.
            unsafe { self.execute(data, indices, &given, out.cast()) }
        };
        // SAFETY: a run that succeeds has initialised every value of its output (X3).
        let values = unsafe { memory::fill(Shape::checked_len(&self.output)?, run) }?;
        Ok(Tensor::from_parts(values, self.output.clone()))
    }

    /// Runs the plan into a given row-major output. Allocates nothing.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`]; [`Error::ShapeMismatch`], and [`Error::NotRowMajor`] for the output; those of
    /// [`Self::run`] for scales and zero points, then [`Error::IndexOutOfRange`]; the output is then as after
    /// [`BlockQuantized::run_into`].
    pub fn run_into(
        &self,
        data: &View<'_, u8>,
        indices: &View<'_, I>,
        scales: &View<'_, T>,
        zero_points: Option<&View<'_, u8>>,
        out: &mut ViewMut<'_, T>,
    ) -> Result<(), Error> {
        self.check(data, indices)?;
        check_output(self.plan.op(), &self.output, out.layout().shape())?;
        check_row_major(self.plan.op(), Argument::Output, out.layout())?;
        let given = self.given(data, scales, zero_points)?;
        // SAFETY: the layouts have just been checked; a mutable view may be written along its layout.
        unsafe { self.execute(data, indices, &given, out.origin().cast()) }
    }

    fn check(&self, data: &View<'_, u8>, indices: &View<'_, I>) -> Result<(), Error> {
        check_layout(Argument::Data, &self.data, data.layout())?;
        check_layout(Argument::Indices, &self.indices, indices.layout())
    }

    /// Scales and zero points, with one of each for every block of data.
    fn given<'a>(
        &self,
        data: &View<'_, u8>,
        scales: &View<'a, T>,
        zero_points: Option<&View<'a, u8>>,
    ) -> Result<Quantized<'a, T>, Error> {
        let scales = self.values(Argument::Scales, &self.scales, scales)?;
        let per_byte = self.codes.per_byte();
        let zero_points = match zero_points {
            None => ZeroPoints::All(self.codes.default_zero_point().into()),
            Some(given) => {
                let codes = self.values(Argument::ZeroPoints, &self.zero_points, given)?;
                let blocks = self.scales.last().copied().unwrap_or(0);
                let lists = self.codes.lists_zero_points();
                ZeroPoints::Packed { codes, row: if lists { blocks } else { blocks.next_multiple_of(per_byte) } }
            }
        };
        let row = self.data.shape().last().copied().unwrap_or(0).max(1);
        let block_log2 = (self.block_size / per_byte).ilog2();
        Ok(Quantized { data: data.origin().addr(), row, block_log2, scales, zero_points })
    }

    /// The values of a tensor in row-major order.
    fn values<'a, V>(&self, argument: Argument, expected: &Shape, given: &View<'a, V>) -> Result<&'a [V], Error> {
        let op = self.plan.op();
        if expected[..] != *given.layout().shape() {
            let (expected, got) = (expected[..].into(), given.layout().shape().into());
            return Err(Error::ShapeMismatch { op, argument, expected, got });
        }
        check_row_major(op, argument, given.layout())?;
        if given.is_empty() {
            return Ok(&[]);
        }
        // SAFETY: V1: the elements of a view may be read for its lifetime; being row-major they lie side by side.
        Ok(unsafe { core::slice::from_raw_parts(given.origin(), given.layout().len()) })
    }

    /// Runs the plan.
    ///
    /// # Safety
    /// X1: the layouts are those of the plan, and `out` is row-major memory of the result's shape that may be written,
    /// and overlaps no input. What is given was made for this plan and this data.
    unsafe fn execute(
        &self,
        data: &View<'_, u8>,
        indices: &View<'_, I>,
        given: &Quantized<'_, T>,
        out: *mut u8,
    ) -> Result<(), Error> {
        let operands = Operands {
            out,
            data: data.origin(),
            index: indices.origin().cast(),
            indices: indices.layout(),
            params: (&raw const *given).cast(),
        };
        // SAFETY: the caller's promise. An array of values is aligned as a value, so that the output is one of arrays.
        // What is given is `Sync`, of the type that the plan's functions take, and data is row-major (K8).
        unsafe { exec::run_index(&self.plan, operands) }
    }
}

fn check_row_major(op: Op, argument: Argument, layout: &Layout) -> Result<(), Error> {
    if layout.is_contiguous() { Ok(()) } else { Err(Error::NotRowMajor { op, argument }) }
}
