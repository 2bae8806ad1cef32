//! Checked indices: positions along an axis, checked once for all calls along axes of its size.

use alloc::vec::Vec;
use core::borrow::Borrow;

use crate::call::source::Source;
use crate::call::source::kind::{IndexKind, not_compiled};
use crate::call::source::reader::{Format, Reader};
use crate::exec::first_bad_index::IndexCheck;
use crate::exec::{Ids, NullIndices, PositionType};
use crate::kernels::{Indices, Resolvers};
use crate::plan::Axis;
use crate::tensor::bitmap::Bitmap;
use crate::tensor::layout::Layout;
use crate::tensor::memory;
use crate::tensor::view::View;
use crate::types::declare::{accessors, debug_by};
use crate::types::error::Error;
use crate::types::level::Level;
use crate::types::op::{Argument, Op};
use crate::types::policy::{IndexPolicy, KernelPolicy, ScatterOutOfBounds};

/// A type of positions: `i32` or `i64`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of positions",
    note = "positions are of type `i32` or `i64`: `Checked::<i32>::new(&ids, n, OutOfBounds::Error)?`"
)]
pub trait Position: PositionType {}

impl Position for i32 {}
impl Position for i64 {}

/// Indices checked once: positions in `0..n` along an axis of size `n`, for any number of calls along axes of this
/// size. A position of -1 is missing: its index is null, or out of range under [`OutOfBounds::Zero`](crate::OutOfBounds).
///
/// A source of indices for [`Gather`](crate::Gather) and [`GatherElements`](crate::GatherElements), also [with
/// nulls](crate::GatherOperator::nullable), their [adjoints](crate::GatherOperator::adjoint),
/// [`ScatterElements`](crate::ScatterElements) and [`EmbeddingBag`](crate::EmbeddingBag), planned and not. Results equal
/// the call by the indices under the policies of [`Checked::new`]; the policies of the operator for negative and
/// out-of-range indices have no effect. A missing position yields zeros in gathers ([`Element::ZERO`](crate::Element),
/// or the fill of a row function), and a row of zeros in bags, which counts; its update is skipped in scatters. In bags
/// with [`skip_negative`](crate::BagOperator::skip_negative) it is skipped.
///
/// A plan made for checked indices runs on others of its layout. To plan ahead, check indices of this layout:
/// `plan_any_count(&table, &Checked::<i32>::new(&[0; 0], n, policy)?)`.
///
/// ```
/// use gather_core::{Checked, Gather, OutOfBounds};
///
/// fn main() -> Result<(), gather_core::Error> {
///     // Two columns of a table of three rows.
///     let (names, prices) = ([10u8, 20, 30], [0.5f64, 1.5, 2.5]);
///     let ids = Checked::<i32>::new(&[2i64, -1, 7], 3, OutOfBounds::Zero)?;
///     assert_eq!(ids.positions().get(&[1]), Some(&2));
///     assert_eq!(Gather::new(0).run(&names, &ids)?.as_slice(), [30, 30, 0]);
///     assert_eq!(Gather::new(0).run(&prices, &ids)?.as_slice(), [2.5, 2.5, 0.0]);
///     assert!(Gather::new(0).run(&names[..2], &ids).is_err());
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Checked<'a, I> {
    positions: Held<'a, I>,
    axis: CheckedAxis,
}

#[derive(Clone)]
enum Held<'a, I> {
    Lent(View<'a, I>),
    Owned(Vec<I>, Layout),
}

/// The axis of checked positions, in a [`Reader`].
#[derive(Clone, Copy, Debug)]
pub(in crate::call) struct CheckedAxis {
    /// The size of the axis.
    n: usize,
    /// Whether a position may be missing.
    missing: bool,
}

impl CheckedAxis {
    /// The policy of a gather that runs once.
    #[inline(always)]
    pub(in crate::call) fn policy(self) -> IndexPolicy {
        IndexPolicy::of_positions(self.missing)
    }

    /// The policy of gathers and bags by any positions.
    pub(in crate::call) const PLANNED: IndexPolicy = IndexPolicy::of_positions(true);

    /// The policy of scatters.
    pub(in crate::call) fn of_scatters() -> KernelPolicy {
        ScatterOutOfBounds::Drop.lower(Self::PLANNED.negative, false)
    }

    /// Compares the axis with the axis of a call.
    ///
    /// # Errors
    /// [`Error::CheckedAxisMismatch`].
    #[inline(always)]
    pub(in crate::call) fn check(self, op: Op, expected: usize) -> Result<(), Error> {
        if self.n == expected { Ok(()) } else { Err(Error::CheckedAxisMismatch { op, expected, got: self.n }) }
    }
}

impl<'a, I: Position> Checked<'a, I> {
    /// Checks indices along an axis of size `n`. `policy` is an [`OutOfBounds`](crate::OutOfBounds), or an
    /// [`IndexPolicy`] with the meaning of negative indices.
    ///
    /// Cost: one pass over the indices. Row-major indices of the size of `I`, all of them positions, are borrowed; else
    /// one allocation, and a second pass, for a position of each index.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`] for indices of a type known at run time; without the feature `registry`,
    /// [`Error::KernelsNotCompiled`]. Then [`Error::CheckedAxisTooLong`] if `n` exceeds the greatest `I`,
    /// [`Error::LevelUnavailable`], [`Error::AllocationFailed`], and [`Error::IndexOutOfRange`] for the first index out of
    /// range in row-major order, under [`OutOfBounds::Error`](crate::OutOfBounds).
    pub fn new<X>(indices: &'a X, n: usize, policy: impl Into<IndexPolicy>) -> Result<Self, Error>
    where
        X: Source<Kind: IndexKind> + ?Sized,
    {
        Self::of(indices, None, n, policy.into())
    }

    /// As [`Checked::new`], for indices with nulls. Null indices are not checked; their positions are missing.
    ///
    /// ```
    /// use gather_core::{Bitmap, Checked, Gather, Nulls, OutOfBounds};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let valid = Bitmap::new(&[0b101], 0, 3)?;
    ///     let ids = Checked::<i32>::with_nulls(&[1u32, 99, 0], valid, 2, OutOfBounds::Error)?;
    ///     let nulls = Nulls { indices: Some(valid), ..Nulls::default() };
    ///     let (taken, validity) = Gather::new(0).nullable().run(&[1.5, 2.5], &ids, nulls)?;
    ///     assert_eq!((taken.as_slice(), validity.map(|of| of.null_count())), (&[2.5, 0.0, 1.5][..], Some(1)));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// As for [`Checked::new`], with [`Error::BitmapLengthMismatch`] before [`Error::LevelUnavailable`].
    pub fn with_nulls<X>(
        indices: &'a X,
        valid: Bitmap<'_>,
        n: usize,
        policy: impl Into<IndexPolicy>,
    ) -> Result<Self, Error>
    where
        X: Source<Kind: IndexKind> + ?Sized,
    {
        Self::of(indices, Some(valid), n, policy.into())
    }

    fn of<X>(indices: &'a X, valid: Option<Bitmap<'_>>, n: usize, policy: IndexPolicy) -> Result<Self, Error>
    where
        X: Source<Kind: IndexKind> + ?Sized,
    {
        let (held, dtype) = (indices.held(), indices.dtype());
        let (layout, of) = (held.borrow(), X::Kind::index(dtype)?);
        let resolvers = X::Kind::resolvers(of).ok_or_else(not_compiled(OP, dtype, of))?;
        let policy = match checked_axis(indices) {
            Some(axis) => axis.check(OP, n).map(|()| CheckedAxis::PLANNED)?,
            None => policy,
        };
        // SAFETY: V1: values of the type `of` lie along the layout of the source.
        let ids = unsafe { Ids::new(indices.start(), layout, of) };
        let axis = CheckedAxis { n, missing: !policy.lower().fails() || valid.is_some() };
        if are_lent::<I>(ids, valid, n)? {
            // SAFETY: the source is borrowed for `'a`, so that its row-major indices may be read. `are_lent` found them
            // aligned, and of the size of `I`.
            let lent = unsafe { View::from_raw_parts(indices.start().cast::<I>(), layout.clone()) };
            return Ok(Checked { positions: Held::Lent(lent), axis: CheckedAxis { missing: false, ..axis } });
        }
        let (positions, layout) = resolve(ids, resolvers, valid, (n, policy.lower()))?;
        Ok(Checked { positions: Held::Owned(positions, layout), axis })
    }

    /// A list of `len` positions in `0..n`, given by their numbers.
    ///
    /// # Errors
    /// [`Error::CheckedAxisTooLong`], [`Error::AllocationFailed`], then the errors of `position`.
    pub(crate) fn of_positions(
        n: usize,
        len: usize,
        mut position: impl FnMut(usize) -> Result<i64, Error>,
    ) -> Result<Checked<'static, I>, Error> {
        check_fits::<I>(n)?;
        let (mut positions, layout) = (memory::reserve(len)?, Layout::contiguous(&[len])?);
        for at in 0..len {
            let position = position(at)?;
            debug_assert!((0..n as i64).contains(&position), "{position} of {n}");
            positions.push(I::truncated(position));
        }
        Ok(Checked { positions: Held::Owned(positions, layout), axis: CheckedAxis { n, missing: false } })
    }

    /// The positions, -1 for a missing one.
    #[must_use]
    pub fn positions(&self) -> View<'_, I> {
        // SAFETY: V1: the view or the list, of this layout, is borrowed with `self`.
        unsafe { View::from_raw_parts(self.start(), self.layout().clone()) }
    }
}

impl<I> Checked<'_, I> {
    accessors! { self:
        /// The size of the axis.
        pub fn n() -> usize => self.axis.n;
        pub(super) fn layout() -> &Layout => match &self.positions {
            Held::Lent(view) => view.layout(),
            Held::Owned(_, layout) => layout,
        };
        pub(super) fn start() -> *const I => match &self.positions {
            Held::Lent(view) => view.origin(),
            Held::Owned(positions, _) => positions.as_ptr(),
        };
    }

    pub(super) fn format<'s>(&self) -> Format<'s> {
        Format::Checked(self.axis)
    }
}

debug_by!(self: [I] Checked<'_, I> { n: self.axis.n, shape: self.layout().shape() });

const OP: Op = Op::Gather;

/// # Errors
/// [`Error::CheckedAxisTooLong`].
fn check_fits<P: PositionType>(n: usize) -> Result<(), Error> {
    if n as i128 <= P::TYPE.bounds().1 { Ok(()) } else { Err(Error::CheckedAxisTooLong { n, index: P::TYPE }) }
}

/// Whether row-major indices are positions of type `P`, as they are.
///
/// # Errors
/// [`Error::CheckedAxisTooLong`], [`Error::BitmapLengthMismatch`], then [`Error::LevelUnavailable`].
fn are_lent<P: PositionType>(ids: Ids<'_>, valid: Option<Bitmap<'_>>, n: usize) -> Result<bool, Error> {
    let (layout, size) = (ids.layout(), size_of::<P>());
    check_fits::<P>(n)?;
    if let Some(valid) = valid.filter(|valid| valid.len() != layout.len()) {
        let (rows, argument) = (layout.len(), Argument::Indices);
        return Err(Error::BitmapLengthMismatch { op: OP, argument, len: valid.len(), rows, elements: rows });
    }
    let level = Level::resolve(None)?;
    let may_lend = valid.is_none() && ids.of().size() == size && layout.is_contiguous();
    let (true, Ok(dim)) = (may_lend && ids.start().addr().is_multiple_of(align_of::<P>()), i32::try_from(n)) else {
        return Ok(false);
    };
    // SAFETY: V1: the indices of the layout are contiguous.
    let indices = unsafe { Indices::new(ids.start(), size as isize, layout.len()) };
    Ok(P::BITS.are_positions.at(level)((&indices, dim)))
}

/// The position of each index along an axis of size `n`, and the layout of the positions.
///
/// # Errors
/// [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
fn resolve<P: PositionType>(
    indices: Ids<'_>,
    resolvers: Resolvers,
    valid: Option<Bitmap<'_>>,
    (n, policy): (usize, KernelPolicy),
) -> Result<(Vec<P>, Layout), Error> {
    let numbers = Layout::contiguous(indices.layout().shape())?;
    let mut positions = memory::zeros(numbers.len())?;
    let axes = [Axis { axis: 0, dim: n, data: 1, index: 0 }];
    let check = IndexCheck { op: OP, axes: &axes, policy, index: indices.of(), skips_negative: false };
    let (level, lead, count) = (Level::resolve(None)?, numbers.rank(), numbers.len());
    let refuses = policy.refuses(false, n == 0);
    let call = NullIndices { check, refuses, resolvers, level, indices, numbers: &numbers, lead, count, valid };
    call.resolve(&mut positions)?;
    Ok((positions, numbers))
}

/// The axis of checked indices; `None` for others.
#[inline(always)]
pub(in crate::call) fn checked_axis<X>(indices: &X) -> Option<CheckedAxis>
where
    X: super::Describe<Kind: IndexKind> + ?Sized,
{
    if !X::Kind::IS_CHECKED {
        return None;
    }
    let held = indices.held();
    indices.reader(held.borrow()).checked_axis()
}

impl Reader<'_> {
    /// The axis of checked indices; `None` for others.
    #[inline(always)]
    pub(in crate::call) fn checked_axis(&self) -> Option<CheckedAxis> {
        if let Format::Checked(axis) = self.format { Some(axis) } else { None }
    }
}
