//! Plans give what fresh calls give, for tensors of their layouts and for no others. Threads may share them.

use gather_core::{
    BatchToSpace, Error, Gather, GatherElements, GatherNd, Layout, Level, OutOfBounds, Par, Plan, Registry, Spec, View,
    ViewMut,
};

#[test]
fn a_plan_gives_what_fresh_calls_give() {
    let op = Gather::new(1).out_of_bounds(OutOfBounds::Wrap);
    let (data_layout, index_layout) = (Layout::contiguous(&[3, 6]).unwrap(), Layout::contiguous(&[4]).unwrap());
    let plan = op.plan(&Spec::<u32>::from_layout(&data_layout), &Spec::<i32>::from_layout(&index_layout)).unwrap();
    assert_eq!(plan.output_shape(), [3, 4]);
    for round in 0..50u32 {
        let data: Vec<u32> = (0..18).map(|at| at * 31 + round).collect();
        let indices: Vec<i32> = (0..4).map(|at| at * 7 - round as i32).collect();
        let (data, indices) = (View::new(&data, &[3, 6]).unwrap(), View::new(&indices, &[4]).unwrap());
        let fresh = op.run(&data, &indices).unwrap();
        assert_eq!(plan.run(&data, &indices).unwrap(), fresh);
        let mut out = vec![0; 12];
        plan.run_into(&data, &indices, &mut ViewMut::new(&mut out, &[3, 4]).unwrap()).unwrap();
        assert_eq!(out, fresh.as_slice());
    }
}

#[test]
fn tensors_of_other_layouts_are_refused() {
    let layout = |shape: &[usize]| Layout::contiguous(shape).unwrap();
    let plan = GatherElements::new(0)
        .plan(&Spec::<u8>::from_layout(&layout(&[2, 2])), &Spec::<u8>::from_layout(&layout(&[1, 2])))
        .unwrap();
    let values = [1u8, 2, 3, 4];
    let square = View::new(&values, &[2, 2]).unwrap();
    let flat = View::new(&values, &[4, 1]).unwrap();
    let transposed = square.permuted(&[1, 0]).unwrap();
    let indices = View::new(&[1u8, 0], &[1, 2]).unwrap();
    assert_eq!(plan.run(&square, &indices).unwrap().as_slice(), [3, 2]);
    let texts = [
        (plan.run(&flat, &indices), "the plan was made for data of shape [2, 2], not [4, 1]"),
        (plan.run(&transposed, &indices), "the plan was made for other strides of data, of shape [2, 2]"),
        (plan.run(&square, &square), "the plan was made for indices of shape [1, 2], not [2, 2]"),
    ];
    for (got, text) in texts {
        assert_eq!(got.unwrap_err().to_string(), text);
    }
    let mut out = [0; 4];
    let wrong = plan.run_into(&square, &indices, &mut ViewMut::new(&mut out, &[4]).unwrap());
    assert_eq!(wrong.unwrap_err().to_string(), "the plan was made for output of shape [1, 2], not [4]");
}

#[test]
fn a_plan_says_what_it_will_do() {
    let layout = |shape: &[usize]| Layout::contiguous(shape).unwrap();
    let op = Gather::new(0).level(Level::Scalar).par(Par::Seq);
    let plan =
        op.plan(&Spec::<f32>::from_layout(&layout(&[1000, 16])), &Spec::<i64>::from_layout(&layout(&[8]))).unwrap();
    assert_eq!(plan.explain().kernel(), "gather_rows_i64_r1__scalar");
    assert_eq!(
        plan.explain().to_string(),
        "gather: gather_rows_i64_r1__scalar -> [8, 16]\n  \
         inner loop of 8: output +64, data +0, indices +8 bytes\n  \
         index (i64) along axis 0 of 1000: data +64 bytes\n  \
         method direct\n  \
         moves 64 bytes a row, 512 in all; level scalar, tasks 1"
    );
    let pairs =
        op.plan(&Spec::<f32>::from_layout(&layout(&[1000, 2])), &Spec::<u8>::from_layout(&layout(&[8]))).unwrap();
    assert_eq!(pairs.explain().kernel(), "gather_x64_u8_r1__scalar", "pairs of f32 are moved as units of 64 bits");
    let copy = BatchToSpace::new(&[1, 2, 1], &[0; 3], &[0; 3]).level(Level::Scalar);
    let copy = copy.plan(&Spec::<u8>::from_layout(&layout(&[2, 5, 100]))).unwrap();
    assert_eq!(copy.explain().kernel(), "rearrange_rows_r1__scalar");
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn plans_and_registries_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Plan<f32, i64>>();
    shared::<gather_core::RearrangePlan<f32>>();
    shared::<Registry>();

    let layout = |shape: &[usize]| Layout::contiguous(shape).unwrap();
    let plan = Gather::new(0)
        .plan(&Spec::<u64>::from_layout(&layout(&[64])), &Spec::<u32>::from_layout(&layout(&[10_000])))
        .unwrap();
    let data: Vec<u64> = (0..64).map(|at| at * at).collect();
    let indices: Vec<u32> = (0..10_000).map(|at| at * 7 % 64).collect();
    let (data, indices) = (View::new(&data, &[64]).unwrap(), View::new(&indices, &[10_000]).unwrap());
    let expected = plan.run(&data, &indices).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(plan.run(&data, &indices).unwrap(), expected));
        }
    });
}

#[test]
fn a_level_that_the_machine_lacks_is_an_error_and_not_a_crash() {
    let (data, indices) = (View::new(&[1u8], &[1]).unwrap(), View::new(&[0u8], &[1]).unwrap());
    for &level in Level::ALL {
        let got = Gather::new(0).level(level).run(&data, &indices);
        if level.is_available() {
            assert_eq!(got.unwrap().as_slice(), [1]);
        } else {
            assert_eq!(got.unwrap_err(), Error::LevelUnavailable { level });
        }
    }
}

#[test]
fn plans_of_layouts_over_no_slice_are_explained() {
    let data = Layout::strided(&[2, 2], &[isize::MAX, 1]).unwrap();
    let plan = GatherNd::new().plan(&Spec::<u64>::from_layout(&data), &Spec::<i32>::new(&[1, 2]).unwrap()).unwrap();
    let explain = plan.explain().to_string();
    let step = 8 * isize::MAX as i128;
    assert!(explain.contains(&format!("  index (i32) along axis 0 of 2: data +{step} bytes\n")), "{explain}");
}
