//! Gathers by a mask: the elements or rows of data where the mask is true.
//!
//! Elements that are moved unchanged are selected by the bits of the mask. All other kinds of data, and some shapes
//! for which that is faster, are gathered by the positions of the trues.

use core::borrow::Borrow;

use crate::call::checks::check_output;
use crate::call::gather::GatherOperator;
use crate::call::gather::kinds::{GatherKind, GatheredBy};
use crate::call::gather::rows::{RowAttributes, elements};
use crate::call::source::kind::{Kind, Positions};
use crate::call::source::mask::Mask;
use crate::call::source::{Source, TensorOf};
use crate::exec::{self, MaskedCall};
use crate::tensor::bitmap::WORD;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, Target, written};
use crate::tensor::typing::Typing;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::op::{Argument, Op};
use crate::types::policy::Options;

const OP: Op = Op::Gather;

/// A gather by a [`Mask`]: the elements or rows of data where the mask is true, in their order. NumPy's `a[mask]` and
/// `np.compress`, TensorFlow's `boolean_mask`, PyTorch's `masked_select`, Arrow's `filter`. Made by
/// [`Gather::masked`](GatherOperator::masked).
///
/// The dimensions of the mask are dimensions `axis..axis + k` of data, `k >= 1`. The result has the shape
/// `data.shape[..axis] + [count] + data.shape[axis + k..]`, where `count` is the number of trues. Data is any source of
/// a [`Gather`](crate::Gather). Of sources that are not moved unchanged, such as maps and fused rows, the mask has one
/// dimension. Policies for indices have no effect.
///
/// ```
/// use gather_core::{Gather, Mask, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let table = [1, 2, 3, 4, 5, 6];
///     let table = View::new(&table, &[3, 2])?;
///     // Rows, columns, and elements.
///     let rows = Gather::new(0).masked().run(&table, &Mask::new(&[true, false, true])?)?;
///     assert_eq!((rows.shape(), rows.as_slice()), (&[2, 2][..], &[1, 2, 5, 6][..]));
///     let columns = Gather::new(1).masked().run(&table, &Mask::new(&[false, true])?)?;
///     assert_eq!((columns.shape(), columns.as_slice()), (&[3, 1][..], &[2, 4, 6][..]));
///     let even = Mask::new(&[false, true, false, true, false, true])?.with_shape(&[3, 2])?;
///     assert_eq!(Gather::new(0).masked().run(&table, &even)?.as_slice(), [2, 4, 6]);
///     Ok(())
/// }
/// ```
///
/// # Errors
/// Of attributes and shapes, in this order: [`Error::AxisOutOfRange`]; [`Error::BatchDimsOutOfRange`] if `batch_dims`
/// is not 0; [`Error::RankOutOfRange`] for a mask of rank 0 or of more dimensions than `k` may have; and
/// [`Error::ShapeMismatch`] for a mask of another shape.
///
/// # Definition
/// [`tf.boolean_mask`](https://www.tensorflow.org/api_docs/python/tf/boolean_mask), and boolean array indexing of
/// [NumPy](https://numpy.org/doc/stable/user/basics.indexing.html#boolean-array-indexing).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Masked<A> {
    gather: GatherOperator<A>,
}

impl<A: RowAttributes> GatherOperator<A> {
    /// The operator by masks instead of indices, with the same axis and settings.
    ///
    /// ```
    /// use gather_core::{Gather, Mask};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let column = [1.5f32, -2.0, 0.5];
    ///     let mask = Mask::new(&column.map(|value| value > 0.0))?;
    ///     assert_eq!(Gather::new(0).masked().run(&column, &mask)?.as_slice(), [1.5, 0.5]);
    ///     Ok(())
    /// }
    /// ```
    #[doc(alias("filter", "boolean_mask", "masked_select", "compress", "where"))]
    #[must_use]
    pub fn masked(self) -> Masked<A> {
        Masked { gather: self }
    }
}

impl<A: RowAttributes> Masked<A> {
    /// Runs the operator into a fresh tensor.
    ///
    /// Cost: one pass over the bits, and one over the bytes of the result; over the bytes of data too, if more than a
    /// few bits of 64 are 1. One allocation. The bits are read again for each coordinate before the axis, and for each
    /// line of a mask or data that does not continue the line before. Where this is slower, and for kinds of data that
    /// are not moved unchanged, rows are gathered by the positions of the trues, of 4 bytes each, which are allocated.
    ///
    /// # Errors
    /// Errors of [attributes and shapes](Masked#errors), [`Error::LevelUnavailable`], [`Error::TooManyBytes`],
    /// [`Error::MethodUnavailable`] for a forced method that is not [`Method::Direct`], then
    /// [`Error::AllocationFailed`]. For kinds of data that are not moved unchanged: errors of attributes and shapes, of
    /// [`Mask::positions`], then of [`Gather::run`](GatherOperator::run).
    ///
    /// # Panics
    /// If a map or a row function panics.
    pub fn run<S>(&self, data: &S, mask: &Mask<'_>) -> Result<TensorOf<S>, Error>
    where
        S: Source<Kind: GatheredBy<A>> + ?Sized,
    {
        written(<S::Kind as Kind>::Out::empty(data.dtype()), |out| self.run_into(data, mask, out))
    }

    /// Runs the operator into an [`Output`]: a view of any strides, uninitialised memory, a reused tensor, or an
    /// [`Append`](crate::Append).
    ///
    /// # Errors
    /// As for [`Self::run`]. After errors of attributes and shapes, [`Error::DTypeMismatch`] of a view, for types known
    /// at run time, and [`Error::ShapeMismatch`] of a view. On an error a view is untouched.
    ///
    /// # Panics
    /// If a map or a row function panics.
    pub fn run_into<S, O>(&self, data: &S, mask: &Mask<'_>, out: &mut O) -> Result<(), Error>
    where
        S: Source<Kind: GatheredBy<A>> + ?Sized,
        O: Output<<S::Kind as Kind>::Out>,
    {
        let (held, dtype) = (data.held(), data.dtype());
        let (layout, most) = (held.borrow(), if S::Kind::IS_PLAIN { usize::MAX } else { 1 });
        let axis = self.gather.attributes.masked_axis(layout)?;
        check_mask(&layout.shape()[axis..], mask.shape(), most)?;
        // Types known at run time may have no kernels that gather.
        let gathers = || S::Kind::kernels::<Positions<i32>>(&self.gather.erased(), dtype, i32::TYPE).is_ok();
        let forced = self.gather.options.method.is_some();
        if !S::Kind::IS_PLAIN || !forced && by_positions(layout, axis, mask) && gathers() {
            return self.gather.run_into(data, &mask.positions::<i32>()?, out);
        }
        let (out, options) = (out.target_of(dtype)?, self.gather.options);
        // SAFETY: V1, V3: data is a source of this layout and data type, whose elements are moved unchanged. O1: the
        // output takes elements of this type, and is borrowed mutably, so it does not overlap data. `check_mask`
        // compared the shape of the mask.
        unsafe { run_plain((data.start(), layout), (mask, axis), dtype.size(), options, out) }
    }
}

/// Checks a mask of up to `most` dimensions against the dimensions of data from the axis on.
///
/// # Errors
/// [`Error::RankOutOfRange`], then [`Error::ShapeMismatch`].
#[inline(always)]
fn check_mask(data: &[usize], mask: &[usize], most: usize) -> Result<(), Error> {
    let max = most.min(data.len());
    if mask.is_empty() || mask.len() > max {
        return Err(Error::RankOutOfRange { op: OP, argument: Argument::Mask, rank: mask.len(), min: 1, max });
    }
    let covered = &data[..mask.len()];
    if covered.iter().zip(mask).any(|(data, mask)| data != mask) {
        let (expected, got) = (covered.into(), mask.into());
        return Err(Error::ShapeMismatch { op: OP, argument: Argument::Mask, expected, got });
    }
    Ok(())
}

/// Number of times from which it may pay to find the positions once, instead of reading the bits each time.
const OFTEN: usize = 16;

/// Whether positions gather plain data faster than bits select it. The bits are read for each coordinate before the
/// axis, which is slower if few are 1, and for each column if rows are not contiguous.
#[inline]
fn by_positions(data: &Layout, axis: usize, mask: &Mask<'_>) -> bool {
    let (sizes, n, mut row) = (data.shape(), mask.len(), 1isize);
    let follows = |d: usize| {
        let step = row;
        row = row.wrapping_mul(sizes[d] as isize);
        sizes[d] == 1 || data.strides()[d] == step
    };
    let is_contiguous = data.is_row_major() || (axis + 1..sizes.len()).rev().all(follows);
    let columns = if is_contiguous { 1 } else { elements(&sizes[axis + 1..]) };
    let is_often = elements(&sizes[..axis]).saturating_mul(columns) >= OFTEN;
    let is_slow = !is_contiguous || mask.count() < WORD.max(n / 4);
    is_often && is_slow && mask.shape().len() == 1 && i32::try_from(n).is_ok()
}

/// Selects elements of `size` bytes.
///
/// # Errors
/// The errors of [`Masked::run_into`] after [`Error::DTypeMismatch`].
///
/// # Safety
/// V1, V3: elements of `size` bytes may be read along the layout of data. O1 for elements of this size; the output does
/// not overlap data. The mask has the shape of the dimensions of data from `axis` on.
#[inline(never)]
unsafe fn run_plain(
    (data, layout): (*const u8, &Layout),
    (mask, axis): (&Mask<'_>, usize),
    size: usize,
    options: Options,
    out: Target<'_>,
) -> Result<(), Error> {
    let (count, end) = (mask.count(), axis + mask.shape().len());
    let mut shape = Shape::of_both(&layout.shape()[..=axis], &layout.shape()[end..]);
    shape.set(axis, count);
    // Not moved out of the result, which would take longer than its checks.
    let row_major = Layout::contiguous(&shape);
    let Ok(fresh) = &row_major else { return row_major.map(drop) };
    let to = out.layout().unwrap_or(fresh);
    check_output(OP, &shape, to.shape())?;
    let level = Level::resolve(options.level)?;
    Shape::bytes(&shape, fresh.len(), size)?;
    if let Some(method) = options.method.filter(|&method| method != Method::Direct) {
        return Err(Error::MethodUnavailable { op: OP, method });
    }
    let select = |out| {
        if !fresh.is_empty() {
            let call = MaskedCall { bits: mask.bitmap(), count, data, out, size };
            // SAFETY: V1, V3 and O1 by the caller's contract: `to` is the layout of a fixed output, of this shape, or
            // `out` is new and row-major. `count` is the number of ones (G1). Neither tensor is empty.
            unsafe { exec::run_masked(call, (axis, end), [layout, to], (level, options.par)) };
        }
        Ok(())
    };
    // SAFETY: the shape has `fresh.len()` elements, all of which `run_masked` writes (X3).
    unsafe { out.write(|| Ok((&shape, fresh.len())), select) }
}
