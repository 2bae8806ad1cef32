//! Trains two embedding tables with sparse gradients: each step reads and changes only the rows that its batch names.
//!
//! ```text
//! cargo run --release -p gather-core --example sparse_training
//! ```
//!
//! A recommender predicts the rating that a user gives an item: the dot product of two rows. A few items are named
//! often, as in real logs. One step is
//!
//! ```text
//! unique    the unique ids of the batch, and the position of each id among them
//! gather    the rows of the unique ids, then one row for each sample
//! gradient  error * row of the other table, a row for each sample
//! adjoint   gradients of equal ids added, a row for each unique id
//! update    SGD for users: row -= rate * gradient
//!           row-wise Adagrad for items: square += mean(gradient^2), row -= rate * gradient / sqrt(square)
//! write     the rows back
//! ```
//!
//! The example fails unless the error falls to a tenth, and unless a plain loop that does the same in the same order
//! ends in the same bytes.

#[macro_use]
#[path = "common/print.rs"]
mod print;

use std::time::Instant;

use gather_core::{Checked, Error, Gather, Tensor, Unique, View, zeros};

const USERS: usize = 2_000;
const ITEMS: usize = 10_000;
const DIM: usize = 16;
/// Numbers in the hidden rows that make the ratings.
const HIDDEN: usize = 4;
const BATCH: usize = 512;
const STEPS: usize = 3_000;
/// Steps over which an error is averaged.
const SHOWN: usize = 100;
/// The learning rates of SGD and of Adagrad.
const RATES: [f32; 2] = [0.05, 0.1];

/// Ratings of items by users: products of hidden rows.
struct Log {
    random: u64,
    hidden: [Vec<f32>; 2],
}

struct Batch {
    users: Vec<u32>,
    items: Vec<u32>,
    ratings: Vec<f32>,
}

impl Log {
    fn new() -> Self {
        let mut log = Log { random: 11, hidden: [Vec::new(), Vec::new()] };
        log.hidden = [USERS, ITEMS].map(|rows| log.numbers(rows * HIDDEN, 1.0));
        log
    }

    fn next(&mut self) -> u32 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as u32
    }

    /// A number from 0 to 1.
    fn unit(&mut self) -> f32 {
        (self.next() >> 7) as f32 / (1 << 24) as f32
    }

    /// Numbers from `-size` to `size`.
    fn numbers(&mut self, count: usize, size: f32) -> Vec<f32> {
        (0..count).map(|_| (2.0 * self.unit() - 1.0) * size).collect()
    }

    fn batch(&mut self) -> Batch {
        let users: Vec<u32> = (0..BATCH).map(|_| self.next() % USERS as u32).collect();
        // The cube of a number from 0 to 1: a tenth of the items have half of the ratings.
        let items: Vec<u32> = (0..BATCH).map(|_| (self.unit().powi(3) * ITEMS as f32) as u32).collect();
        let row = |of: &Vec<f32>, id: u32| of[id as usize * HIDDEN..][..HIDDEN].to_vec();
        let pairs = users.iter().zip(&items);
        let ratings = pairs.map(|(&user, &item)| dot(&row(&self.hidden[0], user), &row(&self.hidden[1], item)));
        Batch { ratings: ratings.collect(), users, items }
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The gradients of both rows of each sample, and the mean square error.
fn gradients(users: &[f32], items: &[f32], ratings: &[f32]) -> ([Vec<f32>; 2], f64) {
    let (mut to_users, mut to_items, mut squares) = (Vec::new(), Vec::new(), 0.0);
    for ((user, item), rating) in users.chunks(DIM).zip(items.chunks(DIM)).zip(ratings) {
        let error = dot(user, item) - rating;
        squares += f64::from(error * error);
        to_users.extend(item.iter().map(|x| error * x));
        to_items.extend(user.iter().map(|x| error * x));
    }
    ([to_users, to_items], squares / ratings.len() as f64)
}

/// A step of row-wise Adagrad: changes a row, and the accumulator of its squares.
fn adagrad(row: &mut [f32], square: &mut f32, gradient: &[f32]) {
    *square += dot(gradient, gradient) / DIM as f32;
    let rate = RATES[1] / (square.sqrt() + 1e-8);
    row.iter_mut().zip(gradient).for_each(|(x, slope)| *x -= rate * slope);
}

fn sgd(row: &mut [f32], gradient: &[f32]) {
    row.iter_mut().zip(gradient).for_each(|(x, slope)| *x -= RATES[0] * slope);
}

/// Both tables, and the accumulators of Adagrad.
#[derive(Clone)]
struct Model {
    users: Tensor<f32>,
    items: Tensor<f32>,
    squares: Vec<f32>,
}

/// The rows of a table that a batch names.
struct Rows {
    unique: Unique<u32>,
    rows: Tensor<f32>,
}

impl Rows {
    fn new(table: &Tensor<f32>, ids: &[u32]) -> Result<Self, Error> {
        let unique = Unique::new(ids)?;
        Ok(Rows { rows: Gather::new(0).run(table, unique.ids())?, unique })
    }

    /// The position of each sample's row among the rows.
    fn samples(&self) -> &Checked<'static, i32> {
        self.unique.inverse()
    }

    /// The gradient of each row: the sum of its samples' gradients.
    fn sums(&self, gradients: &[f32]) -> Result<Tensor<f32>, Error> {
        let gradients = View::new(gradients, &[gradients.len() / DIM, DIM])?;
        Gather::new(0).adjoint().run(&zeros(self.rows.shape())?, self.samples(), &gradients)
    }

    fn write(&self, table: &mut Tensor<f32>) -> Result<(), Error> {
        Gather::new(0).writer().run_on(table, self.unique.ids(), &self.rows)
    }
}

impl Model {
    fn new(log: &mut Log) -> Result<Self, Error> {
        let mut table = |rows| Tensor::new(log.numbers(rows * DIM, 0.3), &[rows, DIM]);
        Ok(Model { users: table(USERS)?, items: table(ITEMS)?, squares: vec![0.0; ITEMS] })
    }

    /// A step; returns the mean square error before it.
    fn step(&mut self, batch: &Batch) -> Result<f64, Error> {
        let (mut users, mut items) = (Rows::new(&self.users, &batch.users)?, Rows::new(&self.items, &batch.items)?);
        let of_users = Gather::new(0).run(&users.rows, users.samples())?;
        let of_items = Gather::new(0).run(&items.rows, items.samples())?;
        let ([to_users, to_items], error) = gradients(of_users.as_slice(), of_items.as_slice(), &batch.ratings);

        let sums = users.sums(&to_users)?;
        users.rows.as_mut_slice().chunks_mut(DIM).zip(sums.as_slice().chunks(DIM)).for_each(|(row, sum)| sgd(row, sum));
        users.write(&mut self.users)?;

        let sums = items.sums(&to_items)?;
        let rows = items.rows.as_mut_slice().chunks_mut(DIM).zip(sums.as_slice().chunks(DIM));
        for ((row, sum), &id) in rows.zip(items.unique.ids()) {
            adagrad(row, &mut self.squares[id as usize], sum);
        }
        items.write(&mut self.items)?;
        Ok(error)
    }

    /// The same step by loops.
    fn step_by_loops(&mut self, batch: &Batch) -> f64 {
        let row = |table: &Tensor<f32>, id: u32| table.as_slice()[id as usize * DIM..][..DIM].to_vec();
        let of_users: Vec<f32> = batch.users.iter().flat_map(|&id| row(&self.users, id)).collect();
        let of_items: Vec<f32> = batch.items.iter().flat_map(|&id| row(&self.items, id)).collect();
        let ([to_users, to_items], error) = gradients(&of_users, &of_items, &batch.ratings);
        for (id, sum) in sums(&batch.users, &to_users) {
            sgd(&mut self.users.as_mut_slice()[id as usize * DIM..][..DIM], &sum);
        }
        for (id, sum) in sums(&batch.items, &to_items) {
            let row = &mut self.items.as_mut_slice()[id as usize * DIM..][..DIM];
            adagrad(row, &mut self.squares[id as usize], &sum);
        }
        error
    }

    fn bits(&self) -> Vec<u32> {
        let values = self.users.as_slice().iter().chain(self.items.as_slice()).chain(&self.squares);
        values.map(|x| x.to_bits()).collect()
    }
}

/// The sum of the gradients of each id, by a loop.
fn sums(ids: &[u32], gradients: &[f32]) -> std::collections::BTreeMap<u32, [f32; DIM]> {
    let mut sums = std::collections::BTreeMap::new();
    for (&id, gradient) in ids.iter().zip(gradients.chunks(DIM)) {
        let sum = sums.entry(id).or_insert([0.0; DIM]);
        sum.iter_mut().zip(gradient).for_each(|(sum, x)| *sum += x);
    }
    sums
}

fn main() -> Result<(), Error> {
    let mut log = Log::new();
    let mut model = Model::new(&mut log)?;
    let mut looped = model.clone();
    say!("{USERS} users and {ITEMS} items of {DIM} numbers, batches of {BATCH} ratings");
    let (mut errors, mut seconds) = (Vec::new(), [0.0; 2]);
    for step in 0..STEPS {
        let batch = log.batch();
        let start = Instant::now();
        let error = model.step(&batch)?;
        seconds[0] += start.elapsed().as_secs_f64();
        let start = Instant::now();
        assert_eq!(looped.step_by_loops(&batch).to_bits(), error.to_bits(), "the loop has another error");
        seconds[1] += start.elapsed().as_secs_f64();
        errors.push(error);
        if (step + 1) % (STEPS / 6) == 0 {
            let mean = errors[step + 1 - SHOWN..].iter().sum::<f64>() / SHOWN as f64;
            say!("step {:>5}: mean square error {mean:.4}", step + 1);
        }
    }
    assert!(model.bits() == looped.bits(), "the loop ends in other bytes");
    let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len() as f64;
    let (first, last) = (mean(&errors[..SHOWN]), mean(&errors[STEPS - SHOWN..]));
    assert!(last < first / 10.0, "the error should fall to a tenth: {first} before, {last} after");
    let [ours, loops] = seconds.map(|seconds| seconds * 1e6 / STEPS as f64);
    say!("the plain loop ends in the same bytes; a step takes {ours:.0} us, the loop's {loops:.0} us");
    Ok(())
}
