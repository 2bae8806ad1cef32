//! The operators on indices.

use crate::exec::first_bad_index::{self, IndexCheck};
use crate::kernels::convert::map::{Map, Params};
use crate::kernels::shaped::fold::IndexShape;
use crate::kernels::shaped::is_large;
use crate::kernels::shaped::rows::{IndexShapeOf, ShapedTensors};
use crate::kernels::shaped::size::Sizes;
use crate::plan::Axis;
use crate::specialize::fits::index_sizes;
use crate::specialize::general;
use crate::tensor::layout::Layout;
use crate::types::declared::{Declaration, Declared, MAX_DIMS};
use crate::types::element::{Element, IsElement};
use crate::types::error::Error;
use crate::types::index::{Index, IndexType};
use crate::types::op::Op;

/// The assertions on a declaration and its types.
struct Claims<D, T, const ARGS: usize>(D, T);

impl<D: Declaration, T: Element, const ARGS: usize> Claims<D, T, ARGS> {
    const SHAPE: &'static IndexShape = &IndexShapeOf::<D>::SHAPE;
    /// Whether no size is open.
    const IS_KNOWN: bool = Self::SHAPE.data_len.slots | Self::SHAPE.indices_len.slots == 0;
    /// Bytes of the output if all open sizes are 1.
    const OUT_BYTES: usize = {
        let () = IsElement::<T>::CHECK;
        assert!(!D::DECLARED.op.rearranges(), "the declaration of an operator on indices");
        assert!(ARGS == D::DECLARED.arguments(), "an argument for each open size but the first of a tensor");
        match Self::SHAPE.out_len.known.checked_mul(size_of::<T>()) {
            Some(bytes) if bytes <= isize::MAX as usize => bytes,
            _ => panic!("the output has more bytes than a tensor can have (isize::MAX)"),
        }
    };
}

/// Runs the declared operator on indices.
///
/// # Errors
/// Errors of the operator, for slices and open sizes that do not fit, and for indices out of range.
#[inline]
pub fn gather<D: Declaration, T: Element, I: Index, const ARGS: usize>(
    data: &[T],
    indices: &[I],
    args: [usize; ARGS],
    out: &mut [T],
) -> Result<(), Error> {
    let declared = const { &D::DECLARED };
    let is_known = const { Claims::<D, T, ARGS>::IS_KNOWN };
    let Some(sizes) = index_sizes::<D, ARGS>([data.len(), indices.len(), out.len()], args) else {
        if is_known {
            return Err(wrong_length(declared, Claims::<D, T, ARGS>::SHAPE, [data.len(), indices.len(), out.len()]));
        }
        return run_general::<D, T, I, ARGS>(data, indices, &args, out);
    };
    let row = const { Claims::<D, T, ARGS>::SHAPE.row.known * size_of::<T>() };
    let out_bytes = if is_known { const { Claims::<D, T, ARGS>::OUT_BYTES } } else { size_of_val(out) };
    if is_large(row, size_of_val(data), out_bytes) {
        return run_general::<D, T, I, ARGS>(data, indices, &args, out);
    }
    let (from, out) = (data.as_ptr(), out.as_mut_ptr());
    // SAFETY: D1 to D3: `index_sizes` found that no open size is 0, and that sizes fit the lengths and each other.
    // `out` is borrowed mutably, so it overlaps no input.
    let tensors = unsafe { ShapedTensors::<D, T, I, ARGS>::new(from, indices.as_ptr(), out, &sizes) };
    if tensors.move_all() {
        return Ok(());
    }
    Err(bad_index::<D, I, ARGS>(indices, &sizes))
}

fn run_general<D: Declaration, T: Element, I: Index, const ARGS: usize>(
    data: &[T],
    indices: &[I],
    args: &[usize],
    out: &mut [T],
) -> Result<(), Error> {
    let declared = const { &D::DECLARED };
    // Kernels for one width take rows of at most 16 bytes.
    if const { Claims::<D, T, ARGS>::SHAPE.row.known * size_of::<T>() > 16 } {
        general::index::<T, I, true>(declared, data, indices, args, out)
    } else {
        general::index::<T, I, false>(declared, data, indices, args, out)
    }
}

/// The error of the first index out of range.
#[cold]
#[inline(never)]
fn bad_index<D: Declaration, I: Index, const ARGS: usize>(indices: &[I], sizes: &Sizes<ARGS>) -> Error {
    let shape = const { &IndexShapeOf::<D>::SHAPE };
    let mut axes = [Axis { axis: 0, dim: 1, data: 0, index: 0 }; MAX_DIMS];
    for (axis, shaped) in axes.iter_mut().zip(&shape.axes[..shape.axes_len]) {
        (axis.axis, axis.dim) = (shaped.axis, shaped.dim.at(sizes));
    }
    first_bad(const { &D::DECLARED }, &axes[..shape.axes_len], I::TYPE, indices.as_ptr().cast(), indices.len())
}

/// As [`bad_index`], without its types. `indices` points to `len` values of type `index`.
#[cold]
#[inline(never)]
fn first_bad(declared: &Declared, axes: &[Axis], index: IndexType, indices: *const u8, len: usize) -> Error {
    let tuples = [len / axes.len(), axes.len()];
    let shape = if declared.op == Op::GatherNd { &tuples[..] } else { &[len] };
    match Layout::contiguous(shape) {
        // SAFETY: V1: `bad_index`, the only caller, passes `len` values of type `index`; the layout has no more.
        Ok(layout) => unsafe {
            first_bad_index::find(
                &IndexCheck { op: declared.op, axes, policy: declared.policy.lower(), index, skips_negative: false },
                indices,
                &layout,
            )
        },
        Err(error) => error,
    }
}

/// The error of the first slice whose length is not the size of its shape, if no size is open.
#[cold]
#[inline(never)]
fn wrong_length(declared: &Declared, shape: &IndexShape, [data, indices, out]: [usize; 3]) -> Error {
    let wrong = |len, expected, shape: &[usize]| Error::LengthMismatch { len, expected, shape: shape.into() };
    if data != shape.data_len.known {
        return wrong(data, shape.data_len.known, declared.data);
    }
    if indices != shape.indices_len.known {
        return wrong(indices, shape.indices_len.known, declared.indices);
    }
    match general::output_shape(declared, declared.data, declared.indices) {
        Ok(output) => wrong(out, shape.out_len.known, &output),
        Err(error) => error,
    }
}

/// A map as `map = NAME` names it: a constant or static, or a function of [`maps`](crate::maps) that makes it.
pub trait NamedMap<T, U, P> {
    fn named(&self) -> Map<T, U, P>;
}

impl<T, U, P> NamedMap<T, U, P> for Map<T, U, P> {
    #[inline(always)]
    fn named(&self) -> Map<T, U, P> {
        *self
    }
}

impl<T, U, P, F: Fn() -> Map<T, U, P>> NamedMap<T, U, P> for F {
    #[inline(always)]
    fn named(&self) -> Map<T, U, P> {
        self()
    }
}

/// As [`gather`], with a map, which converts each element, and its params.
///
/// # Errors
/// As for [`gather`], with errors of parameters before errors of indices.
///
/// # Panics
/// If the map panics.
#[inline]
pub fn gather_map<D: Declaration, T: Element, U: Element, P: Params, I: Index, const ARGS: usize>(
    map: &impl NamedMap<T, U, P>,
    data: &[T],
    indices: &[I],
    params: P::Given<'_>,
    args: [usize; ARGS],
    out: &mut [U],
) -> Result<(), Error> {
    const { assert!(Claims::<D, U, ARGS>::OUT_BYTES > 0) };
    general::index_map(const { &D::DECLARED }, &map.named(), (data, indices, params), &args, out)
}
