//! Every public door of gather-core, from a crate that forbids unsafe code; `doors` lists them.

#![forbid(unsafe_code)]

mod bag;
mod chunks;
mod columns;
mod common;
mod doors;
mod fused;
mod huge;
mod index;
mod inverses;
mod maps;
mod masks;
mod nulls;
mod other_crates;
mod plans_and_slices;
mod presets;
mod product;
mod ragged;
mod row_functions;
mod scatter;
mod space;
mod specialize;
mod tables;
mod tensors;
