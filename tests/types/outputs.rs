//! Outputs that are used again: every operator and plan writes the same to a tensor that held something else, and to
//! uninitialised memory. A tensor keeps its memory where that is large enough.

use std::mem::MaybeUninit;

use gather_core::{
    Bags, BatchToSpace, Codes, DType, DynOutput, DynTensor, DynView, DynViewMut, Element, EmbeddingBag, Error, Gather,
    GatherElements, GatherKind, GatherNd, Given, IndexKind, IndexType, Layout, Output, Plan, Reduction,
    ScatterElements, ScatterNd, Source, SpaceToBatch, Spec, Tensor, Typing, View, ViewMut, maps,
};

gather_core::reduce_kernels! {
    static LARGER = |kept: f32, new: f32| -> f32 { if new > kept { new } else { kept } };
}

/// Values that no operator here makes.
const OLD: f32 = -77.25;

/// Checks that what `run` makes is what `run_into` writes to each kind of output.
fn agrees<T: Element + PartialEq + std::fmt::Debug>(
    door: &str,
    old: T,
    run: impl Fn() -> Result<Tensor<T>, Error>,
    into: &dyn Fn(Any<'_, T>) -> Result<(), Error>,
) {
    let expected = run().unwrap();
    let (shape, len) = (expected.shape(), expected.len());
    // More memory than the result needs, as much, less, and none.
    for (before, kept) in [(len + 5, true), (len, true), (len / 2, false), (0, false)] {
        let mut tensor = Tensor::full(&[before], old).unwrap();
        let memory = tensor.as_slice().as_ptr();
        into(Any::Tensor(&mut tensor)).unwrap();
        assert_eq!((tensor.shape(), tensor.as_slice()), (shape, expected.as_slice()), "{door}, {before} elements");
        // Without enough memory, the allocator may give the same address again.
        assert!(!kept || tensor.as_slice().as_ptr() == memory, "{door}, {before} elements");
        into(Any::Tensor(&mut tensor)).unwrap();
        assert_eq!(tensor, expected, "{door}, again");
    }
    let mut fresh = vec![MaybeUninit::<T>::uninit(); len];
    into(Any::Fresh(&mut ViewMut::new(&mut fresh, shape).unwrap())).unwrap();
    // SAFETY: the call has succeeded, and has initialised every element.
    let fresh: Vec<T> = fresh.into_iter().map(|value| unsafe { value.assume_init() }).collect();
    assert_eq!(fresh, expected.as_slice(), "{door}, uninitialised");
    let mut given = vec![old; len];
    into(Any::View(&mut ViewMut::new(&mut given, shape).unwrap())).unwrap();
    assert_eq!(given, expected.as_slice(), "{door}, a view");
}

/// Any output.
enum Any<'a, T> {
    Tensor(&'a mut Tensor<T>),
    Fresh(&'a mut ViewMut<'a, MaybeUninit<T>>),
    View(&'a mut ViewMut<'a, T>),
}

/// Calls with any output.
macro_rules! into {
    (|$out:ident| $call:expr) => {
        &|any| match any {
            Any::Tensor($out) => $call,
            Any::Fresh($out) => $call,
            Any::View($out) => $call,
        }
    };
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|at| at as f32 * 0.5 - 3.0).collect()
}

#[test]
fn gathers_and_their_plans() {
    let (table, ids) = (numbers(24), [2u32, 0, 5, 5, 1]);
    let (data, indices) = (View::new(&table, &[6, 4]).unwrap(), View::new(&ids, &[5]).unwrap());
    let gather = Gather::new(0);
    agrees("Gather", OLD, || gather.run(&data, &indices), into!(|out| gather.run_into(&data, &indices, out)));
    let plan = gather.plan(&data, &indices).unwrap();
    agrees("Plan", OLD, || plan.run(&data, &indices), into!(|out| plan.run_into(&data, &indices, out)));
    for n in [0, 1, 3, 5] {
        let plan = gather.plan_any_count(&data, &indices).unwrap();
        let some = View::new(&ids[..n], &[n]).unwrap();
        if n > 0 {
            agrees("any count", OLD, || plan.run(&data, &some), into!(|out| plan.run_into(&data, &some, out)));
        }
        assert_eq!(plan.run(&data, &some).unwrap().shape(), [n, 4]);
    }

    let wide: Vec<u32> = (0..24).map(|at| at % 6).collect();
    let wide = View::new(&wide, &[6, 4]).unwrap();
    let elements = GatherElements::new(0);
    agrees("GatherElements", OLD, || elements.run(&data, &wide), into!(|out| elements.run_into(&data, &wide, out)));
    let tuples = View::new(&[5i64, -1, 0, 2], &[2, 2]).unwrap();
    let nd = GatherNd::new();
    agrees("GatherNd", OLD, || nd.run(&data, &tuples), into!(|out| nd.run_into(&data, &tuples, out)));

    let codes: Vec<u8> = (0..24).map(|at| at * 9).collect();
    let codes = View::new(&codes, &[6, 4]).unwrap();
    let (map, scales) = (&maps::dequantize(), numbers(6));
    let params = (Given::PerRow(&scales[..]), Given::All(128));
    let run = || gather.run(&codes.map(map, params), &indices);
    agrees("a map", OLD, run, into!(|out| gather.run_into(&codes.map(map, params), &indices, out)));
    let plan = gather.plan(&codes.map(map, params), &indices).unwrap();
    let run = || plan.run(&codes.map(map, params), &indices);
    agrees("a plan of a map", OLD, run, into!(|out| plan.run_into(&codes.map(map, params), &indices, out)));

    let blocks: Vec<u8> = (0..48).map(|at| at * 5).collect();
    let (blocks, scales) = (View::new(&blocks, &[6, 8]).unwrap(), numbers(6));
    let scales = View::new(&scales, &[6, 1]).unwrap();
    let blocks = blocks.blocks(Codes::Bits4, 16, &scales);
    let run = || gather.run(&blocks, &indices);
    agrees("blocks", OLD, run, into!(|out| gather.run_into(&blocks, &indices, out)));
}

#[test]
fn scatters_and_their_plans() {
    let (table, ids, new) = (numbers(24), [2u32, 0, 5, 5, 1], numbers(20));
    let (data, indices) = (View::new(&table, &[6, 4]).unwrap(), View::new(&ids, &[5, 1]).unwrap());
    let updates = View::new(&new, &[5, 4]).unwrap();
    for reduction in [Reduction::None, Reduction::Add, Reduction::Mean] {
        let nd = ScatterNd::new().reduction(reduction);
        let run = || nd.run(&data, &indices, &updates);
        agrees("ScatterNd", OLD, run, into!(|out| nd.run_into(&data, &indices, &updates, out)));
        let plan = nd.plan(&data, &indices, &updates).unwrap();
        let run = || plan.run(&data, &indices, &updates);
        agrees("ScatterPlan", OLD, run, into!(|out| plan.run_into(&data, &indices, &updates, out)));
    }
    let nd = ScatterNd::new();
    let run = || nd.reduce_by(&LARGER).run(&data, &indices, &updates);
    agrees("run_reduce", OLD, run, into!(|out| nd.reduce_by(&LARGER).run_into(&data, &indices, &updates, out)));

    let wide: Vec<u8> = (0..24).map(|at| at % 6).collect();
    let wide = View::new(&wide, &[6, 4]).unwrap();
    let elements = ScatterElements::new(0).reduction(Reduction::Max);
    let run = || elements.run(&data, &wide, &data);
    agrees("ScatterElements", OLD, run, into!(|out| elements.run_into(&data, &wide, &data, out)));
}

#[test]
fn bags_and_spaces_and_their_plans() {
    let (table, ids, lens) = (numbers(24), [2u32, 0, 5, 5, 1], [0u32, 2, 2]);
    let (data, indices) = (View::new(&table, &[6, 4]).unwrap(), View::new(&ids, &[5]).unwrap());
    let offsets = View::new(&lens, &[3]).unwrap();
    let bags = Bags::new(&indices, &offsets);
    let sum = EmbeddingBag::new(Reduction::Add);
    agrees("EmbeddingBag", OLD, || sum.run(&data, &bags), into!(|out| sum.run_into(&data, &bags, out)));
    let plan = sum.plan(&data, &bags).unwrap();
    let run = || plan.run(&data, &Bags::planned(&indices));
    agrees("BagPlan", OLD, run, into!(|out| plan.run_into(&data, &Bags::planned(&indices), out)));
    let run = || sum.reduce_by(&LARGER).run(&data, &bags);
    agrees("reduce_by of bags", OLD, run, into!(|out| sum.reduce_by(&LARGER).run_into(&data, &bags, out)));
    let codes: Vec<u8> = (0..24).map(|at| at * 9).collect();
    let (codes, map) = (View::new(&codes, &[6, 4]).unwrap(), &maps::dequantize());
    let params = (Given::All(0.5), Given::All(128));
    let run = || sum.run(&codes.map(map, params), &bags);
    agrees("a map of bags", OLD, run, into!(|out| sum.run_into(&codes.map(map, params), &bags, out)));
    let plan = sum.plan(&Spec::from_layout(codes.layout()).map(map), &bags).unwrap();
    let run = || plan.run(&codes.map(map, params), &Bags::planned(&indices));
    agrees(
        "a plan of a map of bags",
        OLD,
        run,
        into!(|out| plan.run_into(&codes.map(map, params), &Bags::planned(&indices), out)),
    );

    let blocks = BatchToSpace::new(&[1, 2, 1], &[0; 3], &[0; 3]);
    let data = View::new(&table, &[4, 3, 2]).unwrap();
    agrees("BatchToSpace", OLD, || blocks.run(&data), into!(|out| blocks.run_into(&data, out)));
    let plan = blocks.plan(&data).unwrap();
    agrees("RearrangePlan", OLD, || plan.run(&data), into!(|out| plan.run_into(&data, out)));
    let padded = SpaceToBatch::new(&[1, 2, 1], &[0, 1, 0], &[0, 2, 0]);
    agrees("SpaceToBatch", OLD, || padded.run(&data), into!(|out| padded.run_into(&data, out)));
}

/// Checks that what is run is what is written to a dyn tensor that held something else, of this and of other types.
fn agrees_dyn(
    door: &str,
    run: impl Fn() -> Result<DynTensor, Error>,
    tensor_into: impl Fn(&mut DynTensor) -> Result<(), Error>,
) {
    let expected = run().unwrap();
    for old in [DynTensor::zeros::<u8>(&[1000]), DynTensor::zeros::<u64>(&[3]), DynTensor::zeros::<f32>(&[500])] {
        let mut tensor = old.unwrap();
        for again in 0..2 {
            tensor_into(&mut tensor).unwrap();
            assert_eq!((tensor.dtype(), tensor.shape()), (expected.dtype(), expected.shape()), "{door}, {again}");
            assert_eq!(tensor.as_bytes(), expected.as_bytes(), "{door}, {again}");
            assert_eq!(tensor.view().shape(), expected.shape());
        }
        // The memory may be larger than the tensor, and no multiple of an element.
        let values = tensor.downcast::<f32>().unwrap().into_vec();
        assert_eq!(values, run().unwrap().downcast::<f32>().unwrap().as_slice(), "{door}");
    }
}

#[test]
fn types_known_at_run_time() {
    let (table, ids, new) = (numbers(24), [2u32, 0, 5], numbers(12));
    let (data, indices) = (View::new(&table, &[6, 4]).unwrap(), View::new(&ids, &[3]).unwrap());
    let (data, indices) = (DynView::from(&data), DynView::from(&indices));
    let gather = Gather::new(0);
    let run = || gather.run(&data, &indices);
    agrees_dyn("Gather", run, |out| gather.run_into(&data, &indices, out));
    let plan = gather
        .plan(&Spec::from_dtype(f32::DTYPE, data.layout()), &Spec::from_dtype(IndexType::U32.dtype(), indices.layout()))
        .unwrap();
    agrees_dyn("DynPlan", || plan.run(&data, &indices), |out| plan.run_into(&data, &indices, out));

    let (tuples, rows) = (View::new(&ids, &[3, 1]).unwrap(), View::new(&new, &[3, 4]).unwrap());
    let (tuples, updates) = (DynView::from(&tuples), DynView::from(&rows));
    let nd = ScatterNd::new();
    let run = || nd.run(&data, &tuples, &updates);
    agrees_dyn("ScatterNd", run, |out| nd.run_into(&data, &tuples, &updates, out));
    let layouts = (tuples.layout(), updates.layout());
    let plan = nd
        .plan(
            &Spec::from_dtype(f32::DTYPE, &Layout::contiguous(&[6, 4]).unwrap()),
            &Spec::from_dtype(IndexType::U32.dtype(), layouts.0),
            &Spec::from_dtype(f32::DTYPE, layouts.1),
        )
        .unwrap();
    let run = || plan.run(&data, &tuples, &updates);
    agrees_dyn("ScatterPlan<Dyn, Dyn>", run, |out| plan.run_into(&data, &tuples, &updates, out));

    let packed = View::new(&ids, &[1, 3]).unwrap();
    let packed = DynView::from(&packed);
    let (sum, bags) = (EmbeddingBag::new(Reduction::Add), Bags::packed(&packed));
    agrees_dyn("EmbeddingBag", || sum.run(&data, &bags), |out| sum.run_into(&data, &bags, out));
    let plan = sum.plan(&Spec::from_dtype(f32::DTYPE, data.layout()), &bags).unwrap();
    agrees_dyn(
        "BagPlan of types known at run time",
        || plan.run(&data, &Bags::planned(&packed)),
        |out| plan.run_into(&data, &Bags::planned(&packed), out),
    );

    let blocks = BatchToSpace::new(&[1, 2], &[0; 2], &[0; 2]);
    let run = || blocks.run(&data);
    agrees_dyn("BatchToSpace", run, |out| blocks.run_into(&data, out));
    let plan = blocks.plan(&data).unwrap();
    agrees_dyn("RearrangePlan<Dyn>", || plan.run(&data), |out| plan.run_into(&data, out));
}

#[test]
fn dyn_tensors_from_bytes_zeros_and_tensors() {
    let tensor = DynTensor::from_bytes(u16::DTYPE, &[1, 0, 2, 0, 3, 0], &[3]).unwrap();
    assert_eq!(tensor.downcast::<u16>().unwrap().as_slice(), [1, 2, 3].map(u16::from_le));
    let refused = DynTensor::from_bytes(u16::DTYPE, &[1, 0, 2], &[1]);
    assert!(matches!(refused, Err(Error::LengthMismatch { .. })), "{refused:?}");
    let refused = DynTensor::from_bytes(bool::DTYPE, &[2], &[1]);
    assert!(refused.is_err(), "no bool is 2");
    let zeros = DynTensor::zeros::<i64>(&[2, 3]).unwrap();
    assert_eq!((zeros.dtype(), zeros.shape(), zeros.as_bytes()), (i64::DTYPE, &[2, 3][..], &[0; 48][..]));
    assert!(matches!(DynTensor::zeros::<u64>(&[usize::MAX / 4]), Err(Error::TooManyBytes { .. })));
    let mut values = Vec::with_capacity(100);
    values.extend([1.5f32, 2.5]);
    let memory = values.as_ptr();
    let tensor = DynTensor::from(Tensor::new(values, &[2, 1]).unwrap());
    assert_eq!((tensor.dtype(), tensor.shape()), (f32::DTYPE, &[2, 1][..]));
    let values = tensor.downcast::<f32>().unwrap().into_vec();
    assert_eq!((values.as_ptr(), &values[..]), (memory, &[1.5, 2.5][..]));
    let empty = DynTensor::empty(f64::DTYPE);
    assert_eq!((empty.shape(), empty.as_bytes()), (&[0][..], &[][..]));
    assert!(empty.downcast::<f64>().unwrap().is_empty());
}

/// What an error leaves behind: a tensor that is unchanged, or has no elements.
fn is_sound<T: Element + PartialEq>(tensor: &Tensor<T>, old: T) {
    let unchanged = tensor.shape() == [7] && tensor.as_slice().iter().all(|&value| value == old);
    assert!(unchanged || (tensor.shape() == [0] && tensor.is_empty()), "shape {:?}", tensor.shape());
}

#[test]
fn errors_and_panics_leave_a_tensor_that_can_be_used() {
    let (table, ids) = (numbers(24), [2u32, 0, 6]);
    let (data, bad) = (View::new(&table, &[6, 4]).unwrap(), View::new(&ids, &[3]).unwrap());
    let good = View::new(&ids[..2], &[2]).unwrap();
    let gather = Gather::new(0);
    let mut tensor = Tensor::full(&[7], OLD).unwrap();
    assert!(matches!(gather.run_into(&data, &bad, &mut tensor), Err(Error::IndexOutOfRange { .. })));
    is_sound(&tensor, OLD);
    gather.run_into(&data, &good, &mut tensor).unwrap();
    assert_eq!(tensor, gather.run(&data, &good).unwrap());

    let mut tensor = Tensor::full(&[7], OLD).unwrap();
    assert!(matches!(Gather::new(9).run_into(&data, &bad, &mut tensor), Err(Error::AxisOutOfRange { .. })));
    is_sound(&tensor, OLD);
    assert_eq!(tensor.shape(), [7], "nothing was planned yet");

    // A plan for an output that is not row-major has no shape of memory for a tensor.
    let strided = Layout::strided(&[2, 4], &[1, 2]).unwrap();
    let plan = gather.plan_into(&data, &good, &strided).unwrap();
    let refused = plan.run_into(&data, &good, &mut tensor);
    assert!(matches!(refused, Err(Error::PlanMismatch { .. })), "{refused:?}");
    is_sound(&tensor, OLD);

    let mut erased = DynTensor::zeros::<u8>(&[9]).unwrap();
    let (dyn_data, dyn_bad) = (DynView::from(&data), DynView::from(&bad));
    assert!(gather.run_into(&dyn_data, &dyn_bad, &mut erased).is_err());
    assert_eq!((erased.shape(), erased.as_bytes().len()), (&[0][..], 0));
}

#[test]
fn tensors_show_their_shape_and_first_values() {
    let tensor = Tensor::new(vec![1, 2, 3, 4], &[2, 2]).unwrap();
    assert_eq!(format!("{tensor:?}"), "Tensor { shape: [2, 2], values: [1, 2, 3, 4] }");
    let long = format!("{:?}", Tensor::full(&[1000], 7u8).unwrap());
    assert!(long.starts_with("Tensor { shape: [1000], values: [7, 7,") && long.ends_with("7], .. }"), "{long}");
    assert!(long.len() < 100, "{long}");
    assert_eq!(format!("{:?}", Tensor::<f32>::default()), "Tensor { shape: [0], values: [] }");
}

/// Code that is generic over outputs names the traits.
#[test]
fn generic_code_can_take_any_output() {
    fn first_row(table: &View<'_, f32>, out: &mut impl Output<f32>) -> Result<(), Error> {
        Gather::new(0).run_into(table, &View::new(&[0u8], &[1])?, out)
    }
    fn first_row_dyn(table: &DynView<'_>, out: &mut impl DynOutput) -> Result<DType, Error> {
        let ids = View::new(&[0u8], &[1])?;
        Gather::new(0).run_into(table, &DynView::from(&ids), out)?;
        Ok(table.dtype())
    }
    let table = numbers(6);
    let table = View::new(&table, &[3, 2]).unwrap();
    let mut tensor = Tensor::default();
    first_row(&table, &mut tensor).unwrap();
    let mut erased = DynTensor::empty(u8::DTYPE);
    assert_eq!(first_row_dyn(&DynView::from(&table), &mut erased), Ok(f32::DTYPE));
    assert_eq!(erased.downcast::<f32>().unwrap(), tensor);
}

/// A function that does not ask whether the compiler knows the types of a plan.
#[test]
fn generic_code_can_take_any_plan() {
    fn rows<K: GatherKind, I: IndexKind>(
        plan: &Plan<K, I>,
        data: &impl Source<Kind = K>,
        ids: &impl Source<Kind = I>,
    ) -> Result<<K::Out as Typing>::Tensor, Error> {
        plan.clone().run(data, ids)
    }
    let (table, ids) = (numbers(6), [2u8, 0]);
    let (table, ids) = (View::new(&table, &[3, 2]).unwrap(), View::new(&ids, &[2]).unwrap());
    let gather = Gather::new(0);
    // The types follow from the views.
    let typed = rows(&gather.plan(&table, &ids).unwrap(), &table, &ids).unwrap();
    let plan = gather
        .plan(&Spec::from_dtype(f32::DTYPE, table.layout()), &Spec::from_dtype(IndexType::U8.dtype(), ids.layout()))
        .unwrap();
    let (table, ids) = (DynView::from(&table), DynView::from(&ids));
    assert_eq!(rows(&plan, &table, &ids).unwrap().downcast::<f32>().unwrap(), typed);

    // Data types are compared before layouts: those of data, of indices, then of the output.
    let row = View::new(&[1i64], &[1]).unwrap();
    let (row, mut bytes) = (DynView::from(&row), [0; 2]);
    let mut out = DynViewMut::from_bytes(u8::DTYPE, &mut bytes, &[2]).unwrap();
    let mismatch = |expected, got| Err(Error::DTypeMismatch { expected, got });
    assert_eq!(plan.run_into(&row, &row, &mut out), mismatch(f32::DTYPE, i64::DTYPE));
    assert_eq!(plan.run_into(&table, &row, &mut out), mismatch(u8::DTYPE, i64::DTYPE));
    assert_eq!(plan.run_into(&table, &ids, &mut out), mismatch(f32::DTYPE, u8::DTYPE));
    let short = table.permuted(&[1, 0]).unwrap();
    assert_eq!(plan.run_into(&short, &ids, &mut out), mismatch(f32::DTYPE, u8::DTYPE));
    assert!(matches!(plan.run(&short, &ids), Err(Error::PlanMismatch { .. })));
}
