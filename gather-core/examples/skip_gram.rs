//! Trains word vectors on a text: what gathers and their adjoints do in a training step, on real data.
//!
//! ```text
//! cargo run --release -p gather-core --example skip_gram
//! ```
//!
//! Skip-gram with negative samples: the vector of a word is to predict the words around it, and not others. The vector
//! of a word is the mean of the vectors of its parts: the word itself, and every three letters of it. So words share
//! what they have in common, and each word is a bag.
//!
//! A step averages the bags of all words, gathers the vectors of all pairs, finds the gradient of each, and adds it
//! back by the adjoints of the gathers and of the bags. Words and parts that occur often get many such terms, whose sum
//! is the same to the bit for any number of threads. Training on one thread and on two ends in the same bytes.
//!
//! The example panics unless all of this holds: numbers are finite, the loss is below what a constant prediction gives,
//! the nearest neighbours of three words are those expected, and threads make no difference.

#[macro_use]
#[path = "common/print.rs"]
mod print;

use std::collections::HashMap;

use gather_core::{Bags, EmbeddingBag, Error, Gather, Layout, Par, Reduction, Spec, Tensor, View, zeros};

/// Elements of a vector.
const DIM: usize = 32;
/// Words on either side that a word is to predict.
const WINDOW: usize = 3;
/// Words drawn from the whole text, for each that stands near.
const NEGATIVES: usize = 4;
const STEPS: usize = 400;
/// A step goes along the sum of the gradients of all pairs, which is large for frequent words: with five times this
/// rate, training diverges.
const RATE: f32 = 0.01;
/// Below the entropy of the share of near pairs, one in five, which is the loss of a constant prediction: 0.5004.
const LOSS: f64 = 0.3;
/// Words, and some of the five that are nearest to each after training: they stand close together in the text.
const NEIGHBOURS: [(&str, [&str; 2]); 3] =
    [("nation", ["conceived", "any"]), ("dead", ["honored", "highly"]), ("people", ["perish", "government"])];

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

    /// Tasks that the gather of a step is cut into.
    fn tasks(&self, par: Par) -> Result<usize, Error> {
        let count = self.pairs(&mut Random(7)).near.len();
        let (words, pairs) = (Layout::contiguous(&[self.words.len(), DIM])?, Layout::contiguous(&[count])?);
        Ok(Gather::new(0)
            .par(par)
            .plan(&Spec::<f32>::from_layout(&words), &Spec::<u32>::from_layout(&pairs))?
            .explain()
            .tasks())
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
    fn step(&mut self, text: &Text, pairs: &Pairs, par: Par) -> Result<f64, Error> {
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
            let wrong = if near { -score } else { score };
            // ln(1 + exp(wrong)), without overflow.
            loss += f64::from(wrong.max(0.0) + (-wrong.abs()).exp().ln_1p());
            let slope = likely - f32::from(u8::from(near));
            to_centers.extend(other.iter().map(|x| slope * x));
            to_others.extend(center.iter().map(|x| slope * x));
        }

        // Back to the tables: the adjoints of both gathers, and of the bags. A mean hands an equal share to each part.
        let mut to_words =
            gather.adjoint().run(&zeros(words.shape())?, &center_ids, &View::new(&to_centers, &[count, DIM])?)?;
        for (row, share) in to_words.as_mut_slice().chunks_mut(DIM).zip(&text.parts.shares) {
            row.iter_mut().for_each(|slope| *slope *= share);
        }
        let (parts, owners) = (&text.parts.ids, &text.parts.words);
        let each = gather.run(&to_words.view(), &View::new(owners, &[owners.len()])?)?;
        let to_parts =
            gather.adjoint().run(&zeros(self.parts.shape())?, &View::new(parts, &[parts.len()])?, &each.view())?;
        let to_others =
            gather.adjoint().run(&zeros(self.others.shape())?, &other_ids, &View::new(&to_others, &[count, DIM])?)?;
        for (table, gradient) in [(&mut self.parts, to_parts), (&mut self.others, to_others)] {
            table.as_mut_slice().iter_mut().zip(gradient.as_slice()).for_each(|(x, slope)| *x -= RATE * slope);
        }
        Ok(loss / count as f64)
    }

    fn is_finite(&self) -> bool {
        [&self.parts, &self.others].iter().all(|table| table.as_slice().iter().all(|x| x.is_finite()))
    }

    fn bits(&self) -> Vec<u32> {
        [&self.parts, &self.others].iter().flat_map(|table| table.as_slice()).map(|x| x.to_bits()).collect()
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
fn train(text: &Text, par: Par) -> Result<(Model, f64, f64), Error> {
    let mut random = Random(7);
    let mut model = Model::new(text, &mut random)?;
    let mut losses = Vec::new();
    for _ in 0..STEPS {
        losses.push(model.step(text, &text.pairs(&mut random), par)?);
    }
    Ok((model, losses[0], losses[STEPS - 1]))
}

fn main() -> Result<(), Error> {
    let text = Text::new(include_str!("data/text.txt"));
    say!("{} words, {} of them different, of {} parts", text.ids.len(), text.words.len(), text.parts.count);
    let (model, first, last) = train(&text, Par::Seq)?;
    say!("mean loss of a pair: {first:.4} before {STEPS} steps, {last:.4} after");
    assert!(model.is_finite(), "the vectors are not finite");
    assert!((0.6..0.8).contains(&first), "random vectors should predict nothing: a loss near ln 2, not {first}");
    assert!(last < LOSS, "the loss should fall below {LOSS}");

    say!("nearest words, which stand close together in the text or share letters:");
    for (word, expected) in NEIGHBOURS {
        let id = text.words.iter().position(|other| other == word).expect("a word of the text");
        let nearest = model.nearest(&text, id, 5)?;
        say!("{word:<8} {}", nearest.join("  "));
        assert!(expected.iter().all(|word| nearest.contains(word)), "{expected:?} should be among them");
    }

    let (again, ..) = train(&text, Par::Threads(2))?;
    assert!(model.bits() == again.bits(), "two threads should end in the same bytes as one");
    say!("two threads, for which gathers become {} tasks: the same bytes", text.tasks(Par::Threads(2))?);
    Ok(())
}
