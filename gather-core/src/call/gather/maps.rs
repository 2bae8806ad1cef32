//! Checks of map parameters against the shapes of a call.

#![forbid(unsafe_code)]

use crate::call::attributes::IndexAttributes;
use crate::call::gather::kinds::GatheredBy;
use crate::call::gather::planned::Params;
use crate::call::source::kind::Mapped;
use crate::call::source::map::MapArgs;
use crate::kernels::convert::ErasedParams;
use crate::kernels::convert::map::{Count, ErasedMap};
use crate::plan::Axis;
use crate::tensor::layout::Layout;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::op::Op;
use crate::types::policy::Per;

impl<A: IndexAttributes, T: Element, U: Element> GatheredBy<A> for Mapped<T, U> {}

/// Checks that a map or a row function has the planned parameters.
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

/// The arguments of a map's parameters, checked (K8). A per-row argument has a value for every position along the
/// axis, a per-element argument for every element of row-major data. A per-index argument is an error.
///
/// # Errors
/// [`Error::MapParameterLengthMismatch`], [`Error::MapParameterPerElement`], [`Error::ParameterUnavailable`].
#[inline(always)]
pub(in crate::call) fn given<'a>(
    op: Op,
    (map, args): (&ErasedMap, &'a dyn MapArgs),
    axes: &[Axis],
    data: &Layout,
) -> Result<ErasedParams<'a>, Error> {
    let (params, are_for_all) = args.erased();
    if !are_for_all {
        check_params(op, (map, args), axes, data)?;
    }
    Ok(params)
}

#[inline(never)]
fn check_params(op: Op, (map, args): (&ErasedMap, &dyn MapArgs), axes: &[Axis], data: &Layout) -> Result<(), Error> {
    // Tuples of several components name no single row of the table.
    let axis = || if let [axis] = axes { Some(axis).filter(|axis| axis.is_of_data()) } else { None };
    let fits = |count: Count| match count {
        Count::Rows(len) => axis().is_some_and(|axis| len == axis.dim),
        Count::Elements(len) => len == data.len() && data.is_contiguous(),
        Count::Indices => false,
    };
    let Some((number, count)) = args.misfit(&fits) else { return Ok(()) };
    let (map, parameter, elements) = (map.name, map.params[number], data.len());
    let (axis, dim) = axis().map_or((0, 0), |axis| (axis.axis, axis.dim));
    Err(match count {
        Count::Rows(len) => Error::MapParameterLengthMismatch { op, map, parameter, len, axis, dim },
        Count::Elements(len) => {
            let row_major = data.is_contiguous();
            Error::MapParameterPerElement { op, map, parameter, len, elements, row_major }
        }
        Count::Indices => Error::ParameterUnavailable { op, function: map, parameter, per: Per::Index },
    })
}
