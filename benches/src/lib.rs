//! Benchmarks of gather-core: fixed workloads, the plain loop that one would write, and what runs both.

pub mod buffer;
pub mod case;
pub mod inputs;
pub mod instructions;
pub mod naive;
pub mod peers;
pub mod probe;
pub mod random;
pub mod report;
pub mod space;
pub mod versions;
pub mod workloads;
