//! The operators on `Clone` types, whose elements cannot be moved as bytes: one walk over the folded nest, in the order
//! of the output, cloning as it goes. A panic in a clone drops what has been cloned so far and nothing else.

use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::alloc_out;
use crate::error::Error;
use crate::exec::culprit;
use crate::index::Index;
use crate::kernels::{Loop, Phased};
use crate::ops::{IndexRules, OutOfBounds};
use crate::plan::fold::{fold, fold_phased};
use crate::plan::{CopyLowered, IndexLowered};
use crate::shape::{Layout, Shape};
use crate::tensor::Tensor;
use crate::view::View;

/// Runs a lowered index operator; `fill` is what an index out of range yields, where the rules say so.
pub(crate) fn index<T: Clone, I: Index>(
    lowered: &IndexLowered,
    rules: IndexRules,
    data: &View<'_, T>,
    indices: &View<'_, I>,
    fill: Option<&T>,
) -> Result<Tensor<T>, Error> {
    let blame = || culprit::Blame { op: lowered.op, axes: &lowered.axes, rules, index: I::TYPE };
    let empty = lowered.output.contains(&0);
    let refused = match rules.out_of_bounds {
        OutOfBounds::Error => true,
        OutOfBounds::Zero => false,
        // An axis without elements has none to name instead.
        OutOfBounds::Clamp | OutOfBounds::Wrap => !empty && lowered.axes.iter().any(|axis| axis.dim == 0),
    };
    if refused {
        // SAFETY: a view may be read along its layout (V1).
        unsafe { culprit::check(&blame(), indices.origin().cast(), indices.layout()) }?;
    }
    let mut values = reserve::<T>(&lowered.output)?;
    if empty {
        return Tensor::new(values, &lowered.output);
    }
    let out = contiguous_strides(lowered.dims.iter().map(|dim| dim.n));
    let dims = lowered.dims.iter().zip(&out);
    let (loops, row) = fold(dims.map(|(dim, &out)| Loop { n: dim.n, out, data: dim.data, index: dim.index }), 1);
    let read = |position: isize| {
        // SAFETY: V1: `position` is that of a coordinate of the indices.
        unsafe { indices.origin().wrapping_offset(position).read() }
    };
    let start = (data.origin(), 0isize);
    walk(&loops, start, |(at, index), l| (at.wrapping_offset(l.data), index.wrapping_add(l.index)), &mut |(
        at,
        index,
    )| {
        let mut from = Some(at);
        for axis in &lowered.axes {
            let position = rules.resolve(read(index + axis.index), axis.dim as i64);
            from = from.zip(position).map(|(from, i)| from.wrapping_offset(i as isize * axis.data));
        }
        match (from, fill) {
            (Some(from), _) => {
                // SAFETY: V1: the coordinate's components are in range, and the row's elements follow one another.
                let row = unsafe { core::slice::from_raw_parts(from, row) };
                values.extend_from_slice(row);
            }
            (None, Some(fill)) => values.extend(core::iter::repeat_n(fill, row).cloned()),
            (None, None) => {
                unreachable!("indices out of range have been refused, or there is a fill")
            }
        }
    });
    Tensor::new(values, &lowered.output)
}

/// Runs a lowered BatchToSpace.
pub(crate) fn batch_to_space<T: Clone>(lowered: &CopyLowered, data: &View<'_, T>) -> Result<Tensor<T>, Error> {
    let mut values = reserve::<T>(&lowered.output)?;
    if lowered.output.contains(&0) {
        return Tensor::new(values, &lowered.output);
    }
    let out = contiguous_strides(lowered.dims.iter().map(|dim| dim.n));
    let dims = lowered.dims.iter().zip(&out);
    let (loops, row) = fold_phased(
        dims.map(|(dim, &out)| Phased {
            n: dim.n,
            block: dim.block,
            phase: dim.phase,
            out,
            step: dim.step,
            wrap: dim.wrap(),
        }),
        1,
    );
    phased(&loops, data.origin().wrapping_offset(lowered.origin), &mut |from| {
        // SAFETY: V1: the lane is a coordinate of data, and the row's elements follow one another there.
        values.extend_from_slice(unsafe { core::slice::from_raw_parts(from, row) });
    });
    Tensor::new(values, &lowered.output)
}

/// An empty vector with room for a result.
fn reserve<T>(shape: &Shape) -> Result<Vec<T>, Error> {
    Shape::checked_bytes(shape, size_of::<T>())?;
    alloc_out::reserve(Shape::checked_len(shape)?)
}

fn contiguous_strides(dims: impl Iterator<Item = usize>) -> SmallVec<[isize; 6]> {
    let dims: Shape = dims.collect();
    let layout = Layout::contiguous(&dims).expect("the lowered dimensions of a result that fits");
    layout.strides().into()
}

/// Calls `visit` at every coordinate of the loops, the last loop fastest.
fn walk<P: Copy>(loops: &[Loop], at: P, step: impl Fn(P, &Loop) -> P + Copy, visit: &mut impl FnMut(P)) {
    let [first, rest @ ..] = loops else {
        return visit(at);
    };
    let mut at = at;
    for _ in 0..first.n {
        walk(rest, at, step, visit);
        at = step(at, first);
    }
}

/// Calls `visit` at every coordinate of the loops, the last loop fastest.
fn phased<T>(loops: &[Phased], at: *const T, visit: &mut impl FnMut(*const T)) {
    let [first, rest @ ..] = loops else {
        return visit(at);
    };
    let (mut at, mut phase) = (at, first.phase);
    for _ in 0..first.n {
        phased(rest, at, visit);
        phase += 1;
        if phase == first.block {
            phase = 0;
            at = at.wrapping_offset(first.wrap);
        } else {
            at = at.wrapping_offset(first.step);
        }
    }
}
