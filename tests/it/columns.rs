//! Columns of data tools: outputs that grow, unique ids, and pairs of a source and a row.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gather_core::{
    Append, Bags, Bitmap, Checked, Codes, DynView, EmbeddingBag, Error, Gather, GatherElements, Given, Index,
    IndexType, Nulls, OutOfBounds, Reduction, SpaceToBatch, Tensor, Unique, UniqueId, View, chunks, map_kernels, zeros,
};

use crate::support::mixed;

map_kernels! {
    static REFUSES_NINE = |value: u32| -> u32 {
        assert_ne!(value, 9, "nine");
        value + 1
    };
}

#[test]
fn a_vector_grows_by_every_operator() -> Result<(), Error> {
    let table = View::new(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[3, 2])?;
    let (mut all, mut expected) = (vec![9.0f32], vec![9.0f32]);
    let mut check = |all: &Vec<f32>, more: Tensor<f32>| {
        expected.extend_from_slice(more.as_slice());
        assert_eq!(*all, expected);
    };
    let (gather, ids) = (Gather::new(0), [2u32, 0, 2]);
    gather.run_into(&table, &ids, &mut Append(&mut all))?;
    check(&all, gather.run(&table, &ids)?);
    gather.plan(&table, &ids)?.run_into(&table, &ids, &mut Append(&mut all))?;
    check(&all, gather.run(&table, &ids)?);
    gather.plan_any_count(&table, &ids)?.run_into(&table, &[1u32], &mut Append(&mut all))?;
    check(&all, gather.run(&table, &[1u32])?);
    let many = vec![1u16; 1000];
    gather.run_into(&table, &many, &mut Append(&mut all))?;
    check(&all, gather.run(&table, &many)?);
    let each = View::new(&[1u8, 0, 1, 1], &[2, 2])?;
    GatherElements::new(1).run_into(&table, &each, &mut Append(&mut all))?;
    check(&all, GatherElements::new(1).run(&table, &each)?);
    let nulls = Nulls { indices: Some(Bitmap::new(&[0b101], 0, 3)?), ..Nulls::default() };
    let mut bits = [0u8; 1];
    gather.nullable().run_into(&table, &ids, nulls, &mut Append(&mut all), &mut bits)?;
    check(&all, gather.nullable().run(&table, &ids, nulls)?.0);
    assert_eq!(bits, [0b101]);
    let adjoint = gather.adjoint();
    adjoint.run_into(&zeros(&[4, 2])?, &ids, &table, &mut Append(&mut all))?;
    check(&all, adjoint.run(&zeros(&[4, 2])?, &ids, &table)?);
    let sum = EmbeddingBag::new(Reduction::Add);
    sum.run_into(&table, &Bags::new(&ids, &[0u8, 1]), &mut Append(&mut all))?;
    check(&all, sum.run(&table, &Bags::new(&ids, &[0u8, 1]))?);
    let halves = SpaceToBatch::new(&[1, 2], &[0, 0], &[0, 0]);
    halves.run_into(&table, &mut Append(&mut all))?;
    check(&all, halves.run(&table)?);
    let codes = View::new(&[0x21u8; 16], &[2, 8])?;
    let scales = View::new(&[1.0f32, 2.0], &[2, 1])?;
    let blocks = codes.blocks(Codes::Bits4, 16, &scales);
    gather.run_into(&blocks, &[1u8], &mut Append(&mut all))?;
    check(&all, gather.run(&blocks, &[1u8])?);
    gather.run_into(&table, &[0u8; 0], &mut Append(&mut all))?;
    check(&all, Tensor::default());
    Ok(())
}

#[test]
fn after_an_error_or_a_panic_the_contents_are_the_old_ones() -> Result<(), Error> {
    let (mut list, mut rows) = (vec![1u32, 2], Tensor::new(vec![1u32, 2], &[1, 2])?);
    let table = View::new(&[5u32, 6, 9, 8], &[2, 2])?;
    let unchanged = |list: &Vec<u32>, rows: &Tensor<u32>| {
        assert_eq!((&list[..], rows.shape(), rows.as_slice()), (&[1, 2][..], &[1, 2][..], &[1, 2][..]));
    };
    let gather = Gather::new(0);
    assert!(gather.run_into(&table, &[0u8, 2], &mut Append(&mut list)).is_err());
    assert!(gather.run_into(&table, &[0u8, 2], &mut Append(&mut rows)).is_err());
    unchanged(&list, &rows);
    assert!(gather.run_into(&table, &[vec![0u8; 100], vec![7]].concat(), &mut Append(&mut rows)).is_err());
    unchanged(&list, &rows);
    let mapped = table.map(&REFUSES_NINE, ());
    let panicked = |run: &mut dyn FnMut() -> Result<(), Error>| catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    panicked(&mut || gather.run_into(&mapped, &[0u8, 1], &mut Append(&mut list)));
    panicked(&mut || gather.run_into(&mapped, &[0u8, 1], &mut Append(&mut rows)));
    unchanged(&list, &rows);
    let adjoint = gather.adjoint();
    assert!(adjoint.run_into(&table, &[9u8], &View::new(&[1, 1], &[1, 2])?, &mut Append(&mut rows)).is_err());
    assert!(adjoint.run_into(&table, &[9u8], &View::new(&[1, 1], &[1, 2])?, &mut Append(&mut list)).is_err());
    unchanged(&list, &rows);
    let sum = EmbeddingBag::new(Reduction::Add);
    assert!(sum.run_into(&table, &Bags::new(&[0u8, 9], &[0u8]), &mut Append(&mut rows)).is_err());
    unchanged(&list, &rows);

    // Rows of another shape, before anything is written.
    for shape in [&[2, 1][..], &[4], &[1, 2, 2], &[2, 2, 1]] {
        let values = [7u32; 4];
        let other = View::new(&values[..shape.iter().product()], shape)?;
        let refused = gather.run_into(&other, &[0u8], &mut Append(&mut rows)).unwrap_err();
        assert!(matches!(refused, Error::AppendMismatch { .. }), "{refused}");
        unchanged(&list, &rows);
    }
    let refused = gather.run_into(&table, &View::scalar(&1u8), &mut Append(&mut rows)).unwrap_err();
    assert_eq!(refused.to_string(), "a result of shape [2] cannot follow the rows of a tensor of shape [1, 2]");
    let ids = View::strided(&[0u8], &[1 << (usize::BITS - 4)], &[0], 0)?;
    assert!(matches!(
        gather.run_into(&table, &ids, &mut Append(&mut list)),
        Err(Error::TooManyBytes { .. } | Error::AllocationFailed { .. } | Error::TooManyElements { .. })
    ));
    // With addresses of 32 bits there may be memory for a fourth of the rows.
    #[cfg(target_pointer_width = "64")]
    {
        let ids = View::strided(&[0u8], &[1 << 58], &[0], 0)?;
        assert!(gather.run_into(&table, &ids, &mut Append(&mut rows)).is_err());
    }
    unchanged(&list, &rows);

    // Rows without elements may be too many.
    let none = View::<u8>::new(&[], &[2, 0])?;
    let most = View::strided(&[0u8], &[isize::MAX as usize], &[0], 0)?;
    let mut endless = Tensor::default();
    Gather::new(0).out_of_bounds(OutOfBounds::Zero).run_into(&none, &most, &mut Append(&mut endless))?;
    let refused = gather.run_into(&none, &[0u8], &mut Append(&mut endless)).unwrap_err();
    assert!(matches!(refused, Error::TooManyElements { .. }), "{refused}");
    assert_eq!(endless.shape(), [isize::MAX as usize, 0]);
    Ok(())
}

#[test]
fn a_tensor_grows_along_axis_0() -> Result<(), Error> {
    let table = View::new(&[1u8, 2, 3, 4], &[2, 1, 2])?;
    let mut rows = Tensor::default();
    for ids in [&[1i8, 0][..], &[], &[1], &[0, 0, 1]] {
        Gather::new(0).run_into(&table, ids, &mut Append(&mut rows))?;
    }
    assert_eq!((rows.shape(), rows.as_slice()), (&[6, 1, 2][..], &[3, 4, 1, 2, 3, 4, 1, 2, 1, 2, 3, 4][..]));
    let mut lists = Tensor::default();
    Gather::new(0).run_into(&table, &View::new(&[1u8, 0], &[1, 2])?, &mut Append(&mut lists))?;
    Gather::new(0).run_into(&table, &View::new(&[0u8, 0], &[1, 2])?, &mut Append(&mut lists))?;
    assert_eq!((lists.shape(), lists.as_slice()), (&[2, 2, 1, 2][..], &[3, 4, 1, 2, 1, 2, 1, 2][..]));
    // Rows without elements.
    let empty = View::<u8>::new(&[], &[2, 0])?;
    let mut none = Tensor::default();
    Gather::new(0).run_into(&empty, &[1u8, 1], &mut Append(&mut none))?;
    Gather::new(0).run_into(&empty, &[0u8], &mut Append(&mut none))?;
    assert_eq!((none.shape(), none.len()), (&[3, 0][..], 0));
    // A tensor of shape `[0]` takes results of another rank.
    let mut new = Tensor::default();
    Gather::new(0).run_into(&[7u8, 8], &[0u8; 0], &mut Append(&mut new))?;
    Gather::new(0).run_into(&table, &[1u8], &mut Append(&mut new))?;
    assert_eq!((new.shape(), new.as_slice()), (&[1, 1, 2][..], &[3, 4][..]));
    let mut scalar = Tensor::default();
    Gather::new(0).run_into(&[7u8, 8], &View::scalar(&1u8), &mut Append(&mut scalar))?;
    assert_eq!((scalar.shape(), scalar.as_slice()), (&[][..], &[8][..]));
    let refused = Gather::new(0).run_into(&[7u8, 8], &View::scalar(&1u8), &mut Append(&mut scalar));
    assert!(matches!(refused, Err(Error::AppendMismatch { .. })));
    Ok(())
}

/// Compares unique ids with a set.
fn unique<I: UniqueId + std::fmt::Debug>(list: &[I]) {
    let unique = Unique::new(list).unwrap();
    let expected: Vec<I> = list.iter().copied().collect::<BTreeSet<I>>().into_iter().collect();
    assert_eq!((unique.ids(), unique.inverse().positions().len()), (&expected[..], list.len()));
    assert_eq!(unique.inverse().n(), expected.len());
    let again = Gather::new(0).run(unique.ids(), unique.inverse()).unwrap();
    assert_eq!((again.shape(), again.as_slice()), (&[list.len()][..], list));
    assert_eq!(unique.into_ids(), expected);
}

#[test]
fn unique_ids_and_their_inverse() {
    // 96 ids for each digit of 11 bits are the first whose digits are counted.
    for n in [0, 1, 2, 63, 95, 96, 191, 192, 575, 576, 1000] {
        for spread in [1, 2, 60, 1000, 1 << 20, 1 << 31, u64::MAX] {
            let ids = |at: usize| mixed(spread, at) % spread;
            unique(&(0..n).map(|at| ids(at) as i64).collect::<Vec<_>>());
            unique(&(0..n).map(|at| ids(at) as u32).collect::<Vec<_>>());
            unique(&(0..n).map(|at| ids(at).wrapping_sub(30)).collect::<Vec<u64>>());
            unique(&(0..n).map(|at| ids(at) as usize).collect::<Vec<_>>());
            unique(&(0..n).map(|at| (ids(at) as i32).wrapping_sub(30)).collect::<Vec<_>>());
            unique(&(0..n).map(|at| i64::MIN.wrapping_add(ids(at) as i64)).collect::<Vec<_>>());
        }
    }
    unique(&[i64::MIN, i64::MAX, 0, -1, i64::MAX]);
    unique(&[i32::MIN, i32::MAX, 0, -1]);
    unique(&[u32::MAX, 0, u32::MAX]);
    unique(&[u64::MAX, 0, u64::MAX - 1, 1 << 63, u64::MAX]);
    unique(&[i64::MAX; 100]);
    // Bits at both ends of a word, and of the bitmap.
    unique(&(0..640).map(|at| at * 511 - 3).collect::<Vec<i32>>());
    unique(&[&[0i64; 100][..], &[100 * 512 - 1]].concat());
    unique(&[&[0i64; 100][..], &[100 * 512, 100 * 512 + 1, 102 * 512]].concat());
}

#[test]
fn gradients_of_unique_rows() -> Result<(), Error> {
    let ids = [900i64, 4, 900, 17, 4];
    let unique = Unique::new(&ids)?;
    let gradient = View::new(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], &[5, 2])?;
    let sums = Gather::new(0).adjoint().run(&zeros(&[unique.ids().len(), 2])?, unique.inverse(), &gradient)?;
    assert_eq!((unique.ids(), sums.as_slice()), (&[4, 17, 900][..], &[12.0, 14.0, 7.0, 8.0, 6.0, 8.0][..]));
    assert_eq!(format!("{unique:?}"), "Unique { ids: 3, inverse: Checked { n: 3, shape: [5] } }");
    Ok(())
}

/// Compares a gather of pairs with the rows of the chunks.
fn pairs<S: Index + TryFrom<usize>, R: Index + TryFrom<usize>>(lengths: &[usize]) {
    let values: Vec<Vec<u16>> =
        lengths.iter().enumerate().map(|(at, &n)| (0..n * 2).map(|i| (at * 100 + i) as u16).collect()).collect();
    let parts: Vec<_> = values.iter().zip(lengths).map(|(values, &n)| View::new(values, &[n, 2]).unwrap()).collect();
    let table = chunks(&parts).unwrap();
    let rows: usize = lengths.iter().sum();
    let each = (0..300).filter(|_| rows > 0).map(|at| {
        let source =
            (0..).map(|more| (mixed(5, at) as usize + more) % lengths.len()).find(|&source| lengths[source] > 0);
        let source = source.expect("a chunk with rows");
        (source, mixed(6, at) as usize % lengths[source])
    });
    let each: Vec<(usize, usize)> = each.collect();
    let expected: Vec<u16> = each.iter().flat_map(|&(source, row)| values[source][row * 2..][..2].to_vec()).collect();
    let sources: Vec<S> = each.iter().filter_map(|&(source, _)| S::try_from(source).ok()).collect();
    let list: Vec<R> = each.iter().filter_map(|&(_, row)| R::try_from(row).ok()).collect();
    let narrow: Checked<'_, i32> = table.pairs(&sources, &list).unwrap();
    assert_eq!((narrow.n(), Gather::new(0).run(&table, &narrow).unwrap().as_slice()), (rows, &expected[..]));
    let wide: Checked<'_, i64> = table.pairs(&sources, &list).unwrap();
    assert_eq!(Gather::new(0).run(&table, &wide).unwrap().as_slice(), &expected[..]);
}

#[test]
fn pairs_are_rows_of_their_chunks() {
    for lengths in [&[3usize, 5, 1, 9][..], &[0, 4, 0, 0, 2, 0], &[7], &[0, 7], &[0], &[1; 50]] {
        pairs::<u8, u32>(lengths);
        pairs::<i64, i8>(lengths);
        pairs::<usize, usize>(lengths);
    }
}

#[test]
fn pairs_with_nulls_in_their_chunks() -> Result<(), Error> {
    let batches = [View::new(&[10, 11], &[2])?, View::new(&[20, 21, 22], &[3])?];
    let (table, data) = (chunks(&batches)?, Bitmap::new(&[0b10101], 0, 5)?);
    let pairs: Checked<'_, i32> = table.pairs(&[1u8, 0, 0, 1], &[0u8, 1, 0, 1])?;
    let nulls = Nulls { data: Some(data), ..Nulls::default() };
    let (taken, valid) = Gather::new(0).nullable().run(&table, &pairs, nulls)?;
    assert_eq!((taken.as_slice(), valid.expect("nulls").as_bytes()), (&[20, 11, 10, 21][..], &[0b0101][..]));
    // Other columns of the batches, of a type known at run time and by a map.
    let floats = [View::new(&[0.5f32, 1.0], &[2])?, View::new(&[1.5, 2.0, 2.5], &[3])?];
    let known = [DynView::from(&floats[0]), DynView::from(&floats[1])];
    let taken = Gather::new(0).run(&chunks(&known)?, &pairs)?.downcast::<f32>()?;
    assert_eq!(taken.as_slice(), [1.5, 1.0, 0.5, 2.0]);
    let whole = Gather::new(0).run(&[0.5f32, 1.0, 1.5, 2.0, 2.5], &pairs)?;
    assert_eq!(whole, taken);
    Ok(())
}

#[test]
fn pairs_that_name_no_row_are_refused() -> Result<(), Error> {
    let batches = [View::new(&[10u8, 11], &[2])?, View::new(&[], &[0])?, View::new(&[20, 21, 22], &[3])?];
    let table = chunks(&batches)?;
    fn refused<S: Index, R: Index>(table: &gather_core::ChunksView<'_, u8>, sources: &[S], rows: &[R]) -> Error {
        table.pairs::<i32, S, R>(sources, rows).unwrap_err()
    }
    let error = refused(&table, &[0u8, 2, 0], &[0i32, 2, 2]);
    assert!(matches!(error, Error::PairOutOfRange { position: 2, source: 0, row: 2, chunks: 3, rows: Some(2) }));
    assert_eq!(error.to_string(), "pairs: pair 2 is row 2 of source 0, which has 2 rows");
    let error = refused(&table, &[3u8], &[0u8]);
    assert!(matches!(error, Error::PairOutOfRange { position: 0, source: 3, rows: None, .. }));
    assert_eq!(error.to_string(), "pairs: pair 0 is of source 3; there are 3 sources");
    assert!(matches!(refused(&table, &[1u8], &[0u8]), Error::PairOutOfRange { rows: Some(0), .. }));
    assert!(matches!(refused(&table, &[-1i8], &[0u8]), Error::PairOutOfRange { source: -1, rows: None, .. }));
    assert!(matches!(refused(&table, &[0u64], &[-1i64]), Error::PairOutOfRange { row: -1, rows: Some(2), .. }));
    assert!(matches!(refused(&table, &[u64::MAX], &[u64::MAX]), Error::PairOutOfRange { rows: None, .. }));
    assert!(matches!(refused(&table, &[1u64 << 32], &[0u8]), Error::PairOutOfRange { rows: None, .. }));
    assert!(matches!(refused(&table, &[2u8], &[1u64 << 32]), Error::PairOutOfRange { rows: Some(3), .. }));
    let error = refused(&table, &[0u8; 3], &[0u8; 2]);
    assert_eq!(error.to_string(), "pairs: 3 sources and 2 rows");
    // More rows than positions of 32 bits: rows without elements.
    let long = View::<u8>::new(&[], &[1 << 31, 0])?;
    let long = [long.clone(), long];
    let table = chunks(&long)?;
    let error = refused(&table, &[0u8], &[0u8]);
    assert!(matches!(error, Error::CheckedAxisTooLong { index: IndexType::I32, .. }));
    #[cfg(target_pointer_width = "64")]
    assert_eq!(table.pairs::<i64, _, _>(&[1u8], &[9u8])?.positions().get(&[0]), Some(&((1 << 31) + 9)));
    let given = View::new(&[1u8, 2], &[2, 1])?;
    let parts = [given.map(&gather_core::maps::dequantize(), (Given::All(2.0f32), Given::All(0)))];
    let taken = Gather::new(0).run(&chunks(&parts)?, &chunks(&parts)?.pairs::<i32, _, _>(&[0u8], &[1u8])?)?;
    assert_eq!(taken.as_slice(), [4.0]);
    assert!(Checked::<i32>::new(&[0u8], 2, OutOfBounds::Error).is_ok());
    Ok(())
}
