//! Checks of outputs for gathers of block-quantised data.

#![forbid(unsafe_code)]

use crate::call::attributes::IndexAttributes;
use crate::call::checks::check_output;
use crate::call::gather::kinds::GatheredBy;
use crate::call::gather::planned::PlanInner;
use crate::call::source::block_shapes::{BlockShapes, check_row_major};
use crate::call::source::kind::Blocks;
use crate::tensor::layout::Layout;
use crate::types::codes::Float;
use crate::types::error::Error;
use crate::types::op::{Argument, Op};

impl<A: IndexAttributes, U: Float> GatheredBy<A> for Blocks<U> {}

/// Checks the layout of a plan's output for `count` indices, the result of [`PlanInner::check_inputs`].
///
/// # Errors
/// The errors of [`check_values`].
pub(super) fn check_planned(
    blocks: &BlockShapes,
    planned: &PlanInner,
    out: &Layout,
    count: usize,
) -> Result<(), Error> {
    let mut expected = blocks.output.clone();
    if planned.is_dynamic() {
        expected.assign_resized(&blocks.output, count);
    }
    check_values(planned.plan().op(), &expected, out)
}

/// Checks that an output is row-major and has a shape.
pub(super) fn check_values(op: Op, expected: &[usize], out: &Layout) -> Result<(), Error> {
    check_output(op, expected, out.shape())?;
    check_row_major(op, Argument::Output, out)
}
