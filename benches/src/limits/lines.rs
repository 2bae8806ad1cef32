//! The lines that a workload cannot but move.

use crate::buffer::{LINE, bytes_after_line};
use crate::case::Case;
use crate::workloads::{Kind, Workload};
use crate::{naive, with_positions, with_values};

/// Cache lines of a case.
pub(super) struct Lines {
    /// Lines of the indices.
    pub(super) index_lines: usize,
    /// Lines of all of data.
    pub(super) data_lines: usize,
    /// The distinct lines of data that the indices touch, in the order of their first visit.
    pub(super) order: Vec<u32>,
    /// Lines of the output.
    pub(super) output_lines: usize,
}

impl Lines {
    /// Those of a case.
    pub(super) fn of(case: &Case) -> Self {
        let indices = with_positions!(&case.indices, indices => indices.as_bytes().len());
        let data = with_values!(&case.data, data => data.as_bytes().len());
        let (rows, row) = rows(case);
        let after = bytes_after_line();
        let data_lines = (after + data).div_ceil(LINE);
        let mut seen = vec![false; data_lines];
        let visits = rows.into_iter().flat_map(|number| {
            let start = after + number as usize * row;
            start / LINE..(start + row).div_ceil(LINE)
        });
        let order = visits.filter(|&line| !std::mem::replace(&mut seen[line], true)).map(|line| line as u32).collect();
        let [index_lines, output_lines] = [indices, case.expected.len()].map(|bytes| bytes.div_ceil(LINE));
        Lines { index_lines, data_lines, order, output_lines }
    }
}

/// The number of the row of data that each row of the output is a copy of, and the bytes of a row.
fn rows(case: &Case) -> (Vec<u32>, usize) {
    let Workload { kind, shape, index_shape, .. } = case.workload;
    // The dimensions before a row.
    let lead = match kind {
        Kind::Gather { axis, .. } => axis + 1,
        Kind::GatherNd { batch_dims } => batch_dims + index_shape[index_shape.len() - 1],
        Kind::GatherElements { .. } | Kind::BatchToSpace { .. } => shape.len(),
    };
    let (outer, inner) = shape.split_at(lead);
    let row = inner.iter().product::<usize>() * case.data.width();
    // The plain loop on a tensor of row numbers gives the number of each row of the output.
    let numbers: Vec<u32> = (0..outer.iter().product::<usize>() as u32).collect();
    let mut rows = vec![0; case.expected.len() / row];
    let of_rows = Workload { shape: outer, ..case.workload };
    with_positions!(&case.indices, indices => naive::run(&of_rows, &numbers, indices.as_slice(), &mut rows));
    (rows, row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::{Data, Distribution, Indices};

    fn lines(kind: Kind, shape: &'static [usize], index_shape: &'static [usize], distribution: Distribution) -> Lines {
        let (data, indices) = (Data::F32, Indices::I64);
        Lines::of(&Case::new(&Workload { name: "lines", kind, data, shape, indices, index_shape, distribution }))
    }

    #[test]
    fn lines_are_counted_once() {
        let gather = Kind::Gather { axis: 0, batch_dims: 0 };
        // Rows of two lines: the middle one of 9, again and again.
        let constant = lines(gather, &[9, 32], &[5], Distribution::Constant);
        assert_eq!((constant.order, constant.data_lines), (vec![8, 9], 18));
        assert_eq!((constant.index_lines, constant.output_lines), (1, 10));
        // Every row once, in no order: rows of half a line, two of which share one.
        let mut all = lines(gather, &[64, 8], &[64], Distribution::Permutation).order;
        assert!(!all.is_sorted());
        all.sort_unstable();
        assert_eq!(all, (0..32).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_cropped_is_not_touched() {
        let space = |begin| Kind::BatchToSpace { block: [1, 2, 1, 1], begin, end: [0; 4] };
        let touched = |begin| lines(space(begin), &[2, 2, 1, 16], &[], Distribution::Uniform).order;
        assert_eq!(touched([0; 4]), [0, 2, 1, 3]);
        assert_eq!(touched([0, 1, 0, 0]), [2, 1, 3]);
    }
}
