//! Gathers by a mask: the elements or rows of data where the mask is true.
//!
//! Elements that are moved unchanged are selected by the bits of the mask. All other kinds of data are gathered by the
//! positions of the trues.

use alloc::sync::Arc;
use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;

use crate::call::attributes::IndexAttributes;
use crate::call::checks::{check_layout, check_output, mismatch};
use crate::call::gather::kinds::{self, GatherKind, GatheredBy, with_operands};
use crate::call::gather::rows::RowAttributes;
use crate::call::gather::{ErasedGather, GatherOperator};
use crate::call::source::checked::{Checked, Position};
use crate::call::source::kind::{Kind, Positions};
use crate::call::source::mask::Mask;
use crate::call::source::{Describe, Source, TensorOf};
use crate::exec::{self, MaskedCall};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, Target, written};
use crate::tensor::typing::Typing;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::op::{Argument, Op};
use crate::types::policy::{IndexPolicy, Options};

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
    /// few bits of 64 are 1. One allocation. Kinds of data that are not moved unchanged also allocate the positions of
    /// the trues, of 4 bytes each.
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
        let axis = self.axis::<S>(data.held().borrow(), mask.shape())?;
        run(&self.gather.erased(), axis, data, mask, out)
    }

    /// Makes a plan for masks of a shape: it checks attributes and shapes once. Data is a source, or a
    /// [spec](crate::Spec) ahead of the first call.
    ///
    /// # Errors
    /// Errors of [attributes and shapes](Masked#errors), then [`Error::LevelUnavailable`].
    pub fn plan<S>(&self, data: &S, mask: &[usize]) -> Result<MaskedPlan<S::Kind>, Error>
    where
        S: Describe<Kind: GatheredBy<A>> + ?Sized,
        A: Clone + Send + Sync + 'static,
    {
        let GatherOperator { ref attributes, policy, options, registry } = self.gather;
        let (held, attributes) = (data.held(), Arc::new(attributes.clone()));
        let axis = self.axis::<S>(held.borrow(), mask)?;
        Level::resolve(options.level)?;
        let gather = GatherOperator { attributes: attributes as SharedAttributes, policy, options, registry };
        let (data, mask, dtype) = (held.borrow().clone(), Shape::of_both(mask, &[]), data.dtype());
        Ok(MaskedPlan { gather, axis, data, mask, dtype, kind: PhantomData })
    }

    /// The first dimension of data that a mask covers.
    ///
    /// # Errors
    /// Errors of [attributes and shapes](Masked#errors).
    #[inline(always)]
    fn axis<S: Describe + ?Sized>(&self, data: &Layout, mask: &[usize]) -> Result<usize, Error> {
        let axis = self.gather.attributes.masked_axis(data)?;
        check_mask(&data.shape()[axis..], mask, if S::Kind::IS_PLAIN { usize::MAX } else { 1 })?;
        Ok(axis)
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

/// Runs a call whose mask fits data from dimension `axis` on.
///
/// # Errors
/// The errors of [`Masked::run_into`] after errors of attributes and shapes.
#[inline(always)]
fn run<S, O>(op: &ErasedGather<'_>, axis: usize, data: &S, mask: &Mask<'_>, out: &mut O) -> Result<(), Error>
where
    S: Source<Kind: GatherKind> + ?Sized,
    O: Output<<S::Kind as Kind>::Out>,
{
    if S::Kind::IS_PLAIN {
        let (held, dtype) = (data.held(), data.dtype());
        let (data, out) = ((data.start(), held.borrow()), out.target_of(dtype)?);
        // SAFETY: V1, V3: data is a source of this layout and data type, whose elements are moved unchanged. O1: the
        // output takes elements of this type, and is borrowed mutably, so it does not overlap data.
        return unsafe { run_plain(data, (mask, axis), dtype.size(), op.options, out) };
    }
    if i32::try_from(mask.len()).is_ok() {
        by_positions(op, data, &mask.positions::<i32>()?, out)
    } else {
        by_positions(op, data, &mask.positions::<i64>()?, out)
    }
}

/// Runs a call by positions, which are in range.
fn by_positions<S, I, O>(op: &ErasedGather<'_>, data: &S, at: &Checked<'_, I>, out: &mut O) -> Result<(), Error>
where
    S: Source<Kind: GatherKind> + ?Sized,
    I: Position,
    O: Output<<S::Kind as Kind>::Out>,
{
    let op = ErasedGather { policy: IndexPolicy::of_positions(false), ..*op };
    with_operands(data, at, out, |reader, operands| kinds::run::<S::Kind, Positions<I>>(&op, reader, operands))
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
    let fresh = Layout::contiguous(&shape)?;
    let to = out.layout().unwrap_or(&fresh);
    check_output(OP, &shape, to.shape())?;
    let level = Level::resolve(options.level)?;
    Shape::bytes(&shape, fresh.len(), size)?;
    if let Some(method) = options.method.filter(|&method| method != Method::Direct) {
        return Err(Error::MethodUnavailable { op: OP, method });
    }
    let call = MaskedCall { bits: mask.bitmap(), count, dims: (axis, end), size, level, par: options.par };
    let select = |memory| {
        if !fresh.is_empty() {
            // SAFETY: V1, V3 and O1 by the caller's contract: `to` is the layout of a fixed output, of this shape, or
            // memory is new and row-major. `count` is the number of ones (M1), and the result is not empty, so data is
            // not either.
            unsafe { exec::run_masked(call, (data, layout), (memory, to)) };
        }
        Ok(())
    };
    // SAFETY: the shape has `fresh.len()` elements, all of which `run_masked` writes (X3).
    unsafe { out.write(|| Ok((&shape, fresh.len())), select) }
}

type SharedAttributes = Arc<dyn IndexAttributes + Send + Sync>;

/// A plan of a gather by masks of one shape. Made once by [`Masked::plan`], it runs many times, with any masks of this
/// shape, from any thread. `K` is the [kind](crate::Kind) of data.
///
/// ```
/// use gather_core::{Gather, Mask, MaskedPlan, Spec, Tensor};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let plan: MaskedPlan<f32> = Gather::new(0).masked().plan(&Spec::<f32>::new(&[3])?, &[3])?;
///     let mut kept = Tensor::default();
///     for (column, mask) in [([0.5, 1.5, 2.5], [true, false, true]), ([3.0, 4.0, 5.0], [false, false, true])] {
///         plan.run_into(&column, &Mask::new(&mask)?, &mut kept)?;
///     }
///     assert_eq!(kept.as_slice(), [5.0]);
///     Ok(())
/// }
/// ```
pub struct MaskedPlan<K> {
    gather: GatherOperator<SharedAttributes>,
    axis: usize,
    data: Layout,
    mask: Shape,
    dtype: DType,
    kind: PhantomData<fn() -> K>,
}

impl<K> Clone for MaskedPlan<K> {
    fn clone(&self) -> Self {
        let gather = GatherOperator { attributes: Arc::clone(&self.gather.attributes), ..self.gather };
        MaskedPlan { gather, data: self.data.clone(), mask: self.mask.clone(), ..*self }
    }
}

impl<K> fmt::Debug for MaskedPlan<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut of = f.debug_struct("MaskedPlan");
        of.field("data", &self.data.shape()).field("axis", &self.axis).field("mask", &self.mask).finish()
    }
}

impl<K: GatherKind> MaskedPlan<K> {
    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for a type known at run time, [`Error::PlanMismatch`] for data of another layout or a
    /// mask of another shape, then as for [`Masked::run`] after errors of shapes.
    ///
    /// # Panics
    /// If a map or a row function panics.
    pub fn run<S: Source<Kind = K> + ?Sized>(
        &self,
        data: &S,
        mask: &Mask<'_>,
    ) -> Result<<K::Out as Typing>::Tensor, Error> {
        written(K::Out::empty(self.dtype), |out| self.run_into(data, mask, out))
    }

    /// Runs the plan into an [`Output`], as [`Masked::run_into`] does.
    ///
    /// # Errors
    /// As for [`MaskedPlan::run`], and of a view as for [`Masked::run_into`].
    ///
    /// # Panics
    /// If a map or a row function panics.
    pub fn run_into<S, O>(&self, data: &S, mask: &Mask<'_>, out: &mut O) -> Result<(), Error>
    where
        S: Source<Kind = K> + ?Sized,
        O: Output<K::Out>,
    {
        K::Out::check(self.dtype, data.dtype())?;
        check_layout(Argument::Data, &self.data, data.held().borrow())?;
        if self.mask[..] != *mask.shape() {
            return Err(mismatch(Argument::Mask, &self.mask, mask.shape()));
        }
        let GatherOperator { ref attributes, policy, options, registry } = self.gather;
        run(&ErasedGather { attributes: &**attributes, policy, options, registry }, self.axis, data, mask, out)
    }
}
