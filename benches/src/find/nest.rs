//! The plain loops that a user would write for a shape and strides that they know: dimensions that one loop can walk
//! are one, dimensions of 1 are none, strides are hoisted, indices are resolved where they change, and contiguous rows
//! are copied as slices. All of it is safe Rust, whose accesses are checked.

use crate::find::policy::{Id, Policy};
use crate::number::{Number, Reduce};

/// The least bytes of a row that is copied by `copy_from_slice`. Shorter rows are copied by a loop over their elements.
const LONG_ROW: usize = 32;

/// A loop: its size, and the strides of the tensor with a row for each index, of the tensor that indices are for, and
/// of indices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Loop {
    pub(super) size: usize,
    pub(super) strides: [isize; 3],
}

/// An axis that indices are for: its size, its stride in the indexed tensor, and the offset of its component of an
/// index tuple.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) size: usize,
    pub(super) stride: isize,
    pub(super) component: isize,
}

/// What is moved for each index.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Row {
    Element,
    Slice(usize),
    /// A size, and strides of both tensors.
    Strided(usize, isize, isize),
}

/// Loops of indices, and the row of each.
#[derive(Clone, Debug)]
pub(super) struct Nest {
    outer: Vec<Loop>,
    inner: [Loop; 2],
    row: Row,
    axes: Vec<Axis>,
    starts: [isize; 3],
}

const ONCE: Loop = Loop { size: 1, strides: [0; 3] };

/// The fewest loops that walk the same elements in the same order.
fn fold(loops: &[Loop]) -> Vec<Loop> {
    let mut folded: Vec<Loop> = Vec::new();
    for &inner in loops.iter().filter(|inner| inner.size != 1) {
        match folded.last_mut() {
            Some(outer) if (0..3).all(|k| outer.strides[k] == inner.strides[k] * inner.size as isize) => {
                *outer = Loop { size: outer.size * inner.size, ..inner };
            }
            _ => folded.push(inner),
        }
    }
    folded
}

impl Nest {
    pub(super) fn new(loops: &[Loop], axes: Vec<Axis>, starts: [usize; 3]) -> Self {
        let mut outer = fold(loops);
        let row = match outer.last() {
            Some(&Loop { size, strides: [to, from, 0] }) => {
                outer.pop();
                if [to, from] == [1, 1] { Row::Slice(size) } else { Row::Strided(size, to, from) }
            }
            _ => Row::Element,
        };
        let [second, first] = [outer.pop(), outer.pop()].map(|inner| inner.unwrap_or(ONCE));
        Nest { outer, inner: [first, second], row, axes, starts: starts.map(|start| start as isize) }
    }

    /// Calls a function with the offsets of each index.
    #[inline(always)]
    fn each(&self, mut body: impl FnMut([isize; 3]) -> Option<()>) -> Option<()> {
        let add = |[a, b, c]: [isize; 3], [x, y, z]: [isize; 3]| [a + x, b + y, c + z];
        let mut at = self.starts;
        let mut coordinates = vec![0; self.outer.len()];
        let [first, second] = self.inner;
        loop {
            let mut row = at;
            for _ in 0..first.size {
                let mut place = row;
                for _ in 0..second.size {
                    body(place)?;
                    place = add(place, second.strides);
                }
                row = add(row, first.strides);
            }
            // The next coordinates of the outer loops.
            let mut dim = self.outer.len();
            loop {
                let Some(before) = dim.checked_sub(1) else { return Some(()) };
                dim = before;
                let Loop { size, strides } = self.outer[dim];
                coordinates[dim] += 1;
                at = add(at, strides);
                if coordinates[dim] < size {
                    break;
                }
                coordinates[dim] = 0;
                at = add(at, strides.map(|stride| -stride * size as isize));
            }
        }
    }

    fn axes<const K: usize>(&self) -> [Axis; K] {
        std::array::from_fn(|k| self.axes[k])
    }

    /// How many elements one index moves.
    fn row_len(&self) -> usize {
        match self.row {
            Row::Element => 1,
            Row::Slice(size) | Row::Strided(size, ..) => size,
        }
    }

    /// Whether each index stands for whole rows of the indexed tensor, which is contiguous.
    fn has_rows(&self, len: usize) -> bool {
        let row = self.row_len();
        let loops = self.outer.iter().chain(&self.inner).map(|a_loop| a_loop.strides[1]);
        let mut strides = loops.chain(self.axes.iter().map(|axis| axis.stride));
        matches!(self.row, Row::Slice(_))
            && len.is_multiple_of(row)
            && strides.all(|stride| stride.unsigned_abs().is_multiple_of(row))
    }
}

/// The offset of an index in the indexed tensor: `None` for an error, `Some(None)` for none.
#[inline(always)]
fn locate<I: Id, P: Policy, const K: usize>(axes: &[Axis; K], indices: &[I], at: isize) -> Option<Option<isize>> {
    let mut offset = 0;
    let mut inside = true;
    for axis in axes {
        match P::resolve(indices[(at + axis.component) as usize], axis.size)? {
            Some(position) => offset += position as isize * axis.stride,
            None => inside = false,
        }
    }
    Some(inside.then_some(offset))
}

/// A gather. `None` for an index out of range where that is an error.
pub(super) fn gather<T: Copy, I: Id, P: Policy, const K: usize>(
    nest: &Nest,
    zero: T,
    data: &[T],
    indices: &[I],
    out: &mut [T],
) -> Option<()> {
    let axes = nest.axes::<K>();
    let locate = |at| locate::<I, P, K>(&axes, indices, at);
    match nest.row {
        Row::Element => nest.each(|[to, from, index]| {
            out[to as usize] = locate(index)?.map_or(zero, |offset| data[(from + offset) as usize]);
            Some(())
        }),
        Row::Slice(size) if size * size_of::<T>() < LONG_ROW => nest.each(|[to, from, index]| {
            let to = &mut out[to as usize..][..size];
            match locate(index)? {
                Some(offset) => {
                    let from = &data[(from + offset) as usize..][..size];
                    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
                }
                None => to.iter_mut().for_each(|to| *to = zero),
            }
            Some(())
        }),
        Row::Slice(size) => nest.each(|[to, from, index]| {
            let to = &mut out[to as usize..][..size];
            match locate(index)? {
                Some(offset) => to.copy_from_slice(&data[(from + offset) as usize..][..size]),
                None => to.fill(zero),
            }
            Some(())
        }),
        Row::Strided(size, to_stride, from_stride) => nest.each(|[mut to, from, index]| {
            match locate(index)? {
                Some(offset) => {
                    let mut from = from + offset;
                    for _ in 0..size {
                        out[to as usize] = data[from as usize];
                        (to, from) = (to + to_stride, from + from_stride);
                    }
                }
                None => {
                    for _ in 0..size {
                        out[to as usize] = zero;
                        to += to_stride;
                    }
                }
            }
            Some(())
        }),
    }
}

/// Calls a function with the offsets of each update and of its destination, which come by rows, and the row's size and
/// strides.
#[inline(always)]
fn each_update<I: Id, P: Policy, const K: usize>(
    nest: &Nest,
    indices: &[I],
    mut body: impl FnMut(usize, usize),
) -> Option<()> {
    let axes = nest.axes::<K>();
    match nest.row {
        Row::Element => nest.each(|[from, to, index]| {
            if let Some(offset) = locate::<I, P, K>(&axes, indices, index)? {
                body(from as usize, (to + offset) as usize);
            }
            Some(())
        }),
        Row::Slice(size) => nest.each(|[from, to, index]| {
            if let Some(offset) = locate::<I, P, K>(&axes, indices, index)? {
                let (from, to) = (from as usize, (to + offset) as usize);
                (0..size).for_each(|k| body(from + k, to + k));
            }
            Some(())
        }),
        Row::Strided(size, from_stride, to_stride) => nest.each(|[mut from, to, index]| {
            if let Some(offset) = locate::<I, P, K>(&axes, indices, index)? {
                let mut to = to + offset;
                for _ in 0..size {
                    body(from as usize, to as usize);
                    (from, to) = (from + from_stride, to + to_stride);
                }
            }
            Some(())
        }),
    }
}

/// A scatter into a contiguous destination. `None` for an index out of range where that is an error.
pub(super) fn scatter<T: Number, I: Id, P: Policy, R: Reduce<T>, const K: usize>(
    nest: &Nest,
    include_self: bool,
    updates: &[T],
    indices: &[I],
    destination: &mut [T],
) -> Option<()> {
    if !(R::IN_PLACE && include_self) {
        return beside::<T, I, P, R, K>(nest, include_self, updates, indices, destination);
    }
    let one = |kept: &mut T, new: T| *kept = R::end(R::combine(R::first(*kept), R::first(new)), 0);
    let Row::Slice(size) = nest.row else {
        return each_update::<I, P, K>(nest, indices, |from, to| one(&mut destination[to], updates[from]));
    };
    let axes = nest.axes::<K>();
    nest.each(|[from, to, index]| {
        if let Some(offset) = locate::<I, P, K>(&axes, indices, index)? {
            let (from, to) = (&updates[from as usize..][..size], &mut destination[(to + offset) as usize..][..size]);
            to.iter_mut().zip(from).for_each(|(to, from)| one(to, *from));
        }
        Some(())
    })
}

/// The same with sums beside the destination, and counts where they matter: one for each row, or for each element.
fn beside<T: Number, I: Id, P: Policy, R: Reduce<T>, const K: usize>(
    nest: &Nest,
    include_self: bool,
    updates: &[T],
    indices: &[I],
    destination: &mut [T],
) -> Option<()> {
    let mut kept: Vec<R::Kept> = destination.iter().map(|&number| R::first(number)).collect();
    let take = |kept: &mut R::Kept, met: bool, new: T| {
        let new = R::first(new);
        *kept = match R::BEGIN {
            Some(begin) if !met => R::combine(begin, new),
            None if !met => new,
            _ => R::combine(*kept, new),
        };
    };
    let row = if nest.has_rows(destination.len()) { nest.row_len() } else { 1 };
    let mut counts = vec![u32::from(include_self); destination.len() / row];
    if row > 1 {
        let axes = nest.axes::<K>();
        nest.each(|[from, to, index]| {
            if let Some(offset) = locate::<I, P, K>(&axes, indices, index)? {
                let to = (to + offset) as usize;
                let count = &mut counts[to / row];
                let met = *count > 0;
                *count += 1;
                let rows = kept[to..][..row].iter_mut().zip(&updates[from as usize..][..row]);
                if met {
                    rows.for_each(|(kept, new)| take(kept, true, *new));
                } else {
                    rows.for_each(|(kept, new)| take(kept, false, *new));
                }
            }
            Some(())
        })?;
    } else {
        each_update::<I, P, K>(nest, indices, |from, to| {
            let count = &mut counts[to];
            take(&mut kept[to], *count > 0, updates[from]);
            *count += 1;
        })?;
    }
    let rows = destination.chunks_exact_mut(row).zip(kept.chunks_exact(row)).zip(&counts);
    for ((to, kept), &count) in rows.filter(|(_, count)| **count > 0) {
        to.iter_mut().zip(kept).for_each(|(to, kept)| *to = R::end(*kept, count));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::policy::Fails;

    #[test]
    fn loops_are_folded() {
        let loops = [(2, [12, 24, 1]), (1, [9, 9, 9]), (3, [4, 8, 0]), (4, [1, 1, 0])];
        let loops = loops.map(|(size, strides)| Loop { size, strides });
        assert_eq!(fold(&loops), [loops[0], loops[2], loops[3]]);
        let loops = [(2, [12, 12, 0]), (3, [4, 4, 0]), (4, [1, 1, 0])].map(|(size, strides)| Loop { size, strides });
        assert_eq!(fold(&loops), [Loop { size: 24, strides: [1, 1, 0] }]);
    }

    /// Rows 2 and 0 of [3, 2], and elements of them.
    #[test]
    fn rows_and_elements_are_gathered() {
        let data = [1u8, 2, 3, 4, 5, 6];
        for row in [1, 2] {
            let loops = [(2, [2, 0, 1]), (row, [1, 1, 0])].map(|(size, strides)| Loop { size, strides });
            let nest = Nest::new(&loops, vec![Axis { size: 3, stride: 2, component: 0 }], [0; 3]);
            let mut out = [0; 4];
            gather::<u8, i64, Fails, 1>(&nest, 0, &data, &[-1, 0], &mut out).expect("indices in range");
            assert_eq!(out, if row == 2 { [5, 6, 1, 2] } else { [5, 0, 1, 0] });
            assert_eq!(gather::<u8, i64, Fails, 1>(&nest, 0, &data, &[3, 0], &mut out), None);
        }
    }

    #[test]
    fn means_leave_out_what_there_was() {
        let nest =
            Nest::new(&[Loop { size: 3, strides: [1, 0, 1] }], vec![Axis { size: 2, stride: 1, component: 0 }], [0; 3]);
        let mut sums = [100u8, 50];
        let (updates, ids) = ([2u8, 4, 9], [0i64, 0, 0]);
        scatter::<u8, i64, Fails, crate::number::Mean, 1>(&nest, false, &updates, &ids, &mut sums);
        assert_eq!(sums, [5, 50]);
        scatter::<u8, i64, Fails, crate::number::Max, 1>(&nest, true, &updates, &ids, &mut sums);
        assert_eq!(sums, [9, 50]);
    }
}
