//! Axes of at most eight elements of 4 bytes: a line of data in a register, and elements that are shuffled out of it.
//!
//! ```text
//! table = the line
//! for each eight indices:  compare (out of range: stop, or remember it);  store table[indices]
//! ```
//!
//! The scalar loop stores element by element, and is bound by that.

use core::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_blendv_epi8, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32,
    _mm256_loadu_si256, _mm256_maskload_epi32, _mm256_max_epu32, _mm256_permutevar8x32_epi32, _mm256_set1_epi32,
    _mm256_setr_epi32, _mm256_srai_epi32, _mm256_storeu_si256, _mm256_testz_si256,
};

use crate::types::element::{Element, write_zero};
use crate::types::index::Index;
use crate::types::policy::KernelPolicy;

/// Elements of a register.
pub(crate) const LANES: usize = 8;

/// Writes as many elements as make whole registers; returns how many, and whether none of their indices is out of
/// range. If a missing index is an error, it stops at the first register that has one.
///
/// # Safety
/// `data` may be read for `1 <= dim <= 8` elements, `index` for `n` indices, and `out` may be written for `n` elements.
/// Elements and indices have 4 bytes. The policy does not remap.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) unsafe fn look_up<T: Element, I: Index>(
    policy: KernelPolicy,
    (data, dim): (*const T, usize),
    index: *const I,
    out: *mut T,
    n: usize,
) -> (usize, bool) {
    debug_assert!(size_of::<T>() == 4 && size_of::<I>() == 4 && (1..=LANES).contains(&dim));
    let dims = _mm256_set1_epi32(dim as i32);
    let table = if dim == LANES {
        // SAFETY: `dim` elements may be read: eight.
        unsafe { _mm256_loadu_si256(data.cast()) }
    } else {
        let mask = _mm256_cmpgt_epi32(dims, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        // SAFETY: the first `dim` elements may be read, and the mask has no others.
        unsafe { _mm256_maskload_epi32(data.cast(), mask) }
    };
    let mut zero = 0i32;
    // SAFETY: `zero` has the 4 bytes of an element.
    unsafe { write_zero((&raw mut zero).cast::<T>()) };
    let mut done = 0;
    while n - done >= LANES {
        // SAFETY: `n - done` indices are left: eight or more.
        let mut x = unsafe { _mm256_loadu_si256(index.wrapping_add(done).cast::<__m256i>()) };
        if I::TYPE.is_signed() && policy.from_end {
            // Negative values: `x + dim` cannot overflow. Others: plus 0.
            x = _mm256_add_epi32(x, _mm256_and_si256(dims, _mm256_srai_epi32::<31>(x)));
        }
        let outside = _mm256_cmpeq_epi32(_mm256_max_epu32(x, dims), x);
        if policy.fails() && _mm256_testz_si256(outside, outside) == 0 {
            return (done, false);
        }
        let mut values = _mm256_permutevar8x32_epi32(table, x);
        if policy.fills() {
            values = _mm256_blendv_epi8(values, _mm256_set1_epi32(zero), outside);
        }
        // SAFETY: as many elements are left as indices, eight or more.
        unsafe { _mm256_storeu_si256(out.wrapping_add(done).cast(), values) };
        done += LANES;
    }
    (done, true)
}
