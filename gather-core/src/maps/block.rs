//! Blocks of quantised values: bytes that stand for a fixed number of values, with their scales among them.

use crate::types::element::Element;

mod sealed {
    pub trait Sealed {}
}
pub(super) use sealed::Sealed;

/// A block of quantised values, as an element: a table of `n` blocks in a row is a view of `[rows, n]`.
///
/// Sealed: implemented for the blocks of [`maps`](crate::maps). Blocks of your own are elements like any other, and
/// [`map_kernels!`](crate::map_kernels!) makes maps of them.
///
/// ```
/// use gather_core::maps::{self, Block, Q8_0};
/// use gather_core::{Gather, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     // Two rows of one block: a scale of 0.5 or 2, and 32 numbers.
///     let mut bytes = vec![3u8; 2 * size_of::<Q8_0>()];
///     bytes[..2].copy_from_slice(&0x3800u16.to_le_bytes());
///     bytes[34..36].copy_from_slice(&0x4000u16.to_le_bytes());
///
///     let (blocks, rest) = Q8_0::from_bytes(&bytes);
///     assert!(rest.is_empty());
///     let table = View::new(blocks, &[2, 1])?;
///     let rows = Gather::new(0).run_map(&maps::Q8_0_TO_F32, &table, &View::new(&[1u32, 0], &[2])?, ())?;
///     assert_eq!(rows.as_slice(), [[6.0; 32], [1.5; 32]]);
///     Ok(())
/// }
/// ```
pub trait Block: Element + Sealed {
    /// The values of a block, such as `[f32; 32]`.
    type Values: Element + AsRef<[f32]>;

    /// How many values a block stands for.
    const LEN: usize = size_of::<Self::Values>() / size_of::<f32>();

    /// The values of this block.
    #[must_use]
    fn to_f32(self) -> Self::Values;

    /// The blocks that bytes are, and the bytes behind the last whole one. Any bytes are a block, at any address.
    #[must_use]
    fn from_bytes(bytes: &[u8]) -> (&[Self], &[u8]);
}

/// Blocks of bytes: a struct for each, which is an element, and how its bytes are read.
macro_rules! blocks {
    ($($(#[$doc:meta])* $name:ident: [u8; $bytes:literal] as [f32; $len:literal], $decode:path;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, crate::Element)]
        #[repr(C)]
        pub struct $name {
            bytes: [u8; $bytes],
        }

        impl $crate::maps::block::Sealed for $name {}

        impl $crate::maps::Block for $name {
            type Values = [f32; $len];

            #[inline(always)]
            fn to_f32(self) -> [f32; $len] {
                $decode(&self.bytes)
            }

            fn from_bytes(bytes: &[u8]) -> (&[Self], &[u8]) {
                let (blocks, rest) = bytes.as_chunks::<$bytes>();
                // SAFETY: a block is its bytes: its only field is an array of them, in C's layout, and any bytes are
                // one. So both slices have as many elements, of one size and alignment.
                let blocks = unsafe { core::slice::from_raw_parts(blocks.as_ptr().cast::<Self>(), blocks.len()) };
                (blocks, rest)
            }
        }

        impl From<[u8; $bytes]> for $name {
            fn from(bytes: [u8; $bytes]) -> Self {
                $name { bytes }
            }
        }
    )*};
}
pub(super) use blocks;
