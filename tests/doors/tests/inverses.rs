//! The doors of SpaceToBatch, DepthToSpace and SpaceToDepth: elements of every kind, at every level, on any number of
//! threads.

use std::mem::MaybeUninit;

use gather_core::{
    BatchToSpace, DepthMode, DepthToSpace, DynView, DynViewMut, Element, Error, KernelSet, Layout, Method, Op,
    Registry, SpaceAttributes, SpaceOperator, SpaceToBatch, SpaceToDepth, Tensor, View, ViewMut, depth_to_space,
    space_to_batch, space_to_depth,
};

use crate::common::{Line, Lines, PARS, Packed, Point, Sample, Setting, levels};

gather_core::kernels! {
    /// Kernels for the types of this crate.
    static OWN;
    elements: [Point, Line, Lines, Packed, [u64; 2] as x128];
    indices: [i32];
    ranks: any;
    ops: [space_to_batch, depth_to_space, space_to_depth];
}

/// What an operator makes of 48 elements: shapes, and the positions of its elements in data; `None` where it pads.
struct Expected {
    op: Op,
    shape: Vec<usize>,
    out: Vec<usize>,
    from: Vec<Option<usize>>,
}

impl Expected {
    /// By a plain loop over the output, whose elements come from a coordinate of data.
    fn new(
        op: Op,
        shape: &[usize],
        out: &[usize],
        from: impl Fn(usize, usize, usize, usize) -> Option<[usize; 4]>,
    ) -> Self {
        let &[n, c, h, w] = out else { panic!("four dimensions") };
        let mut positions = Vec::new();
        for at in 0..n * c * h * w {
            let coordinate = from(at / (c * h * w), at / (h * w) % c, at / w % h, at % w);
            let position = |at: [usize; 4]| at.iter().zip(shape).fold(0, |position, (&at, &dim)| position * dim + at);
            positions.push(coordinate.map(position));
        }
        Expected { op, shape: shape.to_vec(), out: out.to_vec(), from: positions }
    }
}

/// Data of shape [1, 2, 4, 6], a row padded before it and three behind.
fn apart() -> (SpaceToBatch, Expected) {
    let op = SpaceToBatch::new(&[1, 1, 2, 3], &[0, 0, 1, 0], &[0, 0, 3, 0]);
    let from = |n: usize, c, h: usize, w: usize| {
        let row = (h * 2 + n / 3).checked_sub(1).filter(|&row| row < 4)?;
        Some([0, c, row, w * 3 + n % 3])
    };
    (op, Expected::new(Op::SpaceToBatch, &[1, 2, 4, 6], &[6, 2, 4, 2], from))
}

fn to_space(mode: DepthMode) -> (DepthToSpace, Expected) {
    let from = move |n, c: usize, h: usize, w: usize| {
        let place = h % 2 * 2 + w % 2;
        let depth = if mode == DepthMode::Dcr { place * 2 + c } else { c * 4 + place };
        Some([n, depth, h / 2, w / 2])
    };
    (DepthToSpace::new(2, mode), Expected::new(Op::DepthToSpace, &[1, 8, 2, 3], &[1, 2, 4, 6], from))
}

fn to_depth(mode: DepthMode) -> (SpaceToDepth, Expected) {
    let from = move |n, c: usize, h: usize, w: usize| {
        let (place, depth) = if mode == DepthMode::Dcr { (c / 2, c % 2) } else { (c % 4, c / 4) };
        Some([n, depth, h * 2 + place / 2, w * 2 + place % 2])
    };
    (SpaceToDepth::new(2, mode), Expected::new(Op::SpaceToDepth, &[1, 2, 4, 6], &[1, 8, 2, 3], from))
}

fn go<A: SpaceAttributes + Clone, T: Sample>(
    (op, what): (SpaceOperator<A>, Expected),
    set: Option<&'static KernelSet>,
    cloned: impl Fn(&SpaceOperator<A>, &View<'_, T>) -> Result<Tensor<T>, Error>,
) {
    let values: Vec<T> = (0..48).map(T::sample).collect();
    let data = View::new(&values, &what.shape).unwrap();
    let expected: Vec<T> = what.from.iter().map(|from| from.map_or(T::ZERO, |at| values[at])).collect();
    let (len, out, expected) = (expected.len(), &what.out[..], Ok(expected));
    assert_eq!(op.output_shape(&what.shape).unwrap()[..], *out);
    for level in levels() {
        for par in PARS {
            let setting = Setting { level, par, ..Setting::default() };
            let judge = |door: &str, got| setting.judge(what.op, door, &expected, got);
            // Safe code cannot read what `run_into` writes to uninitialised memory; what it says must be right still.
            let said = |door: &str, got: Result<(), Error>| judge(door, got.map(|()| expected.clone().unwrap()));
            let op = level.map_or(op.clone(), |level| op.clone().level(level)).par(par);
            let fresh = || vec![MaybeUninit::new(T::sample(99)); len];
            judge("run", op.run(&data).map(Tensor::into_vec));
            let mut written = vec![T::sample(99); len];
            let ran = op.run_into(&data, &mut ViewMut::new(&mut written, out).unwrap());
            judge("run_into", ran.map(|()| written));
            said("run_uninit", op.run_into(&data, &mut ViewMut::new(&mut fresh(), out).unwrap()));
            match op.plan(&data) {
                Err(error) => judge("plan", Err(error)),
                Ok(plan) => {
                    assert_eq!(plan.output_shape(), out);
                    judge("plan.run", plan.run(&data).map(Tensor::into_vec));
                    let mut written = vec![T::sample(99); len];
                    let ran = plan.run_into(&data, &mut ViewMut::new(&mut written, out).unwrap());
                    judge("plan.run_into", ran.map(|()| written));
                    said("plan.run_uninit", plan.run_into(&data, &mut ViewMut::new(&mut fresh(), out).unwrap()));
                    let mut written = vec![T::sample(99); len];
                    let ran = plan.run_slices(&values, &mut written);
                    judge("plan.run_slices", ran.map(|()| written));
                }
            }
            let layout = Layout::contiguous(out).unwrap();
            match op.plan_into(&data, &layout) {
                Err(error) => judge("plan_into", Err(error)),
                Ok(plan) => judge("plan_into, run", plan.run(&data).map(Tensor::into_vec)),
            }
            let own = set.map_or(op.clone(), |set| op.clone().registry(crate::common::registry(set)));
            let erased = DynView::from(&data);
            let tensor = |got: Result<gather_core::DynTensor, Error>| {
                got.and_then(|out| out.downcast::<T>()).map(Tensor::into_vec)
            };
            judge("run_dyn", tensor(own.run(&erased)));
            let mut written = vec![T::sample(99); len];
            let mut view = ViewMut::new(&mut written, out).unwrap();
            let ran = own.run_into(&erased, &mut DynViewMut::from(&mut view));
            judge("run_dyn_into", ran.map(|()| written));
            let planned = own.plan(&erased);
            judge("plan_dyn", tensor(planned.and_then(|plan| plan.run(&erased))));
            match cloned(&op, &data) {
                // Cloning needs no level.
                Err(Error::LevelUnavailable { .. }) => assert!(level.is_some()),
                got => assert_eq!(got.unwrap().into_vec(), *expected.as_ref().unwrap()),
            }
        }
    }
}

fn all<T: Sample>(set: Option<&'static KernelSet>) {
    go::<_, T>(apart(), set, |op, data| op.run_cloned_or(data, &T::ZERO));
    for mode in [DepthMode::Dcr, DepthMode::Crd] {
        go::<_, T>(to_space(mode), set, |op, data| op.run_cloned(data));
        go::<_, T>(to_depth(mode), set, |op, data| op.run_cloned(data));
    }
}

#[test]
fn elements_of_every_kind() {
    all::<u8>(None);
    all::<u16>(None);
    all::<u32>(None);
    all::<u64>(None);
    all::<[u64; 2]>(Some(&OWN));
    all::<Point>(Some(&OWN));
    all::<Packed>(Some(&OWN));
    all::<Line>(Some(&OWN));
    all::<Lines>(Some(&OWN));
}

#[test]
fn one_method_takes_each() {
    let data: Vec<u32> = (0..48).collect();
    let view = |what: &Expected| View::new(&data, &what.shape).unwrap();
    for &method in Method::ALL {
        let ((batch, a), (space, b), (depth, c)) = (apart(), to_space(DepthMode::Crd), to_depth(DepthMode::Dcr));
        let (batch, space, depth) = (batch.method(method), space.method(method), depth.method(method));
        let got = [
            (Method::Deinterleaved, a.op, batch.run(&view(&a)).err(), batch.run_cloned(&view(&a)).err()),
            (Method::Interleaved, b.op, space.run(&view(&b)).err(), space.run_cloned(&view(&b)).err()),
            (Method::Deinterleaved, c.op, depth.run(&view(&c)).err(), depth.run_cloned(&view(&c)).err()),
        ];
        for (own, op, run, cloned) in got {
            let refused = (method != own).then_some(Error::MethodUnavailable { op, method });
            assert_eq!((&run, &cloned), (&refused, &refused), "{op} {method}");
        }
    }
}

#[test]
fn types_without_kernels_are_refused_at_run_time() {
    let values = [Point::sample(0); 4];
    let data = View::new(&values, &[1, 4, 1]).unwrap();
    let got = DepthToSpace::new(2, DepthMode::Dcr).run(&DynView::from(&data));
    assert_eq!(got.unwrap_err(), Error::UnknownDType { op: Op::DepthToSpace, dtype: Point::DTYPE });
    // A set takes the operators that it lists. Others run by the built-in kernels.
    let data = DynView::from(&data);
    static OWN_REGISTRY: Registry = Registry::builtin().with(&OWN);
    assert_eq!(
        BatchToSpace::new(&[1; 3], &[0; 3], &[0; 3]).registry(&OWN_REGISTRY).run(&data).unwrap().shape(),
        [1, 4, 1]
    );
}

#[test]
fn parameters_from_everywhere() {
    let values: Vec<u32> = (0..48).collect();
    let (op, what) = apart();
    let data = View::new(&values, &what.shape).unwrap();
    let expected = op.run(&data).unwrap();
    let (block, begin, end) = ([1i64, 1, 2, 3], [0i64, 0, 1, 0], [0i64, 0, 3, 0]);
    assert_eq!(op.get_block_shape(), block);
    assert_eq!((op.get_pads_begin(), op.get_pads_end()), (&begin[..], &end[..]));
    assert_eq!(space_to_batch(&data, &block, &begin, &end).unwrap(), expected);
    assert_eq!(SpaceToBatch::openvino2(&block, &begin, &end).run(&data).unwrap(), expected);
    let pads = [[0, 0], [1, 3], [0, 0]];
    assert_eq!(SpaceToBatch::tensorflow(&block[1..], &pads).run(&data).unwrap(), expected);
    assert_eq!(SpaceToBatch::tensorflow(&[1, 2], &pads[..2]).output_shape(&[1, 2, 4, 6]).unwrap(), [2, 2, 4, 6]);
    let views = [block, begin, end].map(|list| list.map(|value| value as u8));
    let [block, begin, end] = views.each_ref().map(|list| View::new(list, &[4]).unwrap());
    let op = SpaceToBatch::from_tensors(&DynView::from(&block), &DynView::from(&begin), &DynView::from(&end)).unwrap();
    assert_eq!(op.run(&data).unwrap(), expected);
    let floats = View::new(&[1.0f32], &[1]).unwrap();
    let refused = SpaceToBatch::from_tensors(&DynView::from(&floats), &DynView::from(&begin), &DynView::from(&end));
    assert_eq!(refused.unwrap_err(), Error::NotAnIndexType { dtype: f32::DTYPE });
}

#[test]
fn depth_presets() {
    let values: Vec<u32> = (0..48).collect();
    for mode in [DepthMode::Dcr, DepthMode::Crd] {
        let (op, what) = to_space(mode);
        let data = View::new(&values, &what.shape).unwrap();
        let wide = op.run(&data).unwrap();
        assert_eq!((op.get_block_size(), op.get_mode()), (2, mode));
        assert_eq!(depth_to_space(&data, 2, mode).unwrap(), wide);
        assert_eq!(DepthToSpace::onnx13(2, mode).run(&data).unwrap(), wide);
        assert_eq!(DepthToSpace::onnx28(2, mode).run(&data).unwrap(), wide);
        assert_eq!(DepthToSpace::openvino1(2, mode).run(&data).unwrap(), wide);
        let op = SpaceToDepth::onnx28(2, mode);
        assert_eq!((op.get_block_size(), op.get_mode()), (2, mode));
        let wide = wide.view();
        assert_eq!(op.run(&wide).unwrap().as_slice(), values);
        assert_eq!(space_to_depth(&wide, 2, mode).unwrap().as_slice(), values);
        assert_eq!(SpaceToDepth::openvino1(2, mode).run(&wide).unwrap().as_slice(), values);
        let dcr = SpaceToDepth::onnx13(2).run(&wide).unwrap();
        assert_eq!(dcr.as_slice() == values, mode == DepthMode::Dcr);
    }
    assert_eq!(DepthMode::default(), DepthMode::Dcr);
}
