//! Imports of `blocks` from the standard library. The model in `tests/model` replaces this file with its own types,
//! and chooses the order in which threads run.

#![forbid(unsafe_code)]

pub(super) use alloc::sync::Arc;
pub(super) use std::sync::{Mutex, MutexGuard, PoisonError};
