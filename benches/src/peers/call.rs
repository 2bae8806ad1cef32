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

/// A call of `run` on a state which `output` reads afterwards.
pub(super) fn on_state<'a, S: 'a>(
    state: S,
    run: impl FnMut(&mut S) + 'a,
    output: impl Fn(&S) -> Result<Vec<u8>, String> + 'a,
) -> Box<dyn Call + 'a> {
    Box::new(OnState { state, run, output })
}

/// A call that writes into given memory: the same every time, and touched before.
pub(crate) fn into_warm<'a, T: Pod>(shape: &[usize], run: impl FnMut(&mut Buffer<T>) + 'a) -> Box<dyn Call + 'a> {
    on_state(Buffer::zeroed(shape), run, |out| Ok(out.as_bytes().to_vec()))
}

/// A call that makes a new output, and what reads the bytes of that output. Freeing the output before is timed too.
pub(crate) fn into_fresh<'a, O: 'a>(
    mut run: impl FnMut() -> O + 'a,
    bytes: impl Fn(&O) -> Result<Vec<u8>, String> + 'a,
) -> Box<dyn Call + 'a> {
    let run = move |out: &mut Option<O>| {
        // Freed first, so that there is never more than one output.
        *out = None;
        *out = Some(run());
    };
    on_state(None, run, move |out| bytes(out.as_ref().ok_or("not run yet")?))
}

struct OnState<S, R, O> {
    state: S,
    run: R,
    output: O,
}

impl<S, R: FnMut(&mut S), O: Fn(&S) -> Result<Vec<u8>, String>> Call for OnState<S, R, O> {
    fn run(&mut self) {
        (self.run)(&mut self.state);
    }

    fn output(&mut self) -> Result<Vec<u8>, String> {
        (self.output)(&self.state)
    }
}
