//! The plain loop in safe Rust, and a copy of the output's bytes.
//!
//! Not equal: one thread only, indices are not checked beyond what slices check, both write into warm memory. The copy does
//! no gathering at all: it is the limit that the memory sets.

use super::{Call, NotRun, Peer};
use crate::buffer::Buffer;
use crate::case::Case;
use crate::inputs::{Position, Value};
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
        "one thread; into warm memory; a bad index panics"
    }

    fn prepare<'a>(&self, case: &'a Case, threads: usize) -> Result<Box<dyn Call + 'a>, NotRun> {
        single(threads)?;
        with_values!(&case.data, data => with_positions!(&case.indices, indices => Ok(Box::new(LoopCall {
            workload: &case.workload,
            data: data.as_slice(),
            indices: indices.as_slice(),
            out: Buffer::zeroed(&case.output_shape),
        }))))
    }
}

fn single(threads: usize) -> Result<(), NotRun> {
    if threads == 1 { Ok(()) } else { Err(NotRun::Unsupported("more than one thread".into())) }
}

struct LoopCall<'a, T, I> {
    workload: &'a Workload,
    data: &'a [T],
    indices: &'a [I],
    out: Buffer<T>,
}

impl<T: Value, I: Position> Call for LoopCall<'_, T, I> {
    fn run(&mut self) {
        naive::run(self.workload, self.data, self.indices, self.out.as_mut_slice());
    }

    fn output(&mut self) -> Result<Vec<u8>, String> {
        Ok(self.out.as_bytes().to_vec())
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

    fn prepare<'a>(&self, case: &'a Case, threads: usize) -> Result<Box<dyn Call + 'a>, NotRun> {
        single(threads)?;
        let [mut from, to] = [(); 2].map(|()| Buffer::zeroed(&[case.expected.len()]));
        from.as_mut_slice().copy_from_slice(&case.expected);
        Ok(Box::new(CopyCall { from, to }))
    }
}

struct CopyCall {
    from: Buffer<u8>,
    to: Buffer<u8>,
}

impl Call for CopyCall {
    fn run(&mut self) {
        self.to.as_mut_slice().copy_from_slice(self.from.as_slice());
    }

    fn output(&mut self) -> Result<Vec<u8>, String> {
        Ok(self.to.as_bytes().to_vec())
    }
}
