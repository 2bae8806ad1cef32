//! A few rows of a table, or a list of elements: what most short calls are. A call that is not planned ahead goes by a
//! plan of its own, which is found without folding loops or choosing a method, and keeps nothing but what the kernel
//! reads.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::kernels::{Component, FEW, IndexKernel, KernelSpec, Loop, RowSize, table_entries};
use crate::plan::index::IndexRequest;
use crate::plan::index::build::far_rows_ahead;
use crate::plan::lowered::Axis;
use crate::plan::method::{FAR_AWAY, ONE_PASS_ROW};
use crate::plan::tasks::Work;
use crate::tensor::layout::{Layout, Shape};
use crate::types::element::ElementBytes;
use crate::types::error::Error;
use crate::types::level::{Available, Level};
use crate::types::method::Method;

/// The most rows of 4 and 8 bytes that need no other plan: prefetching does not pay yet.
const MOST_ELEMENTS: usize = 1 << 14;

/// Rows of data along its first axis, by indices, all three tensors row-major.
///
/// Made by [`FewRows::of`] alone. So, for inputs of the layouts that it was made for and an output that
/// [`FewRows::fits_output`] takes, [`FewRows::inner`] and [`FewRows::spec`] have what P1 and P2 say of a plan.
//
// The fields are words and bytes, which compilers keep in registers. To copy a plan that has just been written would
// have to wait for the stores.
#[derive(Clone, Copy)]
pub(crate) struct FewRows {
    dim: usize,
    /// Rows, 1 to [`FEW`], or to [`MOST_ELEMENTS`] of 4 and 8 bytes.
    n: usize,
    /// Elements and bytes of a row, at least 1.
    elements: usize,
    row: usize,
    level: Available,
    method: Method,
    prefetch_distance: usize,
    /// P2.
    pub(crate) kernel: IndexKernel,
}

impl FewRows {
    /// The rows that a gather along the first axis of data moves. `None` where they are too many or none, lie
    /// otherwise, or where anything is asked for that only [`IndexPlan`](super::IndexPlan) does or refuses.
    #[inline(always)]
    pub(crate) fn of(request: &IndexRequest, data: &Layout, indices: &Layout) -> Option<Self> {
        let (&[dim, ref inner @ ..], n) = (data.shape(), indices.len()) else { return None };
        let IndexRequest { op, index, policy, options, .. } = *request;
        if dim == 0 || n == 0 || n > MOST_ELEMENTS || !data.is_row_major() || !indices.is_row_major() {
            return None;
        }
        let knows = policy.remap.is_none();
        let has_shapes = !request.kernels.shaped().is_empty();
        if !knows || has_shapes || options.method.is_some() || request.converting.is_some() {
            return None;
        }
        let elements = inner.iter().try_fold(1usize, |product, &n| product.checked_mul(n))?;
        let row = elements.checked_mul(request.dtype.size())?;
        let bytes = row.checked_mul(n)?;
        let fits = row > 0 && (n <= FEW || matches!(row, 4 | 8)) && isize::try_from(bytes).is_ok();
        if !fits || !(Work { bytes, rows: n, read: 0 }).is_for_one(options.par) {
            return None;
        }
        let level = Level::resolve(options.level).ok().filter(|level| !level.is_fallback())?;
        let prefetch_distance = far_rows_ahead(row, row.saturating_mul(dim));
        let entry = request.kernels.index_kernel(op, row, index, 1, *level);
        let one_pass = n <= FEW && (prefetch_distance == 0 || row <= ONE_PASS_ROW);
        let prefetch_distance = if one_pass { 0 } else { prefetch_distance };
        let kernel = if one_pass { (entry.one_pass)(RowSize::of(row), true) } else { entry.run };
        let method = if n <= FEW { Method::Direct } else { Method::Gathered };
        // More rows may have a better method, if they are not gathered.
        let is_gathered = || level.gathers() && dim > table_entries(*level, row);
        let is_known = n <= FEW || is_gathered() && row.saturating_mul(dim) <= FAR_AWAY;
        if is_known { Some(FewRows { dim, n, elements, row, level, method, prefetch_distance, kernel }) } else { None }
    }

    /// Whether an output is row-major and has the shape of the result.
    #[inline(always)]
    pub(crate) fn fits_output(out: &Layout, data: &Layout, indices: &Layout) -> bool {
        let (out_shape, indices_shape, Some((_, inner))) = (out.shape(), indices.shape(), data.shape().split_first())
        else {
            return false;
        };
        let Some((first, last)) = out_shape.split_at_checked(indices_shape.len()) else { return false };
        let equal = |a: &[usize], b: &[usize]| a.len() == b.len() && (0..a.len()).all(|d| a[d] == b[d]);
        out.is_row_major() && equal(first, indices_shape) && equal(last, inner)
    }

    /// The shape of the result.
    pub(crate) fn output(data: &Layout, indices: &Layout) -> Shape {
        indices.shape().iter().chain(data.shape().iter().skip(1)).copied().collect()
    }

    /// The fill of rows out of range; empty where they are errors.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    #[inline(always)]
    pub(crate) fn fill(request: &IndexRequest) -> Result<ElementBytes, Error> {
        if request.policy.fills() { request.dtype.zero() } else { Ok(ElementBytes::new()) }
    }

    /// P1. The only loop, in bytes.
    #[inline(always)]
    pub(crate) fn inner(&self, request: &IndexRequest) -> Loop {
        Loop { n: self.n, out: self.row as isize, data: 0, index: request.index.size() as isize }
    }

    /// P2. Bytes of data from one position to the next.
    #[inline(always)]
    pub(crate) fn stride(&self) -> isize {
        self.row as isize
    }

    /// P2. With the fill that [`FewRows::fill`] makes.
    #[inline(always)]
    pub(crate) fn spec(&self, request: &IndexRequest, fill: ElementBytes) -> KernelSpec {
        KernelSpec {
            method: self.method,
            level: self.level,
            components: SmallVec::from_buf_and_len([Component { dim: self.dim as i64, scale: 1, index: 0 }; 3], 1),
            row: self.row,
            policy: request.policy,
            fill,
            packed: true,
            adjacent_tuples: false,
            prefetch_distance: self.prefetch_distance,
            outer_prefetch_distance: 0,
            offsets_first: false,
            next_slice_bytes: 0,
            table_entries: 0,
            conversion: None,
        }
    }

    /// The axis of data.
    pub(crate) fn axis(&self) -> Axis {
        Axis { axis: 0, dim: self.dim, data: self.elements as isize, index: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::select::Kernels;
    use crate::types::element::Element as _;
    use crate::types::index::IndexType;
    use crate::types::op::Op;
    use crate::types::policy::{IndexPolicy, Options, Par};

    #[test]
    #[cfg_attr(not(feature = "rayon"), ignore = "needs threads")]
    fn rows_that_threads_share_are_planned() {
        let is_few = |row: usize, par: Par| {
            let request = IndexRequest {
                op: Op::Gather,
                kernels: Kernels::of::<f32, i32>(),
                dtype: f32::DTYPE,
                index: IndexType::I32,
                policy: IndexPolicy::default().lower(),
                options: Options { par, ..Options::default() },
                converting: None,
            };
            let [data, ids] = [Layout::contiguous(&[9, row]), Layout::contiguous(&[4])].map(Result::unwrap);
            FewRows::of(&request, &data, &ids).is_some()
        };
        for (row, par, few) in [
            (100, Par::Auto, true),
            (100, Par::Threads(2), false),
            (1 << 20, Par::Seq, true),
            (1 << 20, Par::Auto, false),
        ] {
            assert_eq!(is_few(row, par), few, "rows of {row}, {par:?}");
        }
    }
}
