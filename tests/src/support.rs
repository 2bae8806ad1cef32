//! What the integration tests share: views of dense tensors, tensors in awkward memory, and both spellings of the
//! policies.

#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::io::Write;
use std::panic::resume_unwind;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use gather_core::{Element, Error, Index, Level, Method, Tensor, View};
use serde_json::Value;

use crate::oracle::{BadIndex, Dense};
pub use crate::policies::RULES;
use crate::values::bytes;

/// Every method that can be forced.
pub const METHODS: &[Method] = Method::ALL;

/// Prints what a test skips and why, once for each reason.
pub fn skipped(what: &str) {
    say(&format!("skipped: {what}"));
}

/// Prints a line once. The test harness does not capture it, so every run shows it.
fn say(line: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(line.to_owned()) {
        // A line that cannot be written fails no test.
        drop(writeln!(std::io::stderr(), "{line}"));
    }
}

/// Declares tests that are skipped where pointers have 32 bits.
#[macro_export]
macro_rules! needs_64_bits {
    ($($name:ident),+ $(,)?) => {$(
        #[test]
        #[cfg(not(target_pointer_width = "64"))]
        fn $name() {
            $crate::support::skipped(concat!(module_path!(), "::", stringify!($name), ": needs pointers of 64 bits"));
        }
    )+};
}

/// The levels that this machine has, one after the other.
pub fn levels() -> impl Iterator<Item = Level> {
    available_levels().into_iter()
}

/// The lines of a file of `tests/data`, of reference values.
///
/// # Panics
/// If the file cannot be read.
#[must_use]
pub fn lines(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// The bytes that two digits each stand for.
///
/// # Panics
/// For other characters than digits.
#[must_use]
pub fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("two digits")).collect()
}

/// The levels that this machine has, of which `GATHER_LEVEL` chooses one. Prints them, and those that it lacks.
#[must_use]
pub fn available_levels() -> Vec<Level> {
    let (has, lacks): (Vec<Level>, Vec<Level>) = Level::ALL.iter().partition(|level| level.is_available());
    let has = if std::env::var_os("GATHER_LEVEL").is_some() { vec![Level::preferred()] } else { has };
    let names = |levels: &[Level]| levels.iter().map(|level| level.name()).collect::<Vec<_>>().join(", ");
    say(&format!("levels: {}", names(&has)));
    if !lacks.is_empty() {
        skipped(&format!("levels that this machine lacks: {}", names(&lacks)));
    }
    has
}

/// Whether a level has instructions that gather, which [`Method::Gathered`] needs.
#[must_use]
pub fn gathers(level: Level) -> bool {
    !matches!(level, Level::Scalar | Level::Neon | Level::Simd128)
}

/// Whether a level is the fallback of x86-64, which moves rows one by one or in blocks whatever the method.
#[must_use]
pub fn is_fallback(level: Level) -> bool {
    level == Level::Scalar && cfg!(all(target_arch = "x86_64", not(gather_whole_scalar)))
}

/// The method that runs in place of another one at the preferred level.
#[must_use]
pub fn runs_as(method: Method) -> Method {
    if is_fallback(Level::preferred()) { Method::Blocks } else { method }
}

/// The levels that the library is compiled for on this target.
#[must_use]
pub fn compiled_levels() -> usize {
    if cfg!(target_arch = "x86_64") { 3 } else { available_levels().len() }
}

/// This test, in a process of its own: under the emulator that `GATHER_TESTS_RUNNER` names, if it does.
///
/// # Panics
/// When the system does not know the test's file.
#[must_use]
pub fn this_test() -> Command {
    let test = std::env::current_exe().expect("this test");
    let runner = std::env::var("GATHER_TESTS_RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace();
    let Some(emulator) = words.next() else { return Command::new(test) };
    let mut process = Command::new(emulator);
    process.args(words).arg(test);
    process
}

/// Runs `call` on a thread of its own. Fails when it has not ended after a minute, as in a deadlock.
///
/// # Panics
/// When the call does, or has not ended.
pub fn ends(call: impl FnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        call();
        let _ = done.send(());
    });
    match ended.recv_timeout(Duration::from_secs(60)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the call has not ended after a minute"),
        _ => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
    }
}

/// The most elements of a table in registers, for elements of `bytes` bytes.
#[must_use]
pub fn table_entries(level: Level, bytes: usize) -> usize {
    match (level, bytes) {
        (Level::Avx2 | Level::Avx512, 1) => 256,
        (Level::Avx2, 4) => 16,
        (Level::Avx2, 8) => 8,
        (Level::Avx512, 2 | 4 | 8) => 128 / bytes,
        (Level::Neon | Level::Simd128, 1) => 256,
        (Level::Neon | Level::Simd128, 2 | 4 | 8) => 64 / bytes,
        _ => 0,
    }
}

/// A dense tensor as a view.
#[must_use]
pub fn view<T>(dense: &Dense<T>) -> View<'_, T> {
    View::new(&dense.values, &dense.shape).expect("a dense tensor fits its shape")
}

/// A tensor in the oracle's form.
#[must_use]
pub fn dense<T: Clone>(tensor: &Tensor<T>) -> Dense<T> {
    Dense { shape: tensor.shape().to_vec(), values: tensor.as_slice().to_vec() }
}

/// Converts indices to an index type. All must fit.
///
/// # Panics
/// When one does not.
#[must_use]
pub fn narrow<I: Index + TryFrom<i128>>(indices: &Dense<i128>) -> Dense<I> {
    Dense::from_fn(&indices.shape, |at| I::try_from(indices.values[at]).ok().expect("an index that fits its type"))
}

/// Compares what a call gave with what the oracle gives: shape and elements, to the bit, or the index out of range.
///
/// # Panics
/// When they differ.
#[track_caller]
pub fn same<T: Element>(
    expected: &Result<Dense<T>, BadIndex>,
    got: Result<Tensor<T>, Error>,
    what: impl Fn() -> String,
) {
    if let (Ok(expected), Ok(got)) = (expected, &got) {
        assert_eq!(got.shape(), expected.shape, "{}: the shape", what());
    }
    same_bits(expected.as_ref().map(|expected| &expected.values[..]), got.as_ref().map(Tensor::as_slice), what);
}

/// As [`same`], for elements alone: those of an array may be given one by one.
///
/// # Panics
/// When they differ.
#[track_caller]
pub fn same_bits<T: Element, U: Element>(
    expected: Result<&[T], &BadIndex>,
    got: Result<&[U], &Error>,
    what: impl Fn() -> String,
) {
    match (expected.map(bytes), got.map(bytes)) {
        // Slices are compared at once: tests are not optimised.
        (Ok(expected), Ok(got)) if expected == got => {}
        (Ok(expected), Ok(got)) => {
            let differs = expected.iter().zip(got).position(|(a, b)| a != b);
            assert_eq!((got.len(), differs), (expected.len(), None), "{}: bytes, and the first wrong one", what());
        }
        (Err(bad), Err(Error::IndexOutOfRange { position, index, .. })) => {
            assert_eq!((*position, *index), (bad.position, bad.index), "{}", what());
        }
        (expected, got) => panic!("{}: expected {:?}, got {:?}", what(), expected.err(), got.err()),
    }
}

/// Memory in which a tensor's elements are not contiguous: no two dimensions of its view can be merged.
pub struct Spread<T> {
    memory: Vec<T>,
    strides: Vec<isize>,
    shape: Vec<usize>,
    offset: usize,
}

impl<T: Element> Spread<T> {
    /// Copies a dense tensor into memory with a gap after each step of each dimension, starting at element 1.
    #[must_use]
    pub fn new(dense: &Dense<T>) -> Self {
        let rank = dense.shape.len();
        let mut strides = vec![0isize; rank];
        let mut step = 2isize;
        for d in (0..rank).rev() {
            strides[d] = step;
            step = step * dense.shape[d].max(1) as isize + 1;
        }
        let offset = 1;
        let mut memory = vec![T::ZERO; offset + step as usize];
        let places = crate::oracle::strided(&dense.shape, &strides, offset);
        for (at, &place) in places.iter().enumerate() {
            memory[place] = dense.values[at];
        }
        Spread { memory, strides, shape: dense.shape.clone(), offset }
    }

    /// The tensor.
    #[must_use]
    pub fn view(&self) -> View<'_, T> {
        View::strided(&self.memory, &self.shape, &self.strides, self.offset).expect("laid out in this memory")
    }
}

/// Deterministic numbers that look random.
#[must_use]
pub fn mixed(seed: u64, at: usize) -> u64 {
    let x = (seed ^ (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ (x >> 29)
}

/// Lengths of chunks that sum to `rows`, at random: two or more chunks, some of them empty.
#[must_use]
pub fn lengths_of_chunks(rows: usize, seed: u64) -> Vec<usize> {
    let count = 2 + (mixed(seed, 0) >> 8) as usize % 6;
    let mut ends: Vec<usize> = (1..count).map(|at| (mixed(seed, at) >> 8) as usize % (rows + 1)).collect();
    ends.push(rows);
    // Some ends twice: no row is between them.
    ends.push(ends[0]);
    ends.sort_unstable();
    let mut first = 0;
    ends.into_iter().map(|end| end - std::mem::replace(&mut first, end)).collect()
}

/// The values of a type: ordinary ones, and those around its edges.
///
/// # Panics
/// When there are no edges.
#[must_use]
pub fn numbers<T: Copy>(len: usize, seed: u64, edges: &[T], ordinary: impl Fn(u64) -> T) -> Vec<T> {
    (0..len)
        .map(|at| {
            let bits = mixed(seed, at);
            if bits.is_multiple_of(16) { edges[(bits >> 8) as usize % edges.len()] } else { ordinary(bits >> 5) }
        })
        .collect()
}

/// Data of such numbers.
#[must_use]
pub fn data(shape: &[usize], seed: u64) -> Dense<u32> {
    Dense::from_fn(shape, |at| mixed(seed, at) as u32)
}
