//! Checks of a call's operands against a plan or the result.

#![forbid(unsafe_code)]

use crate::tensor::layout::Layout;
use crate::tensor::output::Target;
use crate::types::error::Error;
use crate::types::op::{Argument, Op};

#[inline]
pub(super) fn check_output(op: Op, expected: &[usize], got: &[usize]) -> Result<(), Error> {
    if expected.len() == got.len() && expected.iter().zip(got).all(|(expected, got)| expected == got) {
        Ok(())
    } else {
        Err(Error::ShapeMismatch { op, argument: Argument::Output, expected: expected.into(), got: got.into() })
    }
}

#[inline(always)]
pub(super) fn check_layout(argument: Argument, expected: &Layout, got: &Layout) -> Result<(), Error> {
    if expected.matches(got) { Ok(()) } else { Err(mismatch(argument, expected.shape(), got.shape())) }
}

/// Checks that a fixed output has the planned layout. For other outputs, checks that the planned layout is row-major.
#[inline(always)]
pub(super) fn check_target(planned: &Layout, out: &Target<'_>) -> Result<(), Error> {
    match out.layout() {
        Some(layout) => check_layout(Argument::Output, planned, layout),
        None => check_fresh(planned),
    }
}

/// Checks that the planned output is row-major, as fresh memory is.
#[inline(always)]
pub(super) fn check_fresh(planned: &Layout) -> Result<(), Error> {
    if planned.is_contiguous() { Ok(()) } else { Err(mismatch(Argument::Output, planned.shape(), planned.shape())) }
}

/// Checks a layout whose first dimension is dynamic; returns its size.
#[inline(always)]
pub(super) fn check_dynamic(argument: Argument, expected: &Layout, got: &Layout) -> Result<usize, Error> {
    expected.count_of(got).ok_or_else(|| mismatch(argument, expected.shape(), got.shape()))
}

/// A count of at least 1 that differs from `expected`.
pub(super) fn other_count(expected: usize) -> usize {
    if expected > 1 { expected - 1 } else { expected + 1 }
}

#[cold]
pub(super) fn mismatch(argument: Argument, expected: &[usize], got: &[usize]) -> Error {
    Error::PlanMismatch { argument, expected: expected.into(), got: got.into() }
}

/// Checks that updates have the shape `expected`, which follows from data and indices.
pub(crate) fn check_updates(op: Op, [data, indices, updates]: [&Layout; 3], expected: &[usize]) -> Result<(), Error> {
    if expected == updates.shape() {
        return Ok(());
    }
    let [data, indices, got] = [data, indices, updates].map(|tensor| tensor.shape().into());
    Err(Error::UpdatesShapeMismatch { op, data, indices, expected: expected.into(), got })
}
