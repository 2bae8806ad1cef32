//! Calls with nulls, without types: compiled once for all sources.

use smallvec::SmallVec;

use crate::call::checks::check_output;
use crate::call::gather::ErasedGather;
use crate::call::gather::kinds::{self, GatherKind};
use crate::call::gather::nullable::plan::NullablePlanned;
use crate::call::gather::nullable::sizes::{ByPosition, NullableSizes, is_wide};
use crate::call::gather::plan::GatherPlan;
use crate::call::source::kind::{IndexKind, not_compiled};
use crate::call::source::reader::Reader;
use crate::exec::first_bad_index::IndexCheck;
use crate::exec::{Ids, NullIndices, Operands, PositionType, gather_bits};
use crate::kernels::Resolvers;
use crate::plan::IndexLowered;
use crate::tensor::bitmap::{Nulls, Validity};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::Target;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::level::Level;
use crate::types::op::{Argument, Op};
use crate::types::policy::KernelPolicy;

/// The operator, policies and types of a call.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub(super) op: Op,
    policy: KernelPolicy,
    level: Option<Level>,
    index: IndexType,
    resolvers: Resolvers,
    /// Whether indices are positions that have been checked.
    is_checked: bool,
}

impl Facts {
    #[inline(always)]
    pub(super) fn of<I: IndexKind>(op: &ErasedGather<'_>, dtype: DType, index: IndexType) -> Result<Self, Error> {
        let ErasedGather { policy, options, .. } = *op;
        let resolvers = I::resolvers(index).ok_or_else(not_compiled(op.op(), dtype, index))?;
        let (op, policy, is_checked) = (op.op(), policy.lower(), I::IS_CHECKED);
        Ok(Facts { op, policy, level: options.level, index, resolvers, is_checked })
    }
}

/// A call without its types and operands.
pub(super) struct Call<'a> {
    pub(super) facts: Facts,
    pub(super) nulls: Nulls<'a>,
    pub(super) reader: &'a Reader<'a>,
    pub(super) runs: Runs<'a>,
}

/// How a call runs: by the functions of [`kinds`](crate::call::gather::kinds) for the kind of data.
pub(super) enum Runs<'a> {
    /// Makes plans during the call.
    Once(ErasedGather<'a>, OnceFns),
    /// By plans for the layouts of its inputs.
    Planned(&'a NullablePlanned, fn(&GatherPlan, &Reader<'_>, Operands<'_, Target<'_>>) -> Result<(), Error>),
}

type RunFn = fn(&ErasedGather<'_>, &Reader<'_>, Operands<'_, Target<'_>>) -> Result<(), Error>;

/// The functions that run an operator on data of a kind, and return the shape of results.
#[derive(Clone, Copy)]
pub(super) struct OnceFns {
    /// `by[0]` runs by the call's indices, `by[1]` by 32-bit positions, `by[2]` by 64-bit positions.
    by: [RunFn; 3],
    results: fn(&Reader<'_>, &[usize], &[usize]) -> Option<Shape>,
}

impl OnceFns {
    #[inline(always)]
    pub(super) fn new<K: GatherKind, I: IndexKind>() -> Self {
        let by: [RunFn; 3] = [kinds::run::<K, I>, kinds::run::<K, i32>, kinds::run::<K, i64>];
        OnceFns { by, results: kinds::results::<K> }
    }
}

/// The shapes of a call and its bitmaps.
struct NullableShapes<'a> {
    /// The lowered operator. Its loops step through bits of data, of rows or of elements, and `sizes.numbers`.
    lowered: &'a IndexLowered,
    sizes: NullableSizes,
    /// Bits of the result.
    bits: usize,
    is_empty: bool,
}

impl Call<'_> {
    /// Runs into a tensor and a fresh bitmap; `None` if nothing is null.
    pub(super) fn run_fresh(&self, operands: Operands<'_, Target<'_>>) -> Result<Option<Validity>, Error> {
        let mut lowered = IndexLowered::new(self.facts.op);
        let shapes = self.shapes(&mut lowered, &operands)?;
        let nulls = self.nulls(&shapes);
        if let Nulls { indices: None, data: None } = nulls {
            return self.run_without_nulls(operands).map(|()| None);
        }
        let validity = Validity::write(shapes.bits, |bits| self.run_with_nulls(&shapes, &nulls, operands, bits))?;
        Ok(Some(validity).filter(|validity| validity.null_count() > 0))
    }

    /// Runs into an output and the bytes of a bitmap; returns the number of nulls.
    pub(super) fn run_into(&self, operands: Operands<'_, Target<'_>>, validity: &mut [u8]) -> Result<usize, Error> {
        let mut lowered = IndexLowered::new(self.facts.op);
        let shapes = self.shapes(&mut lowered, &operands)?;
        let (bytes, len) = (validity.len(), shapes.bits);
        let bits = validity.get_mut(..len.div_ceil(8)).ok_or(Error::BitmapTooShort { bytes, offset: 0, len })?;
        let nulls = self.nulls(&shapes);
        if nulls.indices.is_some() || nulls.data.is_some() {
            return self.run_with_nulls(&shapes, &nulls, operands, bits);
        }
        self.run_without_nulls(operands)?;
        bits.fill(u8::MAX);
        if len % 8 != 0 {
            bits[len / 8] >>= 8 - len % 8;
        }
        Ok(0)
    }

    /// The bitmaps with nulls. A bitmap of data with more bits than there are indices is returned without a search.
    fn nulls(&self, shapes: &NullableShapes<'_>) -> Nulls<'_> {
        let Nulls { indices, data } = self.nulls;
        let data = data.filter(|data| data.len() > shapes.sizes.count || data.has_nulls());
        Nulls { indices: indices.filter(|indices| indices.has_nulls()), data }
    }

    /// Checks attributes, shapes, a fixed output and bitmap lengths; without a plan, lowers the operator too.
    ///
    /// # Errors
    /// Errors of the operator, [`Error::TooManyElements`], [`Error::ShapeMismatch`] or [`Error::PlanMismatch`]; then
    /// errors of [`Call::has_bits_of_rows`].
    fn shapes<'s>(
        &'s self,
        lowered: &'s mut IndexLowered,
        operands: &Operands<'_, Target<'_>>,
    ) -> Result<NullableShapes<'s>, Error> {
        let ((_, data), (indices, _), out) = (operands.data(), operands.indices(), operands.out_layout());
        let (lowered, sizes, is_empty) = match &self.runs {
            Runs::Once(op, fns) => {
                let sizes = NullableSizes::new(op.attributes, data, indices, lowered)?;
                let converted = (fns.results)(self.reader, &lowered.output, sizes.rows(data).1);
                let results = converted.as_ref().unwrap_or(&lowered.output);
                Shape::checked_len(results)?;
                if let Some(out) = out {
                    check_output(self.facts.op, results, out.shape())?;
                }
                let is_empty = results.contains(&0);
                if self.has_bits_of_rows(data, &sizes)? {
                    sizes.step_by_rows(data, lowered);
                }
                (&*lowered, sizes, is_empty)
            }
            Runs::Planned(plan, _) => {
                let free = plan.check(data, indices, out)?;
                let sizes = free.map_or_else(|| Ok(plan.sizes.clone()), |count| plan.sizes.resized(count))?;
                let mut planned = plan.lowered(self.has_bits_of_rows(data, &sizes)?);
                let mut results = Shape::from(plan.plan.output_shape());
                if let Some(count) = free {
                    // The dynamic dimension is the first of the result.
                    lowered.clone_from(planned);
                    lowered.output.assign_resized(&planned.output, count);
                    results.assign_resized(plan.plan.output_shape(), count);
                    Shape::checked_len(&results)?;
                    lowered.dims[0].n = count;
                    planned = lowered;
                }
                (planned, sizes, results.contains(&0))
            }
        };
        let bits = lowered.dims.iter().map(|dim| dim.n).product();
        Ok(NullableShapes { lowered, sizes, bits, is_empty })
    }

    /// Whether data has a bit per row, not per element.
    ///
    /// # Errors
    /// [`Error::BitmapLengthMismatch`] for indices; for data [`Error::BitmapPerElement`] if whole rows are read, and
    /// [`Error::BitmapLengthMismatch`].
    #[inline(always)]
    fn has_bits_of_rows(&self, data: &Layout, sizes: &NullableSizes) -> Result<bool, Error> {
        let op = self.facts.op;
        let mismatch =
            |argument, len, rows, elements| Error::BitmapLengthMismatch { op, argument, len, rows, elements };
        if let Some(valid) = self.nulls.indices.filter(|valid| valid.len() != sizes.count) {
            return Err(mismatch(Argument::Indices, valid.len(), sizes.count, sizes.count));
        }
        let rows = sizes.rows(data).0.iter().product();
        let elements = if self.reader.reads_rows() { rows } else { data.len() };
        match self.nulls.data.map(|valid| valid.len()) {
            Some(len) if len == rows => Ok(true),
            Some(len) if len == elements => Ok(false),
            Some(len) if len == data.len() => Err(Error::BitmapPerElement { op, rows, elements: len }),
            Some(len) => Err(mismatch(Argument::Data, len, rows, elements)),
            None => Ok(true),
        }
    }

    fn run_without_nulls(&self, operands: Operands<'_, Target<'_>>) -> Result<(), Error> {
        match &self.runs {
            Runs::Once(op, fns) => (fns.by[0])(op, self.reader, operands),
            Runs::Planned(plan, run) => run(&plan.plan, self.reader, operands),
        }
    }

    /// As [`Call::run_into`], with checked shapes and bitmaps.
    fn run_with_nulls(
        &self,
        shapes: &NullableShapes<'_>,
        nulls: &Nulls<'_>,
        operands: Operands<'_, Target<'_>>,
        bits: &mut [u8],
    ) -> Result<usize, Error> {
        let run_by = if is_wide(shapes.lowered) { Self::run_by::<i64> } else { Self::run_by::<i32> };
        run_by(self, (shapes, nulls), operands, bits)
    }

    /// As [`Call::run_with_nulls`], by positions of type `P`, which holds every position of every axis.
    fn run_by<P: PositionType>(
        &self,
        (shapes, nulls): (&NullableShapes<'_>, &Nulls<'_>),
        operands: Operands<'_, Target<'_>>,
        bits: &mut [u8],
    ) -> Result<usize, Error> {
        let NullableShapes { lowered, sizes, .. } = shapes;
        let NullableSizes { numbers, lead, count, .. } = sizes;
        let Facts { op, policy, level, index, resolvers, .. } = self.facts;
        let level = Level::resolve(level)?;

        let len = count.saturating_mul(lowered.axes.len().max(1));
        let (valid, count, lead, indices) = (nulls.indices, *count, *lead, operands.ids());
        let mut own = SmallVec::<[P; INLINE]>::new();
        let checked = self.checked_positions::<P>(indices, len);
        let positions = match checked {
            Some(checked) if valid.is_none() => checked,
            _ => {
                let bytes = len.saturating_mul(size_of::<P>());
                own.try_reserve_exact(len).map_err(|_| Error::AllocationFailed { bytes })?;
                if let (Some(checked), Some(valid)) = (checked, valid) {
                    own.extend_from_slice(checked);
                    P::BITS.mark_nulls.at(level)((&mut own, valid));
                } else {
                    own.resize(len, P::ZERO);
                    let check = IndexCheck { op, axes: &lowered.axes, policy, index, skips_negative: false };
                    let refuses = policy.refuses(shapes.is_empty, lowered.axes.iter().any(|axis| axis.dim == 0));
                    NullIndices { check, refuses, resolvers, level, indices, numbers, lead, count, valid }
                        .resolve(&mut own)?;
                }
                &own
            }
        };

        let start = positions.as_ptr().cast();
        match &self.runs {
            Runs::Once(op, fns) => {
                let (by_position, layout) = ByPosition::new(op.attributes, sizes)?;
                debug_assert_eq!(layout.check_within(0, positions.len()), Ok(()));
                let missing = valid.is_some() || !policy.fails();
                let run = fns.by[if P::TYPE == IndexType::I64 { 2 } else { 1 }];
                // SAFETY: V1: the layout reaches the positions: one per index, or one per component of each tuple,
                // since every component has an axis.
                let places = unsafe { Ids::new(start, &layout, P::TYPE) };
                run(&by_position.call(*op, missing), self.reader, operands.by(places))?;
            }
            Runs::Planned(plan, run) => {
                let first = numbers.shape().first().filter(|_| plan.is_dynamic());
                let resized = first.and_then(|&first| plan.positions().resized(first)).transpose()?;
                let layout = resized.as_ref().unwrap_or(plan.positions());
                debug_assert_eq!(layout.check_within(0, positions.len()), Ok(()));
                debug_assert_eq!(plan.by_position.index, P::TYPE);
                // SAFETY: V1: the layout is the plan's for positions, with the count of this call. The layout reaches
                // one position per index, or per component of each tuple, since the plan has the axes of this call;
                // `resolve` wrote all positions. `P` is the planned type for these axes.
                let places = unsafe { Ids::new(start, layout, P::TYPE) };
                run(&plan.by_position, self.reader, operands.by(places))?;
            }
        }
        Ok(gather_bits(level, lowered, nulls, positions, count, bits))
    }

    /// Checked indices of type `P`, which are their own `len` positions.
    fn checked_positions<'i, P: PositionType>(&self, indices: Ids<'i>, len: usize) -> Option<&'i [P]> {
        let layout = indices.layout();
        if !(self.facts.is_checked && indices.of() == P::TYPE && layout.is_contiguous() && layout.len() == len) {
            return None;
        }
        let start = if len == 0 { core::ptr::NonNull::dangling().as_ptr() } else { indices.start().cast::<P>() };
        debug_assert!(start.is_aligned(), "checked positions are aligned");
        // SAFETY: V1: `len` contiguous indices of type `P`, borrowed for `'i`. A `Checked` has aligned positions.
        Some(unsafe { core::slice::from_raw_parts(start, len) })
    }
}

/// Maximum number of positions on the stack.
const INLINE: usize = 512;
