//! Procedural macros of gather-core.
