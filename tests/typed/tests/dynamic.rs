//! Calls of types that are known at run time: without the feature `registry` a set of the caller's runs them, or they
//! give a typed error and write nothing.

use gather_core::{
    Bags, DepthMode, DepthToSpace, DynTensor, DynView, DynViewMut, Element, EmbeddingBag, Error, Gather, IndexType,
    Nulls, Op, Reduction, ScatterElements, Tensor, View, maps,
};
use gather_tests_typed::{REGISTRY, has_registry, is_not_compiled};

/// A table of three rows of three numbers.
const TABLE: [f32; 9] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
/// Its rows 2 and 0.
const FOUND: [f32; 6] = [6.0, 7.0, 8.0, 0.0, 1.0, 2.0];

fn values(found: Result<DynTensor, Error>) -> Result<Vec<f32>, Error> {
    Ok(found?.downcast::<f32>()?.into_vec())
}

#[test]
fn gathers_run_by_own_kernels_alone() -> Result<(), Error> {
    let table = View::new(&TABLE, &[3, 3])?;
    let table = DynView::from(&table);
    macro_rules! by {
        ($($I:ident: $own:literal),*) => {$(
            let ids = [2 as $I, 0];
            let ids = View::new(&ids, &[2])?;
            let ids = DynView::from(&ids);
            let (built_in, own) = (Gather::new(0), Gather::new(0).registry(&REGISTRY));
            let found = [built_in.run(&table, &ids), own.run(&table, &ids)];
            for (found, runs) in found.into_iter().zip([has_registry(), has_registry() || $own]) {
                if runs {
                    assert_eq!(values(found)?, FOUND);
                } else {
                    assert!(is_not_compiled(&found, IndexType::from_dtype($I::DTYPE)), "{found:?}");
                }
            }
        )*};
    }
    by! { u16: true, i64: true, isize: true, i8: false, u8: false, i16: false, u32: false, u64: false, usize: false }
    Ok(())
}

/// Rows that no width of the set has, and more loops than it has ranks for.
#[test]
fn own_kernels_run_rows_of_any_length() -> Result<(), Error> {
    let numbers: Vec<u8> = (0..240).collect();
    for shape in [&[240][..], &[120, 2], &[60, 4], &[30, 8], &[20, 12], &[15, 16], &[4, 60], &[2, 3, 2, 5, 4]] {
        let (table, ids) = (View::new(&numbers, shape)?, [1u16, 0, 1]);
        let ids = View::new(&ids, &[3])?;
        for axis in 0..shape.len().min(2) {
            let gather = Gather::new(axis as i64).registry(&REGISTRY);
            let expected = Gather::new(axis as i64).run(&table, &ids)?;
            let found = gather.run(&DynView::from(&table), &DynView::from(&ids))?;
            assert_eq!(found.downcast::<u8>()?.as_slice(), expected.as_slice(), "{shape:?}, axis {axis}");
        }
    }
    Ok(())
}

#[test]
fn what_is_refused_names_the_way_out_and_writes_nothing() -> Result<(), Error> {
    if has_registry() {
        return Ok(());
    }
    let (table, ids) = (View::new(&TABLE, &[3, 3])?, [2u32, 0]);
    let ids = View::new(&ids, &[2])?;
    let mut bytes = [7u8; 24];
    let mut out = DynViewMut::from_bytes(f32::DTYPE, &mut bytes, &[2, 3])?;
    let found = Gather::new(0).registry(&REGISTRY).run_into(&DynView::from(&table), &DynView::from(&ids), &mut out);
    let error = found.unwrap_err();
    let index = Some(IndexType::U32);
    assert_eq!(error, Error::KernelsNotCompiled { op: Op::Gather, dtype: f32::DTYPE, index });
    for name in ["f32", "u32", "`registry`", "`kernels!`", "`Registry::with`"] {
        assert!(error.to_string().contains(name), "{error}");
    }
    assert_eq!(bytes, [7; 24]);
    Ok(())
}

#[test]
fn data_of_a_known_type_takes_the_usual_indices_of_run_time() -> Result<(), Error> {
    let table = View::new(&TABLE, &[3, 3])?;
    let (sum, same) = (EmbeddingBag::new(Reduction::Add), maps::convert::<f32, f32>());
    macro_rules! by {
        ($($I:ident: $hot:literal),*) => {$(
            let ids = [2 as $I, 0];
            let ids = View::new(&ids, &[2])?;
            let ids = DynView::from(&ids);
            let (mapped, nulls) = (Gather::new(0).run(&table.map(&same, ()), &ids), Nulls::default());
            let (mapped, nullable) = (mapped.map(drop), Gather::new(0).nullable().run(&table, &ids, nulls).map(drop));
            let bag = sum.run(&table, &Bags::new(&ids, &[0i64]));
            let bag = bag.map(|sums| assert_eq!(sums.as_slice(), [6.0, 8.0, 10.0]));
            let scattered = ScatterElements::new(0).run(&[1u8, 2, 3], &ids, &[5, 6]);
            let scattered = scattered.map(|found| assert_eq!(found.as_slice(), [6, 2, 5]));
            let gathered = Gather::new(0).run(&table, &ids).map(|found| assert_eq!(found.as_slice(), FOUND));
            for found in [gathered, mapped, nullable, bag, scattered] {
                match has_registry() || $hot {
                    true => found?,
                    false => assert!(is_not_compiled(&found, IndexType::from_dtype($I::DTYPE)), "{found:?}"),
                }
            }
        )*};
    }
    by! { i32: true, i64: true, isize: true, i8: false, u8: false, i16: false, u16: false, u32: false, usize: false }
    Ok(())
}

#[test]
fn reductions_of_usual_numbers_are_known_at_run_time() -> Result<(), Error> {
    fn check<T: Element + Default + From<u8>>(hot: bool) -> Result<(), Error> {
        let (data, ids, updates) = ([1, 2, 3].map(T::from), [2i64, 0], [5, 6].map(T::from));
        let (table, data, updates) = (View::new(&data, &[3, 1])?, View::new(&data, &[3])?, View::new(&updates, &[2])?);
        let sum = ScatterElements::new(0).reduction(Reduction::Add).registry(&REGISTRY);
        let bag = EmbeddingBag::new(Reduction::Add).run(&DynView::from(&table), &Bags::new(&ids, &[0i64]));
        let own = matches!(T::DTYPE, dtype if dtype == f32::DTYPE || dtype == u8::DTYPE);
        let scattered = sum.run(&DynView::from(&data), &ids, &DynView::from(&updates));
        let expected = (!own && !has_registry()).then_some(IndexType::I64);
        match has_registry() || (own && hot) {
            true => drop(scattered?),
            false => assert!(is_not_compiled(&scattered, expected), "{scattered:?}"),
        }
        match has_registry() || hot {
            true => drop(bag?),
            false => assert!(is_not_compiled(&bag, None), "{bag:?}"),
        }
        Ok(())
    }
    check::<f32>(true)?;
    check::<f64>(true)?;
    check::<i32>(true)?;
    check::<i64>(true)?;
    check::<u8>(false)?;
    check::<u16>(false)?;
    check::<u64>(false)
}

#[test]
fn space_is_rearranged_by_own_kernels() -> Result<(), Error> {
    let pixels: Vec<f32> = (0u8..16).map(f32::from).collect();
    let pixels = View::new(&pixels, &[1, 4, 2, 2])?;
    let op = DepthToSpace::new(2, DepthMode::Dcr);
    let expected: Tensor<f32> = op.run(&pixels)?;
    let found = op.run(&DynView::from(&pixels));
    if !has_registry() {
        let (op, dtype) = (Op::DepthToSpace, f32::DTYPE);
        assert_eq!(found.unwrap_err(), Error::KernelsNotCompiled { op, dtype, index: None });
    }
    assert_eq!(values(op.registry(&REGISTRY).run(&DynView::from(&pixels)))?, expected.as_slice());
    Ok(())
}
