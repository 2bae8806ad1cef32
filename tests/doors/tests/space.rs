//! The doors of BatchToSpace: elements of every kind, at every level, on any number of threads.

use std::mem::MaybeUninit;

use gather_core::{
    Argument, BatchToSpace, DynView, Element, Error, KernelSet, Layout, Method, Op, Tensor, View, ViewMut,
    batch_to_space,
};

use crate::common::{Line, Lines, PARS, Packed, Point, Sample, Setting, levels};

gather_core::kernels! {
    /// Kernels for the types of this crate.
    static OWN;
    elements: [Point, Line, Lines, Packed, [u64; 2] as x128];
    indices: [i32];
    ranks: any;
    ops: [batch_to_space];
}

/// Data of shape [4, 3, 5] in blocks of 2 x 2, with one row cropped at the begin and two columns at the end.
const SHAPE: [usize; 3] = [4, 3, 5];
const OUT: [usize; 3] = [1, 5, 8];

fn operator() -> BatchToSpace {
    BatchToSpace::new(&[1, 2, 2], &[0, 1, 0], &[0, 0, 2])
}

/// What comes out, by a plain loop.
fn expected<T: Sample>(data: &[T]) -> Vec<T> {
    let mut out = Vec::new();
    for row in 1..6 {
        for column in 0..8 {
            let batch = row % 2 * 2 + column % 2;
            out.push(data[(batch * SHAPE[1] + row / 2) * SHAPE[2] + column / 2]);
        }
    }
    out
}

fn go<T: Sample>(set: Option<&'static KernelSet>) {
    let values: Vec<T> = (0..60).map(T::sample).collect();
    let data = View::new(&values, &SHAPE).unwrap();
    let expected = Ok(expected(&values));
    let len = OUT.iter().product();
    for level in levels() {
        for par in PARS {
            let setting = Setting { level, par, ..Setting::default() };
            let judge = |door: &str, got| setting.judge(Op::BatchToSpace, door, &expected, got);
            // Safe code cannot read what `run_into` writes to uninitialised memory; what it says must be right still.
            let said = |door: &str, got: Result<(), Error>| judge(door, got.map(|()| expected.clone().unwrap()));
            let op = level.map_or(operator(), |level| operator().level(level)).par(par);
            judge("run", op.run(&data).map(Tensor::into_vec));
            let mut written = vec![T::sample(99); len];
            let ran = op.run_into(&data, &mut ViewMut::new(&mut written, &OUT).unwrap());
            judge("run_into", ran.map(|()| written));
            let mut fresh = vec![MaybeUninit::new(T::sample(99)); len];
            said("run_uninit", op.run_into(&data, &mut ViewMut::new(&mut fresh, &OUT).unwrap()));
            match op.plan(&data) {
                Err(error) => judge("plan", Err(error)),
                Ok(plan) => {
                    assert_eq!(plan.output_shape(), OUT);
                    assert!(!plan.explain().kernel().is_empty());
                    judge("plan.run", plan.run(&data).map(Tensor::into_vec));
                    let mut written = vec![T::sample(99); len];
                    let ran = plan.run_into(&data, &mut ViewMut::new(&mut written, &OUT).unwrap());
                    judge("plan.run_into", ran.map(|()| written));
                    let mut fresh = vec![MaybeUninit::new(T::sample(99)); len];
                    said("plan.run_uninit", plan.run_into(&data, &mut ViewMut::new(&mut fresh, &OUT).unwrap()));
                    let mut written = vec![T::sample(99); len];
                    let ran = plan.run_slices(&values, &mut written);
                    judge("plan.run_slices", ran.map(|()| written));
                    let other = View::new(&values, &[60, 1]).unwrap();
                    assert!(matches!(plan.run(&other), Err(Error::PlanMismatch { .. })));
                }
            }
            let own = set.map_or(op.clone(), |set| op.clone().registry(crate::common::registry(set)));
            let erased = own.run(&DynView::from(&data)).and_then(|out| out.downcast::<T>());
            judge("run_dyn", erased.map(Tensor::into_vec));
            match op.run_cloned(&data) {
                // Cloning needs no level.
                Err(Error::LevelUnavailable { .. }) => assert!(level.is_some()),
                got => assert_eq!(got.unwrap().into_vec(), *expected.as_ref().unwrap()),
            }
        }
    }
}

#[test]
fn elements_of_every_kind() {
    go::<u8>(None);
    go::<u16>(None);
    go::<u32>(None);
    go::<u64>(None);
    go::<[u64; 2]>(Some(&OWN));
    go::<Point>(Some(&OWN));
    go::<Packed>(Some(&OWN));
    go::<Line>(Some(&OWN));
    go::<Lines>(Some(&OWN));
}

/// An output whose rows lie from the last to the first, with a gap between them.
#[test]
fn plans_into_strided_outputs() {
    let values: Vec<u32> = (0..60).map(u32::sample).collect();
    let data = View::new(&values, &SHAPE).unwrap();
    let strides = [0, -9, 1];
    let plan = operator().plan_into(&data, &Layout::strided(&OUT, &strides).unwrap()).unwrap();
    let mut memory = vec![77u32; 45];
    plan.run_into(&data, &mut ViewMut::strided(&mut memory, &OUT, &strides, 36).unwrap()).unwrap();
    assert!(memory.chunks(9).all(|row| row[8] == 77), "the gaps are left alone");
    let picked: Vec<u32> = memory.chunks(9).rev().flat_map(|row| &row[..8]).copied().collect();
    assert_eq!(picked, expected(&values));
    let mut dense = [0; 40];
    let refused = plan.run_into(&data, &mut ViewMut::new(&mut dense, &OUT).unwrap());
    assert!(matches!(refused, Err(Error::PlanMismatch { .. })), "{refused:?}");
    assert!(matches!(plan.run_slices(&values, &mut dense), Err(Error::PlanMismatch { .. })));
    let wrong = operator().plan_into(&data, &Layout::contiguous(&[5, 8]).unwrap()).unwrap_err();
    assert!(
        matches!(wrong, Error::ShapeMismatch { op: Op::BatchToSpace, argument: Argument::Output, .. }),
        "{wrong:?}"
    );
}

#[test]
fn one_method_takes_blocks() {
    let values: Vec<u32> = (0..60).map(u32::sample).collect();
    let data = View::new(&values, &SHAPE).unwrap();
    for &method in Method::ALL {
        let op = operator().method(method);
        let got = [op.run(&data).map(drop), op.plan(&data).map(drop), op.run_cloned(&data).map(drop)];
        for got in got {
            match method {
                Method::Interleaved => assert_eq!(got, Ok(())),
                method => assert_eq!(got, Err(Error::MethodUnavailable { op: Op::BatchToSpace, method })),
            }
        }
    }
}

#[test]
fn types_without_kernels_are_refused_at_run_time() {
    let values = [Point::sample(0); 4];
    let data = View::new(&values, &[4, 1]).unwrap();
    let got = BatchToSpace::new(&[1, 4], &[0; 2], &[0; 2]).run(&DynView::from(&data));
    assert_eq!(got.unwrap_err(), Error::UnknownDType { op: Op::BatchToSpace, dtype: Point::DTYPE });
}

#[test]
fn parameters_from_everywhere() {
    let values: Vec<u32> = (0..60).map(u32::sample).collect();
    let data = View::new(&values, &SHAPE).unwrap();
    let expected = expected(&values);
    let (block, begin, end) = ([1i64, 2, 2], [0i64, 1, 0], [0i64, 0, 2]);
    assert_eq!(batch_to_space(&data, &block, &begin, &end).unwrap().into_vec(), expected);
    assert_eq!(BatchToSpace::openvino2(&block, &begin, &end).run(&data).unwrap().into_vec(), expected);
    assert_eq!(operator().output_shape(&SHAPE).unwrap(), OUT);
    let views = [block, begin, end].map(|list| list.map(|value| value as u8));
    let [block, begin, end] = views.each_ref().map(|list| View::new(list, &[3]).unwrap());
    let op = BatchToSpace::from_tensors(&DynView::from(&block), &DynView::from(&begin), &DynView::from(&end)).unwrap();
    assert_eq!(op.run(&data).unwrap().into_vec(), expected);
    // One value far outside of everything: a stride that no list of one entry takes.
    let one = [2i64];
    let far = View::strided(&one, &[1], &[isize::MAX], 0).unwrap();
    let far = DynView::from(&far);
    assert!(BatchToSpace::from_tensors(&far, &far, &far).is_ok());
    let floats = View::new(&[1.0f32], &[1]).unwrap();
    let refused = BatchToSpace::from_tensors(&DynView::from(&floats), &far, &far);
    assert_eq!(refused.unwrap_err(), Error::NotAnIndexType { dtype: f32::DTYPE });
}
