//! What a scatter does with updates.

#![forbid(unsafe_code)]

use core::fmt;

/// What a scatter does with an update and the element that it goes to.
///
/// Updates are taken one after the other, in row-major order of the indices. The result is that of the plain loop, to
/// the bit, for any number of threads.
///
/// Integers wrap. For `bool`, `Add` and `Max` are or, `Mul` and `Min` are and. Complex numbers have no order. `f16` and
/// `bf16` are added, subtracted and multiplied in `f32`, and rounded once for each element.
///
/// A NaN among floats makes the result NaN, under `Min` and `Max` too, which keep the bits of the last one. Which NaN
/// arithmetic makes is not specified. Of equal values, such as 0.0 and -0.0, `Min` and `Max` keep the earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduction {
    /// The update replaces the element: the last one wins.
    #[default]
    None,
    /// The sum. OpenVINO and PyTorch call it `sum`.
    Add,
    /// The element minus all updates.
    Sub,
    /// The product. OpenVINO and PyTorch call it `prod`.
    Mul,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The sum of the element and its updates, divided by how many they are. Of integers it is the exact mean, rounded
    /// down.
    Mean,
}

impl Reduction {
    /// Every reduction.
    pub const ALL: &'static [Reduction] = &[
        Reduction::None,
        Reduction::Add,
        Reduction::Sub,
        Reduction::Mul,
        Reduction::Min,
        Reduction::Max,
        Reduction::Mean,
    ];

    /// The name, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Reduction::None => "none",
            Reduction::Add => "add",
            Reduction::Sub => "sub",
            Reduction::Mul => "mul",
            Reduction::Min => "min",
            Reduction::Max => "max",
            Reduction::Mean => "mean",
        }
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
