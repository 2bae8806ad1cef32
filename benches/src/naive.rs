//! The plain loops that one would write in safe Rust, on row-major tensors. They are a peer that runs on every
//! machine, and every output is checked against theirs.

use crate::inputs::Position;
use crate::workloads::{Kind, Workload};

/// The position of an index, from the end where it is negative; `None` out of range.
#[inline(always)]
pub fn from_end(index: i64, size: usize) -> Option<usize> {
    let index = if index < 0 { index + size as i64 } else { index };
    ((index as u64) < size as u64).then_some(index as usize)
}

/// Runs a workload.
pub fn run<T: Copy, I: Position>(workload: &Workload, data: &[T], indices: &[I], out: &mut [T]) {
    let Workload { shape, index_shape, kind, .. } = *workload;
    match kind {
        Kind::Gather { axis, batch_dims } => gather(data, shape, indices, index_shape, axis, batch_dims, out),
        Kind::GatherElements { axis } => gather_elements(data, shape, indices, axis, out),
        Kind::GatherNd { batch_dims } => gather_nd(data, shape, indices, index_shape, batch_dims, out),
        Kind::BatchToSpace { block, begin, end } => batch_to_space(data, shape, block, begin, end, out),
    }
}

/// Gather along `axis` with `batch` shared dimensions.
pub fn gather<T: Copy, I: Position>(
    data: &[T],
    shape: &[usize],
    indices: &[I],
    index_shape: &[usize],
    axis: usize,
    batch: usize,
    out: &mut [T],
) {
    let batches: usize = shape[..batch].iter().product();
    let outer: usize = shape[batch..axis].iter().product();
    let inner: usize = shape[axis + 1..].iter().product();
    let count: usize = index_shape[batch..].iter().product();
    let dim = shape[axis];
    let mut out = out.chunks_exact_mut(inner);
    for b in 0..batches {
        for o in 0..outer {
            let base = (b * outer + o) * dim;
            for index in &indices[b * count..(b + 1) * count] {
                let start = (base + index.position()) * inner;
                let Some(row) = out.next() else { return };
                row.copy_from_slice(&data[start..start + inner]);
            }
        }
    }
}

/// GatherElements along `axis`; indices have the shape of data.
pub fn gather_elements<T: Copy, I: Position>(data: &[T], shape: &[usize], indices: &[I], axis: usize, out: &mut [T]) {
    let inner: usize = shape[axis + 1..].iter().product();
    let block = shape[axis] * inner;
    for (at, (index, out)) in indices.iter().zip(out).enumerate() {
        *out = data[at / block * block + index.position() * inner + at % inner];
    }
}

/// GatherNd with `batch` shared dimensions.
pub fn gather_nd<T: Copy, I: Position>(
    data: &[T],
    shape: &[usize],
    indices: &[I],
    index_shape: &[usize],
    batch: usize,
    out: &mut [T],
) {
    let tuple = index_shape[index_shape.len() - 1];
    let inner: usize = shape[batch + tuple..].iter().product();
    let batches: usize = shape[..batch].iter().product();
    let per_batch = indices.len() / tuple / batches;
    let rows = indices.chunks_exact(tuple).zip(out.chunks_exact_mut(inner));
    for (at, (components, row)) in rows.enumerate() {
        let mut position = at / per_batch;
        for (component, dim) in components.iter().zip(&shape[batch..]) {
            position = position * dim + component.position();
        }
        row.copy_from_slice(&data[position * inner..(position + 1) * inner]);
    }
}

/// BatchToSpace on four dimensions.
pub fn batch_to_space<T: Copy>(
    data: &[T],
    shape: &[usize],
    block: [i64; 4],
    begin: [i64; 4],
    end: [i64; 4],
    out: &mut [T],
) {
    let [block, begin, end] = [block, begin, end].map(|list| list.map(|entry| entry as usize));
    let batch = shape[0] / block.iter().product::<usize>();
    let size = |k: usize| shape[k] * block[k] - begin[k] - end[k];
    let mut out = out.iter_mut();
    for n in 0..batch {
        for y1 in begin[1]..begin[1] + size(1) {
            for y2 in begin[2]..begin[2] + size(2) {
                for y3 in begin[3]..begin[3] + size(3) {
                    let phase = (y1 % block[1] * block[2] + y2 % block[2]) * block[3] + y3 % block[3];
                    let row = ((phase * batch + n) * shape[1] + y1 / block[1]) * shape[2] + y2 / block[2];
                    let Some(out) = out.next() else { return };
                    *out = data[row * shape[3] + y3 / block[3]];
                }
            }
        }
    }
}
