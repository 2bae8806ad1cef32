//! The programs are under `programs/`; `tests/ui.rs` builds them. There is nothing here.
#![forbid(unsafe_code)]
