//! The plan of an EmbeddingBag: bounds of bags, and the loops of a row.

#![forbid(unsafe_code)]

mod bounds;
mod explain;

pub(crate) use bounds::{Bounds, index_runs};

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::{Deref, RangeInclusive};

use smallvec::SmallVec;

use crate::kernels::by_level::ByLevel;
use crate::kernels::convert::{DecodeFn, DecodeFns};
use crate::kernels::reduce::bag::{
    BagFn, BagFns, BagRule, CompiledBagFn, FusedBag, FusedOutput, IndexRuns, PositionsFn, PositionsFns,
};
use crate::kernels::{LINE, Loop};
use crate::plan::fold::{Loops, count, fold_into};
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
use crate::types::policy::{IndexPolicy, KernelPolicy, Missing, Options, Par};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BagSettings {
    pub(crate) policy: IndexPolicy,
    pub(crate) padding_index: Option<i64>,
    pub(crate) default_index: Option<i64>,
    pub(crate) skip_negative: bool,
    pub(crate) skip_out_of_range: bool,
    pub(crate) include_last_offset: bool,
}

/// The inputs of a bag plan other than layouts.
pub struct BagRequest<'a> {
    pub(crate) settings: &'a BagSettings,
    pub(crate) options: Options,
    pub(crate) dtype: DType,
    pub(crate) index: IndexType,
    pub(crate) positions: &'static PositionsFns,
    pub(crate) found: BagKernels,
    pub(crate) converting: Option<BagConverting>,
    pub(crate) fused: Option<BagFused>,
}

#[derive(Clone, Copy)]
pub(crate) struct BagKernels {
    pub(crate) fns: &'static BagFns,
    /// Values per element of the output, each of which is reduced.
    pub(crate) values: usize,
    pub(crate) name: &'static str,
}

/// A map that converts rows before they are reduced, type-erased.
#[derive(Clone, Copy)]
pub(crate) struct BagConverting {
    pub(crate) decode_fns: DecodeFns,
    /// Bytes of an element of data.
    pub(crate) size_in: usize,
}

/// Fused rows, which are decoded as they are reduced. In the layout of data, columns count as one byte each.
#[derive(Clone, Copy)]
pub(crate) struct BagFused {
    pub(crate) row: FusedRow,
    pub(crate) output: FusedOutput,
    /// The function that converts one row to the output row of a bag.
    pub(crate) as_it_is: ByLevel<CompiledBagFn>,
}

/// Blocks of rows and columns to convert together.
#[derive(Clone, Copy)]
pub(crate) struct BagConversion {
    pub(crate) decode_fn: DecodeFn,
    /// Maximum elements of a row per conversion.
    pub(crate) columns: usize,
    /// Maximum rows per conversion.
    pub(crate) rows: usize,
    /// Bytes between converted rows: whole lines.
    pub(crate) stride: usize,
}

impl BagConversion {
    pub(crate) fn bytes(&self) -> usize {
        self.stride.saturating_mul(self.rows)
    }
}

/// The plan of an EmbeddingBag, for any bags.
///
/// Made by [`BagReducePlan::new`] alone, from layouts. So, for tensors of these layouts and types and any number of
/// bags:
///
/// - **P1** For every bag and every position of the axis, `loops` and `elements` reach all elements of the row of data
///   and of the bag's row of the output. Elements of data have `size_in` bytes. Fused rows have no loops; each
///   position has the bytes of `fused`.
/// - **P3** The padding of `rule` and `default` are in range of the rows of data.
#[derive(Clone)]
pub(crate) struct BagReducePlan(BagFacts);

/// The facts of a plan: all inputs of a call except its bags and addresses.
#[derive(Clone)]
pub(crate) struct BagFacts {
    pub(crate) dtype: DType,
    pub(crate) index: IndexType,
    pub(crate) level: Available,
    pub(crate) par: Par,
    pub(crate) include_last_offset: bool,
    pub(crate) positions: &'static PositionsFns,
    pub(crate) rule: BagRule,
    /// The row of an empty bag.
    pub(crate) default: Option<usize>,
    /// Reduces rows without weights.
    pub(crate) plain: BagFn,
    /// Reduces rows with weights. `Err` has the name of a reduction that takes no weights.
    pub(crate) weighted: Result<BagFn, &'static str>,
    pub(crate) fns: &'static BagFns,
    pub(crate) values: usize,
    /// Bytes of an element of the output.
    pub(crate) size: usize,
    pub(crate) size_in: usize,
    /// The map that converts rows before they are reduced, at the plan's level.
    pub(crate) converting: Option<DecodeFn>,
    /// The format of fused rows, and the function that converts one such row to a row of the output.
    pub(crate) fused: Option<(FusedBag, BagFn)>,
    /// P1. Folded, in bytes.
    pub(crate) loops: SmallVec<[Loop; 2]>,
    pub(crate) elements: usize,
    /// Runs of `elements` elements per row.
    pub(crate) runs: usize,
    /// Bytes of a row of the output.
    pub(crate) row: usize,
    /// Bytes of a row of data.
    pub(crate) row_in: usize,
    /// Bytes between rows of data.
    pub(crate) stride: isize,
    /// Bytes between rows of the output.
    pub(crate) out_stride: isize,
    /// Whether a row of the output has elements.
    pub(crate) has_elements: bool,
    /// The bytes of an element of an empty bag without a default row.
    pub(crate) zero: ElementBytes,
    /// Whether the result of an empty bag is all zero bytes.
    pub(crate) fills_zeros: bool,
    /// Zeros for `elements` elements, under [`OutOfBounds::Zero`].
    pub(crate) zeros: Option<Arc<Vec<u8>>>,
    pub(crate) prefetch_distance: usize,
}

/// Bags prepared for a plan: all inputs of a call except addresses.
#[derive(Clone)]
pub(crate) struct PreparedBags {
    pub(crate) bounds: Bounds,
    pub(crate) rows: usize,
    pub(crate) indices: IndexRuns,
    pub(crate) positions: PositionsFn,
    /// Whether there are at most [`FEW`] rows, none skipped or converted, for one thread. These rows are resolved in
    /// one step and reduced in one step, unless weights have several strides.
    pub(crate) is_short: bool,
}

/// Maximum rows of a short call.
pub(crate) const FEW: usize = 64;

impl Deref for BagReducePlan {
    type Target = BagFacts;

    #[inline(always)]
    fn deref(&self) -> &BagFacts {
        &self.0
    }
}

impl BagReducePlan {
    /// Plans for data of rank 1 or more, and an output with a row of data's shape for each bag. The number of bags may
    /// vary, at the stride of the output's first dimension. `padding` and `default` are in range of the rows of data.
    ///
    /// # Errors
    /// [`Error::LevelUnavailable`] and [`Error::UnknownLevel`], [`Error::TooManyBytes`], [`Error::MethodUnavailable`],
    /// [`Error::AllocationFailed`].
    #[inline(never)]
    pub(crate) fn new(
        request: &BagRequest<'_>,
        ([padding, default], policy): ([Option<usize>; 2], IndexPolicy),
        data: &Layout,
        out: &Layout,
    ) -> Result<Self, Error> {
        debug_assert_eq!(out.shape()[1..], data.shape()[1..], "P1");
        let &BagRequest { settings, ref options, dtype, index, positions, ref found, ref converting, ref fused } =
            request;
        let level = Level::resolve(options.level)?;
        let size = dtype.size();
        let size_in = match (fused, converting) {
            (Some(_), _) => 1,
            (None, Some(map)) => map.size_in,
            (None, None) => size,
        };
        if out.len().checked_mul(size).is_none_or(|bytes| isize::try_from(bytes).is_err()) {
            Shape::checked_bytes(out.shape(), size)?;
        }
        if let Some(forced) = options.method.filter(|&forced| forced != Method::Accumulated) {
            return Err(Error::MethodUnavailable { op: Op::EmbeddingBag, method: forced });
        }
        let ([dim, shape @ ..], [stride, strides @ ..]) = (data.shape(), data.strides()) else {
            unreachable!("data has rows")
        };
        let [out_stride, out_strides @ ..] = out.strides() else { unreachable!("the output has rows") };
        let (dim, policy) = (*dim, policy.lower());
        let policy = match settings.skip_out_of_range {
            true => KernelPolicy::new(policy.negative, Missing::Skip, None),
            false => policy,
        };
        debug_assert!(padding.iter().chain(&default).all(|&row| row < dim), "P3");
        let dims = shape.iter().zip(strides).zip(out_strides);
        let mut loops = Loops::new();
        let elements = fold_into(&mut loops, dims.map(|((&n, &data), &out)| Loop { n, out, data, index: 0 }));
        for l in &mut loops {
            // The strides of a `Spec` in bytes may wrap; a view's strides cannot overflow.
            l.out = l.out.wrapping_mul(size as isize);
            l.data = l.data.wrapping_mul(size_in as isize);
        }
        let runs = count(&loops);
        let of_rows = |size: usize| elements.saturating_mul(size).saturating_mul(runs);
        let row_in = fused.as_ref().map_or_else(|| of_rows(size_in), |fused| fused.row.bytes());
        let has_elements = shape.iter().all(|&n| n > 0);
        debug_assert!(fused.is_none() || loops.is_empty() || !has_elements, "P1");
        let zero = if has_elements { dtype.zero()? } else { ElementBytes::new() };
        let zeros = match fused {
            _ if !policy.fills() || !has_elements => None,
            // Codes, scale and bias of 0.
            Some(fused) => Some(Arc::new(repeated(&[0], fused.row.bytes())?)),
            None => Some(Arc::new(repeated(&zero, elements)?)),
        };
        let &BagKernels { fns, values, name } = found;
        Ok(BagReducePlan(BagFacts {
            dtype,
            index,
            level,
            par: options.par,
            include_last_offset: settings.include_last_offset,
            positions,
            rule: BagRule::new(dim, policy, padding, settings.skip_negative),
            default,
            plain: fns.plain.at(level),
            weighted: fns.weighted.as_ref().map_or(Err(name), |fns| Ok(fns.at(level))),
            fns,
            values,
            size,
            size_in,
            converting: converting.as_ref().map(|map| *map.decode_fns.each.get(*level)),
            fused: fused.as_ref().map(|fused| (fused.output.bag(fused.row, level), fused.as_it_is.at(level))),
            prefetch_distance: match loops.is_empty() {
                true => prefetch_distance(row_in, dim.saturating_mul(row_in)),
                false => 0,
            },
            loops: SmallVec::from_slice(&loops),
            elements,
            runs,
            row: of_rows(size),
            row_in,
            stride: stride.wrapping_mul(size_in as isize),
            out_stride: out_stride.wrapping_mul(size as isize),
            has_elements,
            fills_zeros: default.is_none() && zero.iter().all(|&byte| byte == 0),
            zero,
            zeros,
        }))
    }

    #[inline(always)]
    pub(crate) fn prepare(&self, bounds: Bounds, indices: &Layout) -> PreparedBags {
        let (rows, indices) = (bounds.used(), index_runs(indices, self.index.size()));
        let reads_as_it_is = self.rule.all_count && self.converting.is_none() && self.loops.is_empty();
        let is_short = rows <= FEW
            && reads_as_it_is
            && self.action(&bounds) == Action::Run
            && self.work(&bounds).is_for_one(self.par)
            && (self.fills_zeros || bounds.first_of(0..bounds.bags(), rows, false).bags() == bounds.bags());
        let positions = self.positions.at(&indices, &self.rule, self.level);
        PreparedBags { bounds, rows, indices, positions, is_short }
    }

    /// The conversion of rows by a map of the planned types.
    pub(crate) fn conversion(&self, bounds: &Bounds, decode_fn: DecodeFn) -> BagConversion {
        let (size, size_in) = (self.size, self.size_in);
        // A map may turn large elements into small ones: the greater size decides.
        let columns = (COLUMNS / size.max(size_in)).clamp(1, self.elements.max(1));
        let stride = columns.saturating_mul(size).div_ceil(LINE).saturating_mul(LINE);
        let taken = stride.max(columns.saturating_mul(size_in));
        let rows = (CONVERTED / taken).min(bounds.used()).clamp(1, MOST_CONVERTED);
        BagConversion { decode_fn, columns, rows, stride }
    }

    pub(crate) fn weight_size(&self) -> usize {
        // There is a weight per value.
        if self.fused.is_some() { size_of::<f32>() } else { self.size / self.values }
    }

    pub(crate) fn action(&self, bounds: &Bounds) -> Action {
        match () {
            () if self.has_elements && bounds.bags() > 0 => Action::Run,
            () if self.rule.policy.refuses(true, false) => Action::Check,
            () => Action::Nothing,
        }
    }

    pub(crate) fn work(&self, bounds: &Bounds) -> Work {
        let rows = bounds.used();
        Work { bytes: rows.saturating_mul(self.row), rows, read: 0 }
    }

    /// Number of tasks of a call, in a pool of `threads()` threads.
    pub(crate) fn tasks(&self, bounds: &Bounds, threads: impl FnOnce() -> usize) -> usize {
        self.work(bounds).tasks(self.par, threads)
    }
}

/// `bytes` repeated `count` times.
///
/// # Errors
/// [`Error::AllocationFailed`].
fn repeated(bytes: &[u8], count: usize) -> Result<Vec<u8>, Error> {
    let mut all = memory::reserve(bytes.len().saturating_mul(count))?;
    (0..count).for_each(|_| all.extend_from_slice(bytes));
    Ok(all)
}

/// Minimum bytes of data to prefetch rows (bench `bags`).
const FAR: usize = 1 << 18;
/// Bytes of rows to prefetch: 32 short rows, or 16 long ones. More would evict each other (bench `bags`).
const BYTES_AHEAD: usize = 4 << 10;
/// Range to which the bytes of a row are clamped to compute the prefetch distance.
const ROW_AHEAD: RangeInclusive<usize> = 2 * LINE..=4 * LINE;

/// Target bytes of data or of converted values per conversion, whichever are more. Both fit in the L1 cache (`bags`).
const CONVERTED: usize = 16 << 10;
/// Target bytes of a row per conversion, in data or in converted values, whichever are more.
const COLUMNS: usize = 1 << 10;
/// Maximum rows per conversion: `CONVERTED` at one line per row.
pub(crate) const MOST_CONVERTED: usize = 256;

/// Prefetch distance in rows of `row` bytes, in data of `reach` bytes. 0 if prefetching does not pay.
fn prefetch_distance(row: usize, reach: usize) -> usize {
    if reach <= FAR || row == 0 { 0 } else { BYTES_AHEAD / row.clamp(*ROW_AHEAD.start(), *ROW_AHEAD.end()) }
}
