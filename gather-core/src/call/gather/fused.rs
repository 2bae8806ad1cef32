//! Checks of gathered fused rows.

#![forbid(unsafe_code)]

use crate::call::checks::mismatch;
use crate::call::gather::ErasedGather;
use crate::tensor::fused::FusedRows;
use crate::tensor::layout::Layout;
use crate::types::error::Error;
use crate::types::fused::{FusedFormat, FusedRow};
use crate::types::op::Argument;

/// Checks that the operator gathers along axis 0, where the rows lie.
pub(super) fn check_axis(op: &ErasedGather<'_>, data: &Layout) -> Result<(), Error> {
    match op.attributes.dims_before_row(data)? {
        1 => Ok(()),
        dims => Err(Error::QuantizedAxis { op: op.op(), axis: dims - 1 }),
    }
}

/// Checks that a table has the planned format and columns.
pub(super) fn check_same(expected: &FusedRow, got: FusedRow, data: &Layout) -> Result<(), Error> {
    if got.format() != expected.format() {
        return Err(Error::FusedFormatMismatch { expected: expected.format(), got: got.format() });
    }
    if got != *expected {
        // Rows of one format differ only if their columns differ.
        let [expected, got] = [expected, &got].map(|row| [data.shape()[0], row.columns()]);
        return Err(mismatch(Argument::Data, &expected, &got));
    }
    Ok(())
}

pub(in crate::call) fn check_format(expected: FusedFormat, table: &FusedRows<'_>) -> Result<(), Error> {
    let got = table.format();
    if got == expected { Ok(()) } else { Err(Error::FusedFormatMismatch { expected, got }) }
}
