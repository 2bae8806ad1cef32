//! The plan of an EmbeddingBag: where bags begin and end, and the loops of a row.

#![forbid(unsafe_code)]

mod bounds;
mod explain;

pub(crate) use bounds::Bounds;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::{Deref, RangeInclusive};

use crate::kernels::by_level::ByLevel;
use crate::kernels::convert::{DecodeFns, RowFn};
use crate::kernels::reduce::bag::{
    BagFn, BagFns, CompiledBagFn, CompiledPositionsFn, FusedBag, FusedOutput, PositionsFn,
};
use crate::kernels::{LINE, Loop};
use crate::plan::fold::{Loops, count, fold_into};
use crate::plan::lowered::Axis;
use crate::plan::nest::Action;
use crate::plan::tasks::Work;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::memory;
use crate::types::element::{DType, ElementBytes};
use crate::types::error::Error;
use crate::types::fused::FusedRow;
use crate::types::index::IndexType;
use crate::types::level::{Available, Level};
use crate::types::method::Method;
use crate::types::op::Op;
use crate::types::policy::{KernelPolicy, Options};

/// The parts of an EmbeddingBag besides layouts.
#[derive(Clone, Copy)]
pub(crate) struct BagRequest {
    /// Of the output.
    pub(crate) dtype: DType,
    pub(crate) index: IndexType,
    pub(crate) positions: ByLevel<CompiledPositionsFn>,
    pub(crate) fns: &'static BagFns,
    /// Numbers of an element of the output, each of which is reduced.
    pub(crate) values: usize,
    pub(crate) converting: Option<BagConverting>,
    pub(crate) fused: Option<BagFused>,
    pub(crate) policy: KernelPolicy,
    /// The row that is left out.
    pub(crate) padding: Option<usize>,
    /// Whether negative indices are left out too.
    pub(crate) skips_negative: bool,
    /// The row that stands for bags in which nothing counts.
    pub(crate) default: Option<usize>,
    pub(crate) options: Options,
}

impl BagRequest {
    /// Bytes of an element of data.
    fn size_in(&self) -> usize {
        match (self.fused, self.converting) {
            (Some(_), _) => 1,
            (None, Some(map)) => map.size_in,
            (None, None) => self.dtype.size(),
        }
    }
}

/// A map that converts rows before they are reduced, without its types.
#[derive(Clone, Copy)]
pub(crate) struct BagConverting {
    /// The map's functions, by level.
    pub(crate) decode_fns: DecodeFns,
    /// Bytes of an element of data.
    pub(crate) size_in: usize,
}

/// Fused rows, which are decoded as they are reduced. Of the layout of data, the columns are numbered as if they had a
/// byte each.
#[derive(Clone, Copy)]
pub(crate) struct BagFused {
    pub(crate) row: FusedRow,
    pub(crate) output: FusedOutput,
    /// The function that makes a bag's row of a row as it is.
    pub(crate) as_it_is: ByLevel<CompiledBagFn>,
}

/// How rows are converted: some rows at a time, and of these some columns.
#[derive(Clone, Copy)]
pub(crate) struct BagConversion {
    /// The map at the plan's level.
    pub(crate) row_fn: RowFn,
    /// The most elements of a row that are converted at a time.
    pub(crate) columns: usize,
    /// The most rows that are converted at a time.
    pub(crate) rows: usize,
    /// Bytes from a converted row to the next: whole lines.
    pub(crate) stride: usize,
}

impl BagConversion {
    /// For `rows` rows of `elements` elements, of which each takes `size` bytes when it is converted.
    fn new(map: &BagConverting, level: Available, rows: usize, elements: usize, size: usize) -> Self {
        let size_in = map.size_in;
        // A map may make small elements of large ones: the greater size decides.
        let columns = (COLUMNS / size.max(size_in)).clamp(1, elements.max(1));
        let stride = columns.saturating_mul(size).div_ceil(LINE).saturating_mul(LINE);
        let taken = stride.max(columns.saturating_mul(size_in));
        BagConversion {
            row_fn: *map.decode_fns.row.get(*level),
            columns,
            rows: (CONVERTED / taken).min(rows).clamp(1, MOST_CONVERTED),
            stride,
        }
    }

    /// Bytes of the converted rows.
    pub(crate) fn bytes(&self) -> usize {
        self.stride.saturating_mul(self.rows)
    }
}

/// The plan of an EmbeddingBag, for any bags.
///
/// Made by [`BagPlan::new`] alone, from layouts. So, for tensors of these layouts and types, except for the number of
/// bags:
///
/// - **P1** For every bag and every position of the axis, `loops` and `elements` reach the elements of a row of data
///   and those of the bag's row of the output, all of them. Those of data have `size_in` bytes; where rows are fused,
///   there are no loops, and position by position they have the bytes of `fused`.
/// - **P3** `padding` and `default` are rows of data.
#[derive(Clone)]
pub(crate) struct BagPlan {
    request: BagRequest,
    level: Available,
    axis: Axis,
    /// P1. Folded, in bytes.
    loops: Loops,
    elements: usize,
    /// Bytes of data from a row to the next, and of the output.
    stride: isize,
    out_stride: isize,
    /// Whether a row of the output has elements.
    has_elements: bool,
    zero: ElementBytes,
    /// Zeros for `elements` elements, under [`OutOfBounds::Zero`].
    zeros: Option<Arc<Vec<u8>>>,
    prefetch_distance: usize,
    fused: Option<FusedBag>,
}

/// A plan with the bags of a call, made by [`BagPlan::call`].
///
/// - **P2** The bounds are those of as many indices as the call has, or fewer. There are as many bags as the call's
///   output has rows.
#[derive(Clone, Copy)]
pub(crate) struct BagCall<'a> {
    plan: &'a BagPlan,
    /// P2.
    bounds: &'a Bounds,
    conversion: Option<BagConversion>,
}

impl BagPlan {
    /// Plans for data, of rank 1 or more, and an output that has a row of data's for each bag. Of its first dimension
    /// the stride is planned for.
    ///
    /// # Errors
    /// [`Error::LevelUnavailable`] and [`Error::UnknownLevel`], [`Error::TooManyBytes`], [`Error::MethodUnavailable`],
    /// [`Error::AllocationFailed`].
    #[inline(always)]
    pub(crate) fn new(request: &BagRequest, data: &Layout, out: &Layout) -> Result<Self, Error> {
        debug_assert_eq!(out.shape()[1..], data.shape()[1..], "P1");
        let level = Level::resolve(request.options.level)?;
        let size = request.dtype.size();
        let size_in = request.size_in();
        Shape::checked_bytes(out.shape(), size)?;
        if let Some(forced) = request.options.method.filter(|&forced| forced != Method::Accumulated) {
            return Err(Error::MethodUnavailable { op: Op::EmbeddingBag, method: forced });
        }
        let axis = Axis { axis: 0, dim: data.shape()[0], data: data.strides()[0], index: 0 };
        debug_assert!(request.padding.iter().chain(&request.default).all(|&row| row < axis.dim), "P3");
        let dims = data.shape()[1..].iter().zip(&data.strides()[1..]).zip(&out.strides()[1..]);
        let mut loops = Loops::new();
        let elements = fold_into(&mut loops, dims.map(|((&n, &data), &out)| Loop { n, out, data, index: 0 }));
        for l in &mut loops {
            // Strides in bytes wrap for layouts over no slice; a view's cannot overflow.
            l.out = l.out.wrapping_mul(size as isize);
            l.data = l.data.wrapping_mul(size_in as isize);
        }
        let row_in = request.fused.map_or(elements.saturating_mul(size_in), |fused| fused.row.bytes());
        let reach = axis.dim.saturating_mul(row_in).saturating_mul(count(&loops));
        let has_elements = !data.shape()[1..].contains(&0);
        debug_assert!(request.fused.is_none() || loops.is_empty() || !has_elements, "P1");
        let zero = if has_elements { request.dtype.zero()? } else { ElementBytes::new() };
        let fills = request.policy.fills() && has_elements;
        let zeros = match request.fused {
            _ if !fills => None,
            // Codes, scale and bias of 0.
            Some(fused) => Some(Arc::new(repeated(&[0], fused.row.bytes())?)),
            None => Some(Arc::new(repeated(&zero, elements)?)),
        };
        Ok(BagPlan {
            request: *request,
            level,
            axis,
            elements,
            stride: data.strides()[0].wrapping_mul(size_in as isize),
            out_stride: out.strides()[0].wrapping_mul(size as isize),
            has_elements,
            zero,
            zeros,
            prefetch_distance: if loops.is_empty() { prefetch_distance(row_in, reach) } else { 0 },
            loops,
            fused: request.fused.map(|fused| fused.output.bag(fused.row, level)),
        })
    }

    /// The plan with the bags of a call: P2 is the caller's promise.
    #[inline]
    pub(crate) fn call<'a>(&'a self, bounds: &'a Bounds) -> BagCall<'a> {
        self.call_by(bounds, None)
    }

    /// The same, with the functions of another map of the planned types where there are some.
    #[inline]
    pub(crate) fn call_by<'a>(&'a self, bounds: &'a Bounds, other: Option<DecodeFns>) -> BagCall<'a> {
        let conversion = |map: BagConverting| {
            let map = BagConverting { decode_fns: other.unwrap_or(map.decode_fns), ..map };
            BagConversion::new(&map, self.level, bounds.used(), self.elements, self.size())
        };
        BagCall { plan: self, bounds, conversion: self.request.converting.map(conversion) }
    }

    pub(crate) fn op(&self) -> Op {
        Op::EmbeddingBag
    }

    pub(crate) fn request(&self) -> &BagRequest {
        &self.request
    }

    pub(crate) fn index(&self) -> IndexType {
        self.request.index
    }

    pub(crate) fn level(&self) -> Level {
        *self.level
    }

    pub(crate) fn axis(&self) -> Axis {
        self.axis
    }

    pub(crate) fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// How many times `elements` make a row.
    pub(crate) fn runs(&self) -> usize {
        count(&self.loops)
    }

    pub(crate) fn elements(&self) -> usize {
        self.elements
    }

    /// Bytes of an element of the output.
    pub(crate) fn size(&self) -> usize {
        self.request.dtype.size()
    }

    /// Bytes of an element of data.
    pub(crate) fn size_in(&self) -> usize {
        self.request.size_in()
    }

    /// Bytes of a weight.
    pub(crate) fn weight_size(&self) -> usize {
        // Each value is weighted.
        if self.fused.is_some() { size_of::<f32>() } else { self.size() / self.values() }
    }

    /// The format of fused rows, at the plan's level, and the function that makes a row of the output of one.
    pub(crate) fn fused(&self) -> Option<(&FusedBag, BagFn)> {
        let as_it_is = self.request.fused?.as_it_is.at(self.level);
        Some((self.fused.as_ref()?, as_it_is))
    }

    /// Numbers of an element of the output, each of which is reduced.
    pub(crate) fn values(&self) -> usize {
        self.request.values
    }

    /// Bytes of a row of the output.
    pub(crate) fn row(&self) -> usize {
        self.elements.saturating_mul(self.size()).saturating_mul(self.runs())
    }

    /// Bytes of a row of data.
    pub(crate) fn row_in(&self) -> usize {
        if let Some(fused) = self.request.fused {
            return fused.row.bytes();
        }
        self.elements.saturating_mul(self.size_in()).saturating_mul(self.runs())
    }

    pub(crate) fn stride(&self) -> isize {
        self.stride
    }

    pub(crate) fn out_stride(&self) -> isize {
        self.out_stride
    }

    /// The bytes of an element of a bag in which nothing counts, where no row stands for it.
    pub(crate) fn zero(&self) -> &[u8] {
        &self.zero
    }

    /// A row of zeros, where the policy asks for one.
    pub(crate) fn zeros(&self) -> Option<&[u8]> {
        self.zeros.as_deref().map(Vec::as_slice)
    }

    pub(crate) fn prefetch_distance(&self) -> usize {
        self.prefetch_distance
    }

    /// The function that resolves indices.
    pub(crate) fn positions(&self) -> PositionsFn {
        self.request.positions.at(self.level)
    }

    /// The function that reduces rows, with weights or without; `None` with weights where there is no such reduction.
    pub(crate) fn reduce(&self, weighted: bool) -> Option<BagFn> {
        let BagFns { plain, weighted: with_weights, .. } = self.request.fns;
        let fns = if weighted { with_weights.as_ref()? } else { plain };
        Some(fns.at(self.level))
    }
}

impl<'a> BagCall<'a> {
    pub(crate) fn bounds(&self) -> &'a Bounds {
        self.bounds
    }

    /// How rows are converted before they are reduced, by a map.
    pub(crate) fn conversion(&self) -> Option<&BagConversion> {
        self.conversion.as_ref()
    }

    pub(crate) fn action(&self) -> Action {
        match () {
            () if self.has_elements && self.bounds.bags() > 0 => Action::Run,
            () if self.request.policy.refuses(true, false) => Action::Check,
            () => Action::Nothing,
        }
    }

    /// The work of a call.
    pub(crate) fn work(&self) -> Work {
        let rows = self.bounds.used();
        Work { bytes: rows.saturating_mul(self.row()), rows, read: 0 }
    }

    /// Tasks that the call is cut into here and now, where the pool has `threads()` threads.
    pub(crate) fn tasks(&self, threads: impl FnOnce() -> usize) -> usize {
        self.work().tasks(self.request.options.par, threads)
    }
}

impl Deref for BagCall<'_> {
    type Target = BagPlan;

    fn deref(&self) -> &BagPlan {
        self.plan
    }
}

/// Bytes repeated.
///
/// # Errors
/// [`Error::AllocationFailed`].
fn repeated(bytes: &[u8], count: usize) -> Result<Vec<u8>, Error> {
    let mut all = memory::reserve(bytes.len().saturating_mul(count))?;
    (0..count).for_each(|_| all.extend_from_slice(bytes));
    Ok(all)
}

/// Bytes of data from which on rows are prefetched (bench `bags`).
const FAR: usize = 1 << 18;
/// Bytes of rows that are prefetched, as if each row had a number of bytes in a range: 32 short rows, or 16 long ones.
/// More of them displace each other (bench `bags`).
const BYTES_AHEAD: usize = 4 << 10;
const ROW_AHEAD: RangeInclusive<usize> = 2 * LINE..=4 * LINE;

/// Bytes of the rows that are converted at a time, and of the columns of one, in data or converted, whichever is more:
/// the first-level cache holds both (bench `bags`).
const CONVERTED: usize = 16 << 10;
const COLUMNS: usize = 1 << 10;
/// The most rows that are converted at a time: as many as have a line each.
pub(crate) const MOST_CONVERTED: usize = 256;

/// How many rows ahead are prefetched: rows of `row` bytes in data of `reach` bytes. 0 where prefetching does not pay.
fn prefetch_distance(row: usize, reach: usize) -> usize {
    if reach <= FAR || row == 0 { 0 } else { BYTES_AHEAD / row.clamp(*ROW_AHEAD.start(), *ROW_AHEAD.end()) }
}
