//! Searches word vectors in two passes: all rows in 8 bits, then the best of them in `f32`.
//!
//! ```text
//! cargo run --release -p gather-core --example rescore
//! ```
//!
//! The vectors are 2,048 rows of a real model's word embeddings (`examples/data`). The first pass scores every row by
//! codes of 8 bits, which are a quarter of the bytes. It errs by a little, so it keeps more candidates than are wanted.
//! The second pass scores these candidates by the numbers themselves: a row function that runs while the rows are
//! gathered. Beside it stands the search by a plain loop over all numbers.
//!
//! The example panics unless the two passes find 99 of 100 neighbours that the loop finds, and the expected ones of
//! three words.

#[macro_use]
#[path = "common/print.rs"]
mod print;
#[path = "common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use gather_core::{ByRow, Error, Gather, Given, Plan, Spec, Tensor, View, rows};
use half::f16;

/// Neighbours that are wanted of each word, and candidates that the first pass keeps.
const WANTED: usize = 10;
const CANDIDATES: usize = 30;
/// The least share of the neighbours that both searches find.
const RECALL: f64 = 0.99;
/// Words, and the three that are nearest to each.
const NEIGHBOURS: [(&str, [&str; 3]); 3] = [
    ("war", ["battle", "military", "army"]),
    ("never", ["ever", "always", "not"]),
    ("government", ["federal", "political", "administration"]),
];

gather_core::row_kernels! {
    /// The dot product of codes, as the numbers that they stand for.
    static COARSE = |row: &[i8], query: &[i8], row_scale: f32, query_scale: f32| -> f32 {
        rows::lanes::dot(row, query) as f32 * (row_scale * query_scale)
    };
}

/// Vectors of length 1, and their codes.
struct Vectors {
    dim: usize,
    values: Vec<f32>,
    codes: Vec<i8>,
    /// The scale of the codes of each row.
    scales: Vec<f32>,
}

impl Vectors {
    fn new(table: &[f16], dim: usize) -> Result<Self, Error> {
        let all: Vec<u32> = (0..(table.len() / dim) as u32).collect();
        let (data, ids) = (View::new(table, &[all.len(), dim])?, View::new(&all, &[all.len()])?);
        let params = (Given::All(&[][..]), Given::All(f32::MIN_POSITIVE));
        let values = Gather::new(0).run(&data.rows(&rows::l2_normalize(), params), &ids)?.into_vec();
        let mut codes = Vec::with_capacity(values.len());
        let scales = values.chunks_exact(dim).map(|row| {
            let scale = row.iter().fold(f32::MIN_POSITIVE, |most, value| most.max(value.abs())) / 127.0;
            codes.extend(row.iter().map(|value| (value / scale).round() as i8));
            scale
        });
        let scales = scales.collect();
        Ok(Vectors { dim, values, codes, scales })
    }

    fn len(&self) -> usize {
        self.scales.len()
    }

    fn row(&self, at: usize) -> &[f32] {
        &self.values[at * self.dim..][..self.dim]
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<&str> = include_str!("data/vocab.txt").lines().collect();
    let table = common::safetensors::parse(include_bytes!("data/word_embeddings.safetensors"), "word_embeddings")?;
    let dim = table.shape[1];
    let table: Vec<f16> = table.bytes.chunks_exact(2).map(|bytes| f16::from_le_bytes([bytes[0], bytes[1]])).collect();
    let vectors = Vectors::new(&table, dim)?;
    say!("{} words of {dim} numbers; {CANDIDATES} candidates for {WANTED} neighbours", vectors.len());

    let queries: Vec<usize> = (0..vectors.len()).step_by(8).collect();
    let (mut passes, mut loops, mut both) = (Duration::ZERO, Duration::ZERO, 0);
    let mut search = Search::new(&vectors)?;
    for &query in &queries {
        let start = Instant::now();
        let found = search.nearest(black_box(query))?;
        passes += start.elapsed();
        let start = Instant::now();
        let exact = brute_force(&vectors, black_box(query));
        loops += start.elapsed();
        both += found.iter().filter(|(row, _)| exact.iter().any(|(other, _)| row == other)).count();
    }
    let recall = both as f64 / (queries.len() * WANTED) as f64;
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / queries.len() as f64;
    say!("two passes   {:>7.1} us a query, recall {recall:.4}", micros(passes));
    say!("plain loop   {:>7.1} us a query", micros(loops));
    assert!(recall >= RECALL, "the two passes find {recall:.4} of the neighbours");

    for (word, expected) in NEIGHBOURS {
        let query = words.iter().position(|&known| known == word).ok_or("a word of the vocabulary")?;
        let found: Vec<&str> = search.nearest(query)?.iter().map(|&(row, _)| words[row]).collect();
        say!("{word:<12} {}", found.join(", "));
        // The word itself is the nearest.
        assert_eq!(found[1..4], expected);
    }
    Ok(())
}

/// The two passes, planned, with memory that is used again.
struct Search<'a> {
    vectors: &'a Vectors,
    all: Vec<u32>,
    coarse: Plan<ByRow<i8, f32>, u32>,
    fine: Plan<ByRow<f32, f32>, u32>,
    scores: Tensor<f32>,
}

impl<'a> Search<'a> {
    fn new(vectors: &'a Vectors) -> Result<Self, Error> {
        let shape = [vectors.len(), vectors.dim];
        let (codes, values) = (Spec::<i8>::new(&shape)?, Spec::<f32>::new(&shape)?);
        Ok(Search {
            vectors,
            all: (0..vectors.len() as u32).collect(),
            coarse: Gather::new(0).plan(&codes.rows(&COARSE), &Spec::<u32>::new(&[vectors.len()])?)?,
            fine: Gather::new(0).plan(&values.rows(&rows::dot()), &Spec::<u32>::new(&[CANDIDATES])?)?,
            scores: Tensor::default(),
        })
    }

    /// The rows that are nearest to one, the nearest first, each with its score.
    fn nearest(&mut self, query: usize) -> Result<Vec<(usize, f32)>, Error> {
        let Vectors { dim, values, codes, scales } = self.vectors;
        let shape = [scales.len(), *dim];
        let params = (Given::All(&codes[query * dim..][..*dim]), Given::PerRow(&scales[..]), Given::All(scales[query]));
        let codes = View::new(codes, &shape)?;
        self.coarse.run_into(&codes.rows(&COARSE, params), &self.all, &mut self.scores)?;
        let candidates: Vec<u32> =
            best(self.scores.as_slice(), CANDIDATES).into_iter().map(|(row, _)| row as u32).collect();

        let query = Given::All(self.vectors.row(query));
        let values = View::new(values, &shape)?;
        self.fine.run_into(&values.rows(&rows::dot(), (query,)), &candidates, &mut self.scores)?;
        let best = best(self.scores.as_slice(), WANTED);
        Ok(best.into_iter().map(|(at, score)| (candidates[at] as usize, score)).collect())
    }
}

/// The same by the loop that one would write without the library.
fn brute_force(vectors: &Vectors, query: usize) -> Vec<(usize, f32)> {
    let query = vectors.row(query);
    let dot = |row: &[f32]| row.iter().zip(query).map(|(a, b)| a * b).sum();
    let scores: Vec<f32> = vectors.values.chunks_exact(vectors.dim).map(dot).collect();
    best(&scores, WANTED)
}

/// The `count` greatest scores, the greatest first, each with its place.
fn best(scores: &[f32], count: usize) -> Vec<(usize, f32)> {
    let mut places: Vec<(usize, f32)> = scores.iter().copied().enumerate().collect();
    let greater = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1);
    if count < places.len() {
        places.select_nth_unstable_by(count, greater);
        places.truncate(count);
    }
    places.sort_by(greater);
    places
}
