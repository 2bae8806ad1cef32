//! Resolution of nullable indices to positions.
//!
//! Positions of tuples are laid out by component: `positions[component * count + tuple]`.

use smallvec::SmallVec;

use crate::exec::first_bad_index::IndexCheck;
use crate::exec::index::Ids;
use crate::kernels::remap;
use crate::kernels::{BitFns, Indices, Loop, ResolveJob, Resolvers, WideJob};
use crate::plan::fold::{Loops, for_each, merge_into};
use crate::tensor::bitmap::{Bitmap, WORD, first_bits, word_of};
use crate::tensor::layout::Layout;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::level::Available;
use crate::types::policy::KernelPolicy;

/// The number of [`PositionType::NUMBERS`].
const NUMBERS: usize = 256;

/// Numbers from 0 on.
macro_rules! numbers {
    ($P:ty) => {
        &{
            let (mut numbers, mut at) = ([0; NUMBERS], 0);
            while at < NUMBERS {
                numbers[at] = at as $P;
                at += 1;
            }
            numbers
        }
    };
}

/// A type of positions: `i32`, or `i64` for axes beyond 32 bits.
#[doc(hidden)]
pub trait PositionType: Index {
    /// The position of an index that is null or out of range: -1.
    const MISSING: Self;

    /// The first positions.
    const NUMBERS: &'static [Self; NUMBERS];

    /// Functions that mark positions by a bitmap, and look bits up by positions.
    const BITS: BitFns<Self>;

    /// Resolves indices of the resolvers' type along an axis of `dim` positions, `1 <= dim <= Self::MAX`. Returns
    /// whether one was out of range.
    fn resolve(indices: Indices, dim: i64, policy: KernelPolicy, out: &mut [Self], by: (Resolvers, Available)) -> bool;
}

impl PositionType for i32 {
    const MISSING: Self = -1;

    const NUMBERS: &'static [Self; NUMBERS] = numbers!(i32);

    const BITS: BitFns<Self> = BitFns::OF_I32;

    fn resolve(
        indices: Indices,
        dim: i64,
        policy: KernelPolicy,
        out: &mut [Self],
        (by, level): (Resolvers, Available),
    ) -> bool {
        debug_assert!(i32::try_from(dim).is_ok_and(|dim| dim > 0), "K2: an axis of {dim}");
        by.at(level)(&ResolveJob::to_slice(indices, dim as i32, policy, out))
    }
}

impl PositionType for i64 {
    const MISSING: Self = -1;

    const NUMBERS: &'static [Self; NUMBERS] = numbers!(i64);

    const BITS: BitFns<Self> = BitFns::OF_I64;

    fn resolve(
        indices: Indices,
        dim: i64,
        policy: KernelPolicy,
        out: &mut [Self],
        (by, _): (Resolvers, Available),
    ) -> bool {
        debug_assert!(dim > 0);
        (by.wide)(WideJob::to_slice(indices, dim, policy, out))
    }
}

/// Indices of a call, with their validity.
pub(crate) struct NullIndices<'a> {
    pub(crate) check: IndexCheck<'a>,
    /// Whether a valid index out of range is an error.
    pub(crate) refuses: bool,
    pub(crate) resolvers: Resolvers,
    pub(crate) level: Available,
    /// The indices, of the type of the check and of the resolvers.
    pub(crate) indices: Ids<'a>,
    /// Layout of the numbers of indices: the rank of `indices`, with step 0 along components of a tuple.
    pub(crate) numbers: &'a Layout,
    /// Number of dimensions before the dimension of components; the rank if indices are no tuples.
    pub(crate) lead: usize,
    /// Number of indices, or of tuples.
    pub(crate) count: usize,
    pub(crate) valid: Option<Bitmap<'a>>,
}

impl NullIndices<'_> {
    /// Writes the position of every index, [`PositionType::MISSING`] if it is null. In a null tuple the first
    /// component is missing.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`] for the first valid index in row-major order that names no element, if
    /// `self.refuses`; otherwise its position is missing too.
    pub(crate) fn resolve<P: PositionType>(&self, positions: &mut [P]) -> Result<(), Error> {
        debug_assert_eq!(self.check.index, self.indices.of());
        let Some(planes) = positions.len().checked_div(self.count) else { return Ok(()) };
        debug_assert_eq!(planes, self.check.axes.len().max(1));
        let mut out_of_range = false;
        for (component, plane) in positions.chunks_exact_mut(self.count).enumerate() {
            if component == self.check.axes.len() {
                break;
            }
            out_of_range |= self.resolve_component(component, plane);
        }
        let mut is_bad = out_of_range;
        if let Some(valid) = self.valid {
            let first = P::BITS.mark_nulls.at(self.level)((&mut positions[..self.count], valid));
            // `first` is about the first component of tuples: `check_valid` checks the others.
            is_bad &= first || planes > 1;
        }
        if is_bad && self.refuses {
            self.check_valid(positions, |place| {
                let (start, of) = (self.indices.start(), self.indices.of());
                let at = start.wrapping_offset(place.wrapping_mul(of.size() as isize));
                // SAFETY: V1: `check_valid` passes the offset of a coordinate, at which there is an index of type `of`.
                unsafe { of.reader()(at) }
            })?;
        }
        Ok(())
    }

    /// Resolves one component of all indices. Returns whether one was out of range.
    fn resolve_component<P: PositionType>(&self, component: usize, plane: &mut [P]) -> bool {
        let (size, dim) = (self.indices.of().size() as isize, self.check.axes[component].dim);
        if dim == 0 {
            plane.fill(P::MISSING);
            return true;
        }
        let dims = self.dims().map(|(n, number, stride)| Loop { n, out: number, data: 0, index: stride });
        let mut loops = Loops::new();
        merge_into(&mut loops, dims);
        let inner = loops.pop().unwrap_or(Loop::ONCE);
        let first = self.component_stride().wrapping_mul(component as isize);
        let (mut out_of_range, policy) = (false, KernelPolicy { remap: None, ..self.check.policy });
        let step = |(place, number): (isize, isize), along: &Loop| {
            (place.wrapping_add(along.index), number.wrapping_add(along.out))
        };
        for_each(&loops, (first, 0), step, &mut |(place, number)| {
            let out = &mut plane[number as usize..][..inner.n];
            let index = self.indices.start().wrapping_offset(place.wrapping_mul(size));
            let stride = inner.index.wrapping_mul(size);
            // SAFETY: V1: the loops reach coordinates of the indices' layout, which has values of their type.
            let indices = unsafe { Indices::new(index, stride, inner.n) };
            // The caller selected `P` so that all axes fit.
            let mut resolve = |indices: Indices, out: &mut [P]| {
                out_of_range |= P::resolve(indices, dim as i64, policy, out, (self.resolvers, self.level));
            };
            match self.check.policy.remap {
                None => resolve(indices, out),
                Some(remap) => {
                    let (by, rule) = ((self.indices.of(), self.level), (remap, policy));
                    let resolve = |first: usize, indices: Indices| {
                        resolve(indices, &mut out[first..][..indices.n()]);
                    };
                    // SAFETY: V1: `indices` are values of the type `self.indices.of()`.
                    unsafe { remap::each_block(indices, by, dim as i64, rule, resolve) };
                }
            }
        });
        out_of_range
    }

    /// Size, step of numbers and stride of each dimension of indices, except the dimension of components.
    fn dims(&self) -> impl Iterator<Item = (usize, isize, isize)> {
        let shape = self.indices.layout().shape()[..self.lead].iter().copied();
        let steps = self.numbers.strides().iter().copied().zip(self.indices.layout().strides().iter().copied());
        shape.zip(steps).map(|(n, (number, stride))| (n, number, stride))
    }

    fn component_stride(&self) -> isize {
        self.indices.layout().strides().get(self.lead).copied().unwrap_or(0)
    }

    /// Checks that no valid index is out of range. `read` takes the offset of an index.
    ///
    /// # Errors
    /// As for [`NullIndices::resolve`].
    #[cold]
    fn check_valid<P: PositionType>(&self, positions: &[P], read: impl Fn(isize) -> i128) -> Result<(), Error> {
        for at in (0..self.count).step_by(WORD) {
            let n = WORD.min(self.count - at);
            let planes = positions.chunks_exact(self.count);
            let missing = planes.fold(0, |word, plane| word | missing_word(&plane[at..at + n]));
            let bad = missing & self.valid.map_or(first_bits(n), |valid| valid.word(at, n));
            if bad == 0 {
                continue;
            }
            let number = at + bad.trailing_zeros() as usize;
            let is_missing = |component: &usize| positions[component * self.count + number].widen() < 0;
            let components = self.check.axes.len();
            let component = (0..components).find(is_missing).expect("a component that is out of range");
            // The coordinates of the index, from the last dimension on.
            let (mut left, mut place) = (number, self.component_stride().wrapping_mul(component as isize));
            for (n, _, stride) in self.dims().collect::<SmallVec<[_; 6]>>().into_iter().rev() {
                place = place.wrapping_add(stride.wrapping_mul((left % n) as isize));
                left /= n;
            }
            return Err(self.check.error(component, number * components + component, read(place)));
        }
        Ok(())
    }
}

/// Bit `i`: whether `positions[i]` is missing. At most [`WORD`] positions.
fn missing_word<P: PositionType>(positions: &[P]) -> u64 {
    word_of(positions.len(), |lane| u64::from(positions[lane].widen() < 0))
}
