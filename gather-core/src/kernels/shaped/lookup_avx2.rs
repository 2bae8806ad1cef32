//! Axes of at most eight elements of 4 bytes: a line of data in a register, from which elements are shuffled.
//!
//! ```text
//! table = the line
//! for each eight indices:  compare (out of range: stop, or remember it);  store table[indices]
//! ```
//!
//! The scalar loop is bound by one store per element.

use crate::kernels::level_fn::Avx2;
use crate::kernels::vector::Vector;
use crate::kernels::words::{Eight, Words};
use crate::types::element::{Element, write_zero};
use crate::types::index::Index;
use crate::types::policy::KernelPolicy;

/// Elements per register.
pub(crate) const LANES: usize = Eight::N;

/// Writes whole registers of elements; returns the number of elements, and `true`. If a missing index is an error,
/// stops at the first register that has one, and returns `false`.
///
/// # Safety
/// `data` may be read for `1 <= dim <= 8` elements, `index` for `n` indices, and `out` may be written for `n` elements.
/// Elements and indices have 4 bytes. The policy does not remap.
#[inline(always)]
pub(crate) unsafe fn look_up<T: Element, I: Index>(
    level: Avx2,
    policy: KernelPolicy,
    (data, dim): (*const T, usize),
    index: *const I,
    out: *mut T,
    n: usize,
) -> (usize, bool) {
    debug_assert!(size_of::<T>() == 4 && size_of::<I>() == 4 && (1..=LANES).contains(&dim));
    let dims = Eight::splat(level, dim as i32);
    // SAFETY: by the caller's contract, `dim` elements of 4 bytes may be read.
    let table = level.first_words(unsafe { core::slice::from_raw_parts(data.cast(), dim) });
    let mut zero = 0i32;
    // SAFETY: `zero` has the 4 bytes of an element, by the caller's contract.
    unsafe { write_zero((&raw mut zero).cast::<T>()) };
    let mut done = 0;
    while n - done >= LANES {
        // SAFETY: by the caller's contract, `n` indices may be read, and `done + LANES <= n`.
        let mut x = unsafe { Eight::load(level, index.wrapping_add(done).cast()) };
        if I::TYPE.is_signed() && policy.from_end {
            // Adds `dim` to negative values, which cannot overflow, and 0 to others.
            x = Eight::plus_where(x, Eight::signs(x), dims);
        }
        let outside = Eight::at_most(dims, x);
        if policy.fails() && level.any(outside) {
            return (done, false);
        }
        let mut values = Eight::permuted(table, x);
        if policy.fills() {
            values = Eight::select(outside, Eight::splat(level, zero), values);
        }
        // SAFETY: by the caller's contract, `n` elements may be written, and `done + LANES <= n`.
        unsafe { values.store(out.wrapping_add(done).cast()) };
        done += LANES;
    }
    (done, true)
}
