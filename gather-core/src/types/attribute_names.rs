//! Names of reductions, modes and policies in models and other libraries.

#![forbid(unsafe_code)]

use core::str::FromStr;

use crate::types::error::{Error, echoed};
use crate::types::policy::{DepthMode, OutOfBounds, ScatterOutOfBounds};
use crate::types::reduction::Reduction;

/// Implements `FromStr` by case-insensitive names.
macro_rules! from_str {
    ($($(#[$doc:meta])* $ty:ident, $what:literal: { $($($name:literal)|+ => $value:ident,)* })*) => {$(
        $(#[$doc])*
        ///
        /// ASCII letters may be in either case. Any other string is an [`Error::UnknownName`].
        impl FromStr for $ty {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self, Error> {
                const NAMES: &[(&str, $ty)] = &[$($(($name, $ty::$value),)+)*];
                let found = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
                found.map(|&(_, value)| value).ok_or_else(|| {
                    let known = const { &[$($($name,)+)*] };
                    Error::UnknownName { what: $what, name: echoed(name), known }
                })
            }
        }
    )*};
}

from_str! {
    /// The `reduction` of ONNX's and OpenVINO's scatters, the `reduce` of PyTorch's, the `mode` of its `EmbeddingBag`.
    ///
    /// ```
    /// use gather_core::Reduction;
    ///
    /// assert_eq!("prod".parse(), Ok(Reduction::Mul));
    /// assert_eq!("amax".parse(), Ok(Reduction::Max));
    /// assert!("median".parse::<Reduction>().is_err());
    /// ```
    Reduction, "reduction": {
        "none" | "update" => None,
        "add" | "sum" => Add,
        "sub" | "subtract" => Sub,
        "mul" | "prod" | "multiply" => Mul,
        "min" | "amin" => Min,
        "max" | "amax" => Max,
        "mean" => Mean,
    }

    /// The attribute `mode` of DepthToSpace and SpaceToDepth.
    ///
    /// ```
    /// use gather_core::DepthMode;
    ///
    /// assert_eq!(("CRD".parse(), "blocks_first".parse()), (Ok(DepthMode::Crd), Ok(DepthMode::Dcr)));
    /// ```
    DepthMode, "mode": {
        "dcr" | "blocks_first" => Dcr,
        "crd" | "depth_first" => Crd,
    }

    /// The `mode` of `numpy.take` and `jax.numpy.take`, and the names of the variants.
    OutOfBounds, "policy": {
        "error" | "raise" => Error,
        "zero" => Zero,
        "clamp" | "clip" => Clamp,
        "wrap" => Wrap,
    }

    /// The `mode` of JAX's scatters, and the names of the variants.
    ScatterOutOfBounds, "policy": {
        "error" | "raise" => Error,
        "drop" => Drop,
        "clamp" | "clip" => Clamp,
        "wrap" => Wrap,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_models_in_either_case() {
        for &reduction in Reduction::ALL {
            assert_eq!(reduction.name().parse(), Ok(reduction));
        }
        assert_eq!(
            ["SUM", "Mean", "amin"].map(str::parse),
            [Ok(Reduction::Add), Ok(Reduction::Mean), Ok(Reduction::Min)]
        );
        assert_eq!(
            ["DCR", "crd", "depth_first", "Blocks_First"].map(str::parse),
            [Ok(DepthMode::Dcr), Ok(DepthMode::Crd), Ok(DepthMode::Crd), Ok(DepthMode::Dcr)]
        );
        assert_eq!(
            ["raise", "zero", "clip", "wrap"].map(str::parse),
            [Ok(OutOfBounds::Error), Ok(OutOfBounds::Zero), Ok(OutOfBounds::Clamp), Ok(OutOfBounds::Wrap)]
        );
        assert_eq!(["drop", "clip"].map(str::parse), [Ok(ScatterOutOfBounds::Drop), Ok(ScatterOutOfBounds::Clamp)]);
    }

    /// Checks that every value has a name among the names listed by the error of an unknown one.
    fn every_one_has_a_name<T: core::str::FromStr<Err = Error> + Copy + PartialEq + core::fmt::Debug>(all: &[T]) {
        let Err(Error::UnknownName { known, .. }) = "none of these".parse::<T>() else { panic!("a name") };
        let named: Vec<T> = known.iter().map(|name| name.parse().unwrap()).collect();
        for one in all {
            assert!(named.contains(one), "{one:?} has no name among {known:?}");
        }
    }

    #[test]
    fn policies_and_reductions_have_names() {
        every_one_has_a_name(OutOfBounds::ALL);
        every_one_has_a_name(ScatterOutOfBounds::ALL);
        every_one_has_a_name(Reduction::ALL);
    }

    #[test]
    fn other_strings_are_refused_with_those_that_are_known() {
        for name in ["", "sum ", "dcrs", "крд"] {
            let refused = name.parse::<DepthMode>();
            let known = &["dcr", "blocks_first", "crd", "depth_first"];
            assert_eq!(refused, Err(Error::UnknownName { what: "mode", name: name.into(), known }));
        }
    }

    #[test]
    fn long_strings_are_cut() {
        for (letter, n, shown) in [("к", 64, "к".repeat(64)), ("к", 1 << 20, "к".repeat(64) + "..")] {
            let Err(Error::UnknownName { name, .. }) = letter.repeat(n).parse::<Reduction>() else {
                panic!("no name of a reduction")
            };
            assert_eq!(*name, shown);
        }
    }
}
