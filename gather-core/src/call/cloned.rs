//! Operators on `Clone` types, which cannot be moved as bytes. One pass over the folded loops, in output order, clones
//! slices with `extend_from_slice`, so `Copy` elements skip the stack. A panicking clone drops the elements before it.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::slice;

use smallvec::SmallVec;

use crate::call::attributes::IndexAttributes;
use crate::call::source::Source;
use crate::call::source::kind::IndexKind;
use crate::exec::Ids;
use crate::exec::first_bad_index::{self, IndexCheck};
use crate::kernels::{BlockLoop, Loop};
use crate::plan::fold::{BlockLoops, fold, for_each};
use crate::plan::{IndexLowered, SpaceLowered};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::memory;
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::error::Error;
use crate::types::index::{Index, IndexType, by_index};
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::op::Op;
use crate::types::policy::{KernelPolicy, Options};

/// Calls `run` with the indices of a call.
///
/// # Errors
/// [`Error::NotAnIndexType`], then the errors of `run`.
pub(crate) fn with_ids<X, R>(indices: &X, run: impl FnOnce(Ids<'_>) -> Result<R, Error>) -> Result<R, Error>
where
    X: Source<Kind: IndexKind> + ?Sized,
{
    let (of, held) = (X::Kind::index(indices.dtype())?, indices.held());
    // SAFETY: V1, V3 of `Source`: values of its data type lie along its layout; `of` is the index type of this type.
    run(unsafe { Ids::new(indices.start(), held.borrow(), of) })
}

/// Reads an index, and returns its position along an axis of `dim` elements; `None` if it is out of range.
///
/// # Safety
/// The address may be read as a value of the index type, at any alignment.
type Resolver = unsafe fn(KernelPolicy, *const u8, i64) -> Option<i64>;

fn resolver(index: IndexType) -> Resolver {
    /// # Safety
    /// As for [`Resolver`].
    unsafe fn resolve<I: Index>(policy: KernelPolicy, at: *const u8, dim: i64) -> Option<i64> {
        // SAFETY: by the caller's contract; `I` has the representation of the index type.
        policy.resolve(unsafe { at.cast::<I>().read_unaligned() }, dim)
    }
    by_index!(index, I => resolve::<I>)
}

/// Runs an operator on indices. `fill` makes the value for an index out of range, if the policy fills.
pub(crate) fn index<T: Clone, F: Borrow<T>>(
    attributes: &dyn IndexAttributes,
    policy: KernelPolicy,
    options: Options,
    data: &View<'_, T>,
    indices: Ids<'_>,
    fill: impl FnOnce() -> F,
) -> Result<Tensor<T>, Error> {
    let mut lowered = IndexLowered::new(attributes.op());
    attributes.lower(data.layout(), indices.layout(), &mut lowered)?;
    // SAFETY: P1: `lower` was just given the layout of `indices`.
    let [empty, _] = unsafe { check(&lowered, (policy, false), options, indices) }?;
    let mut values = reserve::<T>(&lowered.output)?;
    if empty {
        return Tensor::new(values, &lowered.output);
    }
    let fill = (policy.fills()).then(fill);
    let out = contiguous_strides(lowered.dims.iter().map(|dim| dim.n));
    let visit = |row, _, from| match (from, fill.as_ref().map(F::borrow)) {
        (Some(from), _) => {
            // SAFETY: V1: positions are in range (`from` is `Some`), and `fold` found the row contiguous in data.
            let row = unsafe { slice::from_raw_parts(data.origin().wrapping_offset(from), row) };
            values.extend_from_slice(row);
        }
        (None, Some(fill)) => (0..row).for_each(|_| values.extend_from_slice(slice::from_ref(fill))),
        (None, None) => unreachable!("indices out of range have been refused, or there is a fill"),
    };
    // SAFETY: P1: `lowered` is for the layout of `indices`, as at `check`.
    unsafe { each_row(&lowered, &out, policy, indices, visit) };
    Tensor::new(values, &lowered.output)
}

/// Boxes a default. A large value is made on the stack of this function, not of its callers.
#[inline(never)]
pub(crate) fn default<T: Default>() -> Box<T> {
    Box::default()
}

/// Runs a scatter without a reduction, lowered for a row-major destination.
///
/// # Safety
/// P1: `lowered` is for the shape of data and the layouts of indices and updates.
pub(crate) unsafe fn scatter<T: Clone>(
    lowered: &IndexLowered,
    (policy, skips_negative): (KernelPolicy, bool),
    options: Options,
    data: &View<'_, T>,
    indices: Ids<'_>,
    updates: &View<'_, T>,
) -> Result<Tensor<T>, Error> {
    // SAFETY: P1, by the caller's contract.
    let [empty, axis_empty] = unsafe { check(lowered, (policy, skips_negative), options, indices) }?;
    let mut values = reserve::<T>(&data.shape().into())?;
    if !data.is_empty() {
        let dims = data.shape().iter().zip(data.strides());
        let (loops, row) = fold(dims.map(|(&n, &stride)| Loop { n, out: stride, data: stride, index: 0 }));
        for_each(&loops, data.origin(), |at, l| at.wrapping_offset(l.data), &mut |from| {
            // SAFETY: V1: `fold` found the `row` elements at `from` contiguous in data.
            values.extend_from_slice(unsafe { slice::from_raw_parts(from, row) });
        });
    }
    if empty || axis_empty {
        return Tensor::new(values, data.shape());
    }
    let visit = |row, from, to: Option<isize>| {
        if let Some(to) = to {
            // SAFETY: V1: `from` is in the layout of updates (P1), and `fold` found the `row` elements contiguous.
            let row = unsafe { slice::from_raw_parts(updates.origin().wrapping_offset(from), row) };
            values[to as usize..][..row.len()].clone_from_slice(row);
        }
    };
    // SAFETY: P1, by the caller's contract.
    unsafe { each_row(lowered, updates.strides(), policy, indices, visit) };
    Tensor::new(values, data.shape())
}

/// Checks forced options, and indices if the policy refuses. Returns `[dense is empty, an axis is empty]`.
///
/// # Errors
/// The errors of [`check_options`], then [`Error::IndexOutOfRange`].
///
/// # Safety
/// P1: `lowered` is for the layout of `indices`.
unsafe fn check(
    lowered: &IndexLowered,
    (policy, skips_negative): (KernelPolicy, bool),
    options: Options,
    indices: Ids<'_>,
) -> Result<[bool; 2], Error> {
    check_options(lowered.op, Method::Direct, options)?;
    let check = IndexCheck { op: lowered.op, axes: &lowered.axes, policy, index: indices.of(), skips_negative };
    let (empty, axis_empty) = (lowered.output.contains(&0), lowered.axes.iter().any(|axis| axis.dim == 0));
    if policy.refuses(empty, axis_empty) {
        // SAFETY: V1: `Ids` may be read along its layout as values of `indices.of()`, which is the check's index type.
        unsafe { first_bad_index::check(&check, indices.start(), indices.layout()) }?;
    }
    Ok([empty, axis_empty])
}

/// Calls `visit(row, dense, indexed)` for each row, in the order of the dense tensor, whose strides are `dense`. `row`
/// is the row's number of elements; `dense` and `indexed` are its offsets, in elements, in the dense and in the indexed
/// tensor. `indexed` is `None` if a component is out of range.
///
/// # Safety
/// P1: `lowered` is for the layout of `indices`.
unsafe fn each_row(
    lowered: &IndexLowered,
    dense: &[isize],
    policy: KernelPolicy,
    indices: Ids<'_>,
    mut visit: impl FnMut(usize, isize, Option<isize>),
) {
    let dims = lowered.dims.iter().zip(dense);
    let (loops, row) = fold(dims.map(|(dim, &out)| Loop { n: dim.n, out, data: dim.data, index: dim.index }));
    let (resolve, size) = (resolver(indices.of()), indices.of().size() as isize);
    let step = |(dense, indexed, index): (isize, isize, isize), l: &Loop| {
        (dense.wrapping_add(l.out), indexed.wrapping_add(l.data), index.wrapping_add(l.index))
    };
    for_each(&loops, (0, 0, 0), step, &mut |(dense, indexed, index)| {
        let mut indexed = Some(indexed);
        for axis in &lowered.axes {
            let at = indices.start().wrapping_offset(index.wrapping_add(axis.index).wrapping_mul(size));
            // SAFETY: V1: by P1, the loops and the offsets of the axes reach coordinates of the layout of `indices`.
            let position = unsafe { resolve(policy, at, axis.dim as i64) };
            indexed = indexed.zip(position).map(|(at, i)| at.wrapping_add(axis.data.wrapping_mul(i as isize)));
        }
        visit(row, dense, indexed);
    });
}

/// Runs an operator that rearranges space. `fill` is the value of padding, if the operator pads.
pub(crate) fn space<T: Clone>(
    lowered: &SpaceLowered,
    options: Options,
    data: &View<'_, T>,
    fill: Option<&T>,
) -> Result<Tensor<T>, Error> {
    check_options(lowered.op, lowered.method(), options)?;
    let mut values = reserve::<T>(&lowered.output)?;
    if lowered.output.contains(&0) {
        return Tensor::new(values, &lowered.output);
    }
    match lowered.method() {
        Method::Deinterleaved => {
            let fill = || fill.expect("an operator that pads is given a fill");
            for_each_coordinate(&lowered.output, |at| {
                values.extend_from_slice(slice::from_ref(data.get(&lowered.source(at)).unwrap_or_else(fill)));
            });
        }
        _ => {
            let out = contiguous_strides(lowered.output.iter().copied());
            let mut loops = BlockLoops::new();
            let (origin, row) = lowered.fold(&mut loops, 1, data.layout().strides(), &out);
            for_each_block(&loops, data.origin().wrapping_offset(origin.data), &mut |from| {
                // SAFETY: V1: `fold` found the `row` elements at `from` contiguous in data.
                values.extend_from_slice(unsafe { slice::from_raw_parts(from, row) });
            });
        }
    }
    Tensor::new(values, &lowered.output)
}

/// Checks a call's forced options: the machine has the level, and the method is `own` (`Direct` for indices).
fn check_options(op: Op, own: Method, options: Options) -> Result<(), Error> {
    Level::resolve(options.level)?;
    match options.method.filter(|&method| method != own) {
        Some(method) => Err(Error::MethodUnavailable { op, method }),
        None => Ok(()),
    }
}

fn reserve<T>(shape: &Shape) -> Result<Vec<T>, Error> {
    Shape::checked_bytes(shape, size_of::<T>())?;
    memory::reserve(Shape::checked_len(shape)?)
}

fn contiguous_strides(dims: impl Iterator<Item = usize>) -> SmallVec<[isize; 6]> {
    let dims: Shape = dims.collect();
    let layout = Layout::contiguous(&dims).expect("the lowered dimensions of a result that fits");
    layout.strides().into()
}

/// As [`for_each`], for [`BlockLoop`]s on data.
fn for_each_block<T>(loops: &[BlockLoop], at: *const T, visit: &mut impl FnMut(*const T)) {
    let [first, rest @ ..] = loops else {
        return visit(at);
    };
    let (mut at, mut phase) = (at, first.phase);
    for _ in 0..first.n {
        for_each_block(rest, at, visit);
        phase += 1;
        let step = if phase == first.block { first.wrap } else { first.step };
        (at, phase) = (at.wrapping_offset(step.data), phase % first.block);
    }
}

/// Calls `visit` with every coordinate of a shape without empty dimensions, in row-major order.
fn for_each_coordinate(shape: &[usize], mut visit: impl FnMut(&[usize])) {
    let mut at: SmallVec<[usize; 6]> = shape.iter().map(|_| 0).collect();
    loop {
        visit(&at);
        let Some(d) = (0..shape.len()).rfind(|&d| at[d] + 1 < shape[d]) else { return };
        at[d] += 1;
        at[d + 1..].fill(0);
    }
}
