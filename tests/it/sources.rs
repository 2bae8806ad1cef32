//! What gathers read: every source through the four verbs, plans that run with other functions than they were made
//! with, and what is refused.

use std::sync::Arc;

use gather_core::{
    Argument, Blocks, ByRow, Codes, Dyn, DynTensor, DynView, Element, Error, Fused, FusedFormat, FusedRows, Gather,
    GatherElements, GatherKind, GatherNd, GatheredBy, Given, Index, IndexKind, Kind, Layout, Mapped, Op, OutOfBounds,
    Plan, Registry, Source, Spec, Tensor, TensorOf, View, map_kernels, maps, row_kernels, rows,
};

map_kernels! {
    static DOUBLED = |value: u8| -> u32 { u32::from(value) * 2 };
    static SQUARED = |value: u8| -> u32 { u32::from(value) * u32::from(value) };
    static TIMES = |value: u8, by: u32| -> u32 { u32::from(value) * by };
}

row_kernels! {
    static SUM = |row: &[u8]| -> u32 { row.iter().map(|&value| u32::from(value)).sum() };
    static MOST = |row: &[u8]| -> u32 { row.iter().map(|&value| u32::from(value)).max().unwrap_or(0) };
    static PLUS = |row: &[u8], more: u32| -> u32 { u32::from(row[0]) + more };
    static WIDER = |row: &[u8], out: &mut [u32]| {
        out.iter_mut().zip(row).for_each(|(out, &value)| *out = value.into());
    };
}

#[test]
fn every_tensor_is_a_source() -> Result<(), Error> {
    let (values, op) = ([10u16, 20, 30], Gather::new(0));
    let expected = [30u16, 10];
    let check = |got: Tensor<u16>| assert_eq!((got.shape(), got.as_slice()), (&[2][..], &expected[..]));
    let view = View::new(&values, &[3])?;
    let tensor = Tensor::new(values.to_vec(), &[3])?;
    check(op.run(&view, &[2, 0])?);
    check(op.run(&values, &[2u8, 0])?);
    check(op.run(&values[..], &[-1i8, 0][..])?);
    check(op.run(&values.to_vec(), &vec![2usize, 0])?);
    check(op.run(&tensor, &Tensor::new(vec![2u64, 0], &[2])?)?);
    check(op.run(&&&view, &&[2i16, 0])?);
    check(op.run(&Box::new(view.clone()), &Arc::new([2u16, 0]))?);
    check(op.run(&Box::<[u16]>::from(&values[..]), &Arc::<[i64]>::from(&[2i64, 0][..]))?);

    // Types known at run time on either side, or on both.
    let ids = View::new(&[2u32, 0], &[2])?;
    let (data, list) = (DynView::from(&view), DynView::from(&ids));
    check(op.run(&view, &list)?);
    check(op.run(&data, &ids)?.downcast()?);
    check(op.run(&data, &list)?.downcast()?);
    check(op.run(&DynTensor::from(tensor), &[2u8, 0])?.downcast()?);
    let plan: Plan<u16, Dyn> = op.plan(&view, &list)?;
    check(plan.run(&values, &list)?);
    let plan: Plan<Dyn, u32> = op.plan(&data, &ids)?;
    check(plan.run(&data, &[2, 0])?.downcast()?);
    Ok(())
}

/// Data of a kind by a plan for any count, and by a call.
fn by_any_count<S, const N: usize>(source: &S, ids: [u32; N]) -> Result<(), Error>
where
    S: Source<Kind: GatheredBy<gather_core::GatherAttributes>>,
    TensorOf<S>: PartialEq + std::fmt::Debug,
{
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    let plan: Plan<S::Kind, u32> = op.plan_any_count(source, &[0u32])?;
    assert_eq!(plan.run(source, &ids)?, op.run(source, &ids)?);
    let dynamic = View::new(&ids, &[N])?;
    let plan: Plan<S::Kind, Dyn> = op.plan_any_count(source, &DynView::from(&dynamic))?;
    assert_eq!(plan.run(source, &DynView::from(&dynamic))?, op.run(source, &ids)?);
    Ok(())
}

#[test]
fn plans_of_every_kind_take_any_count() -> Result<(), Error> {
    let bytes: Vec<u8> = (0..=255).collect();
    let (table, scales) = (View::new(&bytes, &[4, 64])?, View::new(&[0.5f32, 1.0, 2.0, 4.0], &[4, 1])?);
    let fused = FusedRows::new(View::new(&bytes[..96], &[4, 24])?, FusedFormat::Torch8, 16)?;
    by_any_count(&table, [3, 1, 0])?;
    by_any_count(&table.map(&TIMES, (Given::PerRow(&[1, 10, 100, 1000]),)), [3, 1, 0, 7])?;
    by_any_count(&table.rows(&SUM, ()), [3, 9, 0])?;
    by_any_count(&fused.to::<f32>(), [3, 1])?;
    by_any_count(&table.blocks(Codes::Bits8, 64, &scales), [3, 1, 2, 0, 9])?;
    Ok(())
}

#[test]
fn plans_run_with_other_functions() -> Result<(), Error> {
    let table = View::new(&[1u8, 2, 3, 4, 5, 6], &[3, 2])?;
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    let ids = [2u32, 9, 0];
    let doubled = Spec::<u8>::new(&[3, 2])?.map(&DOUBLED);
    for plan in [op.plan(&doubled, &ids)?, op.plan_any_count(&doubled, &ids)?] {
        assert_eq!(plan.run(&table.map(&DOUBLED, ()), &ids)?.as_slice(), [10, 12, 0, 0, 2, 4]);
        assert_eq!(plan.run(&table.map(&SQUARED, ()), &ids)?.as_slice(), [25, 36, 0, 0, 1, 4]);
        assert_eq!(plan.run(&table.map(&DOUBLED, ()), &ids)?.as_slice(), [10, 12, 0, 0, 2, 4]);
        let refused = plan.run(&table.map(&TIMES, (Given::All(3),)), &ids).unwrap_err();
        let (expected, got): (&[&str], &[&str]) = (&[], &["by"]);
        assert_eq!(refused, Error::PlanParametersMismatch { op: Op::Gather, function: "TIMES", expected, got });
        assert_eq!(refused.to_string(), "gather: the plan was made for parameters (), and TIMES has (by)");
    }

    // Fills are those of the function that runs.
    let (most, filled) = (MOST.with_fill(77), SUM.with_fill(99));
    let spec = || Spec::<u8>::new(&[3, 2]);
    for plan in [op.plan(&spec()?.rows(&SUM), &ids)?, op.plan_any_count(&spec()?.rows(&filled), &ids)?] {
        assert_eq!(plan.run(&table.rows(&SUM, ()), &ids)?.as_slice(), [11, 0, 3]);
        assert_eq!(plan.run(&table.rows(&filled, ()), &ids)?.as_slice(), [11, 99, 3]);
        assert_eq!(plan.run(&table.rows(&most, ()), &ids)?.as_slice(), [6, 77, 2]);
        assert_eq!(plan.run(&table.rows(&MOST, ()), &ids)?.as_slice(), [6, 0, 2]);
        let refused = plan.run(&table.rows(&PLUS, (Given::All(3),)), &ids).unwrap_err();
        let (expected, got): (&[&str], &[&str]) = (&[], &["more"]);
        assert_eq!(refused, Error::PlanParametersMismatch { op: Op::Gather, function: "PLUS", expected, got });
        // A row in place of a value, and rows of another length.
        let refused = plan.run(&table.rows(&WIDER, ()), &ids).unwrap_err();
        let mismatch = |expected: &[usize], got: &[usize]| Error::PlanMismatch {
            argument: Argument::Output,
            expected: expected.into(),
            got: got.into(),
        };
        assert_eq!(refused, mismatch(&[3], &[3, 2]));
    }
    let plan = op.plan(&table.rows(&WIDER, ()), &ids)?;
    let longer = WIDER.with_len(5);
    let refused = plan.run(&table.rows(&longer, ()), &ids).unwrap_err();
    assert!(matches!(refused, Error::PlanMismatch { argument: Argument::Output, .. }), "{refused}");
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused() -> Result<(), Error> {
    let op = Op::Gather;
    // A slice has one axis.
    let refused = Gather::new(1).run(&[1u8, 2], &[0u8]).unwrap_err();
    assert_eq!(refused, Error::AxisOutOfRange { op, axis: 1, rank: 1 });
    let refused = Gather::new(1).batch_dims(1).run(&[1u8, 2], &[0u8, 1]).unwrap_err();
    assert_eq!(refused, Error::AxisOutOfRange { op, axis: 1, rank: 1 });
    // Tuples of two components name no element of a list.
    let refused = GatherNd::new().run(&[1u8, 2], &View::new(&[0u8, 1], &[1, 2])?).unwrap_err();
    assert!(matches!(refused, Error::TupleLengthOutOfRange { .. }), "{refused:?}");
    // Indices that cannot index, before anything else.
    let floats = View::new(&[0.0f32], &[1])?;
    let refused = Gather::new(7).run(&[1u8], &DynView::from(&floats)).unwrap_err();
    assert_eq!(refused, Error::NotAnIndexType { dtype: f32::DTYPE });
    assert_eq!(Gather::new(7).plan(&[1u8], &DynView::from(&floats)).unwrap_err(), refused);
    // A layout that no tensor has, and a plan that runs on another.
    assert!(matches!(Spec::<u8>::new(&[usize::MAX, 2]), Err(Error::TooManyElements { .. })));
    let plan = Gather::new(0).plan(&Spec::<u8>::new(&[3])?, &Spec::<u8>::new(&[2])?)?;
    let (argument, expected, got) = (Argument::Indices, [2].into(), [3].into());
    assert_eq!(plan.run(&[1, 2, 3], &[0; 3]).unwrap_err(), Error::PlanMismatch { argument, expected, got });
    // Fused rows of a type that is none of theirs.
    let bytes = [0u8; 12];
    let fused = FusedRows::new(View::new(&bytes, &[1, 12])?, FusedFormat::Torch8, 4)?;
    let refused = Gather::new(0).run(&fused.to_dyn(u8::DTYPE), &[0u8]).unwrap_err();
    assert_eq!(refused, Error::DTypeMismatch { expected: f32::DTYPE, got: u8::DTYPE });
    let plan: Plan<Fused<Dyn>, u8> = Gather::new(0).plan(&fused.to_dyn(f32::DTYPE), &[0u8])?;
    assert_eq!(plan.run(&fused.to_dyn(f32::DTYPE), &[0])?.dtype(), f32::DTYPE);
    assert!(matches!(plan.run(&fused.to_dyn(u8::DTYPE), &[0]), Err(Error::DTypeMismatch { .. })));
    let four = FusedRows::new(View::new(&bytes[..8], &[1, 8])?, FusedFormat::Torch4, 8);
    let refused = plan.run(&four?.to_dyn(f32::DTYPE), &[0]).unwrap_err();
    assert!(matches!(refused, Error::FusedFormatMismatch { .. }), "{refused:?}");
    // A registry that does not know the type.
    #[derive(Clone, Copy, Element)]
    #[repr(C)]
    struct Own([u8; 3]);
    static BUILTIN: Registry = Registry::builtin();
    let own = [Own([1; 3])];
    let own = View::new(&own, &[1])?;
    for gather in [Gather::new(0), Gather::new(0).registry(&BUILTIN)] {
        let refused = gather.run(&DynView::from(&own), &[0u8]).unwrap_err();
        assert_eq!(refused, Error::UnknownDType { op, dtype: Own::DTYPE });
        assert_eq!(gather.run(&own, &[0u8])?.as_slice()[0].0, [1; 3]);
    }
    assert_ne!(Gather::new(0), Gather::new(0).registry(&BUILTIN));
    assert_eq!(Gather::new(0).registry(&BUILTIN), Gather::new(0).registry(&BUILTIN));
    Ok(())
}

// What a program writes without naming a type: functions, closures and fields over sources and plans.

fn pick<T: Element, I: Index>(data: &View<'_, T>, ids: &[I]) -> Result<Tensor<T>, Error> {
    Gather::new(0).run(data, ids)
}

fn score<S>(source: &S, ids: &[u32]) -> Result<Tensor<f32>, Error>
where
    S: Source<Kind: GatheredBy<gather_core::GatherAttributes> + Kind<Out = f32>>,
{
    Gather::new(0).run(source, ids)
}

struct Layer<K> {
    plan: Plan<K, u32>,
}

impl<K: GatherKind<Out = f32>> Layer<K> {
    fn forward(&self, table: &impl Source<Kind = K>, ids: &impl Source<Kind = u32>) -> Result<Tensor<f32>, Error> {
        self.plan.run(table, ids)
    }
}

struct Both<T, I> {
    rows: Plan<T, I>,
    dots: Plan<ByRow<T, f32>, I>,
}

fn plans<I: IndexKind>(ids: &impl gather_core::Describe<Kind = I>) -> Result<Both<f32, I>, Error> {
    let table = Spec::<f32>::new(&[2, 1])?;
    Ok(Both { rows: Gather::new(0).plan(&table, ids)?, dots: Gather::new(0).plan(&table.rows(&rows::dot()), ids)? })
}

#[test]
fn types_follow_from_operands() -> Result<(), Error> {
    let table = View::new(&[1.0f32, 2.0], &[2, 1])?;
    // Literals are `i32`, or of the plan's type.
    assert_eq!(Gather::new(0).run(&table, &[1, 0])?.as_slice(), [2.0, 1.0]);
    assert_eq!(pick(&table, &[1u8])?.as_slice(), [2.0]);
    let plan = Gather::new(0).plan(&table, &Spec::<u8>::new(&[2])?)?;
    assert_eq!(plan.run(&table, &[1, 0])?.as_slice(), [2.0, 1.0]);
    let mut out = Tensor::default();
    Gather::new(0).run_into(&table, &[1, 0], &mut out)?;
    plan.run_into(&table, &[1, 0], &mut out)?;
    let first: f32 = out.as_slice()[0];
    assert_eq!(first, 2.0);

    let take = |ids: &[u32]| Gather::new(0).run(&table, ids);
    assert_eq!(take(&[1])?.as_slice(), [2.0]);
    let codes = View::new(&[129u8, 130], &[2, 1])?;
    let numbers = codes.map(&maps::dequantize(), (Given::All(0.5), Given::All(128)));
    let dots = table.rows(&rows::dot(), (Given::All(&[3.0]),));
    assert_eq!(score(&numbers, &[1])?.as_slice(), [1.0]);
    assert_eq!(score(&dots, &[1])?.as_slice(), [6.0]);
    let layer: Layer<Mapped<u8, f32>> = Layer { plan: Gather::new(0).plan(&numbers, &[0u32])? };
    assert_eq!(layer.forward(&numbers, &[1])?.as_slice(), [1.0]);
    let layer = Layer { plan: Gather::new(0).plan(&dots, &[0u32])? };
    assert_eq!(layer.forward(&dots, &vec![1])?.as_slice(), [6.0]);
    let both = plans(&Spec::<u16>::new(&[1])?)?;
    assert_eq!((both.rows.run(&table, &[1])?.len(), both.dots.run(&dots, &[1])?.as_slice()), (1, &[6.0][..]));
    let layout = Layout::contiguous(&[2, 16])?;
    let blocks: Plan<Blocks<f32>, i32> =
        Gather::new(0).plan(&Spec::from_layout(&layout).blocks(Codes::Bits8, 16), &Spec::new(&[1])?)?;
    assert_eq!(blocks.output_shape(), [1, 16]);
    // Elements are named one by one too.
    let square = View::new(&[1u8, 2, 3, 4], &[2, 2])?;
    let doubled = GatherElements::new(1).run(&square.map(&DOUBLED, ()), &View::new(&[1, 0, 0, 1], &[2, 2])?)?;
    assert_eq!(doubled.as_slice(), [4, 2, 6, 8]);
    Ok(())
}
