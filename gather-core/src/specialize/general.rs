//! The operator itself, for calls that the loops refuse: many rows, and errors.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::call::attributes::IndexAttributes;
use crate::call::gather::GatherOperator;
use crate::kernels::convert::map::{Map, Params};
use crate::ops::{BatchToSpace, Gather, GatherElements, GatherNd};
use crate::specialize::fits::shared;
use crate::tensor::layout::Shape;
use crate::tensor::view::{View, ViewMut};
use crate::types::declared::{ANY, Declared, MAX_DIMS};
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::level::Level;
use crate::types::op::Op;
use crate::types::policy::Par;

/// Evaluates an expression with a name for the declared operator, whose type depends on the declaration.
macro_rules! with_operator {
    ($declared:expr, |$op:ident| $run:expr) => {{
        let declared = $declared;
        let (axis, batch_dims) = (declared.axis as i64, declared.batch_dims as i64);
        match declared.op {
            Op::GatherElements => {
                let op = if declared.equal { GatherElements::openvino6(axis) } else { GatherElements::new(axis) };
                let $op = with_policy(op, declared);
                $run
            }
            Op::GatherNd => {
                let $op = with_policy(GatherNd::new().batch_dims(batch_dims), declared);
                $run
            }
            _ => {
                let $op = with_policy(Gather::new(axis).batch_dims(batch_dims), declared);
                $run
            }
        }
    }};
}

/// The operator with the declared policies, on the calling thread alone. The level is set, so that a wrong
/// `GATHER_LEVEL` is no error, as in the loops of declared shapes.
fn with_policy<A: IndexAttributes>(op: GatherOperator<A>, declared: &Declared) -> GatherOperator<A> {
    let policy = declared.policy;
    op.negative_index(policy.negative).out_of_bounds(policy.out_of_bounds).par(Par::Seq).level(Level::preferred())
}

/// The shape of a tensor of `len` elements. The first open size follows from `len` where possible; the others are the
/// next of `args`. Also returns the dimension whose size does not follow, since another size is 0.
fn shape(declared: &[usize], len: usize, args: &mut &[usize]) -> (DeclaredSizes, Option<usize>) {
    let mut open = None;
    let mut shape = DeclaredSizes::new();
    for (dim, &size) in declared.iter().enumerate() {
        shape.push(match size {
            ANY if open.is_none() => {
                open = Some(dim);
                1
            }
            ANY => args.split_off_first().copied().unwrap_or(1),
            known => known,
        });
    }
    if let Some(dim) = open {
        let known_len = shape.iter().try_fold(1usize, |known_len, &size| known_len.checked_mul(size));
        shape[dim] = known_len.and_then(|known_len| len.checked_div(known_len)).unwrap_or(0);
        let unknown = (known_len == Some(0) && len == 0).then_some(dim);
        return (shape, unknown);
    }
    (shape, None)
}

/// The shapes of data and indices of these lengths. A size that does not follow from one length is taken from the other
/// tensor if both share the dimension, and otherwise is 0.
fn shapes(declared: &Declared, [data, indices]: [usize; 2], mut args: &[usize]) -> [DeclaredSizes; 2] {
    let (mut data, unknown) = shape(declared.data, data, &mut args);
    let (mut indices, unknown_of_indices) = shape(declared.indices, indices, &mut args);
    let is_shared = |dim: &usize| *dim < shared(declared);
    if let Some(dim) = unknown.filter(is_shared) {
        data[dim] = indices[dim];
    }
    if let Some(dim) = unknown_of_indices.filter(is_shared) {
        indices[dim] = data[dim];
    }
    [data, indices]
}

/// # Errors
/// Errors of the operator.
pub(super) fn output_shape(declared: &Declared, data: &[usize], indices: &[usize]) -> Result<Shape, Error> {
    with_operator!(declared, |op| op.output_shape(data, indices))
}

/// Runs an operator on indices; if rows are known to be long, by the kernels for rows of any length.
///
/// # Errors
/// [`Error::TooManyElements`] and [`Error::LengthMismatch`] for data, then for indices; errors of shapes; then
/// [`Error::LengthMismatch`] for the output; then errors of the operator's `run_into`.
#[inline(never)]
pub(super) fn index<T: Element, I: Index, const LONG: bool>(
    declared: &Declared,
    data: &[T],
    indices: &[I],
    args: &[usize],
    out: &mut [T],
) -> Result<(), Error> {
    let [of_data, of_indices] = shapes(declared, [data.len(), indices.len()], args);
    let (data, indices) = (View::new(data, &of_data)?, View::new(indices, &of_indices)?);
    let mut out = ViewMut::new(out, &output_shape(declared, data.shape(), indices.shape())?)?;
    with_operator!(declared, |op| match LONG {
        true => op.run_long_into(&data, &indices, &mut out),
        false => op.run_into(&data, &indices, &mut out),
    })
}

/// As [`index`], with a map and its params.
///
/// # Errors
/// As for [`index`], with errors of the map.
#[inline(never)]
pub(super) fn index_map<T: Element, U: Element, P: Params, I: Index>(
    declared: &Declared,
    map: &Map<T, U, P>,
    (data, indices, params): (&[T], &[I], P::Given<'_>),
    args: &[usize],
    out: &mut [U],
) -> Result<(), Error> {
    let [of_data, of_indices] = shapes(declared, [data.len(), indices.len()], args);
    let (data, indices) = (View::new(data, &of_data)?, View::new(indices, &of_indices)?);
    let mut out = ViewMut::new(out, &output_shape(declared, data.shape(), indices.shape())?)?;
    let data = data.map(map, params);
    with_operator!(declared, |op| op.run_into(&data, &indices, &mut out))
}

/// Runs BatchToSpace.
///
/// # Errors
/// [`Error::TooManyElements`] and [`Error::LengthMismatch`] for data; errors of shapes; then [`Error::LengthMismatch`]
/// for the output; then errors of the operator's `run_into`.
#[inline(never)]
pub(super) fn space<T: Element>(declared: &Declared, data: &[T], args: &[usize], out: &mut [T]) -> Result<(), Error> {
    let mut args = args;
    let entries = |entries: &[usize]| entries.iter().map(|&entry| entry as i64).collect::<DeclaredEntries>();
    let blocks = &declared.blocks;
    let op = BatchToSpace::new(&entries(blocks.block), &entries(blocks.begin), &entries(blocks.end));
    let op = op.par(Par::Seq).level(Level::preferred());
    let data = View::new(data, &shape(declared.data, data.len(), &mut args).0)?;
    let mut out = ViewMut::new(out, &op.output_shape(data.shape())?)?;
    op.run_into(&data, &mut out)
}

type DeclaredEntries = SmallVec<[i64; MAX_DIMS]>;

type DeclaredSizes = SmallVec<[usize; MAX_DIMS]>;
