//! Plans for any count of indices against fresh calls: operators x layouts x counts x policies x levels x methods.

use gather_core::{
    DynTensor, DynView, Element, Error, Gather, GatherElements, GatherNd, GatherOperator, Given, Index,
    IndexAttributes, IndexType, Layout, Method, Par, Spec, Tensor, View, ViewMut,
};

use crate::support::{RULES, available_levels};

const COUNTS: [usize; 14] = [0, 1, 2, 7, 8, 31, 32, 33, 65, 100, 511, 513, 1025, 2100];

/// A layout of data, and where its first coordinate lies in memory of [`MEMORY`] elements.
struct Place {
    shape: &'static [usize],
    strides: &'static [isize],
    offset: usize,
}

const MEMORY: usize = 6000;

const fn place(shape: &'static [usize], strides: &'static [isize], offset: usize) -> Place {
    Place { shape, strides, offset }
}

/// What an operator with its attributes takes: layouts of data, and what indices have behind their first dimension.
fn check<A, T, I>(op: &GatherOperator<A>, places: &[Place], inner: &[usize], make: impl Fn(usize) -> T)
where
    A: IndexAttributes + Clone + std::fmt::Debug,
    T: Element + PartialEq + std::fmt::Debug,
    I: Index + TryFrom<i64>,
{
    let memory: Vec<T> = (0..MEMORY).map(make).collect();
    let mut planned = 0;
    for place in places {
        let data = View::strided(&memory, place.shape, place.strides, place.offset).unwrap();
        for expected in [0, 1, 40, 2000] {
            for (negative, out, _) in RULES {
                for level in available_levels() {
                    let methods = Method::ALL.iter().map(|&method| (Some(method), Par::Seq));
                    for (method, par) in methods.chain([(None, Par::Seq), (None, Par::Threads(3))]) {
                        let op = op.clone().negative_index(negative).out_of_bounds(out).level(level).par(par);
                        let op = match method {
                            Some(method) => op.method(method),
                            None => op,
                        };
                        let shape = |count: usize| [&[count], inner].concat();
                        let ids = Layout::contiguous(&shape(expected)).unwrap();
                        let plan = match op.plan_any_count(&data, &Spec::<I>::from_layout(&ids)) {
                            Ok(plan) => plan,
                            Err(Error::MethodUnavailable { .. }) => continue,
                            Err(error) => panic!("{op:?}: {error}"),
                        };
                        planned += 1;
                        // Each plan is tried on some of the counts.
                        for count in COUNTS.into_iter().skip(planned % 3).step_by(3) {
                            let least = place.shape.iter().copied().min().unwrap_or(1) as i64;
                            let value = |at: usize| match at * 7919 % 997 {
                                0 if planned % 2 == 0 => 120,
                                1 if planned % 2 == 0 => -100,
                                x if planned % 4 == 0 => x as i64 % least - least,
                                x => x as i64 % least,
                            };
                            let index = |value: i64| I::try_from(value).or(I::try_from(101)).ok().unwrap();
                            let len = shape(count).iter().product();
                            let values: Vec<I> = (0..len).map(|at| index(value(at))).collect();
                            let ids = View::new(&values, &shape(count)).unwrap();
                            let fresh = op.clone().method(Method::Direct).run(&data, &ids);
                            let what =
                                || format!("{op:?} of {:?} {:?}, {count} of {expected}", place.shape, place.strides);
                            assert_eq!(plan.run(&data, &ids), fresh, "{}", what());
                            let out_shape: Vec<usize> =
                                [&[count], plan.output_shape().split_first().unwrap().1].concat();
                            let mut out = Tensor::full(&out_shape, memory[0]).unwrap();
                            let ran = plan.run_into(&data, &ids, &mut out.view_mut());
                            assert_eq!(ran.map(|()| out.clone()), fresh, "{}", what());
                            if data.is_contiguous() && place.offset == 0 {
                                let mut out = vec![memory[0]; out.len()];
                                let ran = plan.run_slices(&memory[..data.len()], &values, &mut out);
                                let got = ran.map(|()| Tensor::new(out.clone(), &out_shape).unwrap());
                                assert_eq!(got, fresh, "{}", what());
                                let short = plan.run_slices(&memory[..data.len()], &values, &mut out[1.min(count)..]);
                                assert!(count == 0 || matches!(short, Err(Error::PlanMismatch { .. })));
                            }
                            let mut wrong = vec![memory[0]; out.len() + out.len() / count.max(1)];
                            let wrong_shape = [&[count + 1], &out_shape[1..]].concat();
                            if let Ok(mut wrong) = ViewMut::new(&mut wrong, &wrong_shape) {
                                let ran = plan.run_into(&data, &ids, &mut wrong);
                                assert!(matches!(ran, Err(Error::PlanMismatch { .. })));
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(planned > 0);
}

const ROWS: [Place; 6] = [
    place(&[9, 5], &[5, 1], 0),
    place(&[9, 5], &[1, 9], 0),
    place(&[9, 5], &[-5, 1], 40),
    place(&[9, 5], &[0, 1], 3),
    place(&[9, 2, 3], &[40, -3, 1], 3),
    place(&[1, 4], &[1000, 2], 0),
];

#[test]
fn rows_by_any_number_of_ids() {
    let gather = Gather::new(0);
    check::<_, u32, u8>(&gather, &ROWS, &[], |at| at as u32);
    check::<_, u8, i8>(&gather, &[place(&[9], &[1], 0), place(&[9], &[-1], 8), place(&[9], &[3], 0)], &[], |at| {
        at as u8
    });
    check::<_, u64, i64>(&gather, &ROWS, &[3], |at| at as u64);
    check::<_, [f32; 3], i32>(&gather, &ROWS[..3], &[2, 2], |at| [at as f32; 3]);
    check::<_, [f32; 3], u16>(&gather, &[place(&[9], &[1], 0)], &[], |at| [at as f32; 3]);
}

#[test]
fn elements_by_any_number_of_rows_of_indices() {
    let elements = GatherElements::new(0);
    check::<_, u32, i64>(&elements, &ROWS[..4], &[5], |at| at as u32);
    check::<_, u64, u8>(&elements, &ROWS[..4], &[3], |at| at as u64);
    check::<_, u8, i32>(&elements, &ROWS[4..5], &[2, 2], |at| at as u8);
    check::<_, u16, i16>(&elements, &[place(&[9], &[1], 0), place(&[9], &[-2], 17)], &[], |at| at as u16);
    check::<_, f32, u32>(&elements, &[place(&[9, 90], &[90, 1], 0)], &[90], |at| at as f32);
}

#[test]
fn slices_by_any_number_of_tuples() {
    let tuples = GatherNd::new();
    check::<_, u32, i64>(&tuples, &ROWS, &[1], |at| at as u32);
    check::<_, u32, u8>(&tuples, &ROWS, &[2], |at| at as u32);
    check::<_, u64, i32>(&tuples, &ROWS[4..5], &[2, 3], |at| at as u64);
    check::<_, u8, i64>(&tuples, &ROWS[..3], &[4, 2], |at| at as u8);
}

gather_core::map_kernels! {
    static SCALED = |value: i16, scale: f64, bias: i64| -> f64 { f64::from(value) * scale + bias as f64 };
}

/// A map's parameters belong to rows of data, so that any number of ids has them.
#[test]
fn rows_that_maps_convert_by_any_number_of_ids() {
    let values: Vec<i16> = (0..600).map(|at| at * 31 % 997 - 400).collect();
    let data = View::new(&values, &[40, 15]).unwrap();
    let (scales, biases): (Vec<f64>, Vec<i64>) = (0..40).map(|at| (f64::from(at) * 0.25, i64::from(at) - 9)).unzip();
    let biases: Vec<i64> = biases.iter().cycle().take(600).copied().collect();
    for (negative, out_of_bounds, _) in RULES {
        for par in [Par::Seq, Par::Threads(3)] {
            let op = Gather::new(0).negative_index(negative).out_of_bounds(out_of_bounds).par(par);
            for expected in [1, 40, 2000] {
                let ids = Layout::contiguous(&[expected]).unwrap();
                let plan = op
                    .plan_any_count(&Spec::from_layout(data.layout()).map(&SCALED), &Spec::from_layout(&ids))
                    .unwrap();
                let erased = op
                    .plan_any_count(
                        &Spec::from_dtype(i16::DTYPE, data.layout()),
                        &Spec::from_dtype(IndexType::I32.dtype(), &ids),
                    )
                    .unwrap();
                for count in COUNTS {
                    let ids: Vec<i32> = (0..count).map(|at| at as i32 * 7 % 47 - 3).collect();
                    let ids = View::new(&ids, &[count]).unwrap();
                    let params = (Given::PerRow(&scales[..]), Given::PerElement(&biases[..]));
                    let fresh = op.run(&data.map(&SCALED, params), &ids);
                    assert_eq!(plan.run(&data.map(&SCALED, params), &ids), fresh, "{count} of {expected}");
                    let fresh = op.run(&data, &ids);
                    let got = erased.run(&DynView::from(&data), &DynView::from(&ids));
                    assert_eq!(got.and_then(DynTensor::downcast), fresh, "{count} of {expected}");
                }
            }
        }
    }
    let tied = GatherElements::new(1)
        .plan_any_count(&Spec::from_layout(data.layout()).map(&SCALED), &Spec::<i32>::from_layout(data.layout()));
    assert!(matches!(tied, Err(Error::AnyCountUnavailable { .. })));
}
