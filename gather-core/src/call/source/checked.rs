//! Checked indices: positions along an axis, checked once for all calls along axes of its size.

use alloc::vec::Vec;
use core::borrow::Borrow;

use crate::call::source::kind::{IndexKind, not_compiled};
use crate::call::source::reader::Format;
use crate::call::source::{Describe, Source, of_list};
use crate::exec::first_bad_index::IndexCheck;
use crate::exec::{Ids, NullIndices, PositionType};
use crate::kernels::{Indices, Resolvers};
use crate::plan::{Axis, NestPlan};
use crate::tensor::bitmap::Bitmap;
use crate::tensor::layout::Layout;
use crate::tensor::memory;
use crate::tensor::view::View;
use crate::types::declare::{accessors, debug_by};
use crate::types::error::Error;
use crate::types::level::Level;
use crate::types::op::{Argument, Op};
use crate::types::policy::{IndexPolicy, KernelPolicy};

/// A type of positions: `i32` or `i64`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of positions",
    note = "positions are of type `i32` or `i64`: `Checked::<i32>::new(&ids, n, OutOfBounds::Error)?`"
)]
pub trait Position: PositionType {}

impl Position for i32 {}
impl Position for i64 {}

/// Indices checked once: positions in `0..n` along an axis of size `n`, for any number of calls along axes of this
/// size. A position of -1 is missing: its index is null, or out of range under
/// [`OutOfBounds::Zero`](crate::OutOfBounds).
///
/// A source of indices for [`Gather`](crate::Gather) and [`GatherElements`](crate::GatherElements), also [with
/// nulls](crate::GatherOperator::nullable), their [adjoints](crate::GatherOperator::adjoint),
/// [`ScatterElements`](crate::ScatterElements) and [`EmbeddingBag`](crate::EmbeddingBag), planned and not. Results
/// equal the call by the indices under the policies of [`Checked::new`]; the policies of the operator for negative and
/// out-of-range indices have no effect. A missing position yields zeros in gathers ([`Element::ZERO`](crate::Element),
/// or the fill of a row function), and a row of zeros in bags, which counts; its update is skipped in scatters. In bags
/// with [`skip_negative`](crate::BagOperator::skip_negative) it is skipped.
///
/// A plan made for checked indices runs on others of its layout and of its `n`. To plan ahead, check indices of this
/// layout: `plan_any_count(&table, &Checked::<i32>::new(&[0; 0], n, policy)?)`.
///
/// # Errors
/// A call along an axis of another size returns [`Error::CheckedAxisMismatch`], and an operator on tuples
/// [`Error::CheckedTuples`], with its errors of attributes and shapes: after errors of types, before anything is
/// written. A plan compares layouts first, and returns [`Error::CheckedAxisMismatch`] after [`Error::PlanMismatch`].
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

/// The axis of checked positions, in a [`Reader`](crate::call::source::reader::Reader).
#[derive(Clone, Copy, Debug)]
pub(in crate::call) struct CheckedAxis {
    n: usize,
    /// Whether a position may be missing.
    pub(in crate::call) missing: bool,
}

impl CheckedAxis {
    /// The axis for a plan, which runs by any positions: some may be missing.
    pub(in crate::call) fn planned(self) -> Self {
        CheckedAxis { missing: true, ..self }
    }

    /// The policy of a gather or a bag by the positions.
    pub(in crate::call) const fn policy(self) -> IndexPolicy {
        IndexPolicy::of_positions(self.missing)
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
    /// Cost: one pass over the indices. Row-major indices of the size of `I`, all of them positions of an axis of up to
    /// `i32::MAX`, are borrowed; else one allocation, and a second pass, for a position of each index.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`] for indices of a type known at run time; without the feature `registry`,
    /// [`Error::KernelsNotCompiled`]. Then [`Error::CheckedAxisMismatch`] for `Checked` indices of another `n`,
    /// [`Error::CheckedAxisTooLong`] if `n` exceeds the greatest `I`, [`Error::LevelUnavailable`],
    /// [`Error::AllocationFailed`], and [`Error::IndexOutOfRange`] for the first index out of range in row-major order,
    /// under [`OutOfBounds::Error`](crate::OutOfBounds). `Clamp` and `Wrap` give this error if `n` is 0.
    pub fn new<X>(indices: &'a X, n: usize, policy: impl Into<IndexPolicy>) -> Result<Self, Error>
    where
        X: Source<Kind: IndexKind> + ?Sized,
    {
        Self::of(indices, None, n, policy.into())
    }

    /// As [`Checked::new`], for indices with nulls. Null indices are not checked; their positions are missing. The
    /// bitmap is not kept: for nulls in the result, give the call the same bitmap.
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
        let checked = checked_axis(indices);
        checked.map_or(Ok(()), |axis| axis.check(OP, n))?;
        let policy = if checked.is_some() { IndexPolicy::of_positions(true) } else { policy };
        let valid = valid.filter(|valid| valid.len() != layout.len() || valid.has_nulls());
        // SAFETY: V1: values of the type `of` lie along the layout of the source.
        let ids = unsafe { Ids::new(indices.start(), layout, of) };
        // Checked positions are row-major values of their type.
        let same = checked.filter(|_| of == I::TYPE && valid.is_none() && !layout.is_empty());
        let resolved = if same.is_some() { None } else { resolve(ids, resolvers, valid, (n, policy.lower()))? };
        let (positions, missing) = match resolved {
            Some((positions, layout)) => (Held::Owned(positions, layout), valid.is_some() || policy.lower().fills()),
            // SAFETY: the source is borrowed for `'a`, so that its indices may be read. They are values of `I`, or
            // `resolve` found them aligned, and of the size of `I`.
            None => unsafe {
                (
                    Held::Lent(View::from_raw_parts(indices.start().cast(), layout.clone())),
                    same.is_some_and(|axis| axis.missing),
                )
            },
        };
        Ok(Checked { positions, axis: CheckedAxis { n, missing } })
    }

    /// A list of positions in `0..n`, which `I` counts.
    pub(crate) fn from_positions(positions: Vec<I>, n: usize) -> Self {
        debug_assert!(positions.iter().all(|position| (0..n as i64).contains(&position.widen())));
        let layout = of_list(&positions);
        Checked { positions: Held::Owned(positions, layout), axis: CheckedAxis { n, missing: false } }
    }

    /// The same positions without a borrow. Borrowed ones are copied, in one allocation.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    pub fn into_owned(self) -> Result<Checked<'static, I>, Error> {
        if let Held::Owned(positions, layout) = self.positions {
            return Ok(Checked { positions: Held::Owned(positions, layout), axis: self.axis });
        }
        let mut own = memory::reserve(self.as_slice().len())?;
        own.extend_from_slice(self.as_slice());
        Ok(Checked { positions: Held::Owned(own, self.layout().clone()), axis: self.axis })
    }

    /// The positions in row-major order.
    pub(crate) fn as_slice(&self) -> &[I] {
        match &self.positions {
            Held::Owned(positions, _) => positions,
            // SAFETY: V1: the elements of the view, which `of` found contiguous. There is one or more.
            Held::Lent(view) => unsafe { core::slice::from_raw_parts(view.origin(), view.len()) },
        }
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
        /// Whether a position may be missing.
        pub(crate) fn may_miss() -> bool => self.axis.missing;
        pub(super) fn axis() -> CheckedAxis => self.axis;
        pub(super) fn layout() -> &Layout => match &self.positions {
            Held::Lent(view) => view.layout(),
            Held::Owned(_, layout) => layout,
        };
        pub(super) fn start() -> *const I => match &self.positions {
            Held::Lent(view) => view.origin(),
            Held::Owned(positions, _) => positions.as_ptr(),
        };
    }
}

debug_by!(self: [I] Checked<'_, I> { n: self.axis.n, shape: self.layout().shape() });

/// Runs an expression of `$ids`, as [`Checked`] positions along an axis of size `$n`: of type `i32` if these count it.
///
/// # Errors
/// Returns the errors of [`Checked::new`] under [`OutOfBounds::Error`](crate::OutOfBounds), then the errors of `$run`.
macro_rules! by_positions {
    ($ids:expr, $n:expr, |$checked:ident| $run:expr) => {
        if i32::try_from($n).is_ok() {
            let $checked = Checked::<i32>::new($ids, $n, $crate::types::policy::OutOfBounds::Error)?;
            $run
        } else {
            let $checked = Checked::<i64>::new($ids, $n, $crate::types::policy::OutOfBounds::Error)?;
            $run
        }
    };
}
pub(crate) use by_positions;

const OP: Op = Op::Gather;

/// # Errors
/// [`Error::CheckedAxisTooLong`].
pub(crate) fn check_fits<P: PositionType>(n: usize) -> Result<(), Error> {
    if n as i128 <= P::TYPE.bounds().1 { Ok(()) } else { Err(Error::CheckedAxisTooLong { n, index: P::TYPE }) }
}

/// The position of each index along an axis of size `n`, and the layout of the positions. `None` if the indices are
/// row-major positions of type `P` already.
///
/// # Errors
/// [`Error::CheckedAxisTooLong`], [`Error::BitmapLengthMismatch`], [`Error::LevelUnavailable`],
/// [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
fn resolve<P: PositionType>(
    indices: Ids<'_>,
    resolvers: Resolvers,
    valid: Option<Bitmap<'_>>,
    (n, policy): (usize, KernelPolicy),
) -> Result<Option<(Vec<P>, Layout)>, Error> {
    check_fits::<P>(n)?;
    let numbers = Layout::contiguous(indices.layout().shape())?;
    let (lead, count) = (numbers.rank(), numbers.len());
    if let Some(valid) = valid.filter(|valid| valid.len() != count) {
        let (argument, len) = (Argument::Indices, valid.len());
        return Err(Error::BitmapLengthMismatch { op: OP, argument, len, rows: count, elements: count });
    }
    let (level, at) = (Level::resolve(None)?, indices.start());
    let may_lend = valid.is_none() && count > 0 && indices.of().size() == size_of::<P>();
    if may_lend
        && indices.layout().is_contiguous()
        && at.addr().is_multiple_of(align_of::<P>())
        && let Ok(dim) = i32::try_from(n)
    {
        // SAFETY: V1: the indices of the layout are contiguous.
        let indices = unsafe { Indices::new(at, size_of::<P>() as isize, count) };
        if P::BITS.are_positions.at(level)((&indices, dim)) {
            return Ok(None);
        }
    }
    let (mut positions, refuses) = (memory::zeros(count)?, policy.refuses(false, n == 0));
    let axes = [Axis { axis: 0, dim: n, data: 1, index: 0 }];
    let check = IndexCheck { op: OP, axes: &axes, policy, index: indices.of(), skips_negative: false };
    NullIndices { check, refuses, resolvers, level, indices, numbers: &numbers, lead, count, valid }
        .resolve(&mut positions)?;
    Ok(Some((positions, numbers)))
}

/// The axis of checked indices; `None` for others.
#[inline(always)]
pub(in crate::call) fn checked_axis<X>(indices: &X) -> Option<CheckedAxis>
where
    X: Describe<Kind: IndexKind> + ?Sized,
{
    if !X::Kind::IS_CHECKED {
        return None;
    }
    let held = indices.held();
    if let Format::Checked(axis) = indices.reader(held.borrow()).format { Some(axis) } else { None }
}

/// Compares the axis of checked indices with the axis of a plan, after `layouts`, which compares the layouts.
///
/// # Errors
/// The errors of `layouts`, then [`Error::CheckedAxisMismatch`].
#[inline(always)]
pub(in crate::call) fn check_planned<X, L>(
    indices: &X,
    plan: &NestPlan,
    layouts: impl FnOnce() -> Result<L, Error>,
) -> Result<(), Error>
where
    X: Describe<Kind: IndexKind> + ?Sized,
{
    let Some(checked) = checked_axis(indices) else { return Ok(()) };
    let same = plan.axes().iter().try_for_each(|axis| checked.check(plan.op(), axis.dim));
    same.or_else(|error| layouts().and(Err(error)))
}
