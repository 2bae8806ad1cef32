//! Errors, as far as `blocks` makes them.

/// The counterpart of `types/error`.
pub(crate) mod error {
    /// Why there is no memory.
    pub(crate) enum Error {
        /// The allocator has none.
        AllocationFailed {
            /// Bytes asked for.
            #[expect(dead_code, reason = "nobody reads it here")]
            bytes: usize,
        },
    }
}
