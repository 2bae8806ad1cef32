//! Copying the tensor that a scatter begins with.

use crate::exec::index::{self, Operands, Written};
use crate::exec::threads::{self, PIECES, pool_threads};
use crate::kernels::select::Kernels;
use crate::plan::{IndexLowered, IndexPlan, IndexRequest, ReduceRequest, Work};
use crate::tensor::layout::{Layout, Shape};
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::op::Op;
use crate::types::policy::{IndexPolicy, Options, Par};

/// The tensor that a destination is to begin with, and the destination's layout.
#[derive(Clone, Copy)]
pub(crate) struct Original<'a> {
    dtype: DType,
    kernels: Kernels,
    options: Options,
    data: (*const u8, &'a Layout),
    out: &'a Layout,
}

impl<'a> Original<'a> {
    /// A tensor, for the destination of a scatter that has a layout. A program that scatters in place alone does not
    /// link the kernels that copy.
    pub(crate) fn new(request: &ReduceRequest, data: (*const u8, &'a Layout), out: &'a Layout) -> Self {
        Original { dtype: request.dtype, kernels: Kernels::of_rows::<i64>(), options: request.options, data, out }
    }
}

/// Copies a tensor into an output of its shape.
///
/// # Errors
/// [`Error::LevelUnavailable`], [`Error::TooManyBytes`].
///
/// # Safety
/// X1 for data and output, which have one shape and hold the data type.
pub(super) unsafe fn run(original: &Original<'_>, out: *mut u8) -> Result<(), Error> {
    let (&Original { dtype, kernels, options, data, .. }, out) = (original, (out, original.out));
    debug_assert_eq!(data.1.shape(), out.1.shape());
    let bytes = Shape::checked_bytes(data.1.shape(), dtype.size())?;
    if data.1.is_contiguous() && out.1.is_contiguous() {
        // SAFETY: X1: row-major tensors of one shape have `bytes` bytes from the first on, and do not overlap.
        unsafe { copy_bytes(data.0, out.0, bytes, options) };
        return Ok(());
    }
    // A gather whose tuples have no components copies all of data.
    let op = Op::GatherNd;
    let mut lowered = IndexLowered::new(op);
    for (&n, &stride) in data.1.shape().iter().zip(data.1.strides()) {
        lowered.push(n, stride, 0);
    }
    let (index, policy, options) =
        (IndexType::I64, IndexPolicy::default().lower(), Options { method: None, ..options });
    let request = IndexRequest { op, kernels, dtype, index, policy, options, converting: None };
    let plan = IndexPlan::new(&lowered, &request, out.1)?;
    let indices = Layout::contiguous(&[0])?;
    // SAFETY: X1 for data and output; there is no index.
    let operands = unsafe { Operands::new(data, (core::ptr::null(), &indices, index), out.0, dtype) };
    // SAFETY: X1: the plan was made for these layouts; it reads no index.
    unsafe { index::run(&plan, operands) }.map(Written::all)
}

/// The two ends of a copy, for threads to share.
struct CopyEnds(*const u8, *mut u8);

// SAFETY: threads copy different bytes.
unsafe impl Sync for CopyEnds {}

/// Copies bytes, on as many threads as are worth it.
///
/// # Safety
/// Both ends reach as many bytes, to read and to write, and do not overlap.
unsafe fn copy_bytes(from: *const u8, to: *mut u8, bytes: usize, options: Options) {
    let work = Work { bytes, rows: 1, read: 0 };
    // A forced number of threads is the most: they wake up later than one has copied so little (workload
    // `scatter_elements/add_1d_1M_into_64K`).
    let tasks = if work.is_for_one(Par::Auto) { 1 } else { work.tasks(options.par, pool_threads) };
    if tasks == 1 {
        // SAFETY: both ends reach as many bytes.
        return unsafe { to.copy_from_nonoverlapping(from, bytes) };
    }
    let piece = bytes.div_ceil(tasks.saturating_mul(PIECES)).next_multiple_of(4096);
    let ends = CopyEnds(from, to);
    threads::share(tasks, bytes.div_ceil(piece), |pieces| {
        let CopyEnds(from, to) = &ends;
        for start in pieces.map(|number| number * piece) {
            let len = piece.min(bytes - start);
            // SAFETY: `start + len <= bytes`: some of the bytes, which no other thread copies.
            unsafe { to.wrapping_add(start).copy_from_nonoverlapping(from.wrapping_add(start), len) };
        }
    });
}
