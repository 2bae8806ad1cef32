//! Every kind of data by every operator and every verb, by indices of types that the compiler knows and by those of
//! types known at run time: each beside the plain loop. A cell that cannot exist says why.

use gather_core::{
    AdjointAttributes, Codes, Destination, DynTensor, DynView, Element, Error, FusedFormat, FusedRows, Gather,
    GatherElements, GatherNd, GatherOperator, GatheredBy, IndexAttributes, IndexKind, Kind, Layout, Op, PlainKind,
    Reduces, Reduction, ScatterAttributes, ScatterElements, ScatterNd, ScatterOperator, Source, Tensor, TensorOf, View,
    map_kernels, reduce_kernels, row_kernels, zeros, zeros_dyn,
};

map_kernels! {
    static DOUBLED = |value: u8| -> u32 { u32::from(value) * 2 };
}

row_kernels! {
    static COPY = |row: &[u32], out: &mut [u32]| { out.copy_from_slice(row) };
    static COPY_FLOATS = |row: &[f32], out: &mut [f32]| { out.copy_from_slice(row) };
    static WIDER = |row: &[u8], out: &mut [u32]| {
        out.iter_mut().zip(row).for_each(|(out, &value)| *out = value.into());
    };
}

reduce_kernels! {
    static DIGITS = |kept: i32, new: i32| -> i32 { kept * 10 + new };
}

/// The numbers of a tensor, whatever its type.
trait Numbers {
    fn numbers(&self) -> Vec<f64>;
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Numbers for Tensor<$ty> {
            fn numbers(&self) -> Vec<f64> {
                self.as_slice().iter().map(|&number| f64::from(number)).collect()
            }
        }
    )*};
}
numbers! { u8 u32 i32 f32 }

impl Numbers for Vec<i32> {
    fn numbers(&self) -> Vec<f64> {
        self.iter().map(|&number| f64::from(number)).collect()
    }
}

impl Numbers for DynTensor {
    fn numbers(&self) -> Vec<f64> {
        macro_rules! any_of {
            ($($ty:ty)*) => {
                $(if self.dtype() == <$ty as Element>::DTYPE {
                    let number = |bytes: &[u8]| f64::from(<$ty>::from_ne_bytes(bytes.try_into().unwrap()));
                    return self.as_bytes().chunks_exact(size_of::<$ty>()).map(number).collect();
                })*
            };
        }
        any_of! { u8 u32 i32 f32 }
        panic!("{:?} is not expected", self.dtype())
    }
}

/// Goes through the verbs of a gather; `fixed` says that the first dimension of indices is one of data.
fn gathers<A, S, X>(op: &GatherOperator<A>, data: &S, indices: &X, fixed: bool, expected: &[f64])
where
    A: IndexAttributes,
    S: Source<Kind: GatheredBy<A>>,
    X: Source<Kind: IndexKind>,
    TensorOf<S>: Numbers,
{
    let fresh = op.run(data, indices).unwrap();
    assert_eq!(fresh.numbers(), expected);
    let mut again = op.run(data, indices).unwrap();
    op.run_into(data, indices, &mut again).unwrap();
    assert_eq!(again.numbers(), expected);
    let plan = op.plan(data, indices).unwrap();
    assert_eq!(plan.run(data, indices).unwrap().numbers(), expected);
    plan.run_into(data, indices, &mut again).unwrap();
    assert_eq!(again.numbers(), expected);
    let out = Layout::contiguous(plan.output_shape()).unwrap();
    assert_eq!(op.plan_into(data, indices, &out).unwrap().run(data, indices).unwrap().numbers(), expected);
    match op.plan_any_count(data, indices) {
        Err(error) => assert!(fixed && matches!(error, Error::AnyCountUnavailable { .. }), "{error}"),
        Ok(plan) => {
            assert!(!fixed);
            assert_eq!(plan.run(data, indices).unwrap().numbers(), expected);
            plan.run_into(data, indices, &mut again).unwrap();
            assert_eq!(again.numbers(), expected);
        }
    }
}

/// Each source by each operator, and by indices of both kinds.
macro_rules! gathers {
    ($expected:expr, $each:expr; $($source:expr => [$($op:ident),*] $(, not $($other:ident),+: $why:literal)?;)*) => {$(
        $(gathers!(@ $op $source, $expected, $each);)*
    )*};
    (@ Gather $source:expr, $expected:expr, $each:expr) => {
        let ids = View::new(&[2u32, 0, 2], &[3]).unwrap();
        gathers(&Gather::new(0), &$source, &ids, false, $expected);
        gathers(&Gather::new(0), &$source, &DynView::from(&ids), false, $expected);
    };
    (@ GatherNd $source:expr, $expected:expr, $each:expr) => {
        let ids = View::new(&[2i64, 0, 2], &[3, 1]).unwrap();
        gathers(&GatherNd::new(), &$source, &ids, false, $expected);
        gathers(&GatherNd::new(), &$source, &DynView::from(&ids), false, $expected);
    };
    (@ GatherElements $source:expr, $expected:expr, $each:expr) => {
        let ids = View::new($each, &[3, 32]).unwrap();
        gathers(&GatherElements::new(0), &$source, &ids, false, $expected);
        gathers(&GatherElements::new(0), &$source, &DynView::from(&ids), false, $expected);
    };
}

#[test]
fn gathers_of_every_kind() {
    let bytes: Vec<u8> = (0..96).collect();
    let table = View::new(&bytes, &[3, 32]).unwrap();
    let floats: Vec<f32> = bytes.iter().map(|&byte| f32::from(byte)).collect();
    let floats = View::new(&floats, &[3, 32]).unwrap();
    let plain = FusedRows::plain(floats.clone()).unwrap();
    let (scales, points) = (View::new(&[1.0f32; 3], &[3, 1]).unwrap(), View::new(&[0u8; 3], &[3, 1]).unwrap());
    let expected = [&bytes[64..96], &bytes[..32], &bytes[64..96]].concat();
    let expected: Vec<f64> = expected.into_iter().map(f64::from).collect();
    let each: Vec<u16> = [2u16, 0, 2].iter().flat_map(|&row| [row; 32]).collect();
    let owned = Tensor::new(bytes.clone(), &[3, 32]).unwrap();
    gathers! { &expected, &each;
        table => [Gather, GatherNd, GatherElements];
        owned => [Gather, GatherNd, GatherElements];
        DynView::from(&table) => [Gather, GatherNd, GatherElements];
        DynTensor::from(owned.clone()) => [Gather, GatherNd, GatherElements];
        table.rows(&WIDER, ()) => [Gather], not GatherNd, GatherElements: "they name elements, and no rows along an axis";
        plain.to::<f32>() => [Gather], not GatherNd, GatherElements: "they name elements, and no rows along an axis";
        plain.to_dyn(plain_dtype()) => [Gather], not GatherNd, GatherElements: "they name elements, and no rows along an axis";
        table.blocks(Codes::Bits8, 32, &scales).zero_points(&points) => [Gather, GatherNd, GatherElements];
        plain.to::<f32>().rows(&COPY_FLOATS, ()) => [Gather], not GatherNd, GatherElements: "they name no rows along an axis";
        table.blocks(Codes::Bits8, 32, &scales).zero_points(&points).rows(&COPY_FLOATS, ()) => [Gather],
            not GatherNd, GatherElements: "they name no rows along an axis";
    }
    let twice: Vec<f64> = expected.iter().map(|number| number * 2.0).collect();
    gathers! { &twice, &each;
        table.map(&DOUBLED, ()) => [Gather, GatherNd, GatherElements];
        table.map(&DOUBLED, ()).rows(&COPY, ()) => [Gather], not GatherNd, GatherElements: "they name no rows along an axis";
    }
    // Tables whose rows hold their own scale decode to what they were made of.
    let of_bytes = FusedRows::quantize(FusedFormat::Torch8, &floats).unwrap();
    let of_bytes = FusedRows::new(of_bytes.view(), FusedFormat::Torch8, 32).unwrap();
    let decoded = Gather::new(0).run(&of_bytes.to::<f32>(), &[2u8, 0, 2]).unwrap().numbers();
    gathers! { &decoded, &each;
        of_bytes.to::<f32>() => [Gather], not GatherNd, GatherElements: "they name elements, and no rows along an axis";
        of_bytes.to_dyn(plain_dtype()) => [Gather], not GatherNd, GatherElements: "they name elements, and no rows along an axis";
    }
    assert!(decoded.iter().zip(&expected).all(|(got, wanted)| (got - wanted).abs() < 0.1), "{decoded:?}");
    // Zeros are data too.
    let nothing = [0.0; 96];
    gathers! { &nothing, &each;
        zeros::<u8>(&[3, 32]).unwrap() => [Gather, GatherNd, GatherElements];
        zeros_dyn(table_dtype(), &[3, 32]).unwrap() => [Gather, GatherNd, GatherElements];
    }
}

fn plain_dtype() -> gather_core::DType {
    <f32 as Element>::DTYPE
}

fn table_dtype() -> gather_core::DType {
    <u8 as Element>::DTYPE
}

/// The tensors of a call of a scatter, and what is changed in place.
struct Call<'a, S, X, U, D> {
    data: &'a S,
    indices: &'a X,
    updates: &'a U,
    begin: &'a dyn Fn() -> D,
}

/// Goes through the verbs of a scatter.
fn scatters<A, R, S, X, U, D>(op: &ScatterOperator<A, R>, call: &Call<'_, S, X, U, D>, fixed: bool, expected: &[f64])
where
    A: ScatterAttributes,
    R: Reduces<S::Kind>,
    S: Source<Kind: PlainKind>,
    X: Source<Kind: IndexKind>,
    U: Source<Kind = S::Kind>,
    D: Destination<Kind = S::Kind> + Numbers,
    TensorOf<S>: Numbers,
{
    let Call { data, indices, updates, begin } = *call;
    let mut again = op.run(data, indices, updates).unwrap();
    assert_eq!(again.numbers(), expected);
    op.run_into(data, indices, updates, &mut again).unwrap();
    assert_eq!(again.numbers(), expected);
    let mut changed = begin();
    op.run_on(&mut changed, indices, updates).unwrap();
    assert_eq!(changed.numbers(), expected);
    let plan = op.plan(data, indices, updates).unwrap();
    let into = op.plan_into(data, indices, updates, &Layout::contiguous(plan.output_shape()).unwrap()).unwrap();
    let counted = op.plan_any_count(data, indices, updates);
    match &counted {
        Err(error) => assert!(fixed && matches!(error, Error::AnyCountUnavailable { .. }), "{error}"),
        Ok(_) => assert!(!fixed),
    }
    for plan in [plan, into].into_iter().chain(counted) {
        assert_eq!(plan.run(data, indices, updates).unwrap().numbers(), expected);
        plan.run_into(data, indices, updates, &mut again).unwrap();
        assert_eq!(again.numbers(), expected);
        let mut changed = begin();
        plan.run_on(&mut changed, indices, updates).unwrap();
        assert_eq!(changed.numbers(), expected);
    }
}

const DATA: [i32; 4] = [10, 20, 30, 40];
const IDS: [u32; 3] = [3, 0, 3];
const NEW: [i32; 3] = [5, 2, 7];

/// Data, updates and destinations of types that the compiler knows, by operators that take the list of ids as it is and
/// by those that take it as tuples; then the same of types known at run time.
fn each_scatter<L, T>(list: &[ScatterOperator<L>], tuples: &[ScatterOperator<T>])
where
    L: ScatterAttributes + Copy,
    T: ScatterAttributes + Copy,
{
    let (as_list, as_tuples) = (View::new(&IDS, &[3]).unwrap(), View::new(&IDS, &[3, 1]).unwrap());
    let (data, new) = (View::new(&DATA, &[4]).unwrap(), View::new(&NEW, &[3]).unwrap());
    let (owned, dyn_new) = (Tensor::new(DATA.to_vec(), &[4]).unwrap(), DynView::from(&new));
    let (sums, alone) = ([12.0, 20.0, 30.0, 52.0], [2.0, 0.0, 0.0, 12.0]);
    let (digits, digits_alone) = ([102.0, 20.0, 30.0, 4057.0], [2.0, 0.0, 0.0, 57.0]);
    macro_rules! each {
        ($($data:expr, $new:expr, $begin:expr => $expected:expr $(, own $own:expr)?;)*) => {$(
            each!(@ list, as_list, $data, $new, $begin, $expected $(, $own)?);
            each!(@ list, DynView::from(&as_list), $data, $new, $begin, $expected $(, $own)?);
            each!(@ tuples, as_tuples, $data, $new, $begin, $expected $(, $own)?);
            each!(@ tuples, DynView::from(&as_tuples), $data, $new, $begin, $expected $(, $own)?);
        )*};
        (@ $ops:ident, $ids:expr, $data:expr, $new:expr, $begin:expr, $expected:expr $(, $own:expr)?) => {
            for op in $ops {
                let call = Call { data: &$data, indices: &$ids, updates: &$new, begin: &$begin };
                scatters(op, &call, false, &$expected);
                $(scatters(&op.reduce_by(&DIGITS), &call, false, &$own);)?
            }
        };
    }
    let dynamic = || DynTensor::from(owned.clone());
    let none = || DynTensor::zeros::<i32>(&[4]).unwrap();
    each! {
        data, new, || owned.clone() => sums, own digits;
        DATA, NEW, || DATA.to_vec() => sums, own digits;
        DATA.to_vec(), NEW.to_vec(), || owned.clone() => sums, own digits;
        owned, &NEW, || DATA.to_vec() => sums, own digits;
        zeros::<i32>(&[4]).unwrap(), new, || vec![0; 4] => alone, own digits_alone;
        // A reduction of one's own has a type of elements.
        DynView::from(&data), dyn_new, dynamic => sums;
        dynamic(), dyn_new, dynamic => sums;
        zeros_dyn(dyn_new.dtype(), &[4]).unwrap(), dyn_new, none => alone;
    }
}

#[test]
fn scatters_of_every_kind() {
    let add = Reduction::Add;
    each_scatter(&[ScatterElements::new(0).reduction(add)], &[ScatterNd::new().reduction(add)]);
    each_scatter(&[Gather::new(0).adjoint()], &[GatherNd::new().adjoint()]);
    each_scatter::<AdjointAttributes<_>, AdjointAttributes<_>>(
        &[GatherElements::new(0).adjoint()],
        &[GatherNd::new().adjoint()],
    );
}

#[test]
fn what_scatters_refuse() {
    let op = ScatterElements::new(0).reduction(Reduction::Add);
    // A shape that no tensor has.
    let refused = zeros::<f32>(&[usize::MAX, 2]).unwrap_err();
    assert!(matches!(refused, Error::TooManyElements { .. }), "{refused:?}");
    assert_eq!(zeros_dyn(plain_dtype(), &[usize::MAX, 2]).unwrap_err(), refused);
    // Updates of another type, where the compiler does not know it; indices that cannot index come before it.
    let (data, new) = (View::new(&DATA, &[4]).unwrap(), View::new(&[1.0f32; 3], &[3]).unwrap());
    let (data, new) = (DynView::from(&data), DynView::from(&new));
    let mismatch = Error::DTypeMismatch { expected: data.dtype(), got: new.dtype() };
    assert_eq!(op.run(&data, &IDS, &new).unwrap_err(), mismatch);
    assert_eq!(op.plan(&data, &IDS, &new).unwrap_err(), mismatch);
    assert_eq!(op.run_on(&mut DynTensor::zeros::<i32>(&[4]).unwrap(), &IDS, &new).unwrap_err(), mismatch);
    assert_eq!(op.run(&data, &new, &new).unwrap_err(), Error::NotAnIndexType { dtype: new.dtype() });
    // A list has one axis, and no tuples of two components.
    let refused = ScatterElements::new(1).run(&DATA, &IDS, &NEW).unwrap_err();
    assert_eq!(refused, Error::AxisOutOfRange { op: Op::ScatterElements, axis: 1, rank: 1 });
    let refused = ScatterNd::new().run(&DATA, &View::new(&[0u8, 1], &[1, 2]).unwrap(), &[1]).unwrap_err();
    assert!(matches!(refused, Error::TupleLengthOutOfRange { .. }), "{refused:?}");
    // A plan for outputs of another shape than that of data.
    let out = Layout::contiguous(&[5]).unwrap();
    assert!(matches!(op.plan_into(&DATA, &IDS, &NEW, &out), Err(Error::ShapeMismatch { .. })));
    // Sums of elements that are no numbers.
    #[derive(Clone, Copy, Debug, Element)]
    #[repr(u8)]
    #[element(zero = Red)]
    enum Colour {
        Red = 1,
        Blue = 2,
    }
    let colours = zeros::<Colour>(&[4]).unwrap();
    let refused = op.run(&colours, &[1u8], &[Colour::Blue]).unwrap_err();
    assert!(matches!(refused, Error::ReductionUnavailable { .. }), "{refused:?}");
    let put = ScatterElements::new(0).run(&colours, &[1u8], &[Colour::Blue]).unwrap();
    assert!(matches!(put.as_slice(), [Colour::Red, Colour::Blue, Colour::Red, Colour::Red]), "{put:?}");
}

/// A function of a caller's own that takes any source.
fn sums_of<S, X, U>(shape_of: &S, ids: &X, updates: &U) -> Result<TensorOf<S>, Error>
where
    S: Source<Kind: PlainKind>,
    X: Source<Kind: IndexKind>,
    U: Source<Kind = S::Kind>,
{
    ScatterElements::new(0).reduction(Reduction::Add).run(shape_of, ids, updates)
}

#[test]
fn functions_over_any_source() -> Result<(), Error> {
    assert_eq!(sums_of(&DATA, &IDS, &NEW)?.as_slice(), [12, 20, 30, 52]);
    assert_eq!(sums_of(&zeros(&[4])?, &IDS, &[1.5f32, 2.0, 4.0])?.as_slice(), [2.0, 0.0, 0.0, 5.5]);
    fn kind<S: Source<Kind: Kind<Out = i32>>>(_: &S) {}
    kind(&zeros::<i32>(&[1])?);
    Ok(())
}
