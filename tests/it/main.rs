//! Integration tests of gather-core; each module says what it holds the library to.

mod audit;
mod cloned;
mod concurrency;
mod conformance;
mod exhaustive;
mod fuzz;
mod hostile;
mod interleave;
mod invariance;
mod maps;
mod own_maps;
mod plans;
mod properties;
mod resources;
mod rows;
mod strategies;
mod streams;
mod ui;
mod views;

use gather_tests::support;
