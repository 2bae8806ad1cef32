//! Kernels for declared shapes: a plan takes one if its folded shape equals the declared one.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::kernels::Loop;
use crate::kernels::shaped::is_large;
use crate::plan::fold::fold;
use crate::plan::index::{IndexPlan, IndexRequest};
use crate::plan::lowered::IndexLowered;
use crate::plan::nest::dense_strides;
use crate::tensor::layout::Layout;
use crate::types::method::Method;

impl IndexPlan {
    /// Replaces the kernel of a plan that is one call by a kernel that is declared for its shape, if there is one.
    ///
    /// A large call keeps its kernel: the functions of a declaration also pass large calls to the operator.
    ///
    /// P2 holds for the new kernel (K10): the loops have the output's order, and are the shape's loops at its open
    /// sizes. A plan that is cut keeps its kernel, since its chunks have other shapes.
    #[inline(never)]
    pub(super) fn specialize(&mut self, lowered: &IndexLowered, request: &IndexRequest, out: &Layout) {
        let IndexRequest { op, dtype, index, policy, options, .. } = *request;
        if !self.is_one_call(self.work)
            || options.method.is_some()
            || request.converting.is_some()
            || !out.is_row_major()
        {
            return;
        }
        let steps = lowered.dims.iter().map(|dim| (dim.n, dim.data));
        let steps = steps.chain(lowered.axes.iter().map(|axis| (axis.dim, axis.data)));
        let data = steps.fold(1, |len: usize, (n, step)| {
            len.saturating_add(n.saturating_sub(1).saturating_mul(step.unsigned_abs()))
        });
        if is_large(self.spec.row, data.saturating_mul(dtype.size()), self.work.bytes) {
            return;
        }
        let mut buffer = SmallVec::new();
        let outs = dense_strides(out, &lowered.dims, lowered.merged, &mut buffer);
        let dims = lowered.dims.iter().zip(outs);
        let (mut loops, row) = fold(dims.map(|(dim, &out)| Loop { n: dim.n, out, data: dim.data, index: dim.index }));
        let axes = lowered.axes.iter().map(|axis| (axis.axis, axis.dim, axis.data, axis.index));
        let mut rows = request.kernels.shaped().iter().filter(|row| row.takes(op, dtype, Some(index)));
        let found = rows.find_map(|shaped| {
            let kernels = shaped.index().filter(|kernels| kernels.matches(policy, &loops, row, axes.clone()))?;
            Some((shaped.name(), kernels.kernel(*self.spec.level)))
        });
        let Some(found) = found else { return };
        if loops.is_empty() {
            loops.push(Loop::ONCE);
        }
        for l in &mut loops {
            l.out = l.out.wrapping_mul(dtype.size() as isize);
            l.data = l.data.wrapping_mul(dtype.size() as isize);
            l.index = l.index.wrapping_mul(index.size() as isize);
        }
        self.loops = loops;
        self.spec.method = Method::Direct;
        self.spec.prefetch_distance = 0;
        self.spec.next_slice_bytes = 0;
        self.spec.table_entries = 0;
        // The kernel has this policy by its declaration, and remaps index by index.
        self.spec.policy.remap = None;
        self.whole = true;
        (self.nest.kernel_name, self.nest.kernel) = found;
    }
}
