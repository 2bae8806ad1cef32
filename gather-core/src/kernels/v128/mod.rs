//! The level with vectors of 16 bytes, on targets that have one.

#[cfg(any(
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod vectors;

#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
pub use vectors::Vectors as Neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub use vectors::Vectors as Simd128;
#[cfg(any(
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(crate) use vectors::Vectors;
