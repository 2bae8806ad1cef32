//! Calls that are ready to be timed.

use bytemuck::Pod;

use crate::buffer::Buffer;

/// A call that is ready.
pub trait Call {
    /// The call that is timed. It may panic.
    fn run(&mut self);

    /// The bytes of the output of the last `run`, row-major.
    ///
    /// # Errors
    /// Why there are none.
    fn output(&mut self) -> Result<Vec<u8>, String>;
}

/// A call that writes into memory which it is given: the same, already touched, every time.
pub(super) fn into_warm<'a, T: Pod>(shape: &[usize], run: impl FnMut(&mut Buffer<T>) + 'a) -> Box<dyn Call + 'a> {
    Box::new(Warm { out: Buffer::zeroed(shape), run })
}

/// A call that makes its output anew, with what `bytes` reads from it; freeing the last one is within the timing.
pub(super) fn into_fresh<'a, O: 'a>(
    run: impl FnMut() -> O + 'a,
    bytes: impl Fn(&O) -> Result<Vec<u8>, String> + 'a,
) -> Box<dyn Call + 'a> {
    Box::new(Fresh { out: None, run, bytes })
}

struct Warm<T, R> {
    out: Buffer<T>,
    run: R,
}

impl<T: Pod, R: FnMut(&mut Buffer<T>)> Call for Warm<T, R> {
    fn run(&mut self) {
        (self.run)(&mut self.out);
    }

    fn output(&mut self) -> Result<Vec<u8>, String> {
        Ok(self.out.as_bytes().to_vec())
    }
}

struct Fresh<O, R, B> {
    out: Option<O>,
    run: R,
    bytes: B,
}

impl<O, R: FnMut() -> O, B: Fn(&O) -> Result<Vec<u8>, String>> Call for Fresh<O, R, B> {
    fn run(&mut self) {
        // Freed first, so that never more than one output is there.
        self.out = None;
        self.out = Some((self.run)());
    }

    fn output(&mut self) -> Result<Vec<u8>, String> {
        (self.bytes)(self.out.as_ref().ok_or("not run yet")?)
    }
}
