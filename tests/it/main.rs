//! Integration tests of gather-core. Each module says what it checks. What names many types stands in `tests/types`.

mod audit;
mod bags_sources;
mod chains;
mod cloned;
mod concurrency;
mod conformance;
mod counts;
mod elements;
mod exhaustive;
mod few_rows;
mod fills;
mod fuzz;
mod gate;
mod gathered;
mod given;
mod hostile;
mod interleave;
mod invariance;
mod layers;
mod lemmas;
mod links;
mod long_axes;
mod matrix;
mod methods;
mod nulls;
mod nulls_sources;
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
mod short_loops;
mod sources;
#[cfg(not(target_family = "wasm"))]
mod streams;
mod views;
mod will_need;
mod words;

use gather_tests::support;
