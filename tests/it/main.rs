//! Integration tests of gather-core. Each module says what it checks.

mod any_count;
mod audit;
mod bags;
mod cloned;
mod concurrency;
mod conformance;
mod counts;
mod exhaustive;
mod few_rows;
mod fills;
mod fuzz;
mod gathered;
mod hostile;
mod interleave;
mod invariance;
mod layers;
mod maps;
mod matrix;
mod methods;
mod outputs;
mod own_maps;
mod packages;
mod panels;
mod per_element;
mod plans;
mod pooled;
mod properties;
mod quantized;
mod rearrange;
mod regressions;
mod resources;
mod row_functions;
mod rows;
mod scatter;
mod short_loops;
#[cfg(not(target_family = "wasm"))]
mod streams;
mod tables;
mod views;
mod will_need;

use gather_tests::support;
