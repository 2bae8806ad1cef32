//! The plan of an EmbeddingBag: where bags begin and end, and the loops of a row.

#![forbid(unsafe_code)]

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::kernels::reduce::{BagFn, BagFns, ByLevel, Lengths, PositionsFn};
use crate::kernels::{LINE, Loop};
use crate::plan::fold::{Loops, count, fold};
use crate::plan::index::Action;
use crate::plan::lowered::Axis;
use crate::plan::tasks::Work;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::memory;
use crate::types::element::{DType, ElementBytes};
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::level::Level;
use crate::types::op::Op;
use crate::types::policy::{IndexPolicy, Options, OutOfBounds};

/// Where bags begin and end among the indices, which follow one another in row-major order.
#[derive(Clone)]
pub(crate) struct Bounds {
    /// B5: the bounds of bags ascend, from 0 to at most the number of indices that they were made for.
    kind: Kind,
    longest: usize,
}

#[derive(Clone)]
enum Kind {
    /// Bags of one length.
    Every { len: usize, bags: usize },
    /// Bag `b` from the `b`-th on to the next. There is at least one.
    At(Arc<Vec<usize>>),
}

impl Bounds {
    /// `bags` bags of `len` indices each, of `bags * len`.
    pub(crate) fn every(len: usize, bags: usize) -> Self {
        Bounds { kind: Kind::Every { len, bags }, longest: if bags == 0 { 0 } else { len } }
    }

    /// Bags that begin at offsets into `indices` indices. The last one ends with the indices, or at the last offset
    /// where that is `its_end`.
    ///
    /// # Errors
    /// [`Error::NoOffsets`], [`Error::AllocationFailed`], [`Error::BagOffsetOutOfRange`].
    pub(crate) fn at(
        offsets: impl ExactSizeIterator<Item = i128>,
        indices: usize,
        its_end: bool,
    ) -> Result<Self, Error> {
        if its_end && offsets.len() == 0 {
            return Err(Error::NoOffsets);
        }
        let mut bounds = memory::reserve::<usize>(offsets.len().saturating_add(1))?;
        let mut longest = 0;
        for (position, offset) in offsets.enumerate() {
            let before = bounds.last().copied();
            let (min, max) = (before.unwrap_or(0), if position == 0 { 0 } else { indices });
            let bound = usize::try_from(offset).ok().filter(|bound| (min..=max).contains(bound));
            let bound = bound.ok_or(Error::BagOffsetOutOfRange { position, offset, min, max })?;
            longest = longest.max(bound - min);
            bounds.push(bound);
        }
        let last = bounds.last().copied();
        if !its_end || last.is_none() {
            // Without bags there are no indices in any.
            let end = if last.is_some() { indices } else { 0 };
            longest = longest.max(end - last.unwrap_or(0));
            bounds.push(end);
        }
        // Offsets often say that all bags have one length.
        if bounds.len() > 1 && bounds.windows(2).all(|pair| pair[1] - pair[0] == longest) {
            return Ok(Self::every(longest, bounds.len() - 1));
        }
        Ok(Bounds { kind: Kind::At(Arc::new(bounds)), longest })
    }

    /// The number of bags.
    pub(crate) fn bags(&self) -> usize {
        match &self.kind {
            Kind::Every { bags, .. } => *bags,
            Kind::At(bounds) => bounds.len() - 1,
        }
    }

    /// The indices of a bag; of the one after the last, none at their end.
    pub(crate) fn start(&self, bag: usize) -> usize {
        match &self.kind {
            Kind::Every { len, .. } => len * bag,
            Kind::At(bounds) => bounds[bag],
        }
    }

    /// The indices of a bag.
    pub(crate) fn of(&self, bag: usize) -> Range<usize> {
        self.start(bag)..self.start(bag + 1)
    }

    /// Of the bags from the first of `bags` on those that have up to `most` rows together, and none of them no row.
    pub(crate) fn full(&self, bags: Range<usize>, most: usize) -> Lengths<'_> {
        match &self.kind {
            Kind::Every { len, .. } => Lengths::Every { len: *len, bags: bags.len().min(most / len) },
            Kind::At(bounds) => {
                let bounds = &bounds[bags.start..=bags.end];
                let fits = |pair: &&[usize]| pair[0] < pair[1] && pair[1] - bounds[0] <= most;
                Lengths::Between(&bounds[..=bounds.windows(2).take_while(fits).count()])
            }
        }
    }

    /// How many indices are in bags.
    pub(crate) fn used(&self) -> usize {
        self.start(self.bags())
    }

    /// The most indices of a bag.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// The first bag of part `part` of `parts` that are worth as much: bags count as one index more than they have.
    pub(crate) fn part(&self, part: usize, parts: usize) -> usize {
        let bags = self.bags();
        let worth = |bag: usize| self.start(bag) as u128 + bag as u128;
        let wanted = worth(bags) * part as u128 / parts as u128;
        let (mut from, mut to) = (0, bags);
        while from < to {
            let middle = from + (to - from) / 2;
            if worth(middle) < wanted { from = middle + 1 } else { to = middle }
        }
        from
    }
}

/// What an EmbeddingBag is made of besides layouts.
#[derive(Clone, Copy)]
pub(crate) struct BagRequest {
    pub(crate) dtype: DType,
    pub(crate) index: IndexType,
    pub(crate) positions: ByLevel<PositionsFn>,
    pub(crate) fns: BagFns,
    pub(crate) policy: IndexPolicy,
    /// The row that is left out.
    pub(crate) padding: Option<usize>,
    /// The row that stands for bags in which nothing counts.
    pub(crate) default: Option<usize>,
    pub(crate) options: Options,
}

/// The plan of an EmbeddingBag.
///
/// Made by [`BagPlan::new`] alone, from bounds and layouts. So, for tensors of these layouts and types:
///
/// - **P1** For every bag and every position of the axis, `loops` and `elements` reach the elements of a row of data
///   and
///   those of the bag's row of the output, all of them.
/// - **P2** The bounds are those of as many indices as the layout of indices has, or fewer. There are as many bags as
///   the
///   output has rows.
/// - **P3** `padding` and `default` are rows of data.
#[derive(Clone)]
pub(crate) struct BagPlan {
    request: BagRequest,
    level: Level,
    bounds: Bounds,
    axis: Axis,
    /// P1. Folded, in bytes.
    loops: Loops,
    elements: usize,
    /// Bytes of data from a row to the next, and of the output.
    stride: isize,
    out_stride: isize,
    out: Layout,
    zero: ElementBytes,
    /// Zeros for `elements` elements, under [`OutOfBounds::Zero`]; else none.
    zeros: Arc<Vec<u8>>,
    action: Action,
    prefetch_distance: usize,
    work: Work,
}

impl BagPlan {
    /// Plans for data, of rank 1 or more, and an output that has a row of data's for each bag.
    ///
    /// # Errors
    /// [`Error::LevelUnavailable`] and [`Error::UnknownLevel`], [`Error::TooManyBytes`], [`Error::AllocationFailed`].
    pub(crate) fn new(request: &BagRequest, data: &Layout, out: &Layout, bounds: Bounds) -> Result<Self, Error> {
        debug_assert!(out.shape()[0] == bounds.bags() && out.shape()[1..] == data.shape()[1..], "P1, P2");
        let level = Level::resolve(request.options.level)?;
        let size = request.dtype.size();
        Shape::checked_bytes(out.shape(), size)?;
        let axis = Axis { axis: 0, dim: data.shape()[0], data: data.strides()[0], index: 0 };
        debug_assert!(request.padding.iter().chain(&request.default).all(|&row| row < axis.dim), "P3");
        let dims = data.shape()[1..].iter().zip(&data.strides()[1..]).zip(&out.strides()[1..]);
        let (mut loops, elements) = fold(dims.map(|((&n, &data), &out)| Loop { n, out, data, index: 0 }));
        for l in &mut loops {
            // Strides in bytes wrap for layouts over no slice; a view's cannot overflow.
            l.out = l.out.wrapping_mul(size as isize);
            l.data = l.data.wrapping_mul(size as isize);
        }
        let row = elements.saturating_mul(size).saturating_mul(count(&loops));
        let reach = axis.dim.saturating_mul(row);
        let action = match request.policy.out_of_bounds {
            _ if !out.is_empty() => Action::Run,
            OutOfBounds::Error => Action::Check,
            _ => Action::Nothing,
        };
        let zero = request.dtype.zero();
        let fills = request.policy.out_of_bounds == OutOfBounds::Zero && action == Action::Run;
        let zeros = if fills { repeated(&zero, elements)? } else { Vec::new() };
        let rows = bounds.used();
        Ok(BagPlan {
            request: *request,
            level,
            axis,
            elements,
            stride: data.strides()[0].wrapping_mul(size as isize),
            out_stride: out.strides()[0].wrapping_mul(size as isize),
            out: out.clone(),
            zero,
            zeros: Arc::new(zeros),
            action,
            prefetch_distance: if loops.is_empty() {
                prefetch_distance(elements.saturating_mul(size), reach)
            } else {
                0
            },
            work: Work { bytes: rows.saturating_mul(row), rows },
            loops,
            bounds,
        })
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
        self.level
    }

    pub(crate) fn bounds(&self) -> &Bounds {
        &self.bounds
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

    pub(crate) fn size(&self) -> usize {
        self.request.dtype.size()
    }

    /// Bytes of a row.
    pub(crate) fn row(&self) -> usize {
        self.elements.saturating_mul(self.size()).saturating_mul(self.runs())
    }

    pub(crate) fn stride(&self) -> isize {
        self.stride
    }

    pub(crate) fn out_stride(&self) -> isize {
        self.out_stride
    }

    /// The layout of the output.
    pub(crate) fn output(&self) -> &Layout {
        &self.out
    }

    /// The bytes of an element of a bag in which nothing counts, where no row stands for it.
    pub(crate) fn zero(&self) -> &[u8] {
        &self.zero
    }

    /// A row of zeros, where the policy asks for one.
    pub(crate) fn zeros(&self) -> *const u8 {
        self.zeros.as_ptr()
    }

    pub(crate) fn action(&self) -> Action {
        self.action
    }

    pub(crate) fn prefetch_distance(&self) -> usize {
        self.prefetch_distance
    }

    /// What resolves indices.
    pub(crate) fn positions(&self) -> PositionsFn {
        self.request.positions.at(self.level)
    }

    /// What reduces rows, with weights or without; `None` with weights where there is no such reduction.
    pub(crate) fn reduce(&self, weighted: bool) -> Option<BagFn> {
        let BagFns { plain, weighted: with_weights, .. } = self.request.fns;
        let fns = if weighted { with_weights? } else { plain };
        Some(fns.at(self.level))
    }

    pub(crate) fn work(&self) -> Work {
        self.work
    }

    /// Tasks that a call is cut into here and now, where the pool has `threads()` threads.
    pub(crate) fn tasks(&self, threads: impl FnOnce() -> usize) -> usize {
        self.work.tasks(self.request.options.par, threads)
    }
}

/// Bytes so many times over.
///
/// # Errors
/// [`Error::AllocationFailed`].
fn repeated(bytes: &[u8], count: usize) -> Result<Vec<u8>, Error> {
    let mut all = memory::reserve(bytes.len().saturating_mul(count))?;
    (0..count).for_each(|_| all.extend_from_slice(bytes));
    Ok(all)
}

/// Bytes of data from which on rows are asked for ahead (bench `bags`).
const FAR: usize = 1 << 18;
/// Bytes of rows that are asked for ahead, and the most that are asked for of a row at a time: a panel of columns
/// (bench `bags`).
const BYTES_AHEAD: usize = 8 << 10;
const PANEL: usize = 512;

/// How many rows of so many bytes are asked for ahead in data of so many; 0 for none.
fn prefetch_distance(row: usize, reach: usize) -> usize {
    if reach <= FAR || row == 0 { 0 } else { (BYTES_AHEAD / row.clamp(LINE, PANEL)).min(64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_bags_and_are_even() {
        for lengths in [&[][..], &[0], &[5], &[0, 0, 0, 100, 0, 0], &[1, 2, 3, 4, 5, 6, 7], &[1000, 1, 1, 1]] {
            let mut sum = 0;
            let offsets: Vec<i128> = lengths
                .iter()
                .map(|&len| {
                    sum += len;
                    sum - len
                })
                .collect();
            let bounds = Bounds::at(offsets.into_iter(), sum as usize, false).unwrap();
            assert_eq!((bounds.bags(), bounds.used()), (lengths.len(), sum as usize));
            for parts in [1, 2, 3, 8, 100] {
                let starts: Vec<usize> = (0..=parts).map(|part| bounds.part(part, parts)).collect();
                assert_eq!((starts[0], starts[parts]), (0, lengths.len()), "{lengths:?} in {parts}");
                assert!(starts.is_sorted());
            }
        }
        let even = Bounds::every(32, 1000);
        assert_eq!((0..=4).map(|part| even.part(part, 4)).collect::<Vec<_>>(), [0, 250, 500, 750, 1000]);
        let skewed = Bounds::at([0, 600, 700, 800, 900].into_iter(), 1000, false).unwrap();
        assert_eq!(skewed.part(1, 2), 1);
    }

    #[test]
    fn offsets_are_checked_in_order() {
        let error = |offsets: &[i128], its_end| Bounds::at(offsets.iter().copied(), 10, its_end).err();
        let out_of_range = |position, offset, min, max| Some(Error::BagOffsetOutOfRange { position, offset, min, max });
        assert_eq!(error(&[1, 2], false), out_of_range(0, 1, 0, 0));
        assert_eq!(error(&[-1], false), out_of_range(0, -1, 0, 0));
        assert_eq!(error(&[0, 5, 4, 11], false), out_of_range(2, 4, 5, 10));
        assert_eq!(error(&[0, 5, 11], true), out_of_range(2, 11, 5, 10));
        assert_eq!(error(&[0, i128::from(u64::MAX)], true), out_of_range(1, i128::from(u64::MAX), 0, 10));
        assert_eq!(error(&[], true), Some(Error::NoOffsets));
        assert_eq!(error(&[0, 10, 10], false), None);
        assert_eq!(Bounds::at([].into_iter(), 10, false).unwrap().used(), 0);
        let with_end = Bounds::at([0, 3, 7].into_iter(), 10, true).unwrap();
        assert_eq!((with_end.bags(), with_end.used(), with_end.longest()), (2, 7, 4));
    }
}
