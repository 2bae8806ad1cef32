//! The items that `blocks` takes from the standard library. The model in `tests/model` has its own in place of this
//! file, and chooses the order in which threads run.

#![forbid(unsafe_code)]

pub(super) use alloc::sync::Arc;
pub(super) use std::sync::{Mutex, MutexGuard, PoisonError};
