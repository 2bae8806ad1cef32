//! The levels whose vectors have 16 bytes: `Neon` on aarch64, `Simd128` on wasm32.
//!
//! The compiler knows whether the target has them, so there is nothing to find out at run time, and no function is
//! compiled for a level of its own: code of the scalar level uses the same registers. What is left to do by hand are
//! tables in registers, and zips. Rows are moved and indices are resolved as at the scalar level: resolving by hand took
//! more instructions (`benches/record/changes.md`). There are no instructions that gather, or write by non-temporal
//! stores.
//!
//! | module | what it is |
//! |---|---|
//! | `neon`, `simd128` | the operations on a vector; they alone name an architecture |
//! | `table` | tables in registers |
//! | `zip` | the vectors that contiguous streams are zipped by |

#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "wasm32")]
mod simd128;
pub(crate) mod table;
mod zip;

use crate::kernels::level_fn::{Scalar, scalar};
use crate::kernels::levels::Isa;
use crate::kernels::moves::{LookUpBytesFn, LookUpFn};
use crate::kernels::space::PeriodsFn;
use crate::kernels::space::zip::Zip;
use crate::types::index::Index;
use crate::types::level::Level;

#[cfg(target_arch = "aarch64")]
use neon::V128;
#[cfg(target_arch = "wasm32")]
use simd128::V128;

/// Bytes of a vector.
const VECTOR: usize = 16;

impl V128 {
    /// The 16 bytes at an address.
    ///
    /// # Safety
    /// They may be read.
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller's promise; every 16 bytes are a vector.
        unsafe { from.cast::<V128>().read_unaligned() }
    }

    /// Writes the 16 bytes to an address.
    ///
    /// # Safety
    /// They may be written.
    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<V128>().write_unaligned(self) }
    }

    /// The vector of 16 bytes.
    #[inline(always)]
    fn of_bytes(bytes: [u8; VECTOR]) -> Self {
        // SAFETY: 16 bytes of the array.
        unsafe { V128::load(bytes.as_ptr()) }
    }

    /// The vector of four lanes of 32 bits.
    #[inline(always)]
    fn of_words(words: [i32; 4]) -> Self {
        // SAFETY: 16 bytes of the array.
        unsafe { V128::load(words.as_ptr().cast()) }
    }

    /// Four times the same lane.
    #[inline(always)]
    fn words(word: i32) -> Self {
        V128::of_words([word; 4])
    }

    /// 16 times the same byte.
    #[inline(always)]
    fn bytes(byte: u8) -> Self {
        V128::of_bytes([byte; VECTOR])
    }

    #[inline(always)]
    fn zero() -> Self {
        V128::bytes(0)
    }
}

/// The level with vectors of 16 bytes.
pub enum Vectors {}

impl Isa for Vectors {
    type Plain = Scalar;
    const LEVEL: Level = if cfg!(target_arch = "aarch64") { Level::Neon } else { Level::Simd128 };

    #[inline(always)]
    fn look_up<const BYTES: usize>() -> Option<LookUpFn> {
        Some(table::look_up::<BYTES>)
    }

    #[inline(always)]
    fn look_up_bytes<I: Index>() -> Option<LookUpBytesFn> {
        Some(table::look_up_bytes::<I>)
    }

    #[inline(always)]
    fn zip<const BYTES: usize>() -> Option<PeriodsFn> {
        Some(scalar::<Zip<V128, V128, V128, BYTES>>)
    }
}
