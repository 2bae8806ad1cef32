//! The plan of an index operator: a folded nest and the way to run it.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::dispatch;
use crate::error::{Error, Op};
use crate::exec::culprit::Blame;
use crate::index::IndexType;
use crate::kernels::{BLOCK, Component, IndexEntry, KernelSet, Loop};
use crate::level::Level;
use crate::ops::{IndexRules, OutOfBounds, Par, Tuning};
use crate::plan::fold::{arrange, count, cut_walk, fold, gcd};
use crate::plan::strategy::{Chosen, Nest, arrange_panels};
use crate::shape::{Layout, Shape};
use crate::threads;

/// One output dimension of a lowered operator. Strides in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dim {
    pub(crate) n: usize,
    pub(crate) data: isize,
    pub(crate) index: isize,
}

/// One component of an index: the axis of data that it runs along. Strides in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    /// Position of the axis in data.
    pub(crate) axis: usize,
    pub(crate) dim: usize,
    pub(crate) data: isize,
    /// From the first component of a tuple to this one.
    pub(crate) index: isize,
}

/// An index operator with its attributes checked against the shapes: loops over the output, not folded yet.
#[derive(Clone, Debug)]
pub(crate) struct IndexLowered {
    pub(crate) op: Op,
    pub(crate) output: Shape,
    /// One loop a dimension of the output, in its order; the first `merged` make up one dimension together.
    pub(crate) dims: SmallVec<[Dim; 6]>,
    pub(crate) merged: usize,
    /// Empty for tuples without components, which read no index.
    pub(crate) axes: SmallVec<[Axis; 3]>,
}

impl IndexLowered {
    #[inline(always)]
    pub(crate) fn new(op: Op) -> Self {
        IndexLowered { op, output: Shape::default(), dims: SmallVec::new(), merged: 1, axes: SmallVec::new() }
    }

    /// Adds a dimension to the output.
    #[inline]
    pub(crate) fn push(&mut self, n: usize, data: isize, index: isize) {
        self.output.push(n);
        self.dims.push(Dim { n, data, index });
    }

    /// Makes the first `count` dimensions come out as one.
    pub(crate) fn merge_leading(&mut self, count: usize) {
        if count > 1 {
            let merged = self.output[..count].iter().product();
            let rest: SmallVec<[usize; 6]> = self.output[count..].iter().copied().collect();
            self.output = Shape::from([merged]);
            self.output.extend(&rest);
            self.merged = count;
        }
    }
}

/// How a planned call runs; `K` is what names a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Route<K = &'static IndexEntry> {
    /// There is nothing to write and nothing to check.
    Nothing,
    /// Every index is to be checked, nothing can be written.
    Check,
    /// Every index is out of range and yields the fill.
    Fill,
    /// A kernel, one of the table unless the plan is a map's.
    Kernel(K),
    /// The 64-bit kernel.
    Wide,
}

/// The plan of an index operator.
#[derive(Clone, Debug)]
pub(crate) struct IndexPlan<K = &'static IndexEntry> {
    pub(crate) op: Op,
    pub(crate) output: Shape,
    pub(crate) axes: SmallVec<[Axis; 3]>,
    /// Folded loops in bytes, the lanes last.
    pub(crate) loops: SmallVec<[Loop; 6]>,
    pub(crate) components: SmallVec<[Component; 3]>,
    pub(crate) unit: isize,
    /// Bytes that a lane writes.
    pub(crate) row: usize,
    pub(crate) ahead: usize,
    pub(crate) span: usize,
    /// Whether rows are written past the caches.
    pub(crate) stream: bool,
    pub(crate) chosen: Chosen,
    /// Whether the lanes are run block by block, so that outer loops reuse resolved indices.
    pub(crate) blocked: bool,
    /// Whether a call is one call of the kernel: lanes are not run block by block, and the work is not worth a second thread.
    pub(crate) whole: bool,
    pub(crate) route: Route<K>,
    pub(crate) index: IndexType,
    pub(crate) level: Level,
    pub(crate) rules: IndexRules,
    pub(crate) par: Par,
    /// Bytes that a call writes.
    pub(crate) bytes: usize,
    /// Lanes that it moves.
    pub(super) lanes: usize,
}

/// Bytes of rows that are fetched ahead when the table exceeds the second-level cache, see `kernels/rows.rs`.
const BYTES_AHEAD: usize = 2 << 10;
/// Lanes of 4 and 8 bytes whose indices and output are fetched ahead: among the misses of a gather the hardware loses sight of
/// what is read and written one after the other. `gather/take_64K_4M_i32` takes 3.25 ms with it, 3.7 without and 3.4 with the
/// indices alone; 512 and 1024 lanes gain less (2026-11-21, 2-core EPYC of the Zen 4 class, `record take`).
const LANES_AHEAD: usize = 256;
/// Bytes of data from which on rows of 12 bytes are resolved and moved in one loop, see `kernels/arch/fused.rs`: between 3 MiB,
/// where turns are better, and 12.
const FUSED_FROM: usize = 6 << 20;
/// Bytes of data that one outer coordinate's indices reach, up to which the next one's are fetched meanwhile: two of them
/// are to fit in the first-level cache.
const SPAN: usize = 8 << 10;
/// Bytes of a row and of an output from which on rows are written past the caches, see `kernels/rows.rs`: most of a last-level
/// cache of 32 MiB.
const STREAMED_ROW: usize = 1 << 10;
const STREAMED: usize = 24 << 20;
/// Bytes of data from which on rows are fetched ahead, and of an output from which on lanes are.
const PREFETCH_FROM: usize = 1 << 20;

impl IndexPlan {
    /// Plans a lowered operator for elements of `size` bytes, an index type and an output layout.
    #[inline(always)]
    pub(crate) fn new(
        set: &'static KernelSet,
        lowered: IndexLowered,
        size: usize,
        index: IndexType,
        out: &Layout,
        rules: IndexRules,
        tuning: Tuning,
    ) -> Result<Self, Error> {
        let level = Level::resolve(tuning.level)?;
        let IndexLowered { op, output, dims, merged, axes } = lowered;
        let bytes = Shape::checked_bytes(&output, size)?;

        let read = !axes.is_empty();
        let index_size = if read { index.size() as isize } else { 0 };
        let step = size as isize;
        let mut room = SmallVec::new();
        let outs = out_strides(out, &dims, merged, &mut room);
        // Byte strides wrap for layouts over no slice; a view's cannot overflow.
        let in_bytes = dims.iter().zip(outs).map(|(dim, &out)| Loop {
            n: dim.n,
            out: out.wrapping_mul(step),
            data: dim.data.wrapping_mul(step),
            index: dim.index.wrapping_mul(index_size),
        });
        let (mut loops, row) = fold(in_bytes, size);
        let blocked = arrange(&mut loops);
        let (components, unit) = components(&axes, step, index_size);
        cut_walk(&mut loops, unit);

        let mut chosen = Chosen::Direct;
        let out_is_empty = output.contains(&0);
        let route = if out_is_empty {
            if rules.out_of_bounds == OutOfBounds::Error && read { Route::Check } else { Route::Nothing }
        } else if axes.iter().any(|axis| axis.dim == 0) {
            if rules.out_of_bounds == OutOfBounds::Zero { Route::Fill } else { Route::Check }
        } else if fits_i32(&components) {
            let nest = Nest { op, loops: &loops, components: &components, unit, row, level };
            chosen = match tuning.strategy {
                None => nest.choose(),
                Some(strategy) => nest.force(strategy).ok_or(Error::StrategyUnavailable { op, strategy })?,
            };
            let mut rank = loops.len();
            if let Chosen::Panels(panels) = chosen {
                arrange_panels(&mut loops);
                rank -= panels.moving;
            }
            dispatch::index_kernel(set, op, row, index, rank, level).map_or(Route::Wide, Route::Kernel)
        } else {
            Route::Wide
        };
        let span = match (chosen, loops.as_slice()) {
            (Chosen::Direct, [.., outer, lane]) if outer.data != 0 && unit > 0 => {
                let span = axes.iter().fold(unit as usize, |span, axis| span.saturating_mul(axis.dim));
                let pays = span <= SPAN && span / 64 <= lane.n && outer.n.saturating_mul(span) > PREFETCH_FROM;
                if pays { span } else { 0 }
            }
            _ => 0,
        };
        let ahead = match row {
            _ if is_far(&axes, size, row) => (BYTES_AHEAD / row).clamp(4, 16),
            _ if loops.len() != 1 || axes.len() != 1 || level == Level::Scalar => 0,
            4 | 8 if bytes > PREFETCH_FROM => LANES_AHEAD,
            12 if reach(&axes, size) > FUSED_FROM => LANES_AHEAD,
            _ => 0,
        };
        let blocked = blocked && loops.last().is_some_and(|lane| lane.n > BLOCK);
        let lanes = count(&loops);
        Ok(IndexPlan {
            op,
            output,
            axes,
            blocked,
            whole: !blocked && threads::alone(tuning.par, bytes, lanes),
            loops,
            components,
            unit,
            row,
            ahead,
            span,
            chosen,
            route,
            index,
            level,
            rules,
            par: tuning.par,
            bytes,
            lanes,
            stream: row >= STREAMED_ROW && bytes >= STREAMED,
        })
    }
}

impl<K> IndexPlan<K> {
    /// What indices are held against.
    pub(crate) fn blame(&self) -> Blame<'_> {
        Blame { op: self.op, axes: &self.axes, rules: self.rules, index: self.index }
    }

    /// Tasks that a call is cut into here and now.
    #[inline]
    pub(crate) fn tasks(&self) -> usize {
        threads::tasks(self.par, self.bytes, self.lanes)
    }
}

/// Whether rows of `row` bytes of data are worth fetching ahead: the axes reach beyond the second-level cache.
pub(super) fn is_far(axes: &[Axis], size: usize, row: usize) -> bool {
    row >= 32 && reach(axes, size) > PREFETCH_FROM
}

/// Bytes of data that the axes reach over.
fn reach(axes: &[Axis], size: usize) -> usize {
    let reached = axes.iter().map(|axis| axis.dim.saturating_mul(axis.data.unsigned_abs())).max().unwrap_or(0);
    reached.saturating_mul(size)
}

/// The element stride of the output along every lowered dimension: its own, or what is made of them in `room`.
pub(super) fn out_strides<'a>(
    out: &'a Layout,
    dims: &[Dim],
    merged: usize,
    room: &'a mut SmallVec<[isize; 6]>,
) -> &'a [isize] {
    if merged <= 1 {
        return out.strides();
    }
    room.resize(dims.len(), out.strides()[0]);
    for d in (0..merged - 1).rev() {
        room[d] = room[d + 1].wrapping_mul(dims[d + 1].n as isize);
    }
    room[merged..].copy_from_slice(&out.strides()[1..]);
    room
}

/// The components of an index in units of data, and the bytes of a unit: the greatest length that divides the stride of
/// every axis. Without axes, one component that reads index 0.
pub(super) fn components(axes: &[Axis], size: isize, index_size: isize) -> (SmallVec<[Component; 3]>, isize) {
    match axes {
        [] => (SmallVec::from_slice(&[Component { dim: 1, scale: 0, index: 0 }]), 0),
        [axis] => {
            let component = Component { dim: axis.dim as i64, scale: 1, index: axis.index.wrapping_mul(index_size) };
            (SmallVec::from_slice(&[component]), axis.data.wrapping_mul(size))
        }
        _ => {
            let unit = axes.iter().fold(0, |unit, axis| gcd(unit, axis.data.unsigned_abs())).max(1);
            let component = |axis: &Axis| Component {
                dim: axis.dim as i64,
                scale: axis.data as i64 / unit as i64,
                index: axis.index.wrapping_mul(index_size),
            };
            (axes.iter().map(component).collect(), (unit as isize).wrapping_mul(size))
        }
    }
}

/// Whether every axis, every scale and every sum of units fits in `i32`, as the blocked kernels need (K2).
pub(super) fn fits_i32(components: &[Component]) -> bool {
    let mut reach = 0i64;
    for component in components {
        let span = (component.dim - 1).checked_mul(component.scale.unsigned_abs().try_into().unwrap_or(i64::MAX));
        match span.and_then(|span| reach.checked_add(span)) {
            Some(sum) if sum <= i64::from(i32::MAX) => reach = sum,
            _ => return false,
        }
    }
    let fits = |value: i64| i32::try_from(value).is_ok();
    components.iter().all(|component| fits(component.dim) && fits(component.scale))
}
