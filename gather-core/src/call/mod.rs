//! The doors: what a caller calls. Behind them stands a call without types for each kind of operator (`erased`,
//! `bag::erased`, `scatter::erased`, `space`), which makes a plan and runs it.

// The pages of operators list methods in this order: `run` first, the forms for types known at run time last.
pub(crate) mod gather;
pub(crate) mod operator;

pub(crate) mod attributes;
pub(crate) mod bag;
pub(crate) mod cloned;
mod plan_type;
pub(crate) mod scatter;
pub(crate) mod source;
pub(crate) mod space;

use crate::tensor::layout::Layout;
use crate::tensor::output::Target;
use crate::types::error::Error;
use crate::types::op::{Argument, Op};

/// Attributes are sealed: the crate's own operators have them.
mod sealed {
    pub trait Sealed {}
}

pub(crate) use sealed::Sealed;

/// Checks that an output has the shape of the result.
#[inline]
fn check_output(op: Op, expected: &[usize], got: &[usize]) -> Result<(), Error> {
    if expected.len() == got.len() && expected.iter().zip(got).all(|(mine, theirs)| mine == theirs) {
        Ok(())
    } else {
        Err(Error::ShapeMismatch { op, argument: Argument::Output, expected: expected.into(), got: got.into() })
    }
}

/// Checks that a tensor has the layout that a plan was made for.
#[inline(always)]
fn check_layout(argument: Argument, expected: &Layout, got: &Layout) -> Result<(), Error> {
    if expected.matches(got) { Ok(()) } else { Err(mismatch(argument, expected.shape(), got.shape())) }
}

/// Checks that an output has the layout that a plan was made for: that of fresh memory, where it is not fixed.
#[inline(always)]
fn check_target(planned: &Layout, out: &Target<'_>) -> Result<(), Error> {
    match out.layout() {
        Some(layout) => check_layout(Argument::Output, planned, layout),
        None => check_fresh(planned),
    }
}

/// Checks that the output that a plan was made for is row-major, as fresh memory is.
#[inline(always)]
fn check_fresh(planned: &Layout) -> Result<(), Error> {
    if planned.is_contiguous() { Ok(()) } else { Err(mismatch(Argument::Output, planned.shape(), planned.shape())) }
}

/// Checks a layout whose first dimension is free; returns its size.
#[inline(always)]
fn check_counted(argument: Argument, expected: &Layout, got: &Layout) -> Result<usize, Error> {
    expected.count_of(got).ok_or_else(|| mismatch(argument, expected.shape(), got.shape()))
}

/// Another count of indices than is expected, of one or more.
fn other_count(expected: usize) -> usize {
    if expected > 1 { expected - 1 } else { expected + 1 }
}

#[cold]
fn mismatch(argument: Argument, expected: &[usize], got: &[usize]) -> Error {
    Error::PlanMismatch { argument, expected: expected.into(), got: got.into() }
}
