//! The parameters of maps, against the shapes of a call.

#![forbid(unsafe_code)]

use crate::call::attributes::IndexAttributes;
use crate::call::gather::kinds::GatheredBy;
use crate::call::gather::planned::Params;
use crate::call::source::kind::Mapped;
use crate::kernels::convert::map::{Count, MAX_PARAMS};
use crate::plan::Axis;
use crate::tensor::layout::Layout;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::op::Op;
use crate::types::policy::Per;

impl<A: IndexAttributes, T: Element, U: Element> GatheredBy<A> for Mapped<T, U> {}

/// Checks that a map or a row function has the parameters that a plan was made for.
///
/// # Errors
/// [`Error::PlanParametersMismatch`].
pub(in crate::call) fn check_names(
    op: Op,
    (function, got): (&'static str, Params),
    expected: Params,
) -> Result<(), Error> {
    if core::ptr::eq(expected, got) || expected == got {
        return Ok(());
    }
    Err(Error::PlanParametersMismatch { op, function, expected, got })
}

/// Checks that parameters which are given per row have a value for every position along the axis, and those which are
/// given per element for every element of row-major data; and that none is given per index.
pub(in crate::call) fn check_params(
    op: Op,
    (map, names): (&'static str, &'static [&'static str]),
    axes: &[Axis],
    data: &Layout,
    counts: [Count; MAX_PARAMS],
) -> Result<(), Error> {
    let fits = |count: &Count| match *count {
        Count::One => true,
        // Tuples of several components stand for no one row of the table.
        Count::Rows(len) => matches!(axes, [axis] if axis.is_of_data() && len == axis.dim),
        Count::Elements(len) => len == data.len() && data.is_contiguous(),
        Count::Indices => false,
    };
    let Some(number) = counts.iter().position(|count| !fits(count)) else { return Ok(()) };
    let (parameter, elements) = (names[number], data.len());
    let (axis, dim) = if let [axis] = axes
        && axis.is_of_data()
    {
        (axis.axis, axis.dim)
    } else {
        (0, 0)
    };
    Err(match counts[number] {
        Count::Rows(len) => Error::MapParameterLengthMismatch { op, map, parameter, len, axis, dim },
        Count::Elements(len) => {
            let row_major = data.is_contiguous();
            Error::MapParameterPerElement { op, map, parameter, len, elements, row_major }
        }
        Count::One | Count::Indices => Error::ParameterUnavailable { op, function: map, parameter, per: Per::Index },
    })
}
