//! Benchmarks of gather-core: fixed workloads, the plain loop that one would write, other crates and engines, and what
//! times and compares them.

pub mod allocations;
pub mod bags;
pub mod buffer;
pub mod case;
pub mod cliffs;
pub mod clock;
#[cfg(feature = "search")]
pub mod find;
pub mod ids;
pub mod inputs;
pub mod instructions;
pub mod inverse;
pub mod limits;
pub mod machine;
pub mod mapped_bags;
pub mod naive;
pub mod number;
pub mod options;
pub mod outputs;
pub mod peers;
pub mod pin;
pub mod probe;
pub mod random;
pub mod report;
pub mod scatters;
pub mod sections;
pub mod servers;
pub mod short;
pub mod space;
pub mod spaces;
pub mod specialized;
pub mod versions;
pub mod workloads;
