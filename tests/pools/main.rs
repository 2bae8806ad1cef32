//! Calls from threads of rayon pools.

mod threads;
