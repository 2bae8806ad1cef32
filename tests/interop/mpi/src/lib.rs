//! A table of rows that is divided among the ranks of an MPI communicator.
//!
//! Copy this file. Every rank holds some rows, any number: rank 0 the first, and so on. Elements are numbers that MPI
//! knows. Quantised rows are rows of bytes, and travel as they are stored. All ranks make the same calls in the same
//! order, each with ids of its own. Results have the bits of one process with the whole table.
//!
//! A mistake of one rank, such as an id out of range, is the same error on every rank, and leaves the table as it was.
//! Where a rank lacks memory for what others send, or the network fails, all processes are ended: MPI's default.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

use std::{cell::Cell, fmt};

use gather_core::{Element, Gather, Plan, Spec, Tensor, View, ViewMut};
use mpi::Count;
use mpi::datatype::{Partition, PartitionMut};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Equivalence};

/// Why a call was refused on every rank: the mistake of the first rank that made one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The elements of a shard are no whole rows, or more rows than a `u32` counts, or rows differ between ranks.
    Shard {
        /// The rank.
        rank: usize,
        /// The elements that it has.
        len: u64,
        /// The elements of a row there.
        row: u64,
    },
    /// There is no such row.
    OutOfRange {
        /// The rank that asked for it.
        rank: usize,
        /// Position of the id in its request.
        position: u64,
        /// The id.
        id: u64,
    },
    /// A rank asks for too many rows of one owner at once: MPI counts elements in 31 bits.
    TooMany {
        /// The rank.
        rank: usize,
        /// The rows.
        rows: u64,
        /// The most that it may ask for.
        most: u64,
    },
    /// The gradient is not one row for each id.
    Gradient {
        /// The rank.
        rank: usize,
        /// The elements that it gave.
        len: u64,
        /// The elements of as many rows as it gave ids.
        expected: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Shard { rank, len, row } => write!(f, "rank {rank}: {len} elements for a table of rows of {row}"),
            Error::OutOfRange { rank, position, id } => {
                write!(f, "rank {rank}: the id {id} at position {position} is out of range")
            }
            Error::TooMany { rank, rows, most } => write!(f, "rank {rank}: {rows} rows of one owner, at most {most}"),
            Error::Gradient { rank, len, expected } => {
                write!(f, "rank {rank}: a gradient of {len} elements where there should be {expected}")
            }
        }
    }
}

impl std::error::Error for Error {}

/// A mistake as it travels: its kind, which is not 0, and two numbers.
type Mistake = [u64; 3];

impl Error {
    fn of([kind, a, b]: Mistake, rank: usize) -> Option<Self> {
        match kind {
            0 => None,
            1 => Some(Error::Shard { rank, len: a, row: b }),
            2 => Some(Error::OutOfRange { rank, position: a, id: b }),
            3 => Some(Error::TooMany { rank, rows: a, most: b }),
            _ => Some(Error::Gradient { rank, len: a, expected: b }),
        }
    }
}

/// In place of a count: the rank has made a mistake.
const REFUSED: u64 = u64::MAX;

/// This rank's part of a table.
pub struct Sharded<T: Element> {
    /// A duplicate, so that messages of others are not mixed with its own.
    world: SimpleCommunicator,
    /// The first row of each rank, and the number of all rows.
    starts: Vec<u64>,
    row: usize,
    shard: Vec<T>,
    /// The most rows that one rank may ask of another, so that MPI can count the elements.
    most: usize,
    /// None for an empty shard, of which nobody asks for rows.
    gather: Option<Plan<T, u32>>,
    found: Tensor<T>,
    traffic: Cell<[u64; 2]>,
}

/// Rows of a request, to be used again for the next: each once, and where each id finds its row among them.
#[derive(Clone, Debug, Default)]
pub struct Rows<T> {
    /// The rows, each once: a table for any operator on `places`.
    pub table: Vec<T>,
    /// For each id of the request the number of its row in `table`.
    pub places: Vec<u32>,
    /// Elements of a row.
    pub row: usize,
}

impl<T: Element> Rows<T> {
    /// Writes a row for each id, in the order of the request.
    ///
    /// # Errors
    /// [`gather_core::Error::LengthMismatch`].
    pub fn gather_into(&self, out: &mut [T]) -> Result<(), gather_core::Error> {
        gather_core::rows_into(&self.table, self.row, &self.places, out)
    }
}

/// Ids that have come to their owners.
struct Requests {
    /// Numbers of ids that this rank has sent to each, and each to this rank.
    sent: Vec<usize>,
    received: Vec<usize>,
    /// Rows of this shard, by rank and position.
    rows: Vec<u32>,
}

impl<T: Element + Equivalence> Sharded<T> {
    /// A table of the shards of all ranks, by rank, whose rows have `row` elements.
    ///
    /// # Errors
    /// [`Error::Shard`].
    pub fn new(world: &impl Communicator, shard: Vec<T>, row: usize) -> Result<Self, Error> {
        let world = world.duplicate();
        let ranks = world.size() as usize;
        let mut sizes = vec![0; 2 * ranks];
        world.all_gather_into(&[shard.len() as u64, row as u64][..], &mut sizes[..]);
        let mut starts = vec![0];
        for (rank, size) in sizes.chunks_exact(2).enumerate() {
            let (len, row) = (size[0], size[1]);
            if row == 0 || row != sizes[1] || len % row != 0 || len / row > u64::from(u32::MAX) {
                return Err(Error::Shard { rank, len, row });
            }
            starts.push(starts[rank] + len / row);
        }
        let plan = |rows| Gather::new(0).plan_any_count(&Spec::new(&[rows, row])?, &Spec::new(&[1024])?);
        let gather = (!shard.is_empty()).then(|| plan(shard.len() / row).unwrap_or_else(|error| stop(&world, &error)));
        let most = Count::MAX as usize / row.saturating_mul(ranks);
        Ok(Sharded { world, starts, row, shard, most, gather, found: Tensor::default(), traffic: Cell::default() })
    }

    /// Fetches rows of the whole table by their ids, in any order and repeated: each row travels once.
    ///
    /// [`Rows::gather_into`] puts them in place. Bags and other operators take `table` and `places` for the whole table
    /// and the ids: they see the same rows in the same order, so their bits are the same.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::TooMany`].
    pub fn fetch(&mut self, ids: &[u64], into: &mut Rows<T>) -> Result<(), Error> {
        let mut once = ids.to_vec();
        once.sort_unstable();
        once.dedup();
        let Requests { sent, received, rows } = self.send(&once, self.out_of_range(ids))?;
        if let Some(plan) = &self.gather {
            View::new(&self.shard, &[self.shard.len() / self.row, self.row])
                .and_then(|shard| plan.run_into(&shard, &View::new(&rows, &[rows.len()])?, &mut self.found))
                .unwrap_or_else(|error| stop(&self.world, &error));
        }
        self.exchange(self.found.as_slice(), &received, &sent, self.row, &mut into.table);
        into.places.clear();
        into.places.extend(ids.iter().map(|id| once.partition_point(|one| one < id) as u32));
        into.row = self.row;
        Ok(())
    }

    /// Adds a row of a gradient to each row that an id names: the adjoint of [`Self::fetch`]. Rows are added one after
    /// the other by rank and position, as one process would that has the requests of all ranks in a row.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Gradient`], [`Error::TooMany`]. The table is untouched then.
    pub fn add(&mut self, ids: &[u64], gradient: &[T]) -> Result<(), Error> {
        let expected = ids.len().saturating_mul(self.row);
        let wrong = (gradient.len() != expected).then_some([4, gradient.len() as u64, expected as u64]);
        // By owner, and there by position.
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_by_key(|&position| self.owner(ids[position]));
        let sorted: Vec<u64> = order.iter().map(|&position| ids[position]).collect();
        let Requests { sent, received, rows } = self.send(&sorted, self.out_of_range(ids).or(wrong))?;
        let ours = gather_core::rows(gradient, self.row, &order).unwrap_or_else(|error| stop(&self.world, &error));
        let mut updates = Vec::new();
        self.exchange(&ours, &sent, &received, self.row, &mut updates);
        let shape = [self.shard.len() / self.row, self.row];
        ViewMut::new(&mut self.shard, &shape)
            .and_then(|mut shard| {
                let updates = View::new(&updates, &[rows.len(), self.row])?;
                Gather::new(0).adjoint().run_on(&mut shard, &View::new(&rows, &[rows.len()])?, &updates)
            })
            .unwrap_or_else(|error| stop(&self.world, &error));
        Ok(())
    }

    /// The rows of this rank.
    #[must_use]
    pub fn shard(&self) -> &[T] {
        &self.shard
    }

    /// Messages that this rank has sent to others, those without content left out, and their bytes.
    #[must_use]
    pub fn traffic(&self) -> [u64; 2] {
        self.traffic.get()
    }

    /// The rank that has a row of the table, and the last rank for others.
    fn owner(&self, id: u64) -> usize {
        let ends = &self.starts[1..];
        ends.partition_point(|&end| end <= id).min(ends.len() - 1)
    }

    fn out_of_range(&self, ids: &[u64]) -> Option<Mistake> {
        let rows = self.starts.last().copied().unwrap_or_default();
        let position = ids.iter().position(|&id| id >= rows)?;
        Some([2, position as u64, ids[position]])
    }

    /// Sends ids, which are ordered by owner, to their owners. The counts that go first say whether all may go on.
    fn send(&self, ids: &[u64], mistake: Option<Mistake>) -> Result<Requests, Error> {
        let ranks = self.starts.len() - 1;
        let mut sent = vec![0; ranks];
        ids.iter().for_each(|&id| sent[self.owner(id)] += 1);
        let too_many = sent.iter().find(|&&count| count > self.most);
        let mistake = mistake.or(too_many.map(|&count| [3, count as u64, self.most as u64]));
        let told: Vec<u64> = sent.iter().map(|&count| mistake.map_or(count as u64, |_| REFUSED)).collect();
        let mut heard = vec![0; ranks];
        self.world.all_to_all_into(&told[..], &mut heard[..]);
        self.count(&vec![1; ranks], size_of::<u64>());
        if heard.contains(&REFUSED) {
            let mut all = vec![0; 3 * ranks];
            self.world.all_gather_into(&mistake.unwrap_or_default()[..], &mut all[..]);
            let first = all.chunks_exact(3).enumerate().find_map(|(rank, of)| Error::of([of[0], of[1], of[2]], rank));
            return Err(first.expect("a rank has refused"));
        }
        let received: Vec<usize> = heard.iter().map(|&count| count as usize).collect();
        let local: Vec<u32> = ids.iter().map(|&id| (id - self.starts[self.owner(id)]) as u32).collect();
        let mut rows = Vec::new();
        self.exchange(&local, &sent, &received, 1, &mut rows);
        Ok(Requests { sent, received, rows })
    }

    /// Sends rows of `row` elements to every rank, `sent` of them. Both sides have them ordered by rank.
    fn exchange<U>(&self, rows: &[U], sent: &[usize], received: &[usize], row: usize, into: &mut Vec<U>)
    where
        U: Element + Equivalence,
    {
        // By `most`, no sum exceeds what MPI counts.
        let parts = |counts: &[usize]| -> (Vec<Count>, Vec<Count>) {
            let sizes = counts.iter().map(|&count| (count * row) as Count);
            let part = |end: &mut Count, size| Some((size, std::mem::replace(end, *end + size)));
            sizes.scan(0, part).unzip()
        };
        self.count(sent, row * size_of::<U>());
        // Not empty: the address of an empty slice of bytes is 1, which Open MPI takes for MPI_IN_PLACE.
        let rows = if rows.is_empty() { &[U::ZERO] } else { rows };
        let len = received.iter().sum::<usize>() * row;
        into.resize(len.max(1), U::ZERO);
        let ((sent, from), (received, to)) = (parts(sent), parts(received));
        let mut parts = PartitionMut::new(&mut into[..], received, to);
        self.world.all_to_all_varcount_into(&Partition::new(rows, sent, from), &mut parts);
        into.truncate(len);
    }

    /// Counts messages: `sent[rank]` rows of `bytes` bytes to each rank.
    fn count(&self, sent: &[usize], bytes: usize) {
        let to_others = |&(rank, &count): &(usize, &usize)| rank != self.world.rank() as usize && count > 0;
        for (_, &count) in sent.iter().enumerate().filter(to_others) {
            let [messages, all] = self.traffic.get();
            self.traffic.set([messages + 1, all + (count * bytes) as u64]);
        }
    }
}

/// Ends all processes: this one cannot do its part, for which the others wait.
fn stop(world: &SimpleCommunicator, error: &gather_core::Error) -> ! {
    eprintln!("rank {}: {error}", world.rank());
    world.abort(1)
}
