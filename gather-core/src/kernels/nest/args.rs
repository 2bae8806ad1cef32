//! The arguments of a kernel of an index operator: the plan's arguments, and the arguments of one call.

use core::ops::Range;

use smallvec::SmallVec;

use crate::kernels::by_level::level_pointers;
use crate::kernels::nest::rows::MoveJob;
use crate::types::element::ElementBytes;
use crate::types::level::Available;
use crate::types::method::Method;
use crate::types::policy::KernelPolicy;

/// One loop of a loop nest; steps are in bytes. Nests list loops outermost first, and the inner loop last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    pub n: usize,
    /// Step of the output.
    pub(crate) out: isize,
    /// Step of data, before the index is applied.
    pub(crate) data: isize,
    /// Step of indices; 0 if one index serves the whole loop.
    pub(crate) index: isize,
}

impl Loop {
    pub(crate) const ONCE: Loop = Loop { n: 1, out: 0, data: 0, index: 0 };
}

/// One component of an index, with the axis that it indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Component {
    /// Size of the axis, at least 1.
    pub(crate) dim: i64,
    /// Positions of data per step along the axis.
    pub(crate) scale: i64,
    /// Bytes from the first component of an index tuple to this one.
    pub(crate) index: isize,
}

/// Addresses in the three tensors. Steps wrap: a cursor may point past an end, where it is not dereferenced.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    pub(crate) out: *mut u8,
    pub(crate) data: *const u8,
    pub(crate) index: *const u8,
}

impl Cursor {
    /// The cursor one iteration of `along` further.
    #[inline(always)]
    #[must_use]
    pub fn step(&self, along: &Loop) -> Cursor {
        Cursor {
            out: self.out.wrapping_offset(along.out),
            data: self.data.wrapping_offset(along.data),
            index: self.index.wrapping_offset(along.index),
        }
    }

    /// The cursor `count` iterations of `along` further.
    #[inline(always)]
    pub(crate) fn skip(self, along: &Loop, count: usize) -> Cursor {
        let count = count as isize;
        Cursor {
            out: self.out.wrapping_offset(along.out.wrapping_mul(count)),
            data: self.data.wrapping_offset(along.data.wrapping_mul(count)),
            index: self.index.wrapping_offset(along.index.wrapping_mul(count)),
        }
    }
}

/// The arguments that a plan has decided, the same for every call and every part of a loop nest.
#[derive(Clone, Debug)]
pub(crate) struct KernelSpec {
    /// How the kernel reads data.
    pub(crate) method: Method,
    /// The level that the kernel was compiled for.
    pub(crate) level: Available,
    pub(crate) components: SmallVec<[Component; 3]>,
    /// Bytes moved by one iteration of the inner loop.
    pub(crate) row: usize,
    pub(crate) policy: KernelPolicy,
    /// The bytes repeated over a row to fill it under `Missing::Fill`; else empty.
    pub(crate) fill: ElementBytes,
    /// Whether output rows and elements of data are contiguous, and the inner loop does not move data.
    pub(crate) packed: bool,
    /// Whether index tuples and their components are contiguous, and scales positive.
    pub(crate) adjacent_tuples: bool,
    /// Prefetch distance in rows; 0 for none. `Gathered` prefetches indices and output, other methods rows of data.
    pub(crate) prefetch_distance: usize,
    /// Prefetch distance of indices and output (of a scatter: updates) in outer coordinates; 0 for none. With
    /// `offsets_first`, output is prefetched at distance 0.
    pub(crate) outer_prefetch_distance: usize,
    /// Whether the indices of several rows become offsets before the first element is loaded, for panels smaller than
    /// the second-level cache.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "for levels that gather"))]
    pub(crate) offsets_first: bool,
    /// Bytes of data that the indices of one outer coordinate reach, if data of the next is prefetched; else 0.
    pub(crate) next_slice_bytes: usize,
    /// Elements of data that the indices reach under `Method::Table`; else 0.
    pub(crate) table_entries: usize,
    /// The conversion of a kernel of a map.
    pub(crate) conversion: Option<Conversion>,
}

impl KernelSpec {
    /// A spec of rows of 0 bytes, for the plan to complete.
    #[inline(always)]
    pub(crate) fn new(method: Method, level: Available, policy: KernelPolicy) -> Self {
        KernelSpec {
            method,
            level,
            components: SmallVec::new(),
            row: 0,
            policy,
            fill: ElementBytes::new(),
            packed: false,
            adjacent_tuples: false,
            prefetch_distance: 0,
            outer_prefetch_distance: 0,
            offsets_first: false,
            next_slice_bytes: 0,
            table_entries: 0,
            conversion: None,
        }
    }
}

/// The arguments of a kernel of an index operator. They carry the kernel contract.
#[derive(Clone, Copy, Debug)]
pub struct IndexArgs<'a> {
    spec: &'a KernelSpec,
    origin: Cursor,
    loops: &'a [Loop],
    stride: isize,
    params: *const (),
}

/// The loops of a part of a loop nest.
pub(crate) type Loops = SmallVec<[Loop; 6]>;

impl<'a> IndexArgs<'a> {
    /// The arguments for tensors at their first coordinate, with `stride` bytes of data from one position to the next.
    /// `params` are the map's params (K8) or the scatter's consumer (S3); null in other kernels.
    ///
    /// # Safety
    /// For a gather, K1 to K6 and K8 to K10 hold for the loops and the spec. For a scatter, S1 to S4 replace K1, K2 and
    /// K8. The machine has the level of the spec (K7).
    #[inline(always)]
    pub(crate) unsafe fn new(
        spec: &'a KernelSpec,
        origin: Cursor,
        loops: &'a [Loop],
        stride: isize,
        params: *const (),
    ) -> Self {
        IndexArgs { spec, origin, loops, stride, params }
    }

    /// The part of the loop nest with iterations `range(depth, n)` of each loop, where `n` is the loop's length.
    #[inline(always)]
    pub(crate) fn part<'b>(
        &self,
        buffer: &'b mut Loops,
        mut range: impl FnMut(usize, usize) -> Range<usize>,
    ) -> IndexArgs<'b>
    where
        'a: 'b,
    {
        let mut origin = self.origin;
        buffer.clear();
        buffer.extend_from_slice(self.loops);
        for (depth, along) in buffer.iter_mut().enumerate() {
            let range = range(depth, along.n);
            assert!(range.end <= along.n, "{range:?} of {} iterations", along.n);
            origin = origin.skip(along, range.start);
            along.n = range.len();
        }
        IndexArgs { origin, loops: buffer, ..*self }
    }

    /// The same loops without data, for an axis without elements.
    #[inline(always)]
    pub(crate) fn without_data(&self) -> Self {
        IndexArgs { origin: Cursor { data: core::ptr::null(), ..self.origin }, ..*self }
    }

    /// Calls `run` with the last `inside` loops at each coordinate of the loops around them.
    pub(crate) fn each_inside(&self, inside: usize, mut run: impl FnMut(&IndexArgs<'_>)) {
        let (around, loops) = self.loops.split_at(self.loops.len() - inside);
        each_coordinate(around, self.origin, |&origin| run(&IndexArgs { origin, loops, ..*self }));
    }

    #[inline(always)]
    pub(crate) fn spec(&self) -> &'a KernelSpec {
        self.spec
    }

    /// Bytes of data from one position to the next.
    #[inline(always)]
    pub(crate) fn stride(&self) -> isize {
        self.stride
    }

    #[inline(always)]
    pub(crate) fn params(&self) -> *const () {
        self.params
    }

    /// The same arguments with other params.
    ///
    /// # Safety
    /// K8 holds for `params`; in a scatter, S3 and S4.
    #[inline(always)]
    pub(crate) unsafe fn given(self, params: *const ()) -> Self {
        IndexArgs { params, ..self }
    }

    #[inline(always)]
    pub(crate) fn loops(&self) -> &'a [Loop] {
        self.loops
    }

    /// The loops of a loop nest of rank `R`.
    ///
    /// # Panics
    /// If the loop nest has another rank: the dispatcher picks kernels by rank.
    #[inline(always)]
    #[must_use]
    pub fn loops_of<const R: usize>(&self) -> &'a [Loop; R] {
        self.loops.try_into().expect("a kernel runs on loop nests of its own rank")
    }

    /// The number of rows of the loop nest: at most `isize::MAX` (L2).
    #[inline(always)]
    pub(crate) fn rows(&self) -> usize {
        self.loops.iter().fold(1, |rows: usize, along| rows.wrapping_mul(along.n))
    }

    /// The cursor of the first iteration.
    #[inline(always)]
    #[must_use]
    pub fn origin(&self) -> &Cursor {
        &self.origin
    }

    /// The loop around the inner one, or `Loop::ONCE`.
    #[inline(always)]
    pub(crate) fn outer(&self) -> &'a Loop {
        match self.loops {
            [.., outer, _] => outer,
            _ => const { &Loop::ONCE },
        }
    }

    #[inline(always)]
    pub(crate) fn inner(&self) -> &'a Loop {
        self.loops.last().expect("K5: a loop nest has an inner loop")
    }

    /// Checks the visible part of the kernel contract, in debug builds.
    #[inline(always)]
    pub(crate) fn debug_check(&self) {
        #[cfg(debug_assertions)]
        self.check();
    }

    #[cfg(debug_assertions)]
    fn check(&self) {
        let KernelSpec { method, level, components, row, policy, fill, table_entries, .. } = self.spec;
        assert!(self.loops.iter().all(|l| l.n >= 1), "K5: a loop without iterations");
        assert!(!components.is_empty() && components.iter().all(|c| c.dim >= 1), "K5: components {components:?}");
        assert!(components.len() > 1 || components[0].scale == 1 || components[0].dim == 1, "K5: {components:?}");
        assert!(policy.remap.is_none(), "K3: indices that are not remapped");
        assert!(
            !policy.fills() || (!fill.is_empty() && row.is_multiple_of(fill.len())),
            "K6: {} into {row}",
            fill.len()
        );
        assert!(level.is_available(), "K7: {level:?}");
        assert!(*method == Method::Direct || fits_i32(components), "K2: {components:?} under {method}");
        assert!(self.is_apart(), "K4: the output overlaps what is read");
        let table = *method == Method::Table;
        assert!(table == (*table_entries > 0), "K9: {method} of {table_entries} entries");
        assert!(self.takes(*method), "K9: {method} was chosen for what it does not take: {self:?}");
    }

    /// Whether the output does not overlap data (K4), as far as the loops show. If output rows are contiguous, neither
    /// the first nor the last row of data may overlap them. With gaps, output and data may alternate in memory.
    #[cfg(debug_assertions)]
    fn is_apart(&self) -> bool {
        if self.origin.data.is_null() {
            return true;
        }
        let reach = |start: usize, steps: &mut dyn Iterator<Item = i128>, bytes: usize| {
            let (mut first, mut end) = (start as i128, start as i128 + bytes as i128);
            for step in steps {
                if step < 0 { first += step } else { end += step }
            }
            first..end
        };
        let along = |step: fn(&Loop) -> isize| self.loops.iter().map(move |l| (l.n as i128 - 1) * step(l) as i128);
        let KernelSpec { row, components, conversion, .. } = self.spec;
        let out = reach(self.origin.out.addr(), &mut along(|l| l.out), *row);
        // Whether output rows are contiguous and do not overlap. Updates of a scatter, its `out`, may overlap.
        let mut loops: SmallVec<[_; 6]> =
            self.loops.iter().map(|l| (l.out.unsigned_abs(), l.n)).filter(|&(_, n)| n > 1).collect();
        loops.sort_unstable();
        let mut extent = *row;
        let dense = loops.iter().all(|&(step, n)| {
            let follows = step == extent;
            extent = extent.saturating_mul(n);
            follows
        });
        // If all scales are 0, an axis may have no elements: data is not read then, and may be anywhere.
        if !dense || components.iter().all(|c| c.scale == 0) {
            return true;
        }
        let positions = components.iter().map(|c| i128::from(c.dim - 1) * i128::from(c.scale) * self.stride as i128);
        let row_of_data = conversion.map_or(*row, |conversion| conversion.bytes_in());
        let data = reach(self.origin.data.addr(), &mut along(|l| l.data).chain(positions), row_of_data);
        let apart = |start: i128| start + row_of_data as i128 <= out.start || out.end <= start;
        apart(data.start) && apart(data.end - row_of_data as i128)
    }

    /// Whether a kernel takes this loop nest by a method (K9).
    #[cfg(debug_assertions)]
    fn takes(&self, method: Method) -> bool {
        let (inner, one) = (self.inner(), self.spec.components.len() == 1);
        match method {
            Method::Direct | Method::Blocks | Method::Prefetched => true,
            Method::Streamed => self.spec.conversion.is_none() || inner.out == self.spec.row as isize,
            Method::Chunks => one && inner.index != 0,
            Method::Gathered => {
                let panel = inner.data == self.spec.row as isize && matches!(self.spec.row, 4 | 8);
                one && matches!(self.spec.row, 4 | 8 | 12)
                    && inner.out == self.spec.row as isize
                    && (!self.spec.offsets_first || panel)
            }
            Method::Table => self.stride == self.spec.row as isize && inner.data == 0,
            Method::StridedCopy => inner.index == 0,
            Method::Panels | Method::Grouped | Method::Accumulated | Method::Interleaved | Method::Deinterleaved => {
                false
            }
        }
    }
}

/// Calls `run` with the cursor of each coordinate of the loops. At most 63 loops have two or more iterations.
#[inline(always)]
pub(in crate::kernels) fn each_coordinate(around: &[Loop], origin: Cursor, mut run: impl FnMut(&Cursor)) {
    if around.is_empty() { run(&origin) } else { each_along(around, origin, &mut run) }
}

fn each_along(around: &[Loop], mut at: Cursor, run: &mut impl FnMut(&Cursor)) {
    let [first, inside @ ..] = around else { return run(&at) };
    for _ in 0..first.n {
        each_along(inside, at, run);
        at = at.step(first);
    }
}

/// The first item of part `part`, if `n` items are cut into `parts` nearly equal parts; `n` for `part == parts`.
#[inline(always)]
pub(crate) fn start_of_part(n: usize, part: usize, parts: usize) -> usize {
    debug_assert!(part <= parts);
    // The first `n % parts` parts have one item more. `n · part` could overflow.
    n / parts * part + part.min(n % parts)
}

/// Whether all axes, scales and sums of positions fit in `i32`, as kernels of blocks need (K2).
pub(crate) fn fits_i32(components: &[Component]) -> bool {
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

/// A kernel of an index operator.
///
/// # Safety
/// The arguments are for this kernel: its rank and width (K5, K6), its index type (K3), its level (K7) and one of its
/// methods (K9).
pub(crate) type IndexKernel = unsafe fn(&IndexArgs<'_>) -> Outcome;

pub(crate) type MoveFn = fn(&IndexArgs<'_>, &MoveJob<'_>);

/// [`MoveFn`], compiled for a level.
pub(crate) type CompiledMoveFn = unsafe fn(&IndexArgs<'_>, &MoveJob<'_>);

level_pointers! { fn(&IndexArgs<'_>, &MoveJob); }

/// The place of an element in data.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The position along the axis.
    pub(crate) row: usize,
    /// The position in row-major data.
    pub(crate) element: usize,
}

/// A row of data to decode, and the address of its results.
#[derive(Clone, Copy)]
pub(crate) struct EncodedRow {
    pub(crate) from: *const u8,
    pub(crate) to: *mut u8,
    pub(crate) row: usize,
}

/// Decodes `elements` elements of each row with the params at `params`. Writes all results.
///
/// # Safety
/// K8 for each row and for `params`. The elements may be read, the results written, both are aligned, and nothing else
/// uses the memory of the results. K7.
pub(crate) type DecodeFn = unsafe fn(rows: &[EncodedRow], elements: usize, params: *const ());

/// The rows of a plan that converts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conversion {
    pub(crate) elements: usize,
    pub(crate) size_in: usize,
}

impl Conversion {
    /// Bytes of a row of data.
    pub(crate) fn bytes_in(&self) -> usize {
        self.elements.saturating_mul(self.size_in)
    }
}

/// Whether a kernel has completed: it has written each row of a gather, and reduced each update of a scatter or skipped
/// it by its policy. If not, an index was out of range, and the run fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Outcome {
    complete: bool,
}

impl Outcome {
    pub(crate) const NOTHING: Outcome = Outcome { complete: true };

    /// The outcome of a kernel that has done `done` of `asked` rows.
    #[inline(always)]
    pub(crate) fn of_rows(done: usize, asked: usize) -> Self {
        debug_assert!(done <= asked, "{done} rows of {asked}");
        Outcome { complete: done == asked }
    }

    /// The outcome of a kernel, or of workers, that have done all rows iff `complete`.
    #[inline(always)]
    pub(crate) const fn complete_if(complete: bool) -> Self {
        Outcome { complete }
    }

    #[inline(always)]
    pub(crate) fn and(self, other: Self) -> Self {
        Outcome { complete: self.complete && other.complete }
    }

    #[inline(always)]
    pub(crate) fn is_complete(self) -> bool {
        self.complete
    }
}
