//! What the index operators have in common: their methods, over what each lowers to.

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use crate::alloc_out;
use crate::cloned;
use crate::dynamic::{DynTensor, DynView};
use crate::element::{Element, bytes_of};
use crate::error::{Error, Op};
use crate::exec::{self, Operands};
use crate::index::{Index, IndexType};
use crate::kernels::{BUILTIN, KernelSet};
use crate::ops::{IndexRules, OutOfBounds, Tuning};
use crate::plan::{IndexLowered, IndexPlan, Plan};
use crate::registry::Registry;
use crate::shape::{Layout, Shape};
use crate::tensor::Tensor;
use crate::view::{View, ViewMut};

/// An operator that takes data and indices.
pub(crate) trait IndexOperator {
    const OP: Op;
    /// Checks the attributes against the shapes, and adds loops and axes to what is empty.
    fn lower(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error>;
    fn rules(&self) -> IndexRules;
    fn tuning(&self) -> Tuning;
}

/// The axis that `axis` names in a tensor of a rank.
pub(crate) fn normalize_axis(op: Op, axis: i64, rank: usize) -> Result<usize, Error> {
    let signed = rank as i64;
    if (-signed..signed).contains(&axis) {
        Ok(axis.rem_euclid(signed) as usize)
    } else {
        Err(Error::AxisOutOfRange { op, axis, rank })
    }
}

/// Checks that an output has the shape of the result.
pub(crate) fn check_output(op: Op, expected: &Shape, got: &[usize]) -> Result<(), Error> {
    if expected.len() == got.len() && expected.iter().zip(got).all(|(mine, theirs)| mine == theirs) {
        Ok(())
    } else {
        Err(Error::OutputShape { op, expected: expected[..].into(), got: got.into() })
    }
}

pub(crate) fn output_shape(op: &impl IndexOperator, data: &[usize], indices: &[usize]) -> Result<Shape, Error> {
    let output = lower(op, &Layout::contiguous(data)?, &Layout::contiguous(indices)?)?.output;
    Shape::checked_len(&output)?;
    Ok(output)
}

/// Checks the attributes of an operator against the shapes.
#[inline(always)]
fn lower<O: IndexOperator>(op: &O, data: &Layout, indices: &Layout) -> Result<IndexLowered, Error> {
    let mut lowered = IndexLowered::new(O::OP);
    op.lower(data, indices, &mut lowered)?;
    Ok(lowered)
}

/// Plans an operator for an output of the row-major layout that comes back with the plan.
pub(crate) fn plan(
    op: &impl IndexOperator,
    set: &'static KernelSet,
    size: usize,
    index: IndexType,
    data: &Layout,
    indices: &Layout,
) -> Result<(IndexPlan, Layout), Error> {
    let lowered = lower(op, data, indices)?;
    let out = Layout::contiguous(&lowered.output)?;
    let plan = IndexPlan::new(set, lowered, size, index, &out, op.rules(), op.tuning())?;
    Ok((plan, out))
}

/// The inputs of a call, without their types.
pub(crate) struct Inputs<'a> {
    /// Bytes of an element.
    size: usize,
    index: IndexType,
    data: *const u8,
    data_layout: &'a Layout,
    indices: *const u8,
    indices_layout: &'a Layout,
    /// An element for indices out of range.
    fill: &'a [u8],
}

impl<'a> Inputs<'a> {
    #[inline(always)]
    fn new<T: Element, I: Index>(data: &'a View<'_, T>, indices: &'a View<'_, I>, zero: &'a T) -> Self {
        Inputs {
            size: size_of::<T>(),
            index: I::TYPE,
            data: data.origin().cast(),
            data_layout: data.layout(),
            indices: indices.origin().cast(),
            indices_layout: indices.layout(),
            fill: bytes_of(zero),
        }
    }

    #[inline(always)]
    fn operands(&self, out: *mut u8) -> Operands<'a> {
        Operands { out, data: self.data, index: self.indices, indices: self.indices_layout, fill: self.fill }
    }
}

/// Runs an operator into a given output. Once per operator, whatever the types, and the plan where it is made: moving its
/// hundreds of bytes from function to function takes longer than a small call.
///
/// # Safety
/// The inputs are views' (V1) of an element of `size` bytes and of the index type; `out` may be written along its layout,
/// and overlaps no input.
#[inline(never)]
unsafe fn run_given<O: IndexOperator>(
    op: &O,
    inputs: &Inputs<'_>,
    out: *mut u8,
    out_layout: &Layout,
) -> Result<(), Error> {
    let mut lowered = IndexLowered::new(O::OP);
    op.lower(inputs.data_layout, inputs.indices_layout, &mut lowered)?;
    check_output(O::OP, &lowered.output, out_layout.shape())?;
    let planned = IndexPlan::new(&BUILTIN, lowered, inputs.size, inputs.index, out_layout, op.rules(), op.tuning());
    let Ok(plan) = &planned else { return planned.map(drop) };
    // SAFETY: the plan was made for these layouts and sizes; the rest is the caller's promise.
    unsafe { exec::run_index(plan, &inputs.operands(out)) }
}

/// Runs an operator into memory for as many elements as `allocate` is asked for; returns the shape.
///
/// # Safety
/// As for [`run_given`]; the memory is fresh, and has room for them.
#[inline(never)]
unsafe fn run_allocated<O: IndexOperator>(
    op: &O,
    inputs: &Inputs<'_>,
    allocate: &mut dyn FnMut(usize) -> Result<*mut u8, Error>,
) -> Result<Shape, Error> {
    let mut lowered = IndexLowered::new(O::OP);
    op.lower(inputs.data_layout, inputs.indices_layout, &mut lowered)?;
    let out = Layout::contiguous(&lowered.output)?;
    let planned = IndexPlan::new(&BUILTIN, lowered, inputs.size, inputs.index, &out, op.rules(), op.tuning());
    if let Ok(plan) = &planned {
        let memory = allocate(out.len())?;
        // SAFETY: the plan was made for these layouts and sizes; the rest is the caller's promise.
        unsafe { exec::run_index(plan, &inputs.operands(memory)) }?;
    }
    planned.map(|plan| plan.output)
}

pub(crate) fn run<T: Element, I: Index>(
    op: &impl IndexOperator,
    data: &View<'_, T>,
    indices: &View<'_, I>,
) -> Result<Tensor<T>, Error> {
    let zero = T::ZERO;
    let inputs = Inputs::new(data, indices, &zero);
    let mut values = Vec::new();
    let mut room = 0;
    let mut allocate = |len| {
        values = alloc_out::reserve::<T>(len)?;
        room = len;
        Ok(values.as_mut_ptr().cast())
    };
    // SAFETY: views may be read along their layouts (V1); the memory is fresh and has room for `len` elements.
    let shape = unsafe { run_allocated(op, &inputs, &mut allocate) }?;
    // SAFETY: there is room for so many elements, and the run has written every element of the result (X3).
    unsafe { values.set_len(room) };
    Ok(Tensor::from_parts(values, shape))
}

/// Runs a plan into fresh memory.
pub(crate) fn run_fresh<T: Element, I: Index>(
    plan: &IndexPlan,
    out: &Layout,
    data: &View<'_, T>,
    indices: &View<'_, I>,
) -> Result<Tensor<T>, Error> {
    let values = alloc_out::fill(out.len(), |memory| {
        // SAFETY: the plan was made for these layouts and types; the memory is fresh, row-major and long enough.
        unsafe { execute(plan, data, indices, memory.cast()) }
    })?;
    Ok(Tensor::from_parts(values, plan.output.clone()))
}

/// Runs a plan on views.
///
/// # Safety
/// The plan was made for `T`, `I`, the layouts of the views and that of the output; the output may be written.
#[inline]
pub(crate) unsafe fn execute<T: Element, I: Index>(
    plan: &IndexPlan,
    data: &View<'_, T>,
    indices: &View<'_, I>,
    out: *mut T,
) -> Result<(), Error> {
    let zero = T::ZERO;
    let operands = Inputs::new(data, indices, &zero).operands(out.cast());
    // SAFETY: views may be read along their layouts (V1); the output is the caller's promise, and being borrowed mutably
    // or fresh it overlaps neither; `zero` is one element.
    unsafe { exec::run_index(plan, &operands) }
}

pub(crate) fn run_uninit<T: Element, I: Index>(
    op: &impl IndexOperator,
    data: &View<'_, T>,
    indices: &View<'_, I>,
    out: &mut ViewMut<'_, MaybeUninit<T>>,
) -> Result<(), Error> {
    let zero = T::ZERO;
    // SAFETY: views may be read along their layouts (V1); a mutable view may be written along its layout, and being
    // borrowed mutably it overlaps none.
    unsafe { run_given(op, &Inputs::new(data, indices, &zero), out.origin().cast(), out.layout()) }
}

pub(crate) fn run_into<T: Element, I: Index>(
    op: &impl IndexOperator,
    data: &View<'_, T>,
    indices: &View<'_, I>,
    out: &mut ViewMut<'_, T>,
) -> Result<(), Error> {
    let zero = T::ZERO;
    // SAFETY: as in `run_uninit`.
    unsafe { run_given(op, &Inputs::new(data, indices, &zero), out.origin().cast(), out.layout()) }
}

pub(crate) fn plan_typed<T: Element, I: Index>(
    op: &impl IndexOperator,
    data: &Layout,
    indices: &Layout,
) -> Result<Plan<T, I>, Error> {
    let (plan, out) = plan(op, &BUILTIN, size_of::<T>(), I::TYPE, data, indices)?;
    Ok(Plan::new(plan, data.clone(), indices.clone(), out))
}

pub(crate) fn run_cloned<T: Clone, I: Index>(
    op: &impl IndexOperator,
    data: &View<'_, T>,
    indices: &View<'_, I>,
    fill: impl FnOnce() -> T,
) -> Result<Tensor<T>, Error> {
    let lowered = lower(op, data.layout(), indices.layout())?;
    let fill = (op.rules().out_of_bounds == OutOfBounds::Zero).then(fill);
    cloned::index(&lowered, op.rules(), data, indices, fill.as_ref())
}

pub(crate) fn run_dyn(
    op: &impl IndexOperator,
    registry: &Registry,
    data: &DynView<'_>,
    indices: &DynView<'_>,
) -> Result<DynTensor, Error> {
    let dtype = data.dtype();
    let index =
        IndexType::from_dtype(indices.dtype()).ok_or_else(|| Error::NotAnIndexType { dtype: indices.dtype() })?;
    let lowered = lower(op, data.layout(), indices.layout())?;
    let set = registry.set_of(dtype).ok_or(Error::UnknownDType { op: lowered.op, dtype })?;
    let (plan, out) = plan(op, set, dtype.size(), index, data.layout(), indices.layout())?;
    let zero = dtype.zero();
    DynTensor::fill(dtype, &out, |memory| {
        let operands = Operands {
            out: memory,
            data: data.origin(),
            index: indices.origin(),
            indices: indices.layout(),
            fill: &zero,
        };
        // SAFETY: the plan was made for these layouts and element sizes; views may be read along their layouts, the
        // memory is fresh, row-major and long enough; `zero` is one element.
        unsafe { exec::run_index(&plan, &operands) }
    })
}
