//! Loops that rearrange space, with vectors for contiguous streams (the body is in `bodies/rearranged.rs`).

pub(crate) mod args;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "what only levels with vectors use"))]
pub(crate) mod periods;
pub(crate) mod plane;
#[cfg(target_arch = "x86_64")]
pub(crate) mod unzip_avx2;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "what only levels with vectors use"))]
pub(crate) mod zip;
#[cfg(target_arch = "x86_64")]
pub(crate) mod zip_x86;

use crate::kernels::space::periods::Periods;

/// Interleaves whole periods of contiguous streams of data into the output, or takes contiguous data apart into streams
/// of the output. Returns the number of periods done, from the first on.
pub(crate) type PeriodsFn = fn(&Periods<'_>) -> usize;
