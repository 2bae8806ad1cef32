//! Sizes of the indices of single elements.
//!
//! They are read as unsigned: a negative one is larger than any axis. For 1 and 2 bytes the plan has made sure of that
//! (P3).

#![forbid(unsafe_code)]

/// Indices of a size.
pub(in crate::kernels::reduce) trait ReadIndex: 'static {
    /// Bytes of an index.
    const BYTES: usize = size_of::<Self::Value>();

    /// An index as an unsigned number.
    type Value: Copy + Into<u64>;
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
