//! The plain loop in safe Rust, and a copy of the output's bytes.
//!
//! Not equal: one thread only; both write into warm memory; an index that is out of range panics or, within data, reads
//! another row. The copy does no gathering at all: it is the limit that memory sets.

use super::{NotRun, Peer, Ready, into_warm, one_thread};
use crate::buffer::Buffer;
use crate::case::Case;
use crate::naive;
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

    fn prepare<'a>(&self, case: &'a Case, threads: usize) -> Result<Ready<'a>, NotRun> {
        one_thread(threads)?;
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

    fn prepare<'a>(&self, case: &'a Case, threads: usize) -> Result<Ready<'a>, NotRun> {
        one_thread(threads)?;
        let mut from = Buffer::zeroed(&[case.expected.len()]);
        from.as_mut_slice().copy_from_slice(&case.expected);
        let run = move |to: &mut Buffer<u8>| to.as_mut_slice().copy_from_slice(from.as_slice());
        Ok(into_warm(&[case.expected.len()], run))
    }
}
