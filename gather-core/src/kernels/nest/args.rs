//! The arguments of a kernel of the index operators: the part that a plan has decided, and the part of one call.

use core::ops::Range;

use smallvec::SmallVec;

use crate::kernels::by_level::level_pointers;
use crate::kernels::nest::rows::MoveJob;
use crate::types::element::ElementBytes;
use crate::types::level::Available;
use crate::types::method::Method;
use crate::types::policy::KernelPolicy;

/// One loop of a loop nest, outermost first; the last is the inner loop. Strides in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Iterations, at least 1.
    pub n: usize,
    /// Step of the output.
    pub(crate) out: isize,
    /// Step of data, before the index is applied.
    pub(crate) data: isize,
    /// Step of indices; 0 where one index serves the whole loop.
    pub(crate) index: isize,
}

impl Loop {
    /// A loop of one iteration.
    pub(crate) const ONCE: Loop = Loop { n: 1, out: 0, data: 0, index: 0 };
}

/// One component of an index: the axis that it runs along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Component {
    /// Size of the axis, at least 1.
    pub(crate) dim: i64,
    /// Positions of data that one step along the axis takes.
    pub(crate) scale: i64,
    /// Bytes from the first component of an index tuple to this one.
    pub(crate) index: isize,
}

/// Places in the three tensors at once. Steps wrap: a cursor may stand past an end; it is followed only inside.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    pub(crate) out: *mut u8,
    pub(crate) data: *const u8,
    pub(crate) index: *const u8,
}

impl Cursor {
    /// One iteration of `along` further.
    #[inline(always)]
    #[must_use]
    pub fn step(&self, along: &Loop) -> Cursor {
        Cursor {
            out: self.out.wrapping_offset(along.out),
            data: self.data.wrapping_offset(along.data),
            index: self.index.wrapping_offset(along.index),
        }
    }

    /// `count` iterations of `along` further.
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

/// The arguments that a plan has decided: the same for every call and for every part of a loop nest.
#[derive(Clone, Debug)]
pub(crate) struct KernelSpec {
    /// How the kernel gets at data.
    pub(crate) method: Method,
    /// The level that the kernel was compiled for.
    pub(crate) level: Available,
    pub(crate) components: SmallVec<[Component; 3]>,
    /// Bytes moved by one iteration of the inner loop.
    pub(crate) row: usize,
    pub(crate) policy: KernelPolicy,
    /// The bytes that fill a row under `Missing::Fill`, repeated over it; else empty.
    pub(crate) fill: ElementBytes,
    /// Whether rows are contiguous in the output, and elements in data, which the inner loop does not move.
    pub(crate) packed: bool,
    /// Whether index tuples are contiguous, their components too, with positive scales.
    pub(crate) adjacent_tuples: bool,
    /// How many rows, or how many indices and elements of the output, are prefetched of their use; 0 for none.
    pub(crate) prefetch_distance: usize,
    /// How many outer coordinates ahead indices and output are prefetched, or updates of a scatter; 0 for none. With
    /// `offsets_first` the output is prefetched when its turn comes.
    pub(crate) outer_prefetch_distance: usize,
    /// Whether the indices of some rows become offsets before the first of their elements is loaded: out of panels that
    /// leave room in the second-level cache.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "for levels that gather"))]
    pub(crate) offsets_first: bool,
    /// Bytes of data that the indices of one outer coordinate reach, where those of the next are to be fetched
    /// meanwhile; else 0.
    pub(crate) next_slice_bytes: usize,
    /// Elements of data that the indices reach, under `Method::Table`; else 0.
    pub(crate) table_entries: usize,
    /// Converts elements on their way, in a kernel of a map.
    pub(crate) conversion: Option<Conversion>,
}

impl KernelSpec {
    /// Rows of no bytes, which nothing is known of yet.
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

/// Everything that a kernel of an index operator works on. It carries the kernel contract.
#[derive(Clone, Copy, Debug)]
pub struct IndexArgs<'a> {
    spec: &'a KernelSpec,
    origin: Cursor,
    loops: &'a [Loop],
    stride: isize,
    params: *const (),
}

/// Loops of a part of a loop nest.
pub(crate) type Loops = SmallVec<[Loop; 6]>;

impl<'a> IndexArgs<'a> {
    /// The arguments for tensors at their first coordinate. Data has `stride` bytes from one position to the next.
    /// `params` are the map's arguments (K8), or the scatter's sink (S3); null in other kernels.
    ///
    /// # Safety
    /// K1 to K6 and K8 to K10 hold for the loops and the spec, of a gather; of a scatter S1 to S4 in place of K1, K2
    /// and K8. The machine has the level of the spec (K7).
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

    /// The part of the loop nest that some iterations of each loop are: `range` is given a loop's depth and length.
    #[inline(always)]
    pub(crate) fn part<'b>(
        &self,
        room: &'b mut Loops,
        mut range: impl FnMut(usize, usize) -> Range<usize>,
    ) -> IndexArgs<'b>
    where
        'a: 'b,
    {
        let mut origin = self.origin;
        room.clear();
        room.extend_from_slice(self.loops);
        for (depth, along) in room.iter_mut().enumerate() {
            let range = range(depth, along.n);
            assert!(range.end <= along.n, "{range:?} of {} iterations", along.n);
            origin = origin.skip(along, range.start);
            along.n = range.len();
        }
        IndexArgs { origin, loops: room, ..*self }
    }

    /// The same loops with no data to be read: of an axis without elements.
    #[inline(always)]
    pub(crate) fn without_data(&self) -> Self {
        IndexArgs { origin: Cursor { data: core::ptr::null(), ..self.origin }, ..*self }
    }

    /// The last `inside` loops at each coordinate of the loops around them.
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

    /// The same with other parameters.
    ///
    /// # Safety
    /// K8 holds for them.
    #[inline(always)]
    pub(crate) unsafe fn given(self, params: *const ()) -> Self {
        IndexArgs { params, ..self }
    }

    /// The loops.
    #[inline(always)]
    pub(crate) fn loops(&self) -> &'a [Loop] {
        self.loops
    }

    /// The loops of a loop nest of rank `R`.
    ///
    /// # Panics
    /// When the loop nest has another rank: the dispatcher picks kernels by it.
    #[inline(always)]
    #[must_use]
    pub fn loops_of<const R: usize>(&self) -> &'a [Loop; R] {
        self.loops.try_into().expect("a kernel runs on loop nests of its own rank")
    }

    /// The rows of the loop nest: at most `isize::MAX`, as a layout with elements has coordinates (L2).
    #[inline(always)]
    pub(crate) fn rows(&self) -> usize {
        self.loops.iter().fold(1, |rows: usize, along| rows.wrapping_mul(along.n))
    }

    /// The place of the first iteration.
    #[inline(always)]
    #[must_use]
    pub fn origin(&self) -> &Cursor {
        &self.origin
    }

    /// The loop around the inner one; one iteration where there is none.
    #[inline(always)]
    pub(crate) fn outer(&self) -> &'a Loop {
        match self.loops {
            [.., outer, _] => outer,
            _ => const { &Loop::ONCE },
        }
    }

    /// The innermost loop.
    #[inline(always)]
    pub(crate) fn inner(&self) -> &'a Loop {
        self.loops.last().expect("K5: a loop nest has an inner loop")
    }

    /// Checks what of the kernel contract can be checked here, in debug builds.
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

    /// Whether the output shares no byte with data (K4), by what the loops reach: where rows of the output are
    /// contiguous, neither the first row of data nor the last lies among them. With gaps the two may take turns in
    /// memory. There is no data where nothing is read.
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
        // Rows that are contiguous overlap nowhere. Updates of a scatter, which are its output here, may.
        let mut loops: SmallVec<[_; 6]> =
            self.loops.iter().map(|l| (l.out.unsigned_abs(), l.n)).filter(|&(_, n)| n > 1).collect();
        loops.sort_unstable();
        let mut extent = *row;
        let dense = loops.iter().all(|&(step, n)| {
            let follows = step == extent;
            extent = extent.saturating_mul(n);
            follows
        });
        // Of data that no index reaches there may be nothing to read, wherever it lies.
        if !dense || components.iter().all(|c| c.scale == 0) {
            return true;
        }
        let positions = components.iter().map(|c| i128::from(c.dim - 1) * i128::from(c.scale) * self.stride as i128);
        let row_of_data = conversion.map_or(*row, |conversion| conversion.bytes_in());
        let data = reach(self.origin.data.addr(), &mut along(|l| l.data).chain(positions), row_of_data);
        let apart = |start: i128| start + row_of_data as i128 <= out.start || out.end <= start;
        apart(data.start) && apart(data.end - row_of_data as i128)
    }

    /// Whether a kernel runs this loop nest by a method (K9).
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

/// Runs `run` at the cursor of each coordinate of loops. There are at most 63 of two or more iterations.
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

/// Where part `part` begins of `n` that are cut into `parts` about equal ones; `n` for the end of the last.
#[inline(always)]
pub(crate) fn start_of_part(n: usize, part: usize, parts: usize) -> usize {
    debug_assert!(part <= parts);
    // The first `n % parts` parts have one more. `n · part` could overflow.
    n / parts * part + part.min(n % parts)
}

/// Whether every axis, every scale and every sum of positions fits in `i32`, as kernels of blocks need (K2).
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
/// The arguments are for this kernel: of its rank and width (K5, K6), its index type (K3) and its level (K7), by a
/// method that it has (K9).
pub(crate) type IndexKernel = unsafe fn(&IndexArgs<'_>) -> Outcome;

/// Moves resolved rows.
pub(crate) type MoveFn = fn(&IndexArgs<'_>, &MoveJob<'_>);

/// [`MoveFn`], compiled for a level.
pub(crate) type CompiledMoveFn = unsafe fn(&IndexArgs<'_>, &MoveJob<'_>);

level_pointers! { fn(&IndexArgs<'_>, &MoveJob); }

/// The place of an element in data.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its position along the axis.
    pub(crate) row: usize,
    /// Its position in row-major data.
    pub(crate) element: usize,
}

/// Elements of a row of data that are decoded to another address.
#[derive(Clone, Copy)]
pub(crate) struct EncodedRow {
    pub(crate) from: *const u8,
    pub(crate) to: *mut u8,
    /// The position of the row along the axis.
    pub(crate) row: usize,
}

/// Decodes `elements` elements of each row, by the parameters at `params`.
///
/// # Safety
/// K8 for each row and for the parameters: the elements may be read; their results may be written, nothing else uses
/// their memory, and both are aligned. K7. All results are written.
pub(crate) type DecodeFn = unsafe fn(rows: &[EncodedRow], elements: usize, params: *const ());

/// The rows of a plan that converts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conversion {
    /// Elements of a row of data.
    pub(crate) elements: usize,
    /// Bytes of an element of data.
    pub(crate) size_in: usize,
}

impl Conversion {
    /// Bytes of data that a row is converted from.
    pub(crate) fn bytes_in(&self) -> usize {
        self.elements.saturating_mul(self.size_in)
    }
}

/// Whether a kernel has done all that it was asked for: whether each row of a gather has been written, and each update of
/// a scatter reduced, or skipped by its policy. A run whose kernels are not complete has met a missing index, and fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Outcome {
    complete: bool,
}

impl Outcome {
    /// Of a kernel that was asked for no row.
    pub(crate) const NOTHING: Outcome = Outcome { complete: true };

    /// Of a kernel that was asked for `asked` rows and has done `done` of them.
    #[inline(always)]
    pub(crate) fn of_rows(done: usize, asked: usize) -> Self {
        debug_assert!(done <= asked, "{done} rows of {asked}");
        Outcome { complete: done == asked }
    }

    /// Of a kernel, or of workers, that have done all or not.
    #[inline(always)]
    pub(crate) const fn complete_if(complete: bool) -> Self {
        Outcome { complete }
    }

    /// Of two kernels.
    #[inline(always)]
    pub(crate) fn and(self, other: Self) -> Self {
        Outcome { complete: self.complete && other.complete }
    }

    #[inline(always)]
    pub(crate) fn is_complete(self) -> bool {
        self.complete
    }
}
