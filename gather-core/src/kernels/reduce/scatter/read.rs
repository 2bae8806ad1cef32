//! Reading indices of single elements.
//!
//! They are read as unsigned: a negative one is larger than any axis. For 1 and 2 bytes the plan has made sure of that
//! (P3).

/// Reads indices of a size.
pub(in crate::kernels::reduce) trait ReadIndex: 'static {
    /// Bytes of an index.
    const BYTES: usize;

    /// # Safety
    /// As many bytes may be read, at any alignment.
    unsafe fn read(index: *const u8) -> u64;
}

/// Indices of `BYTES` bytes: 1, 2, 4 or 8.
pub(in crate::kernels::reduce) struct Exact<const BYTES: usize>;

macro_rules! exact {
    ($($bytes:literal, $value:ty;)*) => {$(
        impl ReadIndex for Exact<$bytes> {
            const BYTES: usize = $bytes;

            #[inline(always)]
            unsafe fn read(index: *const u8) -> u64 {
                // SAFETY: the caller's promise.
                u64::from(unsafe { index.cast::<$value>().read_unaligned() })
            }
        }
    )*};
}

exact! {
    1, u8;
    2, u16;
    4, u32;
    8, u64;
}
