//! Benchmarks of gather-core: fixed workloads, the plain loop that one would write, and what runs both.

pub mod naive;
pub mod random;
pub mod runner;
pub mod workloads;
