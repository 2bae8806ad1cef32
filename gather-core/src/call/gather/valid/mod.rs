//! Calls on data and indices some of which are null: the bitmaps of Apache Arrow go in, and one comes out.
//!
//! Behind the doors stands the pipeline of all gathers. It is given positions in place of indices: see `exec::nulls`.

mod plan;
mod sizes;

use smallvec::SmallVec;

use crate::call::check_output;
use crate::call::gather::erased::{Call, Request};
use crate::call::gather::planned::{Inputs, Planned};
pub use crate::call::gather::valid::plan::ValidPlan;
use crate::call::gather::valid::plan::ValidPlanned;
use crate::call::gather::valid::sizes::{ByPosition, Sizes, is_wide, request_by};
use crate::call::gather::{IndexAttributes, IndexOperator};
use crate::call::source::kind::index_type;
use crate::exec::first_bad_index::IndexCheck;
use crate::exec::{NullIndices, Place, gather_bits};
use crate::kernels::Resolvers;
use crate::kernels::registry::Registry;
use crate::kernels::select::Kernels;
use crate::plan::{IndexLowered, IndexRequest};
use crate::tensor::bitmap::{Nulls, Validity};
use crate::tensor::dynamic::{DynTensor, DynView};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{DynOutput, Output, Sealed as _, Target};
use crate::tensor::owned::Tensor;
use crate::tensor::typing::Any;
use crate::tensor::view::View;
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::index::{Index, IndexType};
use crate::types::level::Level;
use crate::types::op::Argument;
use crate::types::policy::OutOfBounds;

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

    /// Makes a plan: it does the work that depends on shapes and types once, and runs on any tensors of these layouts
    /// with any bitmaps, into row-major outputs.
    ///
    /// # Errors
    /// As for [`Self::run_valid`], without those of bitmaps, fresh memory and index values.
    pub fn plan_valid<T: Element, I: Index>(&self, data: &Layout, indices: &Layout) -> Result<ValidPlan<T, I>, Error> {
        ValidPlan::new(&self.valid_request::<T, I>(data, indices), Planned::new)
    }

    /// As [`Self::plan_valid`], for any size of the first dimension of indices. The size in `indices` is what calls are
    /// expected to have.
    ///
    /// # Errors
    /// As for [`Self::plan_valid`], and [`Error::FixedCount`] as for [`Self::plan_any_count`] and for tuples of several
    /// components.
    pub fn plan_valid_any_count<T: Element, I: Index>(
        &self,
        data: &Layout,
        indices: &Layout,
    ) -> Result<ValidPlan<T, I>, Error> {
        ValidPlan::new(&self.valid_request::<T, I>(data, indices), Planned::new_any_count)
    }

    /// As [`Self::plan_valid`], for types that are known at run time, with the kernels of a registry.
    ///
    /// # Errors
    /// [`Error::UnknownDType`], then as for [`Self::plan_valid`].
    pub fn plan_valid_dyn(
        &self,
        registry: &Registry,
        dtype: DType,
        data: &Layout,
        index: IndexType,
        indices: &Layout,
    ) -> Result<ValidPlan<Any, Any>, Error> {
        ValidPlan::new(&self.valid_dyn_request(registry, (dtype, data), (index, indices))?, Planned::new)
    }

    fn valid_request<'a, T: Element, I: Index>(&'a self, data: &'a Layout, indices: &'a Layout) -> ValidRequest<'a> {
        ValidRequest {
            request: Request::typed::<T, I, A>(self, data, indices),
            kernels: [Kernels::of::<i32>(), Kernels::of::<i64>()],
            resolvers: Resolvers::of::<I>(),
        }
    }

    fn valid_dyn_request<'a>(
        &'a self,
        registry: &Registry,
        (dtype, data): (DType, &'a Layout),
        (index, indices): (IndexType, &'a Layout),
    ) -> Result<ValidRequest<'a>, Error> {
        let op = self.attributes().op();
        let of = |index| registry.index_kernels(op, dtype, index).ok_or(Error::UnknownDType { op, dtype });
        let planned = self.index_request((of(index)?, index), dtype, None);
        let request = Request { attributes: self.attributes(), planned, data, indices };
        let kernels = [of(IndexType::I32)?, of(IndexType::I64)?];
        Ok(ValidRequest { request, kernels, resolvers: Resolvers::by_type(index) })
    }

    fn valid_call<'a, T: Element, I: Index>(
        &'a self,
        data: &'a View<'_, T>,
        indices: &'a View<'_, I>,
        nulls: Nulls<'a>,
    ) -> ValidCall<'a> {
        self.valid_request::<T, I>(data.layout(), indices.layout()).call(Inputs::of(data, indices), nulls)
    }

    fn valid_dyn_call<'a>(
        &'a self,
        registry: &Registry,
        data: &'a DynView<'_>,
        indices: &'a DynView<'_>,
        nulls: Nulls<'a>,
    ) -> Result<ValidCall<'a>, Error> {
        let index = index_type(indices.dtype())?;
        let request = self.valid_dyn_request(registry, (data.dtype(), data.layout()), (index, indices.layout()))?;
        Ok(request.call(Inputs::of::<Any, Any>(data, indices), nulls))
    }
}

/// A call as it is without nulls, and what it takes to run it by positions.
struct ValidRequest<'a> {
    request: Request<'a>,
    /// The kernels for positions of 32 and of 64 bits.
    kernels: [Kernels; 2],
    resolvers: Resolvers,
}

impl<'a> ValidRequest<'a> {
    fn call(self, inputs: Inputs<'a>, nulls: Nulls<'a>) -> ValidCall<'a> {
        let ValidRequest { request: Request { attributes, planned, .. }, kernels, resolvers } = self;
        ValidCall { request: planned, inputs, resolvers, nulls, runs: Runs::Once(attributes, kernels) }
    }
}

/// A call, without its types.
struct ValidCall<'a> {
    request: IndexRequest,
    inputs: Inputs<'a>,
    resolvers: Resolvers,
    nulls: Nulls<'a>,
    runs: Runs<'a>,
}

/// How a call runs.
enum Runs<'a> {
    /// It makes plans on its way, by the kernels for positions of 32 and of 64 bits.
    Once(&'a dyn IndexAttributes, [Kernels; 2]),
    /// By plans for the layouts of its inputs.
    Planned(&'a ValidPlanned),
}

/// The sizes of a call with its bitmaps.
struct Shapes<'a> {
    /// The operator. Its loops step through the bits of data and the numbers of indices; where a row has one bit, the
    /// loops of a row are left out.
    lowered: &'a IndexLowered,
    sizes: Sizes,
    /// The size of the first dimension of indices, where a plan leaves that free.
    free: usize,
    /// Bits of the result.
    bits: usize,
}

impl ValidCall<'_> {
    /// Runs into a tensor, and into a fresh bitmap; `None` where nothing is null.
    ///
    /// # Safety
    /// As for [`Call::run`].
    unsafe fn run_fresh(&self, out: Target<'_>) -> Result<Option<Validity>, Error> {
        let mut lowered = IndexLowered::new(self.request.op);
        let shapes = self.shapes(&mut lowered, out.layout())?;
        let nulls = self.nulls(&shapes);
        if let Nulls { indices: None, data: None } = nulls {
            // SAFETY: the caller's promise.
            return unsafe { self.run_without_nulls(&shapes, out) }.map(|()| None);
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
        let mut lowered = IndexLowered::new(self.request.op);
        let shapes = self.shapes(&mut lowered, out.layout())?;
        let (bytes, len) = (validity.len(), shapes.bits);
        let bits = validity.get_mut(..len.div_ceil(8)).ok_or(Error::BitmapTooShort { bytes, offset: 0, len })?;
        let nulls = self.nulls(&shapes);
        if nulls.indices.is_some() || nulls.data.is_some() {
            // SAFETY: the caller's promise.
            return unsafe { self.run_with_nulls(&shapes, &nulls, out, bits) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.run_without_nulls(&shapes, out) }?;
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
        let data = data.filter(|data| data.len() > shapes.sizes.count || data.has_nulls());
        Nulls { indices: indices.filter(|indices| indices.has_nulls()), data }
    }

    /// Checks attributes and shapes, those of a fixed output and the lengths of bitmaps too, and lowers the operator
    /// into what is empty, if no plan has.
    ///
    /// # Errors
    /// Those of the operator, [`Error::TooManyElements`], [`Error::ShapeMismatch`], or [`Error::PlanMismatch`]; then
    /// [`Error::BitmapLengthMismatch`].
    fn shapes<'s>(&'s self, lowered: &'s mut IndexLowered, out: Option<&Layout>) -> Result<Shapes<'s>, Error> {
        let Inputs { data_layout: data, indices, .. } = self.inputs;
        let (lowered, sizes, free) = match self.runs {
            Runs::Once(attributes, _) => {
                let sizes = Sizes::new(&Request { attributes, planned: self.request, data, indices }, lowered)?;
                if let Some(out) = out {
                    check_output(self.request.op, &lowered.output, out.shape())?;
                }
                if self.has_bits_of_rows(&sizes)? {
                    sizes.step_by_rows(data, lowered);
                }
                (&*lowered, sizes, 0)
            }
            Runs::Planned(plan) => {
                let free = plan.check(data, indices, out)?;
                let sizes = free.map_or_else(|| Ok(plan.sizes.clone()), |count| plan.sizes.resized(count))?;
                let mut planned = plan.lowered(self.has_bits_of_rows(&sizes)?);
                if let Some(count) = free {
                    // The free dimension is the first of the result.
                    lowered.clone_from(planned);
                    lowered.output.assign_resized(&planned.output, count);
                    Shape::checked_len(&lowered.output)?;
                    lowered.dims[0].n = count;
                    planned = lowered;
                }
                (planned, sizes, free.unwrap_or(0))
            }
        };
        let bits = lowered.dims.iter().map(|dim| dim.n).product();
        Ok(Shapes { lowered, sizes, free, bits })
    }

    /// Whether data has a bit for each row, and not for each element.
    ///
    /// # Errors
    /// [`Error::BitmapLengthMismatch`] for indices and for data.
    #[inline(always)]
    fn has_bits_of_rows(&self, sizes: &Sizes) -> Result<bool, Error> {
        let (op, data) = (self.request.op, self.inputs.data_layout);
        let mismatch =
            |argument, len, rows, elements| Error::BitmapLengthMismatch { op, argument, len, rows, elements };
        if let Some(valid) = self.nulls.indices.filter(|valid| valid.len() != sizes.count) {
            return Err(mismatch(Argument::Indices, valid.len(), sizes.count, sizes.count));
        }
        let rows = sizes.rows(data).0.iter().product();
        match self.nulls.data.map(|valid| valid.len()) {
            Some(len) if len != rows && len != data.len() => Err(mismatch(Argument::Data, len, rows, data.len())),
            len => Ok(len.is_none_or(|len| len == rows)),
        }
    }

    /// Runs into an output where nothing is null.
    ///
    /// # Safety
    /// As for [`Call::run`].
    unsafe fn run_without_nulls(&self, shapes: &Shapes<'_>, out: Target<'_>) -> Result<(), Error> {
        let Inputs { data, data_layout, index, indices, .. } = self.inputs;
        match self.runs {
            Runs::Once(attributes, _) => {
                let request = Request { attributes, planned: self.request, data: data_layout, indices };
                // SAFETY: the caller's promise.
                unsafe { Call { request, data, index }.run(out) }
            }
            // SAFETY: the layouts are those of the plan, as `shapes` has checked; the rest is the caller's promise.
            Runs::Planned(plan) => unsafe { plan.planned.run_on_inputs(self.inputs, shapes.free, out) },
        }
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
        let run_by = if is_wide(shapes.lowered) { Self::run_by::<i64> } else { Self::run_by::<i32> };
        // SAFETY: the caller's promise.
        unsafe { run_by(self, (shapes, nulls), out, bits) }
    }

    /// As [`ValidCall::run_with_nulls`], by positions of a type that all axes fit in.
    ///
    /// # Safety
    /// As there.
    unsafe fn run_by<P: Place>(
        &self,
        (shapes, nulls): (&Shapes<'_>, &Nulls<'_>),
        out: Target<'_>,
        bits: &mut [u8],
    ) -> Result<usize, Error> {
        let Shapes { lowered, sizes, free, .. } = shapes;
        let Sizes { numbers, lead, count, .. } = sizes;
        let Inputs { data, data_layout, index: start, indices, .. } = self.inputs;
        let IndexRequest { op, policy, options, index, .. } = self.request;
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
        unsafe { given.resolve(start, &mut positions) }?;

        let index = positions.as_ptr().cast();
        match self.runs {
            Runs::Once(attributes, kernels) => {
                let (by_position, layout) = ByPosition::new(attributes, sizes)?;
                debug_assert_eq!(layout.check_within(0, positions.len()), Ok(()));
                let missing = valid.is_some() || policy.out_of_bounds == OutOfBounds::Zero;
                let planned = request_by::<P>(self.request, kernels, missing);
                let request = Request { attributes: &by_position, planned, data: data_layout, indices: &layout };
                // SAFETY: the caller's promise; positions are of the type that the request names, and there are as many
                // as the layout reaches: one for each index, or for each component of each tuple, since every component
                // has an axis.
                unsafe { Call { request, data, index }.run(out) }?;
            }
            Runs::Planned(plan) => {
                let inputs = Inputs { index, indices: plan.positions(), ..self.inputs };
                // SAFETY: as above, for the layout of the plan's positions, which was made likewise, and for as many of
                // them as are free; data has the plan's layout, as `shapes` has checked.
                unsafe { plan.by_position.run_on_inputs(inputs, *free, out) }?;
            }
        }
        // SAFETY: the machine has the level, as checked above.
        Ok(unsafe { gather_bits(level, lowered, nulls, &positions, count, bits) })
    }
}

/// Positions that need no memory of the allocator.
const NEAR: usize = 512;
