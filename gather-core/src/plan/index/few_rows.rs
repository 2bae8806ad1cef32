//! A few rows of a table: what most short calls are, and what is known of them without folding.

#![forbid(unsafe_code)]

use crate::kernels::FEW;
use crate::plan::index::IndexRequest;
use crate::plan::lowered::{Axis, IndexLowered};

/// A few rows of a table, by indices side by side: what most short calls are.
#[derive(Clone, Copy)]
pub(super) struct FewRows {
    /// Rows, up to [`FEW`].
    pub(super) n: usize,
    /// Elements of a row.
    pub(super) elements: usize,
}

impl FewRows {
    /// The rows of an operator for which nothing is forced and no map converts, with a row-major output; `None` where
    /// they are none, many, or others.
    #[inline]
    pub(super) fn of(lowered: &IndexLowered, request: &IndexRequest<'_>) -> Option<Self> {
        let [Axis { dim: 1.., .. }] = lowered.axes.as_slice() else { return None };
        let others = request.options.method.is_some() || request.converting.is_some() || lowered.merged > 1;
        if others || !request.out.is_row_major() {
            return None;
        }
        let (mut n, mut elements) = (1usize, 1usize);
        for dim in lowered.dims.iter().rev().filter(|dim| dim.n != 1) {
            if n == 1 && dim.index == 0 && dim.data == elements as isize {
                elements = elements.checked_mul(dim.n)?;
            } else if dim.data == 0 && dim.index == n as isize {
                n = n.checked_mul(dim.n)?;
            } else {
                return None;
            }
        }
        ((1..=FEW).contains(&n) && elements > 0).then_some(FewRows { n, elements })
    }
}
