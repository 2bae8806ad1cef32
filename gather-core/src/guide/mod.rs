//! Chapters that show how the pieces go together. The page of each item has its details.
//!
//! 1. [Quick start](crate#quick-start): rows of a table, an operator, a plan.
//! 2. [Gathers](gathers): which of the three, and what indices mean.
//! 3. [Plans](plans): shape-dependent work, done once.
//! 4. [Functions of your own](own_functions) that read any source.
//! 5. [Types](custom_types) of your own as elements, and kernels for them.
//! 6. [Bags](bags): rows that are reduced where they are read.
//! 7. [Tables](tables) that are stored in another format: quantised, halves, fused, GGUF.
//! 8. [Row functions](row_functions): scores and norms of rows on their way.
//! 9. [Scatters](scatter) and adjoints.
//! 10. [Nulls](nulls): columns of Apache Arrow.
//! 11. [Large tables](large_tables): huge pages, and memory that is used again.
//! 12. [Types known at run time](runtime_types), and the registry.
//! 13. [`specialize!`](specialize): shapes known at compile time.
//! 14. [Targets](targets): levels, other architectures, without a standard library.
//!
//! And a dictionary: [coming from NumPy, PyTorch, TensorFlow, ONNX, OpenVINO, ndarray, candle or Arrow](coming_from).

#![forbid(unsafe_code)]

#[doc = include_str!("gathers.md")]
pub mod gathers {}

#[doc = include_str!("plans.md")]
pub mod plans {}

#[doc = include_str!("own_functions.md")]
pub mod own_functions {}

#[doc = include_str!("custom_types.md")]
pub mod custom_types {}

#[doc = include_str!("bags.md")]
pub mod bags {}

#[doc = include_str!("tables.md")]
pub mod tables {}

#[doc = include_str!("row_functions.md")]
pub mod row_functions {}

#[doc = include_str!("scatter.md")]
pub mod scatter {}

#[doc = include_str!("nulls.md")]
pub mod nulls {}

#[doc = include_str!("large_tables.md")]
pub mod large_tables {}

#[doc = include_str!("runtime_types.md")]
pub mod runtime_types {}

#[doc = include_str!("specialize.md")]
pub mod specialize {}

#[doc = include_str!("targets.md")]
pub mod targets {}

#[doc = include_str!("coming_from.md")]
pub mod coming_from {}
