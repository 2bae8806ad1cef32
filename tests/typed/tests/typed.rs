//! Calls of types that the compiler knows, hot and cold ones: right whatever the library holds.

use gather_core::{
    Bags, BatchToSpace, DepthMode, DepthToSpace, Element, EmbeddingBag, Error, FusedFormat, FusedRows, Gather,
    GatherElements, GatherNd, Given, Index, Method, Nulls, OutOfBounds, Reducible, Reduction, ScatterElements, Spec,
    Tensor, View, maps, tables,
};

/// Every type of elements and of indices that is named.
macro_rules! for_types {
    ($check:ident) => {
        for_types!($check: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    };
    ($check:ident: $($T:ident)*) => {
        $($check::<$T, i8>()?;
        $check::<$T, u8>()?;
        $check::<$T, i16>()?;
        $check::<$T, u16>()?;
        $check::<$T, i32>()?;
        $check::<$T, u32>()?;
        $check::<$T, i64>()?;
        $check::<$T, u64>()?;
        $check::<$T, usize>()?;
        $check::<$T, isize>()?;)*
    };
}

/// A number of a type.
trait Number: Element + Reducible + PartialEq + core::fmt::Debug {
    fn of(value: u8) -> Self;
}

macro_rules! numbers {
    ($($T:ident)*) => { $(impl Number for $T {
        fn of(value: u8) -> Self {
            value as $T
        }
    })* };
}
numbers! { i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }

fn of<I: Index + TryFrom<u8>>(values: &[u8]) -> Vec<I> {
    values.iter().map(|&value| I::try_from(value).ok().expect("a small number")).collect()
}

/// Rows of `columns` numbers, gathered by every method that takes them, long enough for each.
fn gathers<T: Number, I: Index + TryFrom<u8>>() -> Result<(), Error> {
    let ids: Vec<u8> = (0..200).map(|at| (at * 7 % 12) as u8).collect();
    let positions = of::<I>(&ids);
    for columns in [1, 2, 3, 5, 40] {
        let table: Vec<T> = (0..10 * columns).map(|at| T::of((at % 100) as u8)).collect();
        let (data, indices) = (View::new(&table, &[10, columns])?, View::new(&positions, &[positions.len()])?);
        let row = |&id: &u8| match usize::from(id) {
            id @ 0..10 => table[id * columns..][..columns].to_vec(),
            _ => vec![T::ZERO; columns],
        };
        let expected: Vec<T> = ids.iter().flat_map(row).collect();
        let gather = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
        assert_eq!(gather.run(&data, &indices)?.as_slice(), expected);
        for method in [Method::Direct, Method::Blocks, Method::Chunks, Method::Gathered, Method::Prefetched] {
            match gather.method(method).run(&data, &indices) {
                Ok(out) => assert_eq!(out.as_slice(), expected, "{method}"),
                Err(error) => assert!(matches!(error, Error::MethodUnavailable { .. }), "{error}"),
            }
        }
        let bad = Gather::new(0).run(&data, &indices);
        assert!(matches!(bad, Err(Error::IndexOutOfRange { .. })), "{bad:?}");
    }
    Ok(())
}

#[test]
fn gathers_of_every_type_are_right() -> Result<(), Error> {
    for_types!(gathers: i8 u16 f32 u64);
    Ok(())
}

/// Elements along the last axis, and by tuples.
fn elements<T: Number, I: Index + TryFrom<u8>>() -> Result<(), Error> {
    let table: Vec<T> = (0..12).map(T::of).collect();
    let data = View::new(&table, &[3, 4])?;
    let ids = of::<I>(&[3, 0, 1, 1, 2, 2]);
    let found = GatherElements::new(1).run(&data, &View::new(&ids, &[3, 2])?)?;
    assert_eq!(found.as_slice(), [3, 0, 5, 5, 10, 10].map(T::of));
    let found = GatherNd::new().run(&data, &View::new(&of::<I>(&[2, 3, 0, 1]), &[2, 2])?)?;
    assert_eq!(found.as_slice(), [11, 1].map(T::of));
    Ok(())
}

#[test]
fn elements_and_tuples_of_every_type_are_right() -> Result<(), Error> {
    for_types!(elements: u8 f64);
    Ok(())
}

/// Scatters and bags by every reduction.
fn reductions<T: Number, I: Index + TryFrom<u8>>() -> Result<(), Error> {
    let ids = of::<I>(&[2, 0, 2, 2]);
    let (data, updates) = ([7, 8, 1, 9].map(T::of), [3, 5, 2, 6].map(T::of));
    for (reduction, expected) in [
        (Reduction::None, [5, 8, 6, 9]),
        (Reduction::Add, [12, 8, 12, 9]),
        (Reduction::Mul, [35, 8, 36, 9]),
        (Reduction::Min, [5, 8, 1, 9]),
        (Reduction::Max, [7, 8, 6, 9]),
        (Reduction::Mean, [6, 8, 3, 9]),
    ] {
        let found = ScatterElements::new(0).reduction(reduction).run(&data, &ids, &updates)?;
        assert_eq!(found.as_slice(), expected.map(T::of), "{reduction}");
    }
    let table = [1, 9, 5, 4, 3, 8].map(T::of);
    let (table, starts) = (View::new(&table, &[3, 2])?, of::<I>(&[0, 3]));
    let ids = of::<I>(&[0, 2, 2, 1]);
    for (reduction, expected) in
        [(Reduction::Add, [7, 25, 5, 4]), (Reduction::Min, [1, 8, 5, 4]), (Reduction::Max, [3, 9, 5, 4])]
    {
        let found = EmbeddingBag::new(reduction).run(&table, &Bags::new(&ids, &starts))?;
        assert_eq!(found.as_slice(), expected.map(T::of), "{reduction}");
    }
    Ok(())
}

#[test]
fn reductions_of_every_type_are_right() -> Result<(), Error> {
    for_types!(reductions: i8 u8 i16 u16 u32 u64 i32 f32);
    Ok(())
}

#[test]
fn space_is_rearranged() -> Result<(), Error> {
    let pixels: Vec<u8> = (0..16).collect();
    let found = DepthToSpace::new(2, DepthMode::Dcr).run(&View::new(&pixels, &[1, 4, 2, 2])?)?;
    assert_eq!(found.as_slice(), [0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15]);
    let wide: Vec<f64> = pixels.iter().map(|&pixel| f64::from(pixel)).collect();
    let found = BatchToSpace::new(&[1, 2, 1], &[0; 3], &[0; 3]).run(&View::new(&wide, &[2, 4, 2])?)?;
    assert_eq!(found.as_slice()[..6], [0.0, 1.0, 8.0, 9.0, 2.0, 3.0]);
    Ok(())
}

#[test]
fn maps_nulls_plans_and_fused_rows_take_cold_indices() -> Result<(), Error> {
    let codes = [1u8, 2, 3, 4];
    let codes = View::new(&codes, &[2, 2])?;
    let found = Gather::new(0).run(&codes.map(&maps::dequantize(), (Given::All(0.5), Given::All(1))), &[1u16, 0])?;
    assert_eq!(found.as_slice(), [1.0, 1.5, 0.0, 0.5]);

    let plan = Gather::new(0).plan_any_count(&codes, &Spec::<u32>::new(&[64])?)?;
    let mut rows = Tensor::default();
    plan.run_into(&codes, &[1, 1, 0], &mut rows)?;
    assert_eq!(rows.as_slice(), [3, 4, 3, 4, 1, 2]);

    let (found, missing) = Gather::new(0).nullable().run(&codes, &[1u16, 0], Nulls::default())?;
    assert_eq!((found.as_slice(), missing.is_none()), (&[3, 4, 1, 2][..], true));

    let mut bytes = vec![0u8, 1, 255];
    bytes.extend(0.5f32.to_le_bytes().into_iter().chain((-1.0f32).to_le_bytes()));
    let table = FusedRows::new(View::new(&bytes, &[1, 11])?, FusedFormat::Torch8, 3)?;
    let found = Gather::new(0).run(&table.to::<f32>(), &[0u8])?;
    assert_eq!(found.as_slice(), [-1.0, -0.5, 126.5]);
    let (sum, bags) = (EmbeddingBag::new(Reduction::Add), Bags::new(&[0u8, 0], &[0u8]));
    assert_eq!(sum.run(&table.to::<f32>(), &bags)?.as_slice(), [-2.0, -1.0, 253.0]);
    let found = sum.run(&tables::<f32>([&table, &table])?, &[bags, bags])?;
    assert_eq!(found.as_slice(), [-2.0, -1.0, 253.0, -2.0, -1.0, 253.0]);
    Ok(())
}
