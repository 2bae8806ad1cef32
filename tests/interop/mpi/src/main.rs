//! Compares a table that is divided among the ranks of `mpirun` with one process that has all of it, to the bit, then
//! counts and times.

use std::hint::black_box;
use std::time::{Duration, Instant};

use gather_core::maps::{self, Block, Q8_0};
use gather_core::{Bags, Element, EmbeddingBag, FusedFormat, FusedRows, Gather, Index, Reduction, View, ViewMut};
use gather_mpi::{Error, Rows, Sharded};
use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Equivalence};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const ROWS: usize = 500;
const COLUMNS: usize = 64;

/// Numbers that look random (splitmix64).
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

/// Floats whose sums depend on their order.
fn floats(seed: u64, len: usize) -> Vec<f32> {
    let mut next = random(seed);
    (0..len).map(|_| (next() >> 40) as f32 / 7e4 - 100.0).collect()
}

fn bits(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|float| float.to_bits()).collect()
}

/// The rows that each rank has: as many, more on later ranks, none on even ones, all on the last.
fn splits(rows: usize, ranks: usize) -> [Vec<usize>; 4] {
    let last = ranks - 1;
    let weights: [fn(usize, usize) -> usize; 4] =
        [|_, _| 1, |rank, _| rank * rank + 1, |rank, _| rank % 2, |rank, last| usize::from(rank == last)];
    weights.map(|weight| {
        let all: usize = (0..ranks).map(|rank| weight(rank, last)).sum();
        let mut counts: Vec<usize> = (0..ranks).map(|rank| rows * weight(rank, last) / all.max(1)).collect();
        counts[last] += rows - counts.iter().sum::<usize>();
        counts
    })
}

/// The ids of a rank: many or few, none, often the same, all in the first rows, and of one row.
fn request(kind: u64, rank: usize) -> Vec<u64> {
    let mut next = random(kind * 1000 + rank as u64);
    let (len, below) = match kind {
        0 if rank == 1 => (0, 1),
        0 => (37 * (rank + 1), ROWS as u64),
        1 => (400, 9),
        2 => (if rank == 0 { 700 } else { 0 }, ROWS as u64),
        3 => (0, 1),
        _ => (5, 1),
    };
    (0..len).map(|_| next() % below).collect()
}

/// What all ranks ask of the tables that are divided in this way.
fn check(world: &SimpleCommunicator, counts: &[usize]) -> Result<()> {
    let (rank, ranks) = (world.rank() as usize, world.size() as usize);
    let first: usize = counts[..rank].iter().sum();
    let own = |row: usize| first * row..(first + counts[rank]) * row;

    let whole = floats(1, ROWS * COLUMNS);
    let mut table = Sharded::new(world, whole[own(COLUMNS)].to_vec(), COLUMNS)?;
    // Quantised rows, as they are in a file: two blocks of 34 bytes.
    let mut next = random(2);
    let row = 2 * size_of::<Q8_0>();
    let mut quantised: Vec<u8> = (0..ROWS * row).map(|_| next() as u8).collect();
    quantised.chunks_exact_mut(size_of::<Q8_0>()).for_each(|block| block[1] &= 0x3f);
    let mut blocks = Sharded::new(world, quantised[own(row)].to_vec(), row)?;
    // Fused rows: codes, a scale and a bias.
    let fused = FusedRows::quantize(FusedFormat::Torch8, &View::new(&whole, &[ROWS, COLUMNS])?)?;
    let fused_row = fused.shape()[1];
    let mut fused_rows = Sharded::new(world, fused.as_slice()[own(fused_row)].to_vec(), fused_row)?;

    let (mut fetched, mut bytes, mut expected) = (Rows::default(), Rows::default(), whole.clone());
    for kind in 0..5 {
        let ids = request(kind, rank);
        table.fetch(&ids, &mut fetched)?;
        let mut rows = vec![0.0; ids.len() * COLUMNS];
        fetched.gather_into(&mut rows)?;
        assert_eq!(bits(&rows), bits(&gather_core::rows(&expected, COLUMNS, &ids)?));
        let mut once = ids.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(fetched.table.len(), once.len() * COLUMNS);

        // Bags of 3, 0, 3, 0, .. rows, with weights and without.
        let bags = ids.len().div_ceil(3) * 2;
        let offsets: Vec<u64> = (0..bags).map(|bag| ((bag as u64).div_ceil(2) * 3).min(ids.len() as u64)).collect();
        let weights = floats(3 + kind, ids.len());
        let sums = sums(&fetched.table, &fetched.places, &offsets, &weights)?;
        assert_eq!(sums, self::sums(&expected, &ids, &offsets, &weights)?);

        fused_rows.fetch(&ids, &mut bytes)?;
        let sums = fused_sums(&bytes.table, fused_row, &bytes.places, &offsets, &weights)?;
        assert_eq!(sums, fused_sums(fused.as_slice(), fused_row, &ids, &offsets, &weights)?);

        blocks.fetch(&ids, &mut bytes)?;
        assert_eq!(decoded(&bytes.table, &bytes.places)?, decoded(&quantised, &ids)?);

        // Each row of the gradient goes to its owner; one process has the requests of all ranks, one after the other.
        let gradient = |rank: usize| floats(kind * 100 + rank as u64, request(kind, rank).len() * COLUMNS);
        table.add(&ids, &gradient(rank))?;
        let ids: Vec<u64> = (0..ranks).flat_map(|rank| request(kind, rank)).collect();
        let gradient: Vec<f32> = (0..ranks).flat_map(gradient).collect();
        Gather::new(0).adjoint().run_on(
            &mut ViewMut::new(&mut expected, &[ROWS, COLUMNS])?,
            &View::new(&ids, &[ids.len()])?,
            &View::new(&gradient, &[ids.len(), COLUMNS])?,
        )?;
        assert_eq!(bits(table.shard()), bits(&expected[own(COLUMNS)]));
    }
    Ok(())
}

/// Bits of weighted sums and of means.
fn sums<I: Index>(table: &[f32], ids: &[I], offsets: &[u64], weights: &[f32]) -> Result<Vec<u32>> {
    let table = View::new(table, &[table.len() / COLUMNS, COLUMNS])?;
    let (ids, offsets) = (View::new(ids, &[ids.len()])?, View::new(offsets, &[offsets.len()])?);
    let weights = View::new(weights, &[weights.len()])?;
    let mut sums =
        EmbeddingBag::new(Reduction::Add).run(&table, &Bags::new(&ids, &offsets).weights(&weights))?.into_vec();
    sums.extend(EmbeddingBag::new(Reduction::Mean).run(&table, &Bags::new(&ids, &offsets))?.into_vec());
    Ok(bits(&sums))
}

/// Bits of weighted sums of fused rows.
fn fused_sums<I: Index>(table: &[u8], row: usize, ids: &[I], offsets: &[u64], weights: &[f32]) -> Result<Vec<u32>> {
    let table = FusedRows::new(View::new(table, &[table.len() / row, row])?, FusedFormat::Torch8, COLUMNS)?;
    let (ids, offsets) = (View::new(ids, &[ids.len()])?, View::new(offsets, &[offsets.len()])?);
    let weights = View::new(weights, &[weights.len()])?;
    let bags = Bags::new(&ids, &offsets).weights(&weights);
    Ok(bits(EmbeddingBag::new(Reduction::Add).run(&table.to::<f32>(), &bags)?.as_slice()))
}

/// Bits of the numbers of quantised rows.
fn decoded<I: Index>(table: &[u8], ids: &[I]) -> Result<Vec<u32>> {
    let blocks = Q8_0::from_bytes(table).0;
    let (blocks, ids) = (View::new(blocks, &[blocks.len() / 2, 2])?, View::new(ids, &[ids.len()])?);
    Ok(bits(Gather::new(0).run(&blocks.map(&maps::convert::<_, f32>(), ()), &ids)?.as_slice().as_flattened()))
}

/// A mistake of one rank is an error on all, which leaves the table as it was.
fn mistakes(world: &SimpleCommunicator) -> Result<()> {
    let (rank, ranks) = (world.rank() as usize, world.size() as usize);
    let counts = &splits(ROWS, ranks)[1];
    let first: usize = counts[..rank].iter().sum();
    let whole = floats(1, ROWS * COLUMNS);
    let shard = whole[first * COLUMNS..(first + counts[rank]) * COLUMNS].to_vec();
    let (mut table, mut rows) = (Sharded::new(world, shard.clone(), COLUMNS)?, Rows::default());

    for (bad, id) in [(ranks - 1, ROWS as u64), (0, u64::MAX)] {
        let mut ids = request(1, rank);
        if rank == bad {
            ids[3] = id;
        }
        let expected = Error::OutOfRange { rank: bad, position: 3, id };
        assert_eq!(table.fetch(&ids, &mut rows), Err(expected));
        assert_eq!(table.add(&ids, &vec![1.0; ids.len() * COLUMNS]), Err(expected));
        if rank == 0 && bad == ranks - 1 {
            println!("on all ranks: {expected}");
        }
    }
    // Of several mistakes that of the first rank counts, and of one rank an id comes before the gradient.
    let gradient = vec![1.0; 5 * COLUMNS - usize::from(rank == ranks - 1)];
    let error = Error::Gradient { rank: ranks - 1, len: gradient.len() as u64, expected: 5 * COLUMNS as u64 };
    let refused = table.add(&[7; 5], &gradient);
    assert!(matches!(refused, Err(Error::Gradient { rank, .. }) if rank == ranks - 1), "{error}");
    let refused = table.add(&[rank as u64 + ROWS as u64; 5], &gradient);
    assert_eq!(refused, Err(Error::OutOfRange { rank: 0, position: 0, id: ROWS as u64 }));
    assert_eq!(bits(table.shard()), bits(&shard));
    table.fetch(&[7, 0, 7], &mut rows)?;
    assert_eq!(
        bits(&gather_core::rows(&rows.table, COLUMNS, &rows.places)?),
        bits(&gather_core::rows(&whole, COLUMNS, &[7u8, 0, 7])?)
    );

    let crooked = Sharded::new(world, vec![0u8; 9 + usize::from(rank == ranks - 1)], 3);
    assert_eq!(crooked.err(), Some(Error::Shard { rank: ranks - 1, len: 10, row: 3 }));
    if ranks > 1 {
        let two = Sharded::new(world, vec![0u8; 6], if rank == 1 { 2 } else { 3 });
        assert_eq!(two.err(), Some(Error::Shard { rank: 1, len: 6, row: 2 }));
        // A row that is too long to be sent. It is never written, so that it takes no memory.
        let row = 1 << 30;
        let mut long = Sharded::new(world, vec![0u8; if rank == 0 { row } else { 0 }], row)?;
        let ids = if rank == 1 { &[0][..] } else { &[] };
        assert_eq!(long.fetch(ids, &mut Rows::default()), Err(Error::TooMany { rank: 1, rows: 1, most: 0 }));
    }
    Ok(())
}

/// The median of 101 runs in microseconds.
fn median(mut run: impl FnMut() -> Result<Duration>) -> Result<f64> {
    let times = (0..101).map(|_| Ok(run()?.as_secs_f64() * 1e6));
    let mut times = times.collect::<Result<Vec<f64>>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[50])
}

/// Zeros that are in memory: pages that nobody has written to are all the same page.
fn written<T: Element>(len: usize) -> Vec<T> {
    let mut zeros = vec![T::ZERO; len];
    zeros.fill(black_box(T::ZERO));
    zeros
}

/// Times requests of 4096 ids on every rank, and counts what a rank sends.
fn measure<T: Element + Equivalence + Default>(world: &SimpleCommunicator, what: &str, row: usize) -> Result<()> {
    let (rows, ids) = (1 << 18, 4096);
    let (rank, ranks) = (world.rank() as usize, world.size() as usize);
    let mut table = Sharded::new(world, written(rows / ranks * row), row)?;
    let mut next = random(rank as u64);
    let ids: Vec<u64> = (0..ids).map(|_| next() % rows as u64).collect();
    let (mut fetched, mut out) = (Rows::default(), vec![T::ZERO; ids.len() * row]);
    let took = median(|| {
        world.barrier();
        let start = Instant::now();
        table.fetch(&ids, &mut fetched)?;
        fetched.gather_into(black_box(&mut out))?;
        Ok(start.elapsed())
    })?;
    let own = table.traffic().map(|sent| sent as f64 / 101.0);
    let mut all = [0.0; 2];
    world.all_reduce_into(&own[..], &mut all[..], SystemOperation::sum());
    if rank == 0 {
        let [messages, bytes] = all.map(|sent| sent / ranks as f64);
        let [expected_messages, expected_bytes] = computed(ranks, ids.len(), rows, row * size_of::<T>());
        println!(
            "{ranks} ranks, {what}: a rank sends {messages:.1} messages (computed {expected_messages:.1}) and \
             {bytes:.0} bytes (computed {expected_bytes:.0}) a request; {took:.0} us"
        );
        if ranks == 1 {
            let whole = written::<T>(rows * row);
            let took = median(|| {
                let start = Instant::now();
                gather_core::rows_into(&whole, row, &ids, black_box(&mut out))?;
                Ok(start.elapsed())
            })?;
            println!("without MPI, {what}: {took:.0} us");
        }
    }
    Ok(())
}

/// Messages with content and bytes that a rank sends for a request, on average, where ids are drawn evenly.
fn computed(ranks: usize, ids: usize, rows: usize, row: usize) -> [f64; 2] {
    let (ranks, ids, rows) = (ranks as f64, ids as f64, rows as f64);
    let once = rows * (1.0 - (1.0 - 1.0 / rows).powf(ids));
    let asked = 1.0 - (1.0 - 1.0 / ranks).powf(once);
    let others = ranks - 1.0;
    [others * (1.0 + 2.0 * asked), others * 8.0 + once * others / ranks * (4 + row) as f64]
}

fn main() {
    // A rank that fails ends all others, which would wait for it.
    let shown = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        shown(panic);
        std::process::abort();
    }));
    run().unwrap_or_else(|error| panic!("{error}"));
}

fn run() -> Result<()> {
    let (universe, _) = mpi::initialize_with_threading(Threading::Funneled).ok_or("MPI does not start")?;
    let world = universe.world();
    let ranks = world.size() as usize;
    for counts in splits(ROWS, ranks) {
        check(&world, &counts)?;
    }
    mistakes(&world)?;
    world.barrier();
    if world.rank() == 0 {
        println!("{ranks} ranks: rows, quantised rows, bags, fused bags and adjoints have the bits of one process");
    }
    measure::<f32>(&world, "64 f32", 64)?;
    measure::<u8>(&world, "64 of Q8_0", 68)?;
    if world.rank() == 0 && ranks == 1 {
        println!("computed for 4096 ids a rank and 262144 rows: ranks, messages, KiB of f32, KiB of Q8_0");
        for ranks in (0..=10).map(|power| 1 << power) {
            let [messages, floats] = computed(ranks, 4096, 1 << 18, 256);
            let [_, blocks] = computed(ranks, 4096, 1 << 18, 68);
            println!("{ranks:>5} {messages:>7.0} {:>8.0} {:>6.0}", floats / 1024.0, blocks / 1024.0);
        }
    }
    Ok(())
}
