//! Requests of a server: a few ids for each of some tables, whose rows, or sums of rows, go into memory that is used
//! again. Any number of threads serves requests at once, each with outputs of its own.

use std::sync::Arc;
use std::sync::Barrier;
use std::time::Instant;

use gather_core::{BagPlan, Bags, EmbeddingBag, Gather, Layout, Plan, Reduction, Spec, Tensor, View};

use crate::buffer::Buffer;
use crate::random::Random;

/// Rows of a table.
const ROWS: usize = 100_000;
/// The fewest and the most ids of a request for each table. They come in bags of the fewest.
const IDS: [usize; 2] = [8, 64];
const BAG: usize = IDS[0];
/// Requests, which come again and again: their ids and rows are far more than second-level caches hold.
const REQUESTS: usize = 4096;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Rows.
    Rows,
    /// The sum of each eight rows.
    Sums,
}

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Plans for any count.
    Ours,
    /// The plain loop.
    Loop,
}

/// Tables, and requests for rows of them.
pub struct Requests {
    kind: Kind,
    columns: usize,
    tables: Vec<Buffer<f32>>,
    /// For each request and each table, ids.
    ids: Vec<Vec<Vec<i64>>>,
}

/// The state of a thread that serves: its plans and its outputs.
pub struct Server {
    requests: Arc<Requests>,
    rows: Plan<f32, i64>,
    sums: BagPlan<f32, i64>,
    outs: Vec<Tensor<f32>>,
    buffers: Vec<Vec<f32>>,
}

impl Requests {
    /// Requests of a kind for as many tables.
    #[must_use]
    pub fn new(kind: Kind, tables: usize, columns: usize) -> Self {
        let mut random = Random::new((tables * columns) as u64);
        let mut table = |_| {
            let mut table = Buffer::zeroed(&[ROWS, columns]);
            table.as_mut_slice().iter_mut().for_each(|x: &mut f32| *x = random.fraction() as f32 - 0.5);
            table
        };
        let all: Vec<_> = (0..tables).map(&mut table).collect();
        let mut request = |_| {
            let count = BAG * (1 + random.below(IDS[1] / BAG));
            (0..tables).map(|_| (0..count).map(|_| random.below(ROWS) as i64).collect()).collect()
        };
        Requests { kind, columns, tables: all, ids: (0..REQUESTS).map(&mut request).collect() }
    }

    /// The plain loop of a request for a table.
    fn plain(&self, table: &[f32], ids: &[i64], out: &mut Vec<f32>) {
        let row = |id: i64| &table[id as usize * self.columns..][..self.columns];
        out.clear();
        match self.kind {
            Kind::Rows => ids.iter().for_each(|&id| out.extend_from_slice(row(id))),
            Kind::Sums => {
                out.resize(ids.len() / BAG * self.columns, 0.0);
                for (ids, out) in ids.chunks_exact(BAG).zip(out.chunks_exact_mut(self.columns)) {
                    for &id in ids {
                        out.iter_mut().zip(row(id)).for_each(|(out, x)| *out += x);
                    }
                }
            }
        }
    }
}

impl Server {
    /// A server for requests.
    ///
    /// # Panics
    /// When a plan is refused.
    #[must_use]
    pub fn new(requests: &Arc<Requests>) -> Self {
        let (expected, bags) = ([0; IDS[1]], [IDS[1] / BAG, BAG]);
        let (table, ids) = (requests.tables[0].view(), View::new(&expected, &bags).expect("as many ids"));
        let list = Layout::contiguous(&[IDS[1]]).expect("a list");
        let tables = requests.tables.len();
        Server {
            requests: requests.clone(),
            rows: Gather::new(0).plan_any_count(&table, &Spec::from_layout(&list)).expect("a table"),
            sums: EmbeddingBag::new(Reduction::Add).plan(&table, &Bags::packed(&ids)).expect("a table"),
            outs: (0..tables).map(|_| Tensor::default()).collect(),
            buffers: vec![Vec::new(); tables],
        }
    }

    /// Answers a request.
    ///
    /// # Panics
    /// When an id is out of range.
    pub fn answer(&mut self, way: Way, request: usize) {
        let Requests { kind, tables, ids, .. } = &*self.requests;
        let each = tables.iter().zip(&ids[request]);
        match way {
            Way::Loop => {
                let each = each.zip(&mut self.buffers);
                each.for_each(|((table, ids), out)| self.requests.plain(table.as_slice(), ids, out));
            }
            Way::Ours => {
                for ((table, ids), out) in each.zip(&mut self.outs) {
                    match kind {
                        Kind::Rows => {
                            let ids = View::new(ids, &[ids.len()]).expect("a list");
                            self.rows.run_into(&table.view(), &ids, out)
                        }
                        Kind::Sums => {
                            let ids = View::new(ids, &[ids.len() / BAG, BAG]).expect("bags");
                            self.sums.run_into(&table.view(), &Bags::packed(&ids), out)
                        }
                    }
                    .expect("ids in range");
                }
            }
        }
    }

    /// Whether each request has the answers of the loop, to the bit.
    pub fn agrees(&mut self) -> bool {
        (0..REQUESTS).all(|request| {
            self.answer(Way::Ours, request);
            self.answer(Way::Loop, request);
            let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            self.outs.iter().zip(&self.buffers).all(|(ours, plain)| bits(ours.as_slice()) == bits(plain))
        })
    }
}

/// Latencies of requests, and how many were answered in a second.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// The median in microseconds.
    pub median: f64,
    /// The 99th percentile in microseconds.
    pub percentile_99: f64,
    /// By all threads.
    pub per_second: f64,
}

/// Times requests from threads at once, in turn by each of the ways. Every thread answers all requests in each round.
///
/// # Panics
/// When an answer is not the loop's.
#[must_use]
pub fn time(requests: &Arc<Requests>, threads: usize, rounds: usize) -> [Rates; 2] {
    let barrier = Barrier::new(threads);
    let serve = |thread: usize| {
        let mut server = Server::new(requests);
        assert!(server.agrees(), "an answer that is not the loop's");
        let mut latencies = [(); 2].map(|()| Vec::with_capacity(rounds * REQUESTS));
        let mut seconds = [0.0; 2];
        for _ in 0..rounds {
            for (k, way) in [Way::Ours, Way::Loop].into_iter().enumerate() {
                barrier.wait();
                let start = Instant::now();
                let mut before = start;
                for request in 0..REQUESTS {
                    // Threads begin with different requests.
                    server.answer(way, (request + thread * REQUESTS / threads) % REQUESTS);
                    let now = Instant::now();
                    latencies[k].push((now - before).as_secs_f64() * 1e6);
                    before = now;
                }
                barrier.wait();
                seconds[k] += start.elapsed().as_secs_f64();
            }
        }
        (latencies, seconds)
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|thread| scope.spawn(move || serve(thread))).collect();
        started.into_iter().map(|thread| thread.join().expect("a server that does not panic")).collect()
    });
    std::array::from_fn(|k| {
        let mut all: Vec<f64> = results.iter().flat_map(|(latencies, _)| &latencies[k]).copied().collect();
        all.sort_by(f64::total_cmp);
        let longest = results.iter().map(|(_, seconds)| seconds[k]).fold(0.0, f64::max);
        let at = |percent: usize| all[(all.len() - 1) * percent / 100];
        Rates { median: at(50), percentile_99: at(99), per_second: all.len() as f64 / longest }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_answer_alike() {
        for kind in [Kind::Rows, Kind::Sums] {
            let requests = Arc::new(Requests::new(kind, 2, 4));
            let [ours, plain] = time(&requests, 2, 1);
            assert!(ours.median > 0.0 && plain.median <= plain.percentile_99 && plain.per_second > 0.0);
        }
    }
}
