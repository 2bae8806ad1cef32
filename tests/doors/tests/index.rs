//! The doors of the index operators: elements of every kind, with every setting.

use std::mem::MaybeUninit;

use gather_core::{
    DynView, Element, Error, Gather, GatherElements, GatherNd, Index, IndexType, KernelSet, Layout, Op, Plan, Spec,
    Tensor, View, ViewMut, gather, gather_elements, gather_nd,
};

use crate::common::{Bad, Line, Lines, Packed, Point, Sample, Setting, policies, set, settings};

gather_core::kernels! {
    /// Kernels for the types of this crate.
    static OWN;
    elements: [Point, Line, Lines, Packed, [u64; 2] as x128];
    indices: [i32];
    ranks: any;
    ops: [gather, gather_elements, gather_nd];
}

/// The doors of an index operator.
trait Doors: Clone {
    const OP: Op;
    fn with(self, setting: &Setting) -> Self;
    fn output_shape(&self, data: &[usize], indices: &[usize]) -> Result<Vec<usize>, Error>;
    fn run<T: Element, I: Index>(&self, data: &View<'_, T>, indices: &View<'_, I>) -> Result<Vec<T>, Error>;
    fn run_into<T: Element, I: Index>(&self, call: &Given<'_, T, I>, out: &mut [T]) -> Result<(), Error>;
    fn run_uninit<T: Element, I: Index>(&self, call: &Given<'_, T, I>, out: &mut [MaybeUninit<T>])
    -> Result<(), Error>;
    fn run_cloned<T: Clone + Default, I: Index>(&self, call: &Given<'_, T, I>) -> Result<Vec<T>, Error>;
    fn run_cloned_or<T: Clone, I: Index>(&self, call: &Given<'_, T, I>, fill: &T) -> Result<Vec<T>, Error>;
    fn run_dyn<T: Element, I: Index>(
        &self,
        set: Option<&'static KernelSet>,
        call: &Given<'_, T, I>,
    ) -> Result<Tensor<T>, Error>;
    /// Runs plans through each of their doors, which are named.
    fn planned<T: Element, I: Index>(&self, call: &Given<'_, T, I>, fill: T, judge: &mut Judge<'_, T>);
}

/// What looks at the result of a door by its name; at no values where safe code cannot read them.
type Judge<'a, T> = dyn FnMut(&str, Result<Option<Vec<T>>, Error>) + 'a;

/// The tensors of a call, with the slices that they are views of, and the shape of its result.
struct Given<'a, T, I> {
    values: &'a [T],
    ids: &'a [I],
    data: View<'a, T>,
    indices: View<'a, I>,
    out: &'a [usize],
}

impl<'a, T, I> Given<'a, T, I> {
    fn new((values, shape): (&'a [T], &[usize]), (ids, index_shape): (&'a [I], &[usize]), out: &'a [usize]) -> Self {
        let data = View::new(values, shape).expect("data fits its shape");
        Given { values, ids, data, indices: View::new(ids, index_shape).expect("indices fit their shape"), out }
    }
}

/// Runs a plan through each of its doors, which are named.
fn run_planned<T: Element, I: Index>(
    name: &str,
    plan: Result<Plan<T, I>, Error>,
    call: &Given<'_, T, I>,
    fill: T,
    judge: &mut Judge<'_, T>,
) {
    let Given { values, ids, data, indices, out } = call;
    let plan = match plan {
        Ok(plan) => plan,
        Err(error) => return judge(name, Err(error)),
    };
    assert_eq!(plan.output_shape(), *out);
    assert!(!plan.explain().to_string().is_empty());
    judge(&format!("{name}.run"), plan.run(data, indices).map(|out| Some(out.into_vec())));
    let len = out.iter().product();
    let mut written = vec![fill; len];
    let ran = plan.run_into(data, indices, &mut ViewMut::new(&mut written, out).expect("it fits"));
    judge(&format!("{name}.run_into"), ran.map(|()| Some(written)));
    let mut written = vec![fill; len];
    let ran = plan.run_slices(values, ids, &mut written);
    judge(&format!("{name}.run_slices"), ran.map(|()| Some(written)));
    let mut fresh = vec![MaybeUninit::new(fill); len];
    let ran = plan.run_into(data, indices, &mut ViewMut::new(&mut fresh, out).expect("it fits"));
    judge(&format!("{name}.run_uninit"), ran.map(|()| None));
    let other = Layout::contiguous(&[1; 9]).expect("one element");
    let wrong = View::new(std::slice::from_ref(&fill), other.shape()).expect("one element");
    assert!(matches!(plan.run(&wrong, indices), Err(Error::PlanMismatch { .. })));
}

macro_rules! doors {
    ($($op:ident),*) => {$(
        impl Doors for $op {
            const OP: Op = Op::$op;

            fn with(self, setting: &Setting) -> Self {
                set!(self, setting)
            }

            fn output_shape(&self, data: &[usize], indices: &[usize]) -> Result<Vec<usize>, Error> {
                Ok(self.output_shape(data, indices)?.to_vec())
            }

            fn run<T: Element, I: Index>(&self, data: &View<'_, T>, indices: &View<'_, I>) -> Result<Vec<T>, Error> {
                Ok(self.run(data, indices)?.into_vec())
            }

            fn run_into<T: Element, I: Index>(&self, call: &Given<'_, T, I>, out: &mut [T]) -> Result<(), Error> {
                self.run_into(&call.data, &call.indices, &mut ViewMut::new(out, call.out)?)
            }

            fn run_uninit<T: Element, I: Index>(
                &self,
                call: &Given<'_, T, I>,
                out: &mut [MaybeUninit<T>],
            ) -> Result<(), Error> {
                self.run_into(&call.data, &call.indices, &mut ViewMut::new(out, call.out)?)
            }

            fn run_cloned<T: Clone + Default, I: Index>(&self, call: &Given<'_, T, I>) -> Result<Vec<T>, Error> {
                Ok(self.run_cloned(&call.data, &call.indices)?.into_vec())
            }

            fn run_cloned_or<T: Clone, I: Index>(&self, call: &Given<'_, T, I>, fill: &T) -> Result<Vec<T>, Error> {
                Ok(self.run_cloned_or(&call.data, &call.indices, fill)?.into_vec())
            }

            fn run_dyn<T: Element, I: Index>(
                &self,
                set: Option<&'static KernelSet>,
                call: &Given<'_, T, I>,
            ) -> Result<Tensor<T>, Error> {
                                let (data, indices) = (DynView::from(&call.data), DynView::from(&call.indices));
                set.map_or(*self, |set| self.registry(crate::common::registry(set))).run(&data, &indices)?.downcast()
            }

            fn planned<T: Element, I: Index>(
                &self,
                call: &Given<'_, T, I>,
                fill: T,
                judge: &mut Judge<'_, T>,
            ) {
                let (data, indices) = (call.data.layout(), call.indices.layout());
                let (data, indices) = (Spec::<T>::from_layout(data), Spec::<I>::from_layout(indices));
                run_planned("plan", self.plan(&data, &indices), call, fill, judge);
                let out = Layout::contiguous(call.out).expect("the shape of a result");
                run_planned("plan_into", self.plan_into(&data, &indices, &out), call, fill, judge);
                run_planned("plan_any_count", self.plan_any_count(&data, &indices), call, fill, judge);
            }
        }
    )*};
}
doors! { Gather, GatherElements, GatherNd }

/// Goes through every door of an operator.
fn go<O: Doors, T: Sample, I: Index>(
    op: &O,
    setting: &Setting,
    call: &Given<'_, T, I>,
    set: Option<&'static KernelSet>,
    expected: &Result<Vec<T>, Bad>,
) {
    let op = op.clone().with(setting);
    let judge = |door: &str, got| setting.judge(O::OP, door, expected, got);
    // A door whose memory safe code cannot read gives no values; what it says must be right still.
    let said = |door: &str, got: Result<(), Error>| judge(door, got.map(|()| expected.clone().unwrap_or_default()));
    assert_eq!(op.output_shape(call.data.shape(), call.indices.shape()).expect("legal shapes"), call.out);
    judge("run", op.run(&call.data, &call.indices));
    let len = call.out.iter().product();
    let mut written = vec![T::sample(99); len];
    let ran = op.run_into(call, &mut written);
    judge("run_into", ran.map(|()| written));
    said("run_uninit", op.run_uninit(call, &mut vec![MaybeUninit::new(T::sample(99)); len]));
    op.planned(call, T::sample(99), &mut |door, got| match got {
        Ok(Some(values)) => judge(door, Ok(values)),
        Ok(None) => said(door, Ok(())),
        Err(error) => judge(door, Err(error)),
    });
    let erased = op.run_dyn(set, call);
    let unknown = matches!(erased, Err(Error::UnknownDType { .. }));
    assert!(!unknown || set.is_none(), "{}: no kernels for {:?}", O::OP, T::DTYPE);
    if !unknown {
        judge("run_dyn", erased.map(Tensor::into_vec));
    }
    if setting.level.is_none() && setting.method.is_none() {
        judge("run_cloned", op.run_cloned(call));
        judge("run_cloned_or", op.run_cloned_or(call, &T::ZERO));
    } else {
        // Cloning needs neither levels nor methods: it may refuse what is forced on it, or go on without.
        match op.run_cloned(call) {
            Err(Error::LevelUnavailable { .. } | Error::MethodUnavailable { .. }) => {}
            got => Setting { level: None, method: None, ..*setting }.judge(O::OP, "run_cloned", expected, got),
        }
    }
}

/// Numbers of lanes: more than the 64 from which on tables pay.
const LANES: usize = 70;

/// Indices from -9 to 9, or in range for every policy that asks for it.
fn indices(len: usize, dim: usize, tame: bool) -> Vec<i32> {
    (0..len).map(|at| if tame { at % dim } else { at * 7 % 19 } as i32 - if tame { 0 } else { 9 }).collect()
}

fn exact(indices: &[i32]) -> Vec<i128> {
    indices.iter().map(|&index| i128::from(index)).collect()
}

/// All three operators on one type with every setting, on indices that are in range and on others.
fn every_setting<T: Sample>(set: Option<&'static KernelSet>) {
    let values: Vec<T> = (0..5 * LANES).map(T::sample).collect();
    for tame in [true, false] {
        let rows = indices(LANES, 5, tame);
        let elements = indices(3 * LANES, 5, tame);
        let pairs = indices(2 * LANES, 3, tame);
        for setting in settings() {
            let expected = setting.gather(&values[..15], 3, &exact(&rows), T::ZERO);
            let given = Given::new((&values[..15], &[5, 3]), (&rows, &[LANES]), &[LANES, 3]);
            go(&Gather::new(0), &setting, &given, set, &expected);
            let expected = setting.gather_elements(&values, LANES, &exact(&elements), T::ZERO);
            let given = Given::new((&values, &[5, LANES]), (&elements, &[3, LANES]), &[3, LANES]);
            go(&GatherElements::new(0), &setting, &given, set, &expected);
            let expected = setting.gather_nd(&values[..15], 3, &exact(&pairs), T::ZERO);
            let given = Given::new((&values[..15], &[5, 3]), (&pairs, &[LANES, 2]), &[LANES]);
            go(&GatherNd::new(), &setting, &given, set, &expected);
        }
    }
}

#[test]
fn numbers() {
    every_setting::<u8>(None);
    every_setting::<u16>(None);
    every_setting::<u32>(None);
    every_setting::<u64>(None);
}

#[test]
fn sixteen_bytes() {
    every_setting::<[u64; 2]>(Some(&OWN));
}

#[test]
fn twelve_and_five_bytes() {
    every_setting::<Point>(Some(&OWN));
    every_setting::<Packed>(Some(&OWN));
}

#[test]
fn a_line_and_its_alignment() {
    every_setting::<Line>(Some(&OWN));
}

#[test]
fn two_lines_and_their_alignment() {
    every_setting::<Lines>(Some(&OWN));
}

#[test]
fn types_without_kernels_are_refused_at_run_time() {
    let (values, indices) = ([Point::sample(0); 3], [0i32, 2]);
    let (data, indices) = (View::new(&values, &[3]).unwrap(), View::new(&indices, &[2]).unwrap());
    let got = Gather::new(0).run(&DynView::from(&data), &DynView::from(&indices));
    assert_eq!(got.unwrap_err(), Error::UnknownDType { op: Op::Gather, dtype: Point::DTYPE });
    let floats = View::new(&[0.0f32], &[1]).unwrap();
    let got = Gather::new(0).run(&DynView::from(&floats), &DynView::from(&floats));
    assert_eq!(got.unwrap_err(), Error::NotAnIndexType { dtype: f32::DTYPE });
}

#[test]
fn functions_without_settings() {
    let (values, rows) = ([1u32, 2, 3, 4], [1u8, 0]);
    let data = View::new(&values, &[2, 2]).unwrap();
    let picked = gather(&data, &View::new(&rows, &[2]).unwrap(), 0).unwrap();
    assert_eq!((picked.shape(), picked.as_slice()), (&[2, 2][..], &[3, 4, 1, 2][..]));
    let picked = gather_elements(&data, &View::new(&rows, &[1, 2]).unwrap(), 0).unwrap();
    assert_eq!(picked.as_slice(), [3, 2]);
    let picked = gather_nd(&data, &View::new(&rows, &[1, 2]).unwrap()).unwrap();
    assert_eq!(picked.as_slice(), [3]);
}

/// Every index type through every door, under every policy.
fn every_index_type<I: Index + TryFrom<i128>>() {
    let values: Vec<u32> = (0..15).map(u32::sample).collect();
    for (negative, out_of_bounds) in policies() {
        let setting = Setting { negative, out_of_bounds, ..Setting::default() };
        for raw in [&[0i128, 4, 2, 1][..], &[4, -1, -5, 3], &[0, 5, 1, -6], &[127, -128, 255, i128::from(u64::MAX)]] {
            let fits: Vec<i128> = raw.iter().copied().filter(|&value| I::try_from(value).is_ok()).collect();
            let typed: Vec<I> = fits.iter().map(|&value| I::try_from(value).ok().expect("it fits")).collect();
            let (out, len) = ([typed.len(), 3], typed.len());
            let expected = setting.gather(&values, 3, &fits, 0);
            let given = Given::new((&values, &[5, 3]), (&typed, &[len]), &out);
            go(&Gather::new(0), &setting, &given, None, &expected);
        }
    }
}

#[test]
fn every_index_type_through_every_door() {
    every_index_type::<i8>();
    every_index_type::<i16>();
    every_index_type::<i32>();
    every_index_type::<i64>();
    every_index_type::<isize>();
    every_index_type::<u8>();
    every_index_type::<u16>();
    every_index_type::<u32>();
    every_index_type::<u64>();
    every_index_type::<usize>();
    for &ty in IndexType::ALL {
        assert_eq!(IndexType::from_dtype(ty.dtype()), Some(ty));
        let (least, most) = ty.bounds();
        assert_eq!(most - least, (1 << (8 * ty.size())) - 1, "{ty}");
        assert_eq!((ty.size(), ty.fixed_width().size()), (ty.dtype().size(), ty.size()));
    }
    assert_eq!(IndexType::from_dtype(f32::DTYPE), None);
}
