//! EmbeddingBag.
//!
//! | module | what |
//! |---|---|
//! | `small` | small tables with every way that indices fall into bags, every policy and door, against the oracle |
//! | `types` | every reduction of every type against the plain loop, to the bit, with rows of many lengths |
//! | `maps` | rows that maps convert first, against the plain loop over converted rows |
//! | `threads` | the same bits for any number of threads, and for every way that work is cut |
//! | `hostile` | what nobody should pass and somebody will |
//! | `engines` | results of PyTorch and OpenVINO |

mod engines;
mod hostile;
mod maps;
mod small;
mod threads;
mod types;
