//! The built-in table: to add a data type, an index type, a rank or an operator to it, add a word.

#![forbid(unsafe_code)]

crate::kernels! {
    /// The built-in kernels.
    pub static BUILTIN;
    elements: [
        bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64,
        #[cfg(feature = "half")] half::f16 as x16,
        #[cfg(feature = "half")] half::bf16 as x16,
        #[cfg(feature = "num-complex")] num_complex::Complex<f32> as x64,
        #[cfg(feature = "num-complex")] num_complex::Complex<f64> as x128,
    ];
    indices: [i8, i16, i32, i64, u8, u16, u32, u64, isize, usize];
    ranks: 1..=8, any;
    ops: [gather, gather_elements, gather_nd, batch_to_space];
    units: [x128, rows];
}
