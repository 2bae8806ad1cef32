//! Attributes by their names.

use gather_core::{DepthMode, NegativeIndex, OutOfBounds, Par, Reduction, ScatterOutOfBounds};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What a name stands for.
fn named<T: Copy>(argument: &str, name: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(known, _)| *known == name);
    found.map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<String> = known.iter().map(|(known, _)| format!("'{known}'")).collect();
        let (last, others) = names.split_last().expect("some names are known");
        unknown(argument, name, &format!("{} or {last}", others.join(", ")))
    })
}

/// An argument with a value that it cannot have.
pub(crate) fn unknown(argument: &str, value: &str, allowed: &str) -> PyErr {
    PyValueError::new_err(format!("{argument} '{value}'; allowed is {allowed}"))
}

/// How a call treats negative indices.
pub(crate) fn negative(name: &str) -> PyResult<NegativeIndex> {
    named("negative_index", name, &[("from_end", NegativeIndex::FromEnd), ("reject", NegativeIndex::Reject)])
}

/// What a gather does with indices out of range.
pub(crate) fn out_of_bounds(name: &str) -> PyResult<OutOfBounds> {
    let known = [
        ("error", OutOfBounds::Error),
        ("zero", OutOfBounds::Zero),
        ("clamp", OutOfBounds::Clamp),
        ("wrap", OutOfBounds::Wrap),
    ];
    named("out_of_bounds", name, &known)
}

/// What NumPy does with indices out of range. Its `clip` takes negative indices for numbers below the axis.
pub(crate) fn numpy_mode(name: &str) -> PyResult<(NegativeIndex, OutOfBounds)> {
    let known = [
        ("raise", (NegativeIndex::FromEnd, OutOfBounds::Error)),
        ("wrap", (NegativeIndex::FromEnd, OutOfBounds::Wrap)),
        ("clip", (NegativeIndex::Reject, OutOfBounds::Clamp)),
    ];
    named("mode", name, &known)
}

/// What a scatter does with indices out of range.
pub(crate) fn scatter_out_of_bounds(name: &str) -> PyResult<ScatterOutOfBounds> {
    let known = [
        ("error", ScatterOutOfBounds::Error),
        ("drop", ScatterOutOfBounds::Drop),
        ("clamp", ScatterOutOfBounds::Clamp),
        ("wrap", ScatterOutOfBounds::Wrap),
    ];
    named("out_of_bounds", name, &known)
}

/// A reduction.
pub(crate) fn reduction(name: &str) -> PyResult<Reduction> {
    let known: Vec<_> = Reduction::ALL.iter().map(|&reduction| (reduction.name(), reduction)).collect();
    named("reduction", name, &known)
}

/// The order of a block's places in the depth.
pub(crate) fn mode(name: &str) -> PyResult<DepthMode> {
    named("mode", name, &[("dcr", DepthMode::Dcr), ("crd", DepthMode::Crd)])
}

/// `None`: the call chooses its number of threads, up to rayon's global pool. Else at most this number, however small
/// the call is.
pub(crate) fn par(threads: Option<usize>) -> PyResult<Par> {
    match threads {
        None => Ok(Par::Auto),
        Some(0) => Err(PyValueError::new_err("threads 0; allowed is 1 or more")),
        Some(1) => Ok(Par::Seq),
        Some(more) => Ok(Par::Threads(more)),
    }
}
