//! The levels whose vectors have 16 bytes: `Neon` on aarch64, `Simd128` on wasm32.
//!
//! Whether the target has the vectors is known at compile time, so nothing is detected at run time. No function is
//! compiled separately, since scalar code uses the same registers. Only tables in registers and zips are written by
//! hand. Rows are moved and indices resolved as at the scalar level: resolving by hand took more instructions
//! (`benches/record/changes.md`). There are no gather instructions and no non-temporal stores.
//!
//! | module | contents |
//! |---|---|
//! | `neon`, `simd128` | the operations on a vector: the only code for one architecture |
//! | `table` | tables in registers |
//! | `zip` | the vectors that zip contiguous streams |

#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "wasm32")]
mod simd128;
pub(crate) mod table;
mod zip;

use crate::kernels::level_fn::{Compiled, LevelFn, Scalar, Token, scalar};
use crate::kernels::levels::Isa;
use crate::kernels::moves::{LookUpBytesFn, LookUpFn};
use crate::kernels::space::PeriodsFn;
use crate::kernels::space::zip::Zip;
use crate::kernels::vector::Vector;
use crate::types::index::Index;
use crate::types::level::Level;

#[cfg(target_arch = "aarch64")]
use neon::V128;
#[cfg(target_arch = "wasm32")]
use simd128::V128;

const VECTOR: usize = 16;

impl V128 {
    #[inline(always)]
    fn of_bytes(bytes: [u8; VECTOR]) -> Self {
        V128::of(Scalar, &bytes)
    }

    /// `byte` in each of the 16 bytes.
    #[inline(always)]
    fn bytes(byte: u8) -> Self {
        V128::of_bytes([byte; VECTOR])
    }

    #[inline(always)]
    fn zero() -> Self {
        V128::bytes(0)
    }
}

/// The level with vectors of 16 bytes, which the target has.
#[derive(Clone, Copy)]
pub struct Vectors;

impl Token for Vectors {
    const LEVEL: Level = if cfg!(target_arch = "aarch64") { Level::Neon } else { Level::Simd128 };

    #[inline(always)]
    unsafe fn of_kernel() -> Self {
        Vectors
    }

    #[inline(always)]
    fn compiled<F: LevelFn>() -> Compiled<F> {
        Scalar::compiled::<F>()
    }
}

impl Isa for Vectors {
    type Plain = Scalar;

    #[inline(always)]
    fn plain(self) -> Scalar {
        Scalar
    }

    #[inline(always)]
    fn look_up<const BYTES: usize>(self) -> Option<LookUpFn> {
        Some(table::look_up::<BYTES>)
    }

    #[inline(always)]
    fn look_up_bytes<I: Index>(self) -> Option<LookUpBytesFn> {
        Some(table::look_up_bytes::<I>)
    }

    #[inline(always)]
    fn zip<const BYTES: usize>(self) -> Option<PeriodsFn> {
        Some(scalar::<Zip<V128, V128, V128, BYTES>>)
    }
}
