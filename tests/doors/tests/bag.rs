//! EmbeddingBag, through every door: presets, settings, plans, reductions of one's own, types known at run time.

use std::fmt::Debug;
use std::mem::MaybeUninit;

use gather_core::{
    Bags, DynTensor, DynView, DynViewMut, EmbeddingBag, Error, Given, Level, Map, Method, NegativeIndex, Op,
    OutOfBounds, Par, Reducible, Reduction, Spec, View, ViewMut,
};

use crate::common::{Line, Lines, Packed, Point, Sample};

const TABLE: [i32; 4] = [10, 20, 30, 40];
const IDS: [i64; 4] = [3, 0, 3, 1];
const OFFSETS: [u8; 3] = [0, 3, 3];
const WEIGHTS: [i32; 4] = [1, 2, -1, 5];

fn table() -> View<'static, i32> {
    View::new(&TABLE, &[4]).unwrap()
}

fn ids() -> (View<'static, i64>, View<'static, u8>) {
    (View::new(&IDS, &[4]).unwrap(), View::new(&OFFSETS, &[3]).unwrap())
}

fn weights() -> View<'static, i32> {
    View::new(&WEIGHTS, &[4]).unwrap()
}

#[test]
fn presets() {
    let (ids, offsets) = ids();
    let run = |op: EmbeddingBag| op.run(&table(), &Bags::new(&ids, &offsets)).unwrap().into_vec();
    for op in [EmbeddingBag::new(Reduction::Add), EmbeddingBag::torch(Reduction::Add)] {
        assert_eq!(run(op), [90, 0, 20]);
    }
    assert_eq!(run(EmbeddingBag::openvino15_offsets(Reduction::Mean, Some(2))), [30, 30, 20]);
    assert_eq!(run(EmbeddingBag::openvino15_offsets(Reduction::Mean, Some(-1))), [30, 0, 20]);
    let packed = View::new(&IDS, &[2, 2]).unwrap();
    let got = EmbeddingBag::openvino15_packed(Reduction::Add).run(&table(), &Bags::packed(&packed)).unwrap();
    assert_eq!(got.as_slice(), [50, 60]);
    for op in [
        EmbeddingBag::torch(Reduction::Max),
        EmbeddingBag::openvino15_packed(Reduction::Add),
        EmbeddingBag::openvino15_offsets(Reduction::Add, None),
    ] {
        assert_eq!(op.get_negative_index(), NegativeIndex::Reject);
    }
}

#[test]
fn settings_are_kept() {
    let op = EmbeddingBag::new(Reduction::Add)
        .reduction(Reduction::Max)
        .negative_index(NegativeIndex::Reject)
        .out_of_bounds(OutOfBounds::Clamp)
        .padding_index(-1)
        .default_index(2)
        .skip_negative(true)
        .skip_out_of_range(true)
        .include_last_offset(true)
        .par(Par::Threads(2))
        .level(Level::Scalar)
        .method(Method::Accumulated);
    assert_eq!(op.get_method(), Some(Method::Accumulated));
    assert_eq!((op.get_reduction(), op.get_negative_index()), (Reduction::Max, NegativeIndex::Reject));
    assert_eq!((op.get_out_of_bounds(), op.get_include_last_offset()), (OutOfBounds::Clamp, true));
    assert_eq!((op.get_padding_index(), op.get_default_index()), (Some(-1), Some(2)));
    assert!(op.get_skip_negative() && op.get_skip_out_of_range());
    assert_eq!((op.get_par(), op.get_level()), (Par::Threads(2), Some(Level::Scalar)));
    let (ids, offsets) = ids();
    // One bag of rows 3, 0 and 3, of which 3 is left out; one of nothing.
    assert_eq!(op.run(&table(), &Bags::new(&ids, &offsets)).unwrap().as_slice(), [10, 30]);
    let refused = op.method(Method::Blocks).run(&table(), &Bags::new(&ids, &offsets));
    assert_eq!(refused.unwrap_err(), Error::MethodUnavailable { op: Op::EmbeddingBag, method: Method::Blocks });
    assert_eq!(op.output_shape(&[4], &[4], Some(3)).unwrap()[..], [2]);
    assert_eq!(op.output_shape(&[4, 5], &[2, 2], None).unwrap()[..], [2, 5]);
}

#[test]
fn into_outputs_and_planned() {
    let (ids, offsets) = ids();
    let (op, weights) = (EmbeddingBag::new(Reduction::Add), weights());
    let (bags, sums) = (Bags::new(&ids, &offsets).weights(&weights), [20, 0, 100]);
    let mut out = [7; 3];
    op.run_into(&table(), &bags, &mut ViewMut::new(&mut out, &[3]).unwrap()).unwrap();
    assert_eq!(out, sums);
    let mut fresh = [MaybeUninit::new(7); 3];
    op.run_into(&table(), &bags, &mut ViewMut::new(&mut fresh, &[3]).unwrap()).unwrap();
    let plan = op.plan(&table(), &bags).unwrap();
    assert_eq!((plan.output_shape(), plan.explain().method()), (&[3][..], Method::Accumulated));
    assert_eq!(plan.clone().run(&table(), &Bags::planned(&ids).weights(&weights)).unwrap().as_slice(), sums);
    assert_eq!(plan.run(&table(), &Bags::planned(&ids)).unwrap().as_slice(), [90, 0, 20]);
    let mut out = [7; 3];
    plan.run_into(&table(), &Bags::planned(&ids).weights(&weights), &mut ViewMut::new(&mut out, &[3]).unwrap())
        .unwrap();
    assert_eq!(out, sums);
    let packed = View::new(&IDS, &[2, 2]).unwrap();
    assert_eq!(plan.run(&table(), &Bags::packed(&packed)).unwrap().as_slice(), [50, 60]);
    let mut out = [7; 3];
    plan.run_into(&table(), &bags, &mut ViewMut::new(&mut out, &[3]).unwrap()).unwrap();
    assert_eq!(out, sums);
    let refused = plan.run_into(&table(), &Bags::planned(&ids), &mut ViewMut::new(&mut out, &[3, 1]).unwrap());
    assert!(matches!(refused, Err(Error::PlanMismatch { .. })));
}

/// The first row of each bag is kept, whatever its type.
#[test]
fn reductions_of_ones_own() {
    gather_core::reduce_kernels! {
        static POINTS = |kept: Point, _new: Point| -> Point { kept };
        static PACKED = |kept: Packed, _new: Packed| -> Packed { kept };
        static LINES = |kept: Line, _new: Line| -> Line { kept };
        static PAIRS = |kept: Lines, _new: Lines| -> Lines { kept };
    }
    macro_rules! each {
        ($($kind:ty: $reducer:ident;)*) => {$(
            let table: Vec<$kind> = (0..15).map(<$kind>::sample).collect();
            let table = View::new(&table, &[5, 3]).unwrap();
            let ids = View::new(&[4u8, 0, 1, 2, 3, 4], &[2, 3]).unwrap();
            let bags = Bags::packed(&ids);
            let expected = [12, 13, 14, 6, 7, 8].map(<$kind>::sample);
            let op = EmbeddingBag::new(Reduction::None);
            assert_eq!(op.reduce_by(&$reducer).run(&table, &bags).unwrap().as_slice(), expected);
            let mut out: Vec<$kind> = (0..6).map(|_| <$kind>::sample(9)).collect();
            op.reduce_by(&$reducer).run_into(&table, &bags, &mut ViewMut::new(&mut out, &[2, 3]).unwrap()).unwrap();
            assert_eq!(out, expected);
            let plan = op.reduce_by(&$reducer).plan(&Spec::from_layout(table.layout()), &bags).unwrap();
            assert_eq!(plan.run(&table, &Bags::planned(&ids)).unwrap().as_slice(), expected);
            assert!(matches!(op.run(&table, &bags), Err(Error::ReductionUnavailable { .. })));
        )*};
    }
    each! {
        Point: POINTS;
        Packed: PACKED;
        Line: LINES;
        Lines: PAIRS;
    }
}

#[test]
fn types_known_at_run_time() {
    let ((ids, offsets), weights) = (ids(), weights());
    let packed = View::new(&IDS, &[2, 2]).unwrap();
    let op = EmbeddingBag::new(Reduction::Add);
    let (table, weights, packed) = (DynView::from(&table()), DynView::from(&weights), DynView::from(&packed));
    let (ids, offsets) = (DynView::from(&ids), DynView::from(&offsets));
    let bags = Bags::new(&ids, &offsets).weights(&weights);
    let run = |bags: Bags<'_, DynView<'_>, DynView<'_>, DynView<'_>>| {
        op.run(&table, &bags).unwrap().downcast::<i32>().unwrap().into_vec()
    };
    assert_eq!(run(bags), [20, 0, 100]);
    assert_eq!(run(Bags::packed(&packed).weights(None)), [50, 60]);
    let mut out = [7; 3];
    let mut typed = ViewMut::new(&mut out, &[3]).unwrap();
    op.run_into(&table, &bags, &mut DynViewMut::from(&mut typed)).unwrap();
    assert_eq!(out, [20, 0, 100]);

    let plan = op.plan(&table, &bags).unwrap();
    assert_eq!((plan.output_shape(), plan.explain().method()), (&[3][..], Method::Accumulated));
    let run = plan.clone().run(&table, &Bags::planned(&ids).weights(&weights)).unwrap();
    assert_eq!(run.downcast::<i32>().unwrap().as_slice(), [20, 0, 100]);
    let mut out = [7; 3];
    let mut typed = ViewMut::new(&mut out, &[3]).unwrap();
    plan.run_into(&table, &Bags::planned(&ids), &mut DynViewMut::from(&mut typed)).unwrap();
    assert_eq!(out, [90, 0, 20]);
    let run = plan.run(&table, &Bags::packed(&packed)).unwrap();
    assert_eq!(run.downcast::<i32>().unwrap().as_slice(), [50, 60]);
    let mut again = DynTensor::empty(table.dtype());
    plan.run_into(&table, &bags, &mut again).unwrap();
    assert_eq!(again.downcast::<i32>().unwrap().as_slice(), [20, 0, 100]);
    assert!(matches!(plan.run(&ids, &bags), Err(Error::DTypeMismatch { .. })));
    assert!(matches!(plan.run(&ids, &Bags::planned(&ids)), Err(Error::DTypeMismatch { .. })));
}

gather_core::map_kernels! {
    static BYTE_TO_NUMBER = |value: u8, by: i32| -> i32 { i32::from(value) * by };
    static LINES_TO_NUMBER = |value: Lines| -> u16 { value.first() };
    static POINT_TO_ARRAY = |value: Point| -> [[f32; 1]; 3] { let _ = value; [[1.0], [2.0], [-1.0]] };
    static PACKED_TO_NUMBER = |value: Packed| -> u64 { u64::from(value.tag()) };
}

/// Three bags of row 1, by every door.
fn mapped<T: Sample, U: Reducible + PartialEq + Debug, P: gather_core::Params>(
    map: &Map<T, U, P>,
    given: P::Given<'_>,
    convert: impl Fn(T) -> U,
) {
    let (_, offsets) = ids();
    let values: Vec<T> = (0..12).map(T::sample).collect();
    let data = View::new(&values, &[4, 3]).unwrap();
    // The greatest of equal rows is each of them.
    let same = View::new(&[1i64; 4], &[4]).unwrap();
    let bags = Bags::new(&same, &offsets);
    let op = EmbeddingBag::new(Reduction::Max).default_index(1);
    let expected: Vec<U> = [&values[3..6]; 3].into_iter().flatten().map(|&value| convert(value)).collect();
    assert_eq!(op.run(&data.map(map, given), &bags).unwrap().as_slice(), expected);
    let mut out = vec![U::ZERO; 9];
    op.run_into(&data.map(map, given), &bags, &mut ViewMut::new(&mut out, &[3, 3]).unwrap()).unwrap();
    assert_eq!(out, expected);
    let mut fresh = vec![MaybeUninit::new(U::ZERO); 9];
    op.run_into(&data.map(map, given), &bags, &mut ViewMut::new(&mut fresh, &[3, 3]).unwrap()).unwrap();
    let plan = op.plan(&Spec::from_layout(data.layout()).map(map), &bags).unwrap();
    assert_eq!((plan.output_shape(), plan.explain().method()), (&[3, 3][..], Method::Accumulated));
    assert_eq!(plan.clone().run(&data.map(map, given), &Bags::planned(&same)).unwrap().as_slice(), expected);
    let mut out = vec![U::ZERO; 9];
    plan.run_into(&data.map(map, given), &Bags::planned(&same), &mut ViewMut::new(&mut out, &[3, 3]).unwrap()).unwrap();
    assert_eq!(out, expected);
    plan.run_into(&data.map(map, given), &Bags::planned(&same), &mut ViewMut::new(&mut fresh, &[3, 3]).unwrap())
        .unwrap();
    assert_eq!(plan.run(&data.map(map, given), &bags).unwrap().as_slice(), expected);
    plan.run_into(&data.map(map, given), &bags, &mut ViewMut::new(&mut fresh, &[3, 3]).unwrap()).unwrap();
    let refused =
        plan.run_into(&data.map(map, given), &Bags::planned(&same), &mut ViewMut::new(&mut fresh, &[9]).unwrap());
    assert!(matches!(refused, Err(Error::PlanMismatch { .. })));
}

#[test]
fn rows_that_maps_convert() {
    let by = [3, -1, 7, 0];
    mapped(&BYTE_TO_NUMBER, (Given::PerRow(&by),), |value| -i32::from(value));
    mapped(&LINES_TO_NUMBER, (), |value| value.first());
    mapped(&POINT_TO_ARRAY, (), |_| [[1.0], [2.0], [-1.0]]);
    mapped(&PACKED_TO_NUMBER, (), |value| u64::from(value.tag()));

    // Sums with weights, which are numbers of the map's output.
    let (ids, offsets) = ids();
    let codes = [10u8, 20, 30, 40];
    let (table, weights) = (View::new(&codes, &[4]).unwrap(), weights());
    let bags = Bags::new(&ids, &offsets).weights(&weights);
    let sums = EmbeddingBag::new(Reduction::Add).run(&table.map(&BYTE_TO_NUMBER, (Given::All(-1),)), &bags);
    assert_eq!(sums.unwrap().as_slice(), [-20, 0, -100]);
}
