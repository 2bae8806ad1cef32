//! Reading indices of single elements.
//!
//! They are read as unsigned: a negative one is larger than any axis. For 1 and 2 bytes the plan has made sure of that
//! (P3).

/// Reads indices of a size.
pub(super) trait ReadIndex: Copy {
    /// Reads indices of a size that is known when the program runs only, and of all sizes that this type knows.
    type Either: ReadIndex;

    /// For indices of some bytes, a size of this type.
    fn of(bytes: usize) -> Self;

    /// Bytes of an index.
    fn bytes(self) -> usize;

    /// # Safety
    /// As many bytes may be read, at any alignment.
    unsafe fn read(self, index: *const u8) -> u64;
}

/// Indices of `BYTES` bytes: 1, 2, 4 or 8.
#[derive(Clone, Copy)]
pub(super) struct Exact<const BYTES: usize>;

macro_rules! exact {
    ($($bytes:literal, $value:ty, $either:literal;)*) => {$(
        impl ReadIndex for Exact<$bytes> {
            type Either = Either<$either>;

            #[inline(always)]
            fn of(bytes: usize) -> Self {
                debug_assert_eq!(bytes, $bytes, "P3");
                Exact
            }

            #[inline(always)]
            fn bytes(self) -> usize {
                $bytes
            }

            #[inline(always)]
            unsafe fn read(self, index: *const u8) -> u64 {
                // SAFETY: the caller's promise.
                u64::from(unsafe { index.cast::<$value>().read_unaligned() })
            }
        }
    )*};
}

exact! {
    1, u8, 1;
    2, u16, 1;
    4, u32, 4;
    8, u64, 4;
}

/// Indices of `LOW` bytes, 1 or 4, or of twice as many: one function for two sizes, without a branch. The high half of
/// one that has none is its low half, which is masked.
#[derive(Clone, Copy)]
pub(super) struct Either<const LOW: usize> {
    bytes: usize,
    /// Where the halves are.
    low: usize,
    high: usize,
    mask: u64,
}

impl<const LOW: usize> ReadIndex for Either<LOW>
where
    Exact<LOW>: ReadIndex,
{
    type Either = Self;

    #[inline(always)]
    fn of(bytes: usize) -> Self {
        debug_assert!(bytes == LOW || bytes == 2 * LOW, "P3");
        let (first, last) = (0, bytes - LOW);
        let (low, high) = if cfg!(target_endian = "big") { (last, first) } else { (first, last) };
        Either { bytes, low, high, mask: if bytes == LOW { 0 } else { u64::MAX } }
    }

    #[inline(always)]
    fn bytes(self) -> usize {
        self.bytes
    }

    #[inline(always)]
    unsafe fn read(self, index: *const u8) -> u64 {
        let half = Exact::<LOW>::of(LOW);
        // SAFETY: the caller's promise: the low half.
        let low = unsafe { half.read(index.wrapping_add(self.low)) };
        // SAFETY: as above: the high half, or the low one again.
        let high = unsafe { half.read(index.wrapping_add(self.high)) };
        low | (high & self.mask) << (8 * LOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_function_reads_two_sizes() {
        fn agree<E: ReadIndex<Either: ReadIndex>>(bytes: usize) {
            for value in [0u64, 1, 0x80, 0xff, 0x1234, u64::MAX, 0x0102_0304_0506_0708] {
                let memory = value.to_ne_bytes();
                // SAFETY: eight bytes may be read.
                let exact = unsafe { E::of(bytes).read(memory.as_ptr()) };
                // SAFETY: as above.
                let either = unsafe { E::Either::of(bytes).read(memory.as_ptr()) };
                assert_eq!(exact, either, "{bytes}, {value:x}");
                assert_eq!(E::Either::of(bytes).bytes(), bytes);
            }
        }
        agree::<Exact<1>>(1);
        agree::<Exact<2>>(2);
        agree::<Exact<4>>(4);
        agree::<Exact<8>>(8);
    }
}
