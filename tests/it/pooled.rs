//! Outputs whose memory comes from a pool.

use gather_core::{
    Bags, BatchToSpace, DynPooled, DynView, Element, EmbeddingBag, Error, Gather, GatherElements, Given, Par, Pool,
    Pooled, Reduction, ScatterNd, View, maps,
};

/// Calls of every kind into tensors of a pool, against fresh ones.
fn every_kind(pool: &Pool) {
    let table: Vec<f32> = (0..600).map(|at| at as f32).collect();
    let (table, ids) = (View::new(&table, &[200, 3]).unwrap(), View::new(&[7u32, 199, 0, 7], &[4]).unwrap());
    let gather = Gather::new(0).par(Par::Threads(2));
    let mut out = pool.tensor();
    gather.run_into(&table, &ids, &mut out).unwrap();
    assert_eq!((out.shape(), out.as_slice()), (&[4, 3][..], gather.run(&table, &ids).unwrap().as_slice()));
    let plan = gather.plan(&table, &ids).unwrap();
    out.as_mut_slice().fill(-1.0);
    plan.run_into(&table, &ids, &mut out).unwrap();
    assert_eq!(out.view().get(&[1, 2]), Some(&599.0));

    let (tuples, rows) = (View::new(&[3i64, 1], &[2, 1]).unwrap(), View::new(&[1.0; 6], &[2, 3]).unwrap());
    let add = ScatterNd::new().reduction(Reduction::Add);
    let mut out = pool.tensor();
    add.run_into(&table, &tuples, &rows, &mut out).unwrap();
    assert_eq!(out.as_slice(), add.run(&table, &tuples, &rows).unwrap().as_slice());

    let blocks = BatchToSpace::new(&[1, 2], &[0, 0], &[0, 1]);
    let images = View::new(&[1u8, 2, 3, 4], &[2, 2]).unwrap();
    let mut out = pool.tensor();
    blocks.run_into(&images, &mut out).unwrap();
    assert_eq!((out.shape(), out.as_slice()), (&[1, 3][..], &[1, 3, 2][..]));

    let bags = View::new(&[7u32, 199, 0, 7], &[2, 2]).unwrap();
    let mut out = pool.tensor();
    EmbeddingBag::new(Reduction::Add).run_into(&table, &Bags::packed(&bags), &mut out).unwrap();
    assert_eq!(out.as_slice(), [618.0, 620.0, 622.0, 21.0, 23.0, 25.0]);

    let codes = View::new(&[128u8, 130, 126, 255], &[2, 2]).unwrap();
    let mut out: Pooled<f32> = pool.tensor();
    let params = (Given::All(0.5), Given::All(128));
    let ids = View::new(&[1u8], &[1]).unwrap();
    Gather::new(0).run_into(&codes.map(&maps::dequantize(), params), &ids, &mut out).unwrap();
    assert_eq!(out.as_slice(), [-1.0, 63.5]);
}

#[test]
fn calls_of_every_kind_write_to_pooled_tensors() {
    let pool = Pool::new();
    for round in 1..4 {
        every_kind(&pool);
        // After the first round nothing is allocated.
        let stats = pool.stats();
        assert!(stats.blocks <= 8 && stats.bytes <= 8 * 4096, "{stats:?}");
        assert_eq!((stats.allocated, stats.reused), (stats.blocks as u64, (round - 1) * stats.allocated));
    }
}

/// Rows of a table into a tensor of a pool.
fn rows<T: Element>(pool: &Pool, value: T, count: usize) -> Pooled<T> {
    let (table, ids) = (vec![value; 64], vec![0u8; count]);
    let mut out = pool.tensor();
    let (table, ids) = (View::new(&table, &[1, 64]).unwrap(), View::new(&ids, &[count]).unwrap());
    Gather::new(0).run_into(&table, &ids, &mut out).unwrap();
    assert_eq!(out.shape(), [count, 64]);
    out
}

#[test]
fn memory_comes_back_for_types_of_the_same_alignment() {
    let pool = Pool::new();
    let first = rows(&pool, 1.0f32, 100);
    let start = first.as_slice().as_ptr().addr();
    drop(first);
    assert_eq!((pool.stats().blocks, pool.stats().allocated), (1, 1));
    let other = rows(&pool, 7u32, 90);
    assert_eq!((other.as_slice().as_ptr().addr(), other.as_slice()[5]), (start, 7));
    // Half the block would be of no use.
    let small = rows(&pool, 7u32, 10);
    drop(other);
    let smaller = rows(&pool, 8u32, 11);
    assert_ne!(smaller.as_slice().as_ptr().addr(), start);
    // Another alignment.
    assert!(rows(&pool, 1u16, 200).as_slice().iter().all(|&value| value == 1));
    assert_eq!((pool.stats().reused, pool.stats().allocated), (1, 4));
    drop((small, smaller));
    assert_eq!(pool.stats().blocks, 4);
    pool.trim();
    assert_eq!((pool.stats().blocks, pool.stats().bytes), (0, 0));
}

#[test]
fn a_tensor_that_is_kept_owns_its_memory() {
    let pool = Pool::new();
    let kept = rows(&pool, 3u64, 50);
    let start = kept.as_slice().as_ptr();
    let kept = kept.into_tensor().unwrap();
    assert_eq!((kept.as_slice().as_ptr(), kept.shape(), pool.stats().blocks), (start, &[50, 64][..], 0));
    assert!(kept.into_vec().into_iter().all(|value| value == 3));
    // Elements whose size does not divide that of a block.
    let threes = rows(&pool, [1u8, 2, 3], 33).into_tensor().unwrap();
    assert!(threes.len() == 33 * 64 && threes.as_slice().iter().all(|&three| three == [1, 2, 3]));
    let none = pool.tensor::<f64>().into_tensor().unwrap();
    assert_eq!((none.shape(), none.len()), (&[0][..], 0));
}

#[test]
fn limits_are_kept_and_tensors_outlive_their_pool() {
    let pool = Pool::with_limit(30_000);
    let tensors = [(); 4].map(|()| rows(&pool, 1.0f32, 40));
    drop(tensors);
    let stats = pool.stats();
    assert!(stats.blocks == 2 && stats.bytes <= 30_000, "{stats:?}");

    let copy = pool.clone();
    let mut last = rows(&copy, 2u32, 40);
    drop((pool, copy));
    assert_eq!(last.as_slice()[..2], [2, 2]);
    // It goes on as a tensor that is used again.
    let elements = View::new(&[9u32, 8], &[2]).unwrap();
    GatherElements::new(0).run_into(&elements, &View::new(&[1u8; 2000], &[2000]).unwrap(), &mut last).unwrap();
    assert!(last.shape() == [2000] && last.as_slice().iter().all(|&value| value == 8));
}

/// Rows of a table by a call whose types are known at run time.
fn dyn_rows<T: Element>(out: &mut DynPooled, value: T, count: usize) -> Result<(), Error> {
    let (table, ids) = (vec![value; 64], vec![0u8; count]);
    let (table, ids) = (View::new(&table, &[1, 64]).unwrap(), View::new(&ids, &[count]).unwrap());
    let (table, ids) = (DynView::from(&table), DynView::from(&ids));
    Gather::new(0).run_into(&table, &ids, out)
}

#[test]
fn types_known_at_run_time_share_the_memory() {
    let pool = Pool::with_limit(100_000);
    drop(rows(&pool, 1.0f32, 100));
    let mut out = pool.dyn_tensor(u8::DTYPE);
    dyn_rows(&mut out, 7u32, 90).unwrap();
    assert_eq!((out.dtype(), out.shape(), pool.stats().reused), (u32::DTYPE, &[90, 64][..], 1));
    assert!(out.as_bytes().chunks(4).all(|value| value == 7u32.to_ne_bytes()));
    // The same alignment: the tensor keeps its block. Another one: the block goes back.
    dyn_rows(&mut out, 2.5f32, 100).unwrap();
    assert_eq!((out.dtype(), pool.stats().blocks, pool.stats().allocated), (f32::DTYPE, 0, 1));
    dyn_rows(&mut out, 2u16, 100).unwrap();
    assert_eq!((out.dtype(), pool.stats().blocks, pool.stats().allocated), (u16::DTYPE, 1, 2));
    dyn_rows(&mut out, 3u16, 300).unwrap();
    assert_eq!((out.shape(), pool.stats().blocks, pool.stats().allocated), (&[300, 64][..], 2, 3));

    let table = View::new(&[1u16, 2], &[2]).unwrap();
    let bad = View::new(&[0u32, 2], &[2]).unwrap();
    let refused = GatherElements::new(0).run_into(&DynView::from(&table), &DynView::from(&bad), &mut out);
    assert!(matches!(refused, Err(Error::IndexOutOfRange { .. })));
    assert_eq!((out.shape(), out.as_bytes()), (&[0][..], &[][..]));

    // Kept, it is no more the pool's.
    dyn_rows(&mut out, 5u16, 300).unwrap();
    let kept = out.into_tensor();
    assert_eq!(pool.stats().blocks, 2);
    assert!(kept.downcast::<u16>().unwrap().into_vec().iter().all(|&value| value == 5));
    let mut out = pool.dyn_tensor(u8::DTYPE);
    dyn_rows(&mut out, 1.5f64, 100).unwrap();
    drop(out);
    let stats = pool.stats();
    assert!(stats.bytes <= 100_000 && stats.allocated == 4, "{stats:?}");

    // It outlives the pool, and drops on another thread.
    let mut out = pool.dyn_tensor(u64::DTYPE);
    drop(pool);
    dyn_rows(&mut out, 9u64, 1000).unwrap();
    std::thread::spawn(move || assert_eq!(out.view().shape(), [1000, 64])).join().unwrap();
}

#[test]
fn after_an_error_there_are_no_elements() {
    let pool = Pool::new();
    let mut out = rows(&pool, 1u8, 2);
    let (table, bad) = (View::new(&[1u8, 2], &[2]).unwrap(), View::new(&[0u32, 2], &[2]).unwrap());
    let refused = Gather::new(0).run_into(&table, &bad, &mut out);
    assert!(matches!(refused, Err(Error::IndexOutOfRange { .. })));
    assert_eq!((out.shape(), out.as_slice()), (&[0][..], &[][..]));
    #[cfg(target_pointer_width = "64")]
    {
        let huge = isize::MAX as usize / 2;
        let repeated = View::strided(&[0u8], &[huge], &[0], 0).unwrap();
        let refused = Gather::new(0).run_into(&table, &repeated, &mut out);
        assert!(matches!(refused, Err(Error::AllocationFailed { .. })), "{refused:?}");
        assert!(out.as_slice().is_empty());
    }
    drop(out);
    assert!(format!("{pool:?} {:?}", pool.tensor::<u8>()).contains("Pooled"));
}

#[test]
#[cfg(not(target_family = "wasm"))]
fn threads_share_a_pool() {
    let pool = Pool::default();
    std::thread::scope(|scope| {
        for number in 0..4u32 {
            let pool = &pool;
            scope.spawn(move || {
                let mut kept = Vec::new();
                for round in 0..200 {
                    let out = rows(pool, number, 1 + round % 50);
                    assert!(out.as_slice().iter().all(|&value| value == number));
                    // Some come back in another order, and from another thread.
                    kept.push(out);
                    if kept.len() == 5 {
                        kept.swap_remove(round % 5);
                    }
                }
                kept
            });
        }
    });
    let stats = pool.stats();
    assert!(stats.reused > stats.allocated, "{stats:?}");
}
