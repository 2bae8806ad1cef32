//! Trains word vectors on a text: what gathers and their adjoints do in a training step, on real data.
//!
//! ```text
//! cargo run --release --example skip_gram
//! ```
//!
//! Skip-gram with negative samples: the vector of a word is to predict the words around it, and not others. The vector
//! of a word is the mean of the vectors of its parts: the word itself, and every three letters of it. So words share
//! what they have in common, and each word is a bag.
//!
//! A step averages the bags of all words, gathers the vectors of all pairs, finds the gradient of each, and adds it
//! back by the adjoints of the gathers and of the bags. Words and parts that occur often get many such terms, whose sum
//! is the same to the bit for any number of threads. Training on one thread and on two ends in the same bytes.

use std::collections::HashMap;
use std::process::ExitCode;

use gather_core::{Bags, EmbeddingBag, Error, Gather, Par, Reduction, Tensor, View};

/// Elements of a vector.
const DIM: usize = 32;
/// Words on either side that a word is to predict.
const WINDOW: usize = 3;
/// Words that do not stand there, for each that does.
const NEGATIVES: usize = 4;
const STEPS: usize = 400;
const RATE: f32 = 0.05;

/// A text as numbers of its words.
struct Text {
    words: Vec<String>,
    ids: Vec<u32>,
    parts: Parts,
}

/// The parts of every word, one word after the other.
#[derive(Default)]
struct Parts {
    /// Numbers of parts.
    ids: Vec<u32>,
    /// The word that each belongs to.
    words: Vec<u32>,
    /// Where each word begins.
    offsets: Vec<u32>,
    /// One over the number of a word's parts.
    shares: Vec<f32>,
    /// How many parts there are.
    count: usize,
}

/// Pairs of words, and whether the second stands near the first.
struct Pairs {
    centers: Vec<u32>,
    others: Vec<u32>,
    near: Vec<bool>,
}

/// The vectors of the parts of words that predict, and of words that are predicted.
#[derive(Clone, PartialEq)]
struct Model {
    parts: Tensor<f32>,
    others: Tensor<f32>,
}

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

impl Text {
    fn new(text: &str) -> Self {
        let (mut words, mut ids, mut known) = (Vec::new(), Vec::new(), HashMap::new());
        let letters = |c: char| !c.is_alphabetic();
        for word in text.split(letters).filter(|word| !word.is_empty()).map(str::to_lowercase) {
            let id = *known.entry(word.clone()).or_insert_with(|| {
                words.push(word);
                words.len() as u32 - 1
            });
            ids.push(id);
        }
        let parts = Parts::new(&words);
        Text { words, ids, parts }
    }

    /// Every pair of words in a window, each with as many that are drawn from the text.
    fn pairs(&self, random: &mut Random) -> Pairs {
        let mut pairs = Pairs { centers: Vec::new(), others: Vec::new(), near: Vec::new() };
        for (at, &center) in self.ids.iter().enumerate() {
            let window = at.saturating_sub(WINDOW)..(at + WINDOW + 1).min(self.ids.len());
            for other in window.filter(|&other| other != at) {
                pairs.push(center, self.ids[other], true);
                for _ in 0..NEGATIVES {
                    let drawn = self.ids[random.next() as usize % self.ids.len()];
                    pairs.push(center, drawn, false);
                }
            }
        }
        pairs
    }
}

impl Parts {
    fn new(words: &[String]) -> Self {
        let (mut parts, mut known) = (Parts::default(), HashMap::new());
        for (at, word) in words.iter().enumerate() {
            parts.offsets.push(parts.ids.len() as u32);
            let whole: Vec<char> = format!("<{word}>").chars().collect();
            for part in whole.windows(3).chain([&whole[..]]) {
                let next = known.len() as u32;
                parts.ids.push(*known.entry(part.to_vec()).or_insert(next));
                parts.words.push(at as u32);
            }
            let count = parts.ids.len() as u32 - parts.offsets[at];
            parts.shares.push(1.0 / count as f32);
        }
        parts.count = known.len();
        parts
    }
}

impl Pairs {
    fn push(&mut self, center: u32, other: u32, near: bool) {
        self.centers.push(center);
        self.others.push(other);
        self.near.push(near);
    }
}

impl Model {
    fn new(text: &Text, random: &mut Random) -> Result<Self, Error> {
        let mut table = |words: usize| {
            let value = |_| (random.next() >> 40) as f32 / (1 << 24) as f32 - 0.5;
            Tensor::new((0..words * DIM).map(value).collect(), &[words, DIM])
        };
        Ok(Model { parts: table(text.parts.count)?, others: table(text.words.len())? })
    }

    /// The vectors of all words: the means of those of their parts.
    fn words(&self, text: &Text, par: Par) -> Result<Tensor<f32>, Error> {
        let Parts { ids, offsets, .. } = &text.parts;
        let (ids, offsets) = (View::new(ids, &[ids.len()])?, View::new(offsets, &[offsets.len()])?);
        EmbeddingBag::new(Reduction::Mean).par(par).run(&self.parts.view(), &Bags::new(&ids, &offsets))
    }

    /// A step along the gradient; returns the mean loss before it.
    fn step(&mut self, text: &Text, pairs: &Pairs, par: Par) -> Result<f32, Error> {
        let words = self.words(text, par)?;
        let gather = Gather::new(0).par(par);
        let count = pairs.near.len();
        let (center_ids, other_ids) = (View::new(&pairs.centers, &[count])?, View::new(&pairs.others, &[count])?);
        let centers = gather.run(&words.view(), &center_ids)?;
        let others = gather.run(&self.others.view(), &other_ids)?;

        // The gradient of the loss for each pair's vectors.
        let (mut to_centers, mut to_others, mut loss) = (Vec::new(), Vec::new(), 0.0);
        let rows = centers.as_slice().chunks(DIM).zip(others.as_slice().chunks(DIM));
        for ((center, other), &near) in rows.zip(&pairs.near) {
            let score: f32 = center.iter().zip(other).map(|(a, b)| a * b).sum();
            let likely = 1.0 / (1.0 + (-score).exp());
            loss -= if near { likely } else { 1.0 - likely }.max(1e-6).ln();
            let slope = likely - f32::from(u8::from(near));
            to_centers.extend(other.iter().map(|x| slope * x));
            to_others.extend(center.iter().map(|x| slope * x));
        }

        // Back to the tables: the adjoints of both gathers, and of the bags. A mean hands an equal share to each part.
        let mut to_words = gather.adjoint(words.shape(), &center_ids, &View::new(&to_centers, &[count, DIM])?)?;
        for (row, share) in to_words.as_mut_slice().chunks_mut(DIM).zip(&text.parts.shares) {
            row.iter_mut().for_each(|slope| *slope *= share);
        }
        let (parts, owners) = (&text.parts.ids, &text.parts.words);
        let each = gather.run(&to_words.view(), &View::new(owners, &[owners.len()])?)?;
        let to_parts = gather.adjoint(self.parts.shape(), &View::new(parts, &[parts.len()])?, &each.view())?;
        let to_others = gather.adjoint(self.others.shape(), &other_ids, &View::new(&to_others, &[count, DIM])?)?;
        for (table, gradient) in [(&mut self.parts, to_parts), (&mut self.others, to_others)] {
            table.as_mut_slice().iter_mut().zip(gradient.as_slice()).for_each(|(x, slope)| *x -= RATE * slope);
        }
        Ok(loss / count as f32)
    }

    /// The words whose vectors point nearest to where that of a word does.
    fn nearest<'a>(&self, text: &'a Text, word: usize, count: usize) -> Result<Vec<&'a str>, Error> {
        let words = self.words(text, Par::Auto)?;
        let row = |word: usize| &words.as_slice()[word * DIM..][..DIM];
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let cosine = |other: usize| dot(row(word), row(other)) / dot(row(other), row(other)).sqrt();
        let mut others: Vec<usize> = (0..text.words.len()).filter(|&other| other != word).collect();
        others.sort_by(|&a, &b| cosine(b).total_cmp(&cosine(a)));
        Ok(others[..count].iter().map(|&other| text.words[other].as_str()).collect())
    }
}

/// Trains a model; returns it with the loss before the first step and before the last.
fn train(text: &Text, par: Par) -> Result<(Model, f32, f32), Error> {
    let mut random = Random(7);
    let mut model = Model::new(text, &mut random)?;
    let mut losses = Vec::new();
    for _ in 0..STEPS {
        losses.push(model.step(text, &text.pairs(&mut random), par)?);
    }
    Ok((model, losses[0], losses[STEPS - 1]))
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("skip_gram: two threads ended in other bytes than one");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("skip_gram: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Trains on one thread and on two; returns whether both ended in the same bytes.
fn run() -> Result<bool, Error> {
    let text = Text::new(include_str!("data/text.txt"));
    println!("{} words, {} of them different, of {} parts", text.ids.len(), text.words.len(), text.parts.count);
    let (model, first, last) = train(&text, Par::Seq)?;
    println!("mean loss of a pair: {first:.4} before {STEPS} steps, {last:.4} after");
    for word in ["nation", "dead", "people"] {
        if let Some(id) = text.words.iter().position(|other| other == word) {
            println!("{word:<8} {}", model.nearest(&text, id, 5)?.join("  "));
        }
    }
    let (again, ..) = train(&text, Par::Threads(2))?;
    let bits = |tensor: &Tensor<f32>| tensor.as_slice().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let same = bits(&model.parts) == bits(&again.parts) && bits(&model.others) == bits(&again.others);
    println!("two threads: {}", if same { "the same bytes" } else { "other bytes" });
    Ok(same)
}
