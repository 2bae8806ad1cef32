//! The loops of the operators on indices for shapes known at compile time.
//!
//! ```text
//! for each coordinate of the outer loops:          (the last three are loops in the code; others have counters)
//!     for each group of rows of the inner loop:
//!         resolve their indices                    (out of range: stop, or remember it)
//!         copy the rows, or write zeros
//! ```
//!
//! On x86-64 the loops are compiled twice if vectors pay: for every machine, and for AVX2. Sizes, strides and policies
//! known at compile time are constants. So the compiler unrolls short loops, folds addresses, and removes unreachable
//! code.

use core::marker::PhantomData;

#[cfg(target_arch = "x86_64")]
use crate::kernels::level_fn::{LevelFn, avx2};
use crate::kernels::level_fn::{Scalar, Token};
use crate::kernels::shaped::fold::{IndexShape, OUTER, ShapedAxis, ShapedLoop};
#[cfg(target_arch = "x86_64")]
use crate::kernels::shaped::lookup_avx2::{LANES, look_up};
#[cfg(target_arch = "x86_64")]
use crate::kernels::shaped::size::Size;
use crate::kernels::shaped::size::Sizes;
use crate::types::declared::{Declaration, MAX_DIMS};
use crate::types::element::{Element, write_zero};
use crate::types::index::Index;
#[cfg(target_arch = "x86_64")]
use crate::types::level::Level;
use crate::types::policy::KernelPolicy;

/// The constants of a declaration of an operator on indices.
pub(crate) struct IndexShapeOf<D>(D);

impl<D: Declaration> IndexShapeOf<D> {
    pub(crate) const SHAPE: IndexShape = IndexShape::of(&D::DECLARED);
    const POLICY: KernelPolicy = D::DECLARED.policy.lower();
    /// The third loop from the inside.
    const PLANES: ShapedLoop = Self::SHAPE.loops[OUTER];
    /// The second loop from the inside.
    const LINES: ShapedLoop = Self::SHAPE.loops[OUTER + 1];
    /// The innermost loop.
    const INNER: ShapedLoop = Self::SHAPE.loops[OUTER + 2];
    const HAS_OUTER: bool = Self::SHAPE.len > MAX_DIMS - OUTER;
    /// The size of an axis of at most [`LANES`] elements, if the inner loop looks up one line by contiguous indices.
    #[cfg(target_arch = "x86_64")]
    const LINE: Option<usize> = {
        let (axis, inner) = (Self::SHAPE.axes[0], Self::INNER);
        let side_by_side = inner.index.is(Size::ONE) && inner.data.is(Size::ZERO) && axis.stride.is(Size::ONE);
        let is_short = axis.dim.slots == 0 && axis.dim.known <= LANES;
        let knows = Self::POLICY.remap.is_none();
        let one = Self::SHAPE.axes_len == 1 && Self::SHAPE.row.is(Size::ONE);
        if side_by_side && is_short && knows && one { Some(axis.dim.known) } else { None }
    };
}

/// Row bytes from which loops are compiled for AVX2 too.
#[cfg(target_arch = "x86_64")]
const WIDE_ROW: usize = 32;

/// Rows that are resolved before the first is moved.
const GROUP: usize = 8;

/// The three tensors of a call, at any alignment, and its open sizes.
///
/// Invariant: D1 to D3 for the sizes. So along the loops, indices may be read, data may be read at positions in range,
/// and the output may be written. The output does not overlap the other tensors.
pub(crate) struct ShapedTensors<'a, D, T, I, const ARGS: usize> {
    data: *const T,
    indices: *const I,
    out: *mut T,
    sizes: &'a Sizes<ARGS>,
    declaration: PhantomData<D>,
}

/// The element offsets of a row in data and of its index in indices, and the address of the row in the output.
#[derive(Clone, Copy)]
struct ShapePlace<T> {
    data: usize,
    index: usize,
    out: *mut T,
}

impl<'a, D: Declaration, T: Element, I: Index, const ARGS: usize> ShapedTensors<'a, D, T, I, ARGS> {
    /// # Safety
    /// `data` and `indices` may be read for `data_len` and `indices_len` elements for the sizes, and `out` may be
    /// written for `out_len` elements and overlaps neither. No open size is 0; open sizes of one dimension agree (D1 to
    /// D3).
    #[inline(always)]
    pub(crate) unsafe fn new(data: *const T, indices: *const I, out: *mut T, sizes: &'a Sizes<ARGS>) -> Self {
        ShapedTensors { data, indices, out, sizes, declaration: PhantomData }
    }

    /// [`ShapedTensors::move_rows`] by the loops for this machine.
    #[inline(always)]
    pub(crate) fn move_all(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            let shape = const { &IndexShapeOf::<D>::SHAPE };
            let looks_up = IndexShapeOf::<D>::LINE.is_some() && size_of::<T>() == 4 && size_of::<I>() == 4;
            if (looks_up || shape.row.known * size_of::<T>() >= WIDE_ROW) && Level::has_avx2() {
                // SAFETY: `Level::has_avx2` has found the level AVX2.
                return unsafe { avx2::<MoveShapedRows<D, T, I, ARGS>>(self) };
            }
        }
        self.move_rows(Scalar)
    }

    /// Moves every row, up to the first group with an index out of range if that is an error; returns whether it moved
    /// all.
    #[inline(always)]
    pub(crate) fn move_rows<L: Token>(&self, level: L) -> bool {
        let mut place = ShapePlace { data: 0, index: 0, out: self.out };
        if !IndexShapeOf::<D>::HAS_OUTER {
            return self.move_volume(level, &mut place);
        }
        let mut counters = [0; OUTER];
        loop {
            if !self.move_volume(level, &mut place) {
                return false;
            }
            // The next coordinate.
            let mut depth = OUTER;
            loop {
                if depth == 0 {
                    return true;
                }
                depth -= 1;
                let along = IndexShapeOf::<D>::SHAPE.loops[depth];
                let (n, data, index) = (along.n.at(self.sizes), along.data.at(self.sizes), along.index.at(self.sizes));
                counters[depth] += 1;
                (place.data, place.index) = (place.data.wrapping_add(data), place.index.wrapping_add(index));
                if counters[depth] < n {
                    break;
                }
                counters[depth] = 0;
                place.data = place.data.wrapping_sub(data.wrapping_mul(n));
                place.index = place.index.wrapping_sub(index.wrapping_mul(n));
            }
        }
    }

    /// Runs the last three loops, and advances `place.out` past their output.
    #[inline(always)]
    fn move_volume<L: Token>(&self, level: L, place: &mut ShapePlace<T>) -> bool {
        let (planes, lines) = (const { IndexShapeOf::<D>::PLANES }, const { IndexShapeOf::<D>::LINES });
        let sizes = self.sizes;
        for plane in 0..planes.n.at(sizes) {
            for line in 0..lines.n.at(sizes) {
                let step = |plane_step: usize, line_step: usize| {
                    plane_step.wrapping_mul(plane).wrapping_add(line_step.wrapping_mul(line))
                };
                let data = place.data.wrapping_add(step(planes.data.at(sizes), lines.data.at(sizes)));
                let index = place.index.wrapping_add(step(planes.index.at(sizes), lines.index.at(sizes)));
                if !self.move_line(level, ShapePlace { data, index, out: place.out }) {
                    return false;
                }
                let (n, row) = (const { IndexShapeOf::<D>::INNER }.n, const { IndexShapeOf::<D>::SHAPE }.row);
                place.out = place.out.wrapping_add(n.at(sizes).wrapping_mul(row.at(sizes)));
            }
        }
        true
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables, reason = "no level has more than the scalar one"))]
    fn move_line<L: Token>(&self, level: L, place: ShapePlace<T>) -> bool {
        let n = const { IndexShapeOf::<D>::INNER }.n.at(self.sizes);
        let mut done = 0;
        #[cfg(target_arch = "x86_64")]
        if let Some(level) = level.avx2()
            && size_of::<T>() == 4
            && size_of::<I>() == 4
            && let Some(dim) = const { IndexShapeOf::<D>::LINE }
        {
            let data = (self.data.wrapping_add(place.data), dim);
            let index = self.indices.wrapping_add(place.index);
            // SAFETY: D1 to D3, for types of 4 bytes; `LINE`: `dim` contiguous elements, contiguous indices, no remap.
            let (ahead, ok) = unsafe { look_up(level, const { IndexShapeOf::<D>::POLICY }, data, index, place.out, n) };
            if !ok {
                return false;
            }
            done = ahead;
        }
        while n - done >= GROUP {
            if !self.move_group::<GROUP>(place, done) {
                return false;
            }
            done += GROUP;
        }
        while done < n {
            if !self.move_group::<1>(place, done) {
                return false;
            }
            done += 1;
        }
        true
    }

    /// Moves rows `first..first + N` of the inner loop.
    #[inline(always)]
    fn move_group<const N: usize>(&self, place: ShapePlace<T>, first: usize) -> bool {
        let (inner, sizes) = (const { IndexShapeOf::<D>::INNER }, self.sizes);
        let row = const { IndexShapeOf::<D>::SHAPE }.row.at(sizes);
        debug_assert!(first + N <= inner.n.at(sizes), "{first} and {N} rows");
        let policy = const { IndexShapeOf::<D>::POLICY };
        let (mut from, mut inside) = ([0; N], [true; N]);
        for i in 0..N {
            let index = place.index.wrapping_add(inner.index.at(sizes).wrapping_mul(first + i));
            let (position, ok) = self.resolve(index);
            let step = inner.data.at(sizes).wrapping_mul(first + i);
            from[i] = place.data.wrapping_add(step).wrapping_add(position);
            inside[i] = ok;
            // A branch per position: comparing all at once would pass positions through vector registers.
            if policy.fails() && !ok {
                return false;
            }
        }
        for i in 0..N {
            let to = place.out.wrapping_add((first + i).wrapping_mul(row));
            if policy.fills() && !inside[i] {
                for at in 0..row {
                    // SAFETY: D1: `row` elements may be written at `to`.
                    unsafe { write_zero(to.wrapping_add(at)) };
                }
                continue;
            }
            let from = self.data.wrapping_add(from[i]).cast::<u8>();
            // SAFETY: D2: a row at a position in range may be read. D1: a row may be written at `to`, apart from data.
            unsafe { core::ptr::copy_nonoverlapping(from, to.cast(), row * size_of::<T>()) };
        }
        true
    }

    /// `Σ stride · position` of the indices of a row, starting at `index`, and whether all are in range.
    #[inline(always)]
    fn resolve(&self, index: usize) -> (usize, bool) {
        let (policy, shape) = (const { IndexShapeOf::<D>::POLICY }, const { &IndexShapeOf::<D>::SHAPE });
        let (mut far, mut inside) = (0usize, true);
        for k in 0..shape.axes_len {
            let ShapedAxis { dim, stride, .. } = shape.axes[k];
            // SAFETY: D3: `axes_len` indices may be read from `index` on.
            let value = unsafe { self.indices.wrapping_add(index + k).read_unaligned() };
            let (position, ok) = policy.check(value, dim.at(self.sizes) as i64);
            far = far.wrapping_add(stride.at(self.sizes).wrapping_mul(position as usize));
            inside &= ok;
        }
        (far, inside)
    }
}

/// [`ShapedTensors::move_rows`], compiled for AVX2.
#[cfg(target_arch = "x86_64")]
struct MoveShapedRows<D, T, I, const ARGS: usize>(PhantomData<(D, T, I)>);

#[cfg(target_arch = "x86_64")]
impl<D: Declaration, T: Element, I: Index, const ARGS: usize> LevelFn for MoveShapedRows<D, T, I, ARGS> {
    type Args<'a> = &'a ShapedTensors<'a, D, T, I, ARGS>;
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(here: Here, tensors: Self::Args<'_>) -> bool {
        tensors.move_rows(here)
    }
}
