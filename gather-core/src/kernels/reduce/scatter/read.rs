//! Sizes of the indices of single elements.
//!
//! Indices are read as unsigned: a negative one exceeds every axis. For 1 and 2 bytes the plan ensures that (P3).

#![forbid(unsafe_code)]

pub(in crate::kernels::reduce) trait ReadIndex: 'static {
    const BYTES: usize = size_of::<Self::Value>();

    /// An index as an unsigned number.
    type Value: Copy + Into<u64>;

    /// Bytes per index, for a job of indices of `of_job` bytes.
    #[inline(always)]
    fn bytes(of_job: usize) -> usize {
        debug_assert_eq!(of_job, Self::BYTES, "K3");
        Self::BYTES
    }
}

/// Indices of 4 or 8 bytes, according to the job: one loop for both.
pub(in crate::kernels::reduce) struct FourOrEight;

impl ReadIndex for FourOrEight {
    type Value = u32;

    #[inline(always)]
    fn bytes(of_job: usize) -> usize {
        debug_assert!(matches!(of_job, 4 | 8), "K3");
        of_job
    }
}

/// Indices of `BYTES` bytes: 1, 2, 4 or 8.
pub(in crate::kernels::reduce) struct Exact<const BYTES: usize>;

impl ReadIndex for Exact<1> {
    type Value = u8;
}

impl ReadIndex for Exact<2> {
    type Value = u16;
}

impl ReadIndex for Exact<4> {
    type Value = u32;
}

impl ReadIndex for Exact<8> {
    type Value = u64;
}
