//! Copy of the original tensor of a scatter into the output.

use crate::exec::index::{self, Operands, Written};
use crate::exec::threads::{CHUNKS_PER_THREAD, parallel_for, pool_threads};
use crate::kernels::select::Kernels;
use crate::plan::{IndexLowered, IndexPlan, IndexRequest, Work};
use crate::tensor::layout::{Layout, Shape};
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::op::Op;
use crate::types::policy::{IndexPolicy, Options, Par};

/// The tensor that is copied to the output before updates change it.
#[derive(Clone, Copy)]
pub(crate) struct Original<'a> {
    dtype: DType,
    kernels: Kernels,
    options: Options,
    pub(super) data: (*const u8, &'a Layout),
}

impl<'a> Original<'a> {
    /// Wraps a tensor. Only this function links the kernels that copy: programs that scatter in place omit them.
    #[inline(always)]
    pub(crate) fn new(dtype: DType, options: Options, data: (*const u8, &'a Layout)) -> Self {
        Original { dtype, kernels: Kernels::of_rows::<i64>(), options, data }
    }
}

/// Copies a tensor into an output of its shape, which is row-major if `layout` is `None`.
///
/// # Errors
/// [`Error::LevelUnavailable`], [`Error::TooManyBytes`].
///
/// # Safety
/// X1 for data and output, which have one shape and hold the data type.
pub(super) unsafe fn run(original: &Original<'_>, out: *mut u8, layout: Option<&Layout>) -> Result<(), Error> {
    let &Original { dtype, kernels, options, data } = original;
    let bytes = Shape::checked_bytes(data.1.shape(), dtype.size())?;
    if data.1.is_contiguous() && layout.is_none_or(Layout::is_contiguous) {
        // SAFETY: X1: row-major tensors of one shape have `bytes` contiguous bytes, and do not overlap.
        unsafe { copy_bytes(data.0, out, bytes, options) };
        return Ok(());
    }
    let row_major = Layout::contiguous(data.1.shape())?;
    let layout = layout.unwrap_or(&row_major);
    debug_assert_eq!(data.1.shape(), layout.shape());
    // A gather whose tuples have no components copies all of data.
    let op = Op::GatherNd;
    let mut lowered = IndexLowered::new(op);
    for (&n, &stride) in data.1.shape().iter().zip(data.1.strides()) {
        lowered.push(n, stride, 0);
    }
    let (index, policy, options) =
        (IndexType::I64, IndexPolicy::default().lower(), Options { method: None, ..options });
    let request = IndexRequest { op, kernels, dtype, index, policy, options, converting: None };
    let plan = IndexPlan::new(&lowered, &request, layout)?;
    let indices = Layout::contiguous(&[0])?;
    // SAFETY: X1 for data and output; there is no index.
    let operands = unsafe { Operands::new(data, (core::ptr::null(), &indices, index), out, dtype) };
    // SAFETY: X1: the plan was made for these layouts; it reads no index.
    unsafe { index::run(&plan, operands) }.map(Written::all)
}

struct CopyEnds(*const u8, *mut u8);

// SAFETY: threads copy disjoint bytes: `copy_bytes` gives each chunk to one thread.
unsafe impl Sync for CopyEnds {}

/// Copies bytes, on several threads if that pays.
///
/// # Safety
/// `bytes` bytes from `from` may be read and from `to` written. They do not overlap.
unsafe fn copy_bytes(from: *const u8, to: *mut u8, bytes: usize, options: Options) {
    let work = Work { bytes, rows: 1, read: 0 };
    // A forced number of threads is a maximum: for few bytes one thread is done before others wake up (workload
    // `scatter_elements/add_1d_1M_into_64K`).
    let tasks = if work.is_for_one(Par::Auto) { 1 } else { work.tasks(options.par, pool_threads) };
    if tasks == 1 {
        // SAFETY: by the caller's contract.
        return unsafe { to.copy_from_nonoverlapping(from, bytes) };
    }
    let chunk = bytes.div_ceil(tasks.saturating_mul(CHUNKS_PER_THREAD)).next_multiple_of(4096);
    let ends = CopyEnds(from, to);
    parallel_for(tasks, bytes.div_ceil(chunk), |number, _| {
        let CopyEnds(from, to) = &ends;
        let start = number * chunk;
        let len = chunk.min(bytes - start);
        // SAFETY: `start + len <= bytes`, by the caller's contract; no other thread has chunk `number`.
        unsafe { to.wrapping_add(start).copy_from_nonoverlapping(from.wrapping_add(start), len) };
    });
}
