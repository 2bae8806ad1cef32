//! Every public door of gather-core, from a crate that forbids unsafe code; `doors` lists them.

#![forbid(unsafe_code)]

mod common;
mod doors;
mod huge;
mod index;
mod maps;
mod more;
mod others;
mod presets;
mod space;
mod tables;
mod tensors;
