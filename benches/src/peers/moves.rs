//! Moves alone: the rows that a gather moves, and nothing else.
//!
//! Not equal: which row goes where is known beforehand, in 4 bytes a row, and is neither checked nor computed. Each
//! case runs the fastest of a few plain ways, which are tried beforehand. One thread, into warm memory. Like the copy
//! it is a reference and no peer. BatchToSpace reads in order, so the copy is its reference.

use std::time::Instant;

use super::{NotRun, Peer, Ready, into_warm, lacks};
use crate::buffer::Buffer;
use crate::case::Case;
use crate::workloads::{Kind, Workload};
use crate::{naive, with_positions, with_values};

/// The moves of a gather.
pub(super) struct Moves;

impl Peer for Moves {
    fn name(&self) -> &'static str {
        "moves"
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").into()
    }

    fn unequal(&self) -> &'static str {
        "no gather: rows known beforehand, unchecked, moved in the fastest of a few ways; one thread; into warm memory"
    }

    fn one_thread(&self, _: &Workload) -> bool {
        true
    }

    fn prepare<'a>(&self, case: &'a Case, _: usize) -> Result<Ready<'a>, NotRun> {
        let job = Job::new(case)?;
        let mut out = Buffer::zeroed(&[case.expected.len()]);
        let data: &[u8] = with_values!(&case.data, data => data.as_bytes());
        let fastest = WAYS.into_iter().filter(|way| (way.takes)(job.row)).min_by_key(|way| {
            (way.run)(&job, data, out.as_mut_slice());
            let start = Instant::now();
            (0..3).for_each(|_| (way.run)(&job, data, out.as_mut_slice()));
            start.elapsed()
        });
        let way = fastest.expect("a way for rows of any length");
        Ok(into_warm(&[case.expected.len()], move |out: &mut Buffer<u8>| (way.run)(&job, data, out.as_mut_slice())))
    }
}

/// Rows of `row` bytes in the order of the output: the number of each within data.
struct Job {
    rows: Vec<u32>,
    row: usize,
}

impl Job {
    fn new(case: &Case) -> Result<Self, NotRun> {
        let Workload { kind, shape, index_shape, .. } = case.workload;
        // The dimensions before a row.
        let lead = match kind {
            Kind::Gather { axis, .. } => axis + 1,
            Kind::GatherElements { .. } => shape.len(),
            Kind::GatherNd { batch_dims } => batch_dims + index_shape[index_shape.len() - 1],
            Kind::BatchToSpace { .. } => return Err(lacks("BatchToSpace: its reference is the copy")),
        };
        let (outer, inner) = shape.split_at(lead);
        let row = inner.iter().product::<usize>() * case.data.width();
        // The plain loop on a tensor of row numbers gives the number of each row of the output.
        let numbers: Vec<u32> = (0..outer.iter().product::<usize>() as u32).collect();
        let mut rows = vec![0; case.expected.len() / row];
        let of_rows = Workload { shape: outer, ..case.workload };
        with_positions!(&case.indices, indices => naive::run(&of_rows, &numbers, indices.as_slice(), &mut rows));
        Ok(Job { rows, row })
    }
}

/// A way to move rows.
struct Way {
    takes: fn(usize) -> bool,
    run: fn(&Job, &[u8], &mut [u8]),
}

const WAYS: [Way; 6] = [
    Way { takes: |row| row == 1, run: elements::<1> },
    Way { takes: |row| row == 4, run: elements::<4> },
    Way { takes: |row| row == 4 && can_gather(), run: gathered },
    Way { takes: |row| row == 12, run: elements::<12> },
    Way { takes: |_| true, run: copied },
    Way { takes: |row| row % LINE == 0, run: by_lines },
];

/// Bytes of a cache line.
const LINE: usize = 64;

/// Element by element.
fn elements<const BYTES: usize>(job: &Job, data: &[u8], out: &mut [u8]) {
    let (data, _) = data.as_chunks::<BYTES>();
    let (out, _) = out.as_chunks_mut::<BYTES>();
    for (out, &row) in out.iter_mut().zip(&job.rows) {
        // SAFETY: the plain loop took each number out of a tensor that has one for each row of data, so it is below
        // their count.
        *out = *unsafe { data.get_unchecked(row as usize) };
    }
}

/// Row by row, by `memcpy`.
fn copied(job: &Job, data: &[u8], out: &mut [u8]) {
    for (out, &row) in out.chunks_exact_mut(job.row).zip(&job.rows) {
        out.copy_from_slice(&data[row as usize * job.row..][..job.row]);
    }
}

/// Line by line. With each line, one of the row eight further on is prefetched.
fn by_lines(job: &Job, data: &[u8], out: &mut [u8]) {
    let (data, _) = data.as_chunks::<LINE>();
    let (out, _) = out.as_chunks_mut::<LINE>();
    let lines = job.row / LINE;
    for (at, (out, &row)) in out.chunks_exact_mut(lines).zip(&job.rows).enumerate() {
        let later = job.rows[(at + 8).min(job.rows.len() - 1)] as usize * lines;
        for (line, out) in out.iter_mut().enumerate() {
            fetch(&data[later + line]);
            *out = data[row as usize * lines + line];
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn fetch(line: &[u8; LINE]) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch is a hint and accesses no memory.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
fn fetch(_: &[u8; LINE]) {}

fn can_gather() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Eight elements of 4 bytes at a time, by gather instructions.
#[cfg(target_arch = "x86_64")]
fn gathered(job: &Job, data: &[u8], out: &mut [u8]) {
    // SAFETY: a way runs only where its `takes` allows it, and this one's asks for AVX2.
    unsafe { gathered_avx2(job, data, out) };
}

#[cfg(not(target_arch = "x86_64"))]
fn gathered(_: &Job, _: &[u8], _: &mut [u8]) {
    unreachable!("a way is run only where it takes rows");
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn gathered_avx2(job: &Job, data: &[u8], out: &mut [u8]) {
    use std::arch::x86_64::{_mm256_i32gather_epi32, _mm256_loadu_si256, _mm256_storeu_si256};
    let (eights, rest) = job.rows.as_chunks::<8>();
    let (vectors, _) = out.as_chunks_mut::<32>();
    for (rows, out) in eights.iter().zip(vectors) {
        // SAFETY: `rows` has eight numbers of 4 bytes.
        let rows = unsafe { _mm256_loadu_si256(rows.as_ptr().cast()) };
        // SAFETY: each number is that of a row of data, see `elements`, and below 2^31.
        let found = unsafe { _mm256_i32gather_epi32::<4>(data.as_ptr().cast(), rows) };
        // SAFETY: `out` has 32 bytes.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), found) };
    }
    let done = eights.len() * 32;
    for (out, &row) in out[done..].chunks_exact_mut(4).zip(rest) {
        out.copy_from_slice(&data[row as usize * 4..][..4]);
    }
}
