//! Axes of at most eight elements of 4 bytes: a line of data in a register, and elements that are shuffled out of it.
//!
//! ```text
//! table = the line
//! for each eight indices:  compare (out of range: stop, or remember it);  store table[indices]
//! ```
//!
//! The scalar loop stores element by element, and is bound by that.

use crate::kernels::level_fn::Avx2;
use crate::kernels::vector::Vector;
use crate::kernels::words::{Eight, Words};
use crate::types::element::{Element, write_zero};
use crate::types::index::Index;
use crate::types::policy::KernelPolicy;

/// Elements of a register.
pub(crate) const LANES: usize = Eight::N;

/// Writes as many elements as make whole registers; returns how many, and whether none of their indices is out of
/// range. If a missing index is an error, it stops at the first register that has one.
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
    // SAFETY: `dim` elements of 4 bytes may be read.
    let table = level.first_words(unsafe { core::slice::from_raw_parts(data.cast(), dim) });
    let mut zero = 0i32;
    // SAFETY: `zero` has the 4 bytes of an element.
    unsafe { write_zero((&raw mut zero).cast::<T>()) };
    let mut done = 0;
    while n - done >= LANES {
        // SAFETY: `n - done` indices are left: eight or more.
        let mut x = unsafe { Eight::load(level, index.wrapping_add(done).cast()) };
        if I::TYPE.is_signed() && policy.from_end {
            // Negative values: `x + dim` cannot overflow. Others: plus 0.
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
        // SAFETY: `n - done >= LANES` elements are left.
        unsafe { values.store(out.wrapping_add(done).cast()) };
        done += LANES;
    }
    (done, true)
}
