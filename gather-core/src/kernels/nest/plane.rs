//! Planes of a loop nest, which bodies run, and strips of planes. They carry the kernel contract to indices and rows.

use crate::kernels::nest::args::{Component, Cursor, IndexArgs, KernelSpec, Loop, each_coordinate};
use crate::kernels::prefetch::NextSlice;
#[cfg(target_arch = "x86_64")]
use crate::kernels::words::{self, Words};
use crate::types::index::Index;

/// A plane of a loop nest: the inner loop and the loop around it, at one coordinate of the loops around both.
///
/// The cursor is borrowed: a copy soon after its fields were stored would wait for the stores.
#[derive(Clone, Copy)]
pub struct Plane<'a> {
    args: &'a IndexArgs<'a>,
    at: &'a Cursor,
}

impl<'a> Plane<'a> {
    #[inline(always)]
    pub(crate) fn rows(&self) -> usize {
        self.args.outer().n.wrapping_mul(self.args.inner().n)
    }

    /// The plane of a nest of one or two loops.
    #[inline(always)]
    pub(crate) fn of(args: &'a IndexArgs<'a>) -> Self {
        debug_assert!(args.loops().len() <= 2, "K9: one plane");
        Plane { args, at: args.origin() }
    }

    /// Calls `run` with every plane of a loop nest.
    #[inline(always)]
    pub(crate) fn each(args: &IndexArgs<'_>, mut run: impl FnMut(Plane<'_>)) {
        let around = &args.loops()[..args.loops().len().saturating_sub(2)];
        each_coordinate(around, *args.origin(), |at| run(Plane { args, at }));
    }

    #[inline(always)]
    pub(crate) fn args(self) -> &'a IndexArgs<'a> {
        self.args
    }

    #[inline(always)]
    pub(crate) fn spec(self) -> &'a KernelSpec {
        self.args.spec()
    }

    /// The cursor of the first iteration.
    #[inline(always)]
    pub(crate) fn at(self) -> &'a Cursor {
        self.at
    }

    /// The inner loop at the first coordinate of the outer one.
    #[inline(always)]
    pub(crate) fn first(self) -> Strip<'a> {
        Strip { args: self.args, at: *self.at, n: self.args.inner().n }
    }

    #[inline(always)]
    pub(crate) fn strips(self) -> Strips<'a> {
        Strips { next: self.first(), left: self.args.outer().n, outer: *self.args.outer() }
    }
}

/// The planes of a loop nest at one coordinate of the loops entered so far; `LOOPS` loops around the planes remain.
///
/// Invariant: the cursor is at that coordinate. [`Planes::of`] and [`Planes::along`] alone make values.
#[derive(Clone, Copy)]
pub(crate) struct Planes<'a, const LOOPS: usize> {
    args: &'a IndexArgs<'a>,
    loops: &'a [Loop; LOOPS],
    at: &'a Cursor,
}

impl<'a, const LOOPS: usize> Planes<'a, LOOPS> {
    /// All planes of a loop nest of rank `RANK`, which has `LOOPS` loops around a plane.
    ///
    /// # Panics
    /// If the loop nest has another rank: the dispatcher picks kernels by rank.
    #[inline(always)]
    pub(crate) fn of<const RANK: usize>(args: &'a IndexArgs<'a>) -> Self {
        Planes { args, loops: around_plane(args.loops_of::<RANK>()), at: args.origin() }
    }

    /// Calls `run` with the planes of each iteration of the outermost loop; `REST = LOOPS - 1` loops remain.
    #[inline(always)]
    pub(crate) fn along<const REST: usize>(self, mut run: impl FnMut(Planes<'_, REST>)) {
        let (first, loops) = outermost(self.loops);
        let mut at = *self.at;
        for _ in 0..first.n {
            run(Planes { args: self.args, loops, at: &at });
            at = at.step(first);
        }
    }
}

impl<'a> Planes<'a, 0> {
    #[inline(always)]
    pub(crate) fn plane(self) -> Plane<'a> {
        Plane { args: self.args, at: self.at }
    }
}

/// The loops around the plane of a loop nest.
#[inline(always)]
pub(in crate::kernels) fn around_plane<T, const RANK: usize, const LOOPS: usize>(loops: &[T; RANK]) -> &[T; LOOPS] {
    const { assert!(LOOPS == RANK.saturating_sub(2)) };
    loops.first_chunk().expect("a loop nest has the loops around its planes")
}

/// The outermost loop, and the loops inside it.
#[inline(always)]
pub(in crate::kernels) fn outermost<T, const LOOPS: usize, const REST: usize>(loops: &[T; LOOPS]) -> (&T, &[T; REST]) {
    const { assert!(LOOPS == REST + 1) };
    (&loops[0], loops.last_chunk().expect("all loops but the first"))
}

/// The strips of a plane, one for each iteration of its outer loop: [`Plane::strips`].
#[derive(Clone, Copy)]
pub(crate) struct Strips<'a> {
    next: Strip<'a>,
    left: usize,
    outer: Loop,
}

impl<'a> Strips<'a> {
    /// The number of remaining strips.
    #[inline(always)]
    pub(crate) fn n(&self) -> usize {
        self.left
    }

    #[inline(always)]
    pub(crate) fn peek(&self) -> Option<&Strip<'a>> {
        if self.left == 0 { None } else { Some(&self.next) }
    }

    /// Skips the next strip.
    #[inline(always)]
    pub(crate) fn advance(&mut self) {
        debug_assert!(self.left > 0);
        self.next.at = self.next.at.step(&self.outer);
        self.left -= 1;
    }

    #[inline(always)]
    pub(crate) fn first(&self, n: usize) -> Self {
        debug_assert!(n <= self.left);
        Strips { left: n, ..*self }
    }

    /// The strips after the first `n`.
    #[inline(always)]
    pub(crate) fn from(&self, n: usize) -> Self {
        debug_assert!(n <= self.left);
        let next = Strip { at: self.next.at.skip(&self.outer, n), ..self.next };
        Strips { next, left: self.left - n, outer: self.outer }
    }
}

impl<'a> Iterator for Strips<'a> {
    type Item = Strip<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Strip<'a>> {
        if self.left == 0 {
            return None;
        }
        let strip = self.next;
        self.next.at = strip.at.step(&self.outer);
        self.left -= 1;
        Some(strip)
    }
}

/// Adjacent iterations of the inner loop of a plane.
#[derive(Clone, Copy)]
pub struct Strip<'a> {
    args: &'a IndexArgs<'a>,
    at: Cursor,
    n: usize,
}

impl<'a> Strip<'a> {
    #[inline(always)]
    pub(crate) fn args(&self) -> &'a IndexArgs<'a> {
        self.args
    }

    #[inline(always)]
    pub(crate) fn spec(&self) -> &'a KernelSpec {
        self.args.spec()
    }

    /// The cursor of the first iteration.
    #[inline(always)]
    pub(crate) fn at(&self) -> Cursor {
        self.at
    }

    #[inline(always)]
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// The iterations from `first <= n` on.
    #[inline(always)]
    pub(crate) fn skip(&self, first: usize) -> Self {
        debug_assert!(first <= self.n);
        Strip { at: self.at.skip(self.args.inner(), first), n: self.n - first, ..*self }
    }

    #[inline(always)]
    pub(crate) fn take(&self, n: usize) -> Self {
        debug_assert!(n <= self.n);
        Strip { n, ..*self }
    }

    /// At most `most` iterations from `first <= n` on.
    #[inline(always)]
    pub(crate) fn part(&self, first: usize, most: usize) -> Self {
        debug_assert!(first <= self.n);
        Strip { at: self.at.skip(self.args.inner(), first), n: (self.n - first).min(most), ..*self }
    }

    /// The strip as an iterator of one strip.
    #[inline(always)]
    pub(crate) fn alone(&self) -> Strips<'a> {
        Strips { next: *self, left: 1, outer: Loop::ONCE }
    }

    /// Skips the first iteration.
    #[inline(always)]
    pub(crate) fn step(&mut self) {
        debug_assert!(self.n > 0);
        self.at = self.at.step(self.args.inner());
        self.n -= 1;
    }

    /// The index of a component at the first iteration.
    #[inline(always)]
    pub(crate) fn index<I: Index>(&self, component: &Component) -> I {
        debug_assert!(self.n > 0);
        self.indices(component).read(0)
    }

    #[inline(always)]
    pub(crate) fn indices(&self, component: &Component) -> Indices {
        debug_assert!(self.spec().components.contains(component));
        let at = self.at.index.wrapping_offset(component.index);
        Indices { at, stride: self.args.inner().index, n: self.n }
    }

    /// The data of the next outer coordinate, to prefetch while the rows from `done` on are moved.
    #[inline(always)]
    pub(crate) fn next_slice(&self, done: usize) -> NextSlice {
        let args = self.args;
        match args.spec().next_slice_bytes {
            0 => NextSlice::NONE,
            bytes => NextSlice::spread(self.at.data.wrapping_offset(args.outer().data), bytes, args.inner().n, done),
        }
    }

    #[inline(always)]
    pub(crate) fn outputs(&self) -> OutputRows {
        OutputRows { at: self.at.out, step: self.args.inner().out, n: self.n }
    }
}

/// Indices of one component: `n` values of the index type, `stride` bytes apart, at any alignment (K3).
#[derive(Clone, Copy)]
pub struct Indices {
    at: *const u8,
    stride: isize,
    n: usize,
}

impl Indices {
    /// Indices outside any loop nest.
    ///
    /// # Safety
    /// At `at`, `n` values of the index type may be read, `stride` bytes apart, until the last use of the result.
    #[inline(always)]
    pub(crate) unsafe fn new(at: *const u8, stride: isize, n: usize) -> Self {
        Indices { at, stride, n }
    }

    #[inline(always)]
    pub(crate) fn at(&self) -> *const u8 {
        self.at
    }

    #[inline(always)]
    pub(crate) fn stride(&self) -> isize {
        self.stride
    }

    #[inline(always)]
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// Indices `first..first + n`.
    #[inline(always)]
    pub(crate) fn part(&self, first: usize, n: usize) -> Self {
        debug_assert!(first + n <= self.n);
        Indices { at: self.place(first), n, ..*self }
    }

    /// The same indices with the stride `bytes`, a constant; `None` if their stride is another.
    #[inline(always)]
    pub(crate) fn contiguous(&self, bytes: usize) -> Option<Self> {
        let stride = bytes as isize;
        if self.stride == stride { Some(Indices { stride, ..*self }) } else { None }
    }

    /// The same indices with the stride `size_of::<I>()`, a constant: they are contiguous (K9).
    #[inline(always)]
    pub(crate) fn adjacent<I: Index>(&self) -> Self {
        let stride = size_of::<I>() as isize;
        debug_assert!(self.stride == stride || self.n <= 1, "K9: indices {} bytes apart", self.stride);
        Indices { stride, ..*self }
    }

    /// A vector of contiguous indices, starting at index `at`.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn load<I: Index, W: Words>(&self, at: usize, like: W) -> words::IndexWords<W> {
        debug_assert!(at + W::N <= self.n && self.stride == size_of::<I>() as isize);
        // SAFETY: K3: callers keep `at + N <= n`, and indices are contiguous. `like` proves the level.
        unsafe { words::IndexWords::load(like, self.at.cast::<I>().wrapping_add(at)) }
    }

    /// Index `i`, of the kernel's index type.
    #[inline(always)]
    pub(crate) fn read<I: Index>(&self, i: usize) -> I {
        debug_assert!(i < self.n);
        // SAFETY: K3: callers keep `i < n`, and `I` has the size of the index type.
        unsafe { self.place(i).cast::<I>().read_unaligned() }
    }

    #[inline(always)]
    fn place(&self, i: usize) -> *const u8 {
        self.at.wrapping_offset(self.stride.wrapping_mul(i as isize))
    }
}

/// Rows of the output that may be written (K1): `n` rows of the plan's bytes, `step` bytes apart.
#[derive(Clone, Copy)]
pub(crate) struct OutputRows {
    at: *mut u8,
    step: isize,
    n: usize,
}

impl OutputRows {
    /// # Safety
    /// At `at`, `n` rows of the plan's bytes may be written, `step` bytes apart, and nothing else uses them.
    #[inline(always)]
    pub(crate) unsafe fn new(at: *mut u8, step: isize, n: usize) -> Self {
        OutputRows { at, step, n }
    }

    #[inline(always)]
    pub(crate) fn at(&self) -> *mut u8 {
        self.at
    }

    #[inline(always)]
    pub(crate) fn step(&self) -> isize {
        self.step
    }

    #[inline(always)]
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// Rows `first..first + n`.
    #[inline(always)]
    pub(crate) fn part(&self, first: usize, n: usize) -> Self {
        debug_assert!(first + n <= self.n);
        OutputRows { at: self.at.wrapping_offset(self.step.wrapping_mul(first as isize)), n, ..*self }
    }
}
