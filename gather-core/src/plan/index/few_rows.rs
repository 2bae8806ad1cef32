//! Plan of a few rows of a table, or a list of elements: most short calls. A call without a plan uses [`FewRows`],
//! which needs no folding of loops and no choice of method, and stores only the kernel's inputs.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::kernels::{Component, Conversion, FEW, IndexKernel, KernelSpec, Loop, Pass, RowSize, table_entries};
use crate::plan::index::build::far_rows_ahead;
use crate::plan::index::{Converting, IndexRequest};
use crate::plan::lowered::Axis;
use crate::plan::method::{FAR_AWAY, ONE_PASS_ROW, STREAMED_FROM, converted_method};
use crate::plan::tasks::Work;
use crate::tensor::layout::{Layout, Shape};
use crate::types::level::{Available, Level};
use crate::types::method::Method;

/// Maximum rows of 4 and 8 bytes: prefetching does not pay yet.
const MOST_ELEMENTS: usize = 1 << 14;

/// Leading axes of row-major data that each index names, for an operator that gathers rows of data in the order of
/// row-major indices: `out[i.., s..] = data[index(i)..., s..]`.
#[derive(Clone, Copy)]
pub struct LeadingAxes {
    /// The number of axes, at least 1: the components of a tuple.
    pub(crate) axes: usize,
    /// The number of dimensions `i..`: all dimensions of indices, except the last one of tuples.
    pub(crate) outer: usize,
}

impl LeadingAxes {
    /// The first axis alone, named by each index.
    #[inline(always)]
    pub(crate) fn first(indices: &Layout) -> Self {
        LeadingAxes { axes: 1, outer: indices.rank() }
    }

    /// The sizes of the output: of indices, then of a row.
    #[inline(always)]
    fn output<'a>(self, data: &'a Layout, indices: &'a Layout) -> [&'a [usize]; 2] {
        [&indices.shape()[..self.outer], &data.shape()[self.axes..]]
    }

    pub(crate) fn output_shape(self, data: &Layout, indices: &Layout) -> Shape {
        let [outer, inner] = self.output(data, indices);
        Shape::of_both(outer, inner)
    }

    /// Whether an output is row-major and has the shape of the result.
    #[inline(always)]
    pub(crate) fn fits_output(self, out: &Layout, data: &Layout, indices: &Layout) -> bool {
        let [outer, inner] = self.output(data, indices);
        let Some((first, last)) = out.shape().split_at_checked(outer.len()) else { return false };
        out.is_row_major() && first.iter().eq(outer) && last.iter().eq(inner)
    }
}

/// Maximum components of a tuple.
const MOST_AXES: usize = 3;

/// Rows of data along its leading axes, by indices; all three tensors are row-major.
///
/// Made by [`FewRows::of`] alone. So [`FewRows::inner`] and [`FewRows::complete`] satisfy P1 and P2 of a plan, for
/// inputs of the same layouts and an output accepted by [`LeadingAxes::fits_output`].
//
// The fields are words and bytes, which compilers keep in registers. A copy of a struct that has just been written
// would wait for the stores.
#[derive(Clone, Copy)]
pub(crate) struct FewRows {
    axes: usize,
    /// Number of rows: `1..=FEW`, or `1..=MOST_ELEMENTS` for rows of 4 and 8 bytes by one index each.
    n: usize,
    /// Bytes of a row of the output, at least 1.
    row: usize,
    /// Bytes of a row of data.
    row_in: usize,
    pub(crate) level: Available,
    pub(crate) method: Method,
    prefetch_distance: usize,
    /// P2.
    pub(crate) kernel: IndexKernel,
}

impl FewRows {
    /// The rows that a gather along leading axes of data moves, or whose elements a map converts. `None` if there are
    /// none or too many, if inputs are not row-major, or if the request needs an [`IndexPlan`](super::IndexPlan).
    #[inline(always)]
    pub(crate) fn of(
        request: &IndexRequest,
        LeadingAxes { axes, .. }: LeadingAxes,
        data: &Layout,
        indices: &Layout,
    ) -> Option<Self> {
        let IndexRequest { op, index, policy, options, .. } = *request;
        if axes > MOST_AXES || !data.is_row_major() || !indices.is_row_major() {
            return None;
        }
        // Data is row-major: the stride of the last axis is the number of elements in a row.
        let elements = *data.strides().get(axes.wrapping_sub(1))? as usize;
        let n = if axes == 1 { indices.len() } else { indices.len() / axes };
        if n == 0 || n > MOST_ELEMENTS || data.is_empty() {
            return None;
        }
        let knows = policy.remap.is_none();
        let has_shapes = !request.kernels.shaped().is_empty();
        if !knows || has_shapes || options.method.is_some() || request.converting.is_some_and(|map| map.whole.is_some())
        {
            return None;
        }
        let row = elements.checked_mul(request.dtype.size())?;
        let bytes = row.checked_mul(n)?;
        let is_few = n <= FEW;
        let fits = row > 0 && (is_few || axes == 1 && matches!(row, 4 | 8)) && isize::try_from(bytes).is_ok();
        if !fits || !(Work { bytes, rows: n, read: 0 }).is_for_one(options.par) {
            return None;
        }
        let Ok(level) = Level::resolve(options.level) else { return None };
        let size_in = request.converting.map_or(request.dtype.size(), |map| map.size_in);
        let (row_in, reach) = (elements * size_in, data.len().saturating_mul(size_in));
        let prefetch_distance = far_rows_ahead(row_in, reach);
        if let Some(map) = request.converting {
            // K2: positions in near data fit in 32 bits. Large outputs may be streamed.
            if !is_few || row_in == 0 || reach > FAR_AWAY || bytes >= STREAMED_FROM {
                return None;
            }
            let method = converted_method(n);
            let kernel = (map.kernel)(*level, method);
            return Some(FewRows { axes, n, row, row_in, level, method, prefetch_distance, kernel });
        }
        if level.is_fallback() {
            return None;
        }
        let entry = request.kernels.index_kernel(op, row, index, 1, *level);
        let pass = match axes {
            1 if is_few && (prefetch_distance == 0 || row <= ONE_PASS_ROW) => Some(Pass::Rows { packed: true }),
            2.. if prefetch_distance == 0 && !policy.fills() => Some(Pass::Tuples),
            _ => None,
        };
        let prefetch_distance = if pass.is_some() { 0 } else { prefetch_distance };
        let kernel = pass.and_then(|pass| (entry.one_pass)(RowSize::of(row), pass)).unwrap_or(entry.run);
        let method = if is_few { Method::Direct } else { Method::Gathered };
        // More rows may have a better method, unless they are gathered.
        let is_gathered = || level.gathers() && data.shape()[0] > table_entries(*level, row) && reach <= FAR_AWAY;
        let is_known = is_few || is_gathered();
        if is_known { Some(FewRows { axes, n, row, row_in, level, method, prefetch_distance, kernel }) } else { None }
    }

    /// P1. The only loop, in bytes.
    #[inline(always)]
    pub(crate) fn inner(&self, request: &IndexRequest) -> Loop {
        Loop { n: self.n, out: self.row as isize, data: 0, index: (self.axes * request.index.size()) as isize }
    }

    /// P2. Bytes of data between positions.
    #[inline(always)]
    pub(crate) fn stride(&self) -> isize {
        self.row_in as isize
    }

    /// P2. Completes a new spec for the shape of data.
    //
    // In place: returning a spec copies hundreds of bytes.
    #[inline(always)]
    pub(crate) fn complete(&self, spec: &mut KernelSpec, request: &IndexRequest, data: &[usize]) {
        let dims = &data[..self.axes];
        for (axis, &dim) in dims.iter().enumerate() {
            let scale = dims[axis + 1..].iter().product::<usize>() as i64;
            let index = (axis * request.index.size()) as isize;
            spec.components.push(Component { dim: dim as i64, scale, index });
        }
        spec.row = self.row;
        spec.packed = self.row_in == self.row;
        spec.adjacent_tuples = self.axes > 1;
        spec.prefetch_distance = self.prefetch_distance;
        if let Some(Converting { size_in, .. }) = request.converting {
            spec.conversion = Some(Conversion { elements: self.row_in / size_in.max(1), size_in });
        }
    }

    /// The axes of data of shape `data` that each index names.
    pub(crate) fn axes(&self, data: &[usize]) -> SmallVec<[Axis; MOST_AXES]> {
        let mut axes = SmallVec::new();
        for (axis, &dim) in data[..self.axes].iter().enumerate() {
            let data = data[axis + 1..].iter().product::<usize>() as isize;
            axes.push(Axis { axis, dim, data, index: axis as isize });
        }
        axes
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
            FewRows::of(&request, LeadingAxes::first(&ids), &data, &ids).is_some()
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
