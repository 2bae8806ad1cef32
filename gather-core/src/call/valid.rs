//! Calls on data and indices some of which are null: the bitmaps of Apache Arrow go in, and one comes out.
//!
//! Behind the doors stands the pipeline of all gathers. It is given positions in place of indices: see `exec::nulls`.

use smallvec::SmallVec;

use crate::call::erased::{Call, Request};
use crate::call::gather::{IndexAttributes, IndexOperator};
use crate::call::{Sealed, check_output, dynamic};
use crate::exec::first_bad_index::IndexCheck;
use crate::exec::{NullIndices, Place, gather_bits};
use crate::kernels::Resolvers;
use crate::kernels::registry::Registry;
use crate::kernels::select::Kernels;
use crate::plan::{Axis, IndexLowered, IndexRequest};
use crate::tensor::bitmap::{Nulls, Validity};
use crate::tensor::dynamic::{DynTensor, DynView};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{DynOutput, Output, Sealed as _, Target};
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::{Index, IndexType};
use crate::types::level::Level;
use crate::types::op::{Argument, Op};
use crate::types::policy::{IndexPolicy, NegativeIndex, OutOfBounds};

impl<A: IndexAttributes> IndexOperator<A> {
    /// Runs the operator on indices and data some of which are null, as bitmaps of Apache Arrow say: the `take` of
    /// Arrow, along any axis and for tuples too.
    ///
    /// - An index that is null is not looked at, whatever its value. It yields null, and zeros
    ///   ([`Element::ZERO`]) as values.
    /// - A valid index that names a null yields null, and the values of data as they are.
    /// - A valid index out of range does what [`OutOfBounds`] says. Zeros are valid values then.
    ///
    /// The bitmap of indices has a bit for each index in row-major order; in GatherNd for each tuple. The bitmap of
    /// data has a bit for each row that an index can name, in row-major order of the dimensions before the row: Arrow's
    /// lists of a fixed size. Or it has a bit for each element of data: masked arrays. GatherElements has rows of one
    /// element, and so has Gather along the last axis, which is all that arrays of one dimension have.
    ///
    /// The bitmap that is returned has a bit for each row of the result, or for each element if that of data has. It
    /// is `None` where no value is null.
    ///
    /// Cost: that of [`Self::run`], and two more passes on the calling thread. One writes a position of 4 bytes for
    /// every index (8 bytes for axes beyond 32 bits), one goes over the bits of the result. Without nulls the cost is
    /// that of [`Self::run`] and of reading the bitmaps, except for a bitmap of data that has more bits than there are
    /// indices: it is not searched for nulls. Allocates the bitmap, and the positions where there are more than 512
    /// indices.
    ///
    /// # Errors
    /// Errors of attributes and shapes, [`Error::TooManyElements`], [`Error::BitmapLengthMismatch`] for indices, then
    /// for data, [`Error::LevelUnavailable`], [`Error::AllocationFailed`], [`Error::IndexOutOfRange`] for the first
    /// valid index out of range in row-major order, then [`Error::TooManyBytes`], [`Error::MethodUnavailable`] and
    /// [`Error::AllocationFailed`] as for [`Self::run`] under [`OutOfBounds::Zero`].
    ///
    /// # Examples
    /// ```
    /// use gather_core::{Bitmap, Gather, Nulls, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     // 10, null, 30, 40 and 3, null, 1, 0.
    ///     let (data, indices) = ([10, 0, 30, 40], [3u32, 99, 1, 0]);
    ///     let (valid_data, valid_indices) = ([0b1101], [0b1101]);
    ///     let nulls = Nulls {
    ///         indices: Some(Bitmap::new(&valid_indices, 0, 4)?),
    ///         data: Some(Bitmap::new(&valid_data, 0, 4)?),
    ///     };
    ///     let (data, indices) = (View::new(&data, &[4])?, View::new(&indices, &[4])?);
    ///     // 40, null, null, 10.
    ///     let (taken, validity) = Gather::new(0).run_valid(&data, &indices, nulls)?;
    ///     assert_eq!(taken.as_slice(), [40, 0, 0, 10]);
    ///     let validity = validity.expect("nulls");
    ///     assert_eq!((validity.as_bytes(), validity.null_count()), (&[0b1001][..], 2));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Definition
    /// [Validity bitmaps](https://arrow.apache.org/docs/format/Columnar.html#validity-bitmaps) of Arrow's columnar
    /// format, and `take` of its libraries.
    pub fn run_valid<T: Element, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        nulls: Nulls<'_>,
    ) -> Result<(Tensor<T>, Option<Validity>), Error> {
        let mut out = Tensor::default();
        // SAFETY: O1 for `T`; the output is fresh.
        let validity = unsafe { self.valid_call(data, indices, nulls).run_fresh(out.target()) }?;
        Ok((out, validity))
    }

    /// As [`Self::run_valid`], into an [`Output`], and into the bytes of a bitmap: from bit 0 on, as many bits as
    /// [`Self::run_valid`] returns. Bits behind them in the last byte become 0, and bytes behind that one stay as they
    /// are. Returns the number of nulls; where it is 0, all bits are 1. Allocates the positions of more than 512
    /// indices, and the memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`Self::run_valid`], [`Error::ShapeMismatch`] for a view before [`Error::BitmapLengthMismatch`], and
    /// [`Error::BitmapTooShort`] for the bytes before [`Error::LevelUnavailable`]. The bytes are untouched then, and
    /// the output is as after [`Self::run_into`].
    pub fn run_valid_into<T: Element, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        nulls: Nulls<'_>,
        out: &mut impl Output<T>,
        validity: &mut [u8],
    ) -> Result<usize, Error> {
        // SAFETY: O1 for `T`; the output is borrowed mutably, so that it overlaps no input.
        unsafe { self.valid_call(data, indices, nulls).run_into(out.target(), validity) }
    }

    /// As [`Self::run_valid`], on tensors whose types are known at run time, with the kernels of a registry.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`], [`Error::UnknownDType`], then as for [`Self::run_valid`].
    pub fn run_valid_dyn(
        &self,
        registry: &Registry,
        data: &DynView<'_>,
        indices: &DynView<'_>,
        nulls: Nulls<'_>,
    ) -> Result<(DynTensor, Option<Validity>), Error> {
        let mut out = DynTensor::empty(data.dtype());
        let call = self.valid_dyn_call(registry, data, indices, nulls)?;
        // SAFETY: O1 for the data type; the output is fresh.
        let validity = unsafe { call.run_fresh(out.target_of(data.dtype())?) }?;
        Ok((out, validity))
    }

    /// As [`Self::run_valid_into`], on tensors whose types are known at run time, with the kernels of a registry.
    ///
    /// # Errors
    /// As for [`Self::run_valid_dyn`], for a view with [`Error::DTypeMismatch`] after [`Error::UnknownDType`], and
    /// those of [`Self::run_valid_into`].
    pub fn run_valid_dyn_into(
        &self,
        registry: &Registry,
        data: &DynView<'_>,
        indices: &DynView<'_>,
        nulls: Nulls<'_>,
        out: &mut impl DynOutput,
        validity: &mut [u8],
    ) -> Result<usize, Error> {
        let call = self.valid_dyn_call(registry, data, indices, nulls)?;
        let out = out.target_of(data.dtype())?;
        // SAFETY: O1 for the data type; the output is borrowed mutably, so that it overlaps no input.
        unsafe { call.run_into(out, validity) }
    }

    fn valid_call<'a, T: Element, I: Index>(
        &'a self,
        data: &'a View<'_, T>,
        indices: &'a View<'_, I>,
        nulls: Nulls<'a>,
    ) -> ValidCall<'a> {
        let request = Request::typed::<T, I, A>(self, data.layout(), indices.layout());
        let kernels = [Kernels::of::<i32>(), Kernels::of::<i64>()];
        ValidCall { call: Call::new(request, data, indices), kernels, resolvers: Resolvers::of::<I>(), nulls }
    }

    fn valid_dyn_call<'a>(
        &'a self,
        registry: &Registry,
        data: &'a DynView<'_>,
        indices: &'a DynView<'_>,
        nulls: Nulls<'a>,
    ) -> Result<ValidCall<'a>, Error> {
        let index = dynamic::index_type(indices.dtype())?;
        let request = self.dyn_request(registry, data.dtype(), data.layout(), index, indices.layout())?;
        let (op, dtype) = (request.planned.op, data.dtype());
        let of = |index| registry.index_kernels(op, dtype, index).ok_or(Error::UnknownDType { op, dtype });
        let kernels = [of(IndexType::I32)?, of(IndexType::I64)?];
        Ok(ValidCall { call: Call::new(request, data, indices), kernels, resolvers: Resolvers::by_type(index), nulls })
    }
}

/// A call, without its types.
struct ValidCall<'a> {
    /// The call as it is without nulls.
    call: Call<'a>,
    /// The kernels for positions of 32 and of 64 bits.
    kernels: [Kernels; 2],
    resolvers: Resolvers,
    nulls: Nulls<'a>,
}

/// Sizes that follow from the shapes of a call.
struct Shapes<'a> {
    /// The operator. Its loops step through the bits of data and the numbers of indices; where a row has one bit, the
    /// loops of a row are left out.
    lowered: &'a IndexLowered,
    /// The number of each index: as many dimensions as indices have, of which that of components has no step.
    numbers: Layout,
    /// The dimensions of indices before that of components.
    lead: usize,
    /// How many indices, or tuples.
    count: usize,
    /// Bits of the result.
    bits: usize,
}

impl ValidCall<'_> {
    /// Runs into a tensor, and into a fresh bitmap; `None` where nothing is null.
    ///
    /// # Safety
    /// As for [`Call::run`].
    unsafe fn run_fresh(&self, out: Target<'_>) -> Result<Option<Validity>, Error> {
        let mut lowered = IndexLowered::new(self.call.request.planned.op);
        let shapes = self.shapes(&mut lowered, out.layout())?;
        let nulls = self.nulls(&shapes);
        if let Nulls { indices: None, data: None } = nulls {
            // SAFETY: the caller's promise.
            return unsafe { self.call.run(out) }.map(|()| None);
        }
        // SAFETY: the caller's promise.
        let write = |bits: &mut [u8]| unsafe { self.run_with_nulls(&shapes, &nulls, out, bits) };
        let validity = Validity::write(shapes.bits, write)?;
        Ok(Some(validity).filter(|validity| validity.null_count() > 0))
    }

    /// Runs into an output, and into the bytes of a bitmap; returns the number of nulls.
    ///
    /// # Safety
    /// As for [`Call::run`].
    unsafe fn run_into(&self, out: Target<'_>, validity: &mut [u8]) -> Result<usize, Error> {
        let mut lowered = IndexLowered::new(self.call.request.planned.op);
        let shapes = self.shapes(&mut lowered, out.layout())?;
        let (bytes, len) = (validity.len(), shapes.bits);
        let bits = validity.get_mut(..len.div_ceil(8)).ok_or(Error::BitmapTooShort { bytes, offset: 0, len })?;
        let nulls = self.nulls(&shapes);
        if nulls.indices.is_some() || nulls.data.is_some() {
            // SAFETY: the caller's promise.
            return unsafe { self.run_with_nulls(&shapes, &nulls, out, bits) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.call.run(out) }?;
        bits.fill(u8::MAX);
        if len % 8 != 0 {
            bits[len / 8] >>= 8 - len % 8;
        }
        Ok(0)
    }

    /// The bitmaps that have a null. One of data that has more bits than there are indices is not read, and counts as
    /// having one.
    fn nulls(&self, shapes: &Shapes<'_>) -> Nulls<'_> {
        let Nulls { indices, data } = self.nulls;
        let data = data.filter(|data| data.len() > shapes.count || data.has_nulls());
        Nulls { indices: indices.filter(|indices| indices.has_nulls()), data }
    }

    /// Checks attributes and shapes, those of a fixed output and the lengths of bitmaps too, and lowers the operator
    /// into what is empty.
    ///
    /// # Errors
    /// Those of the operator, [`Error::TooManyElements`], [`Error::ShapeMismatch`], [`Error::BitmapLengthMismatch`].
    fn shapes<'s>(&self, lowered: &'s mut IndexLowered, out: Option<&Layout>) -> Result<Shapes<'s>, Error> {
        let Request { data, indices, planned: IndexRequest { op, .. }, .. } = self.call.request;
        let tuples = op == Op::GatherNd && indices.rank() > 0;
        let lead = indices.rank() - usize::from(tuples);
        let mut numbers = Layout::contiguous(&indices.shape()[..lead])?;
        let count = numbers.len();
        if tuples {
            let steps: SmallVec<[isize; 6]> = numbers.strides().iter().copied().chain([0]).collect();
            numbers = Layout::strided(indices.shape(), &steps)?;
        }
        self.call.request.attributes.lower(&Layout::contiguous(data.shape())?, &numbers, lowered)?;
        Shape::checked_len(&lowered.output)?;
        if let Some(out) = out {
            check_output(op, &lowered.output, out.shape())?;
        }
        let mismatch =
            |argument, len, rows, elements| Error::BitmapLengthMismatch { op, argument, len, rows, elements };
        if let Some(valid) = self.nulls.indices.filter(|valid| valid.len() != count) {
            return Err(mismatch(Argument::Indices, valid.len(), count, count));
        }
        // The dimensions of a row.
        let row_rank = match op {
            Op::Gather => data.rank().saturating_sub(lowered.axes[0].axis + 1),
            Op::GatherNd => lowered.dims.len() - lead,
            _ => 0,
        };
        let (before, row) = data.shape().split_at(data.rank() - row_rank);
        let (rows, len) = (before.iter().product(), self.nulls.data.map(|valid| valid.len()));
        if len.is_none_or(|len| len == rows) {
            // In row-major order, strides of rows are multiples of what a row takes.
            let row: usize = row.iter().map(|&n| n.max(1)).product();
            lowered.dims.truncate(lowered.dims.len() - row_rank);
            lowered.dims.iter_mut().for_each(|dim| dim.data /= row as isize);
            lowered.axes.iter_mut().for_each(|axis| axis.data /= row as isize);
        } else if let Some(len) = len.filter(|&len| len != data.len()) {
            return Err(mismatch(Argument::Data, len, rows, data.len()));
        }
        let bits = lowered.dims.iter().map(|dim| dim.n).product();
        Ok(Shapes { lowered, numbers, lead, count, bits })
    }

    /// Runs into an output, and into the bytes of a bitmap; returns the number of nulls.
    ///
    /// # Safety
    /// As for [`Call::run`].
    unsafe fn run_with_nulls(
        &self,
        shapes: &Shapes<'_>,
        nulls: &Nulls<'_>,
        out: Target<'_>,
        bits: &mut [u8],
    ) -> Result<usize, Error> {
        let fits = |axis: &Axis| i32::try_from(axis.dim).is_ok();
        if shapes.lowered.axes.iter().all(fits) {
            // SAFETY: the caller's promise.
            unsafe { self.run_by::<i32>(self.kernels[0], (shapes, nulls), out, bits) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.run_by::<i64>(self.kernels[1], (shapes, nulls), out, bits) }
        }
    }

    /// As [`ValidCall::run_with_nulls`], by positions of a type whose kernels are given.
    ///
    /// # Safety
    /// As there.
    unsafe fn run_by<P: Place>(
        &self,
        kernels: Kernels,
        (shapes, nulls): (&Shapes<'_>, &Nulls<'_>),
        out: Target<'_>,
        bits: &mut [u8],
    ) -> Result<usize, Error> {
        let Shapes { lowered, numbers, lead, count, .. } = shapes;
        let Request { attributes, planned, data, indices } = self.call.request;
        let IndexRequest { op, policy, options, index, .. } = planned;
        let level = Level::resolve(options.level)?;

        let len = count.saturating_mul(lowered.axes.len().max(1));
        let mut positions = SmallVec::<[P; NEAR]>::new();
        let bytes = len.saturating_mul(size_of::<P>());
        positions.try_reserve_exact(len).map_err(|_| Error::AllocationFailed { bytes })?;
        positions.resize(len, P::ZERO);
        let check = IndexCheck { op, axes: &lowered.axes, policy, index, skips_negative: false };
        let (resolvers, valid, count, lead) = (self.resolvers, nulls.indices, *count, *lead);
        let refuses = policy.refuses(lowered.output.contains(&0), lowered.axes.iter().any(|axis| axis.dim == 0));
        let given = NullIndices { check, refuses, resolvers, level, indices, numbers, lead, count, valid };
        // SAFETY: X1 for the indices of the call. The machine has the level, as just checked.
        unsafe { given.resolve(self.call.index, &mut positions) }?;

        let (by_position, layout) = ByPosition::new(attributes, shapes)?;
        debug_assert_eq!(layout.check_within(0, positions.len()), Ok(()));
        // Every position that is not missing is in range.
        let missing = valid.is_some() || policy.out_of_bounds == OutOfBounds::Zero;
        let out_of_bounds = if missing { OutOfBounds::Zero } else { OutOfBounds::Error };
        let policy = IndexPolicy { negative: NegativeIndex::Reject, out_of_bounds };
        let planned = IndexRequest { kernels, index: P::TYPE, policy, ..planned };
        let request = Request { attributes: &by_position, planned, data, indices: &layout };
        // SAFETY: the caller's promise; positions are of the type that the request names, and there are as many as the
        // layout reaches: one for each index, or for each component of each tuple, since every component has an axis.
        unsafe { Call { request, index: positions.as_ptr().cast(), ..self.call }.run(out) }?;
        // SAFETY: the machine has the level, as checked above.
        Ok(unsafe { gather_bits(level, lowered, nulls, &positions, count, bits) })
    }
}

/// Positions that need no memory of the allocator.
const NEAR: usize = 512;

/// An operator that is given positions in place of indices.
struct ByPosition<'a> {
    attributes: &'a dyn IndexAttributes,
    /// The indices of tuples without components. Each tuple has a position all the same: 0, or that it is null.
    tuples: Option<&'a Layout>,
}

impl<'a> ByPosition<'a> {
    /// The operator, and the layout of the positions: those of the first component of all tuples come before those of
    /// the second.
    fn new(attributes: &'a dyn IndexAttributes, shapes: &'a Shapes<'_>) -> Result<(Self, Layout), Error> {
        let (shape, lead) = (shapes.numbers.shape(), shapes.lead);
        let (tuples, layout) = match shape.get(lead) {
            Some(0) => {
                let shape: Shape = shape[..lead].iter().copied().chain([1]).collect();
                (Some(&shapes.numbers), Layout::contiguous(&shape)?)
            }
            None | Some(1) => (None, Layout::contiguous(shape)?),
            Some(_) => {
                let numbers = shapes.numbers.strides()[..lead].iter().copied();
                let steps: SmallVec<[isize; 6]> = numbers.chain([shapes.count as isize]).collect();
                (None, Layout::strided(shape, &steps)?)
            }
        };
        Ok((ByPosition { attributes, tuples }, layout))
    }
}

impl Sealed for ByPosition<'_> {}

impl IndexAttributes for ByPosition<'_> {
    fn op(&self) -> Op {
        self.attributes.op()
    }

    fn takes_rows(&self, data: &Layout) -> bool {
        self.attributes.takes_rows(data)
    }

    fn lower(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error> {
        let Some(tuples) = self.tuples else { return self.attributes.lower(data, indices, lowered) };
        self.attributes.lower(data, tuples, lowered)?;
        // An axis of one position, along which data does not move.
        lowered.axes.push(Axis { axis: 0, dim: 1, data: 0, index: 0 });
        Ok(())
    }
}
