//! What gather-core is compared with. Each peer has a file, which opens with what is not equal about the comparison.
//!
//! A peer prepares a call of a [`Case`]. Before anybody times it, [`prepare_checked`] runs it once and compares its
//! output with the plain loop's, bit for bit. A peer that cannot run says why. [`peers`] leaves none out: one whose
//! feature is off, or whose library is missing, says what to set.

#[cfg(not(all(
    feature = "candle",
    feature = "rten",
    feature = "burn",
    feature = "tract",
    feature = "vortex",
    feature = "onnxruntime",
    feature = "openvino",
    feature = "tensorflow"
)))]
mod absent;
mod arrow;
#[cfg(feature = "burn")]
mod burn;
mod call;
#[cfg(feature = "candle")]
mod candle;
pub(crate) mod gather;
#[cfg(any(feature = "onnxruntime", feature = "openvino", feature = "tensorflow"))]
mod library;
mod naive;
mod ndarray;
#[cfg(feature = "onnxruntime")]
mod onnxruntime;
#[cfg(feature = "openvino")]
mod openvino;
#[cfg(feature = "openvino")]
mod openvino_ir;
#[cfg(feature = "rten")]
mod rten;
#[cfg(feature = "tensorflow")]
mod tensorflow;
#[cfg(feature = "tensorflow")]
mod tensorflow_c;
#[cfg(test)]
mod tests;
#[cfg(feature = "tract")]
mod tract;
#[cfg(feature = "vortex")]
mod vortex;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use call::Call;
pub(crate) use call::{into_fresh, into_warm};
use gather_core::Level;
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::workloads::{Kind, Workload};

/// Something that runs gathers.
pub trait Peer: Sync {
    /// The name in tables and in ids of benchmarks.
    fn name(&self) -> &'static str;

    /// The version of the crate or library.
    fn version(&self) -> String;

    /// What is not equal about the comparison, in one line.
    fn unequal(&self) -> &'static str;

    /// What must be set before it can run anything: a feature, a variable.
    fn missing(&self) -> Option<String> {
        None
    }

    /// Whether every call makes a new output, rather than writing into one that was there before.
    fn fresh(&self) -> bool {
        true
    }

    /// Whether it is foreign code, which may end the process.
    fn native(&self) -> bool {
        false
    }

    /// Whether it runs a workload on one thread, whatever it is told.
    fn one_thread(&self, _: &Workload) -> bool {
        false
    }

    /// Sets a case up for `threads` threads. This is what a program would do once and not at every call.
    ///
    /// # Errors
    /// Why the peer does not run the case.
    fn prepare<'a>(&self, case: &'a Case, threads: usize) -> Result<Ready<'a>, NotRun>;
}

/// A call of a case, ready to be run.
pub type Ready<'a> = Box<dyn Call + 'a>;

/// Why a peer does not run a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotRun {
    /// It lacks the operator, an attribute or a type.
    Unsupported(String),
    /// Something must be set first: a feature, a variable.
    NotSet(String),
    /// It gave an error or panicked.
    Failed(String),
    /// Its output is not the plain loop's.
    Wrong(String),
}

impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.word(), self.why())
    }
}

impl NotRun {
    /// The reason in a word or two, as tables have it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            NotRun::Unsupported(_) => "unsupported",
            NotRun::NotSet(_) => "not run",
            NotRun::Failed(_) => "failed",
            NotRun::Wrong(_) => "wrong",
        }
    }

    /// The rest of it.
    #[must_use]
    pub fn why(&self) -> &str {
        let (NotRun::Unsupported(why) | NotRun::NotSet(why) | NotRun::Failed(why) | NotRun::Wrong(why)) = self;
        why
    }

    /// Why a peer of one thread is not asked to take more.
    #[must_use]
    pub fn one_thread() -> Self {
        NotRun::Unsupported("runs on one thread".into())
    }

    /// An error of the peer.
    pub fn failed(error: impl fmt::Display) -> Self {
        NotRun::Failed(error.to_string())
    }
}

/// The reason of a peer that lacks an operator or an attribute.
fn lacks(what: &str) -> NotRun {
    NotRun::Unsupported(format!("no {what}"))
}

/// For peers whose arrays have one axis: nothing but a plain Gather along it.
fn only_axis_0(kind: &Kind) -> Result<(), NotRun> {
    match kind {
        Kind::Gather { axis: 0, batch_dims: 0 } => Ok(()),
        Kind::Gather { axis, batch_dims: 0 } => Err(NotRun::Unsupported(format!("axis {axis}"))),
        _ => Err(lacks(kind.lack())),
    }
}

/// A peer behind a feature of the same name.
macro_rules! optional {
    ($feature:literal, $peer:expr) => {{
        #[cfg(feature = $feature)]
        let peer: Box<dyn Peer> = Box::new($peer);
        #[cfg(not(feature = $feature))]
        let peer: Box<dyn Peer> = Box::new(absent::Absent($feature));
        peer
    }};
}

/// Every peer, gather-core first: planned, unplanned, into fresh memory.
#[must_use]
pub fn peers() -> Vec<Box<dyn Peer>> {
    vec![
        Box::new(gather::Ours::Planned),
        Box::new(gather::Ours::Unplanned),
        Box::new(gather::Ours::Fresh),
        Box::new(naive::Copy),
        Box::new(naive::Loop),
        Box::new(ndarray::NdArray),
        optional!("candle", candle::CandleCore),
        Box::new(arrow::Arrow),
        optional!("rten", rten::Rten),
        optional!("burn", burn::Burn),
        optional!("tract", tract::Tract),
        optional!("vortex", vortex::Vortex),
        optional!("onnxruntime", onnxruntime::OnnxRuntime),
        optional!("openvino", openvino::OpenVino),
        optional!("tensorflow", tensorflow::TensorFlow),
    ]
}

/// The peer of a name.
#[must_use]
pub fn peer(name: &str) -> Option<Box<dyn Peer>> {
    peers().into_iter().find(|peer| peer.name() == name)
}

/// gather-core at a level of instructions, planned.
#[must_use]
pub fn at_level(level: Level) -> Box<dyn Peer> {
    Box::new(gather::Ours::At(level))
}

/// Runs `work` inside a rayon pool of `threads` threads. Peers that use rayon take their threads from it. Calls from
/// inside a pool, like those of a program of many calls, do not wait for a thread to wake up.
///
/// # Panics
/// When threads cannot be started.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads can be started").install(work)
}

/// Prepares a case, runs it once, and checks the output.
///
/// # Errors
/// Why the peer does not run the case. Panics, errors and wrong outputs are reasons.
pub fn prepare_checked<'a>(peer: &dyn Peer, case: &'a Case, threads: usize) -> Result<Ready<'a>, NotRun> {
    if let Some(what) = peer.missing() {
        return Err(NotRun::NotSet(what));
    }
    if threads > 1 && peer.one_thread(&case.workload) {
        return Err(NotRun::one_thread());
    }
    checked(|| peer.prepare(case, threads), &case.expected, case.data.width())
}

/// Prepares a call, runs it once, and compares the output with the expected one, element by element.
///
/// # Errors
/// Why it cannot be run. Panics, errors and wrong outputs are reasons.
pub fn checked<'a>(
    prepare: impl FnOnce() -> Result<Ready<'a>, NotRun>,
    expected: &[u8],
    width: usize,
) -> Result<Ready<'a>, NotRun> {
    let attempt = || {
        let mut call = prepare()?;
        call.run();
        check(&call.output().map_err(NotRun::Failed)?, expected, width)?;
        Ok(call)
    };
    catch_unwind(AssertUnwindSafe(attempt)).unwrap_or_else(|panic| Err(NotRun::Failed(message(&*panic))))
}

fn check(output: &[u8], expected: &[u8], width: usize) -> Result<(), NotRun> {
    if output.len() != expected.len() {
        return Err(NotRun::Wrong(format!("{} bytes instead of {}", output.len(), expected.len())));
    }
    match output.iter().zip(expected).position(|(got, expected)| got != expected) {
        Some(at) => Err(NotRun::Wrong(format!("element {} differs", at / width))),
        None => Ok(()),
    }
}

/// What a panic says.
fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
    format!("panic: {}", text.unwrap_or("without a message"))
}
