//! The plain loop in safe Rust, and a copy of the output's bytes.
//!
//! Not equal: one thread only; both write into warm memory. An index out of range panics, or reads another row where
//! that is still within data. The copy does not gather at all: it is a reference.

use super::{NotRun, Peer, Ready, into_warm};
use crate::buffer::Buffer;
use crate::case::Case;
use crate::naive;
use crate::workloads::Workload;
use crate::{with_positions, with_values};

/// The plain loop.
pub(super) struct Loop;

impl Peer for Loop {
    fn name(&self) -> &'static str {
        "loop"
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").into()
    }

    fn unequal(&self) -> &'static str {
        "one thread; into warm memory; a bad index panics or reads another row"
    }

    fn fresh(&self) -> bool {
        false
    }

    fn one_thread(&self, _: &Workload) -> bool {
        true
    }

    fn prepare<'a>(&self, case: &'a Case, _: usize) -> Result<Ready<'a>, NotRun> {
        with_values!(&case.data, data => with_positions!(&case.indices, indices => {
            let run = |out: &mut Buffer<_>| {
                naive::run(&case.workload, data.as_slice(), indices.as_slice(), out.as_mut_slice());
            };
            Ok(into_warm(&case.output_shape, run))
        }))
    }
}

/// A copy of the output's bytes between warm buffers.
pub(super) struct Copy;

impl Peer for Copy {
    fn name(&self) -> &'static str {
        "copy"
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").into()
    }

    fn unequal(&self) -> &'static str {
        "no gather: the output's bytes from one warm buffer to another, one thread"
    }

    fn fresh(&self) -> bool {
        false
    }

    fn one_thread(&self, _: &Workload) -> bool {
        true
    }

    fn prepare<'a>(&self, case: &'a Case, _: usize) -> Result<Ready<'a>, NotRun> {
        let mut from = Buffer::zeroed(&[case.expected.len()]);
        from.as_mut_slice().copy_from_slice(&case.expected);
        let run = move |to: &mut Buffer<u8>| to.as_mut_slice().copy_from_slice(from.as_slice());
        Ok(into_warm(&[case.expected.len()], run))
    }
}
