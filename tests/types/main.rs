//! Integration tests of gather-core that name many types: to compile them takes longer than to run them, so that this
//! package is not optimised. Each module says what it checks.

mod addresses;
mod any_count;
mod bag_tables;
mod bags;
mod empty;
mod fused;
mod items;
mod maps;
mod outputs;
mod own_maps;
mod row_functions;
mod rows;
mod scatter;
mod tables;

use gather_tests::support;
