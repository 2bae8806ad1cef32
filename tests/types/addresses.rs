//! Empty tensors at every address: no constructor, no conversion and no operator asks where nothing lies.

use std::fmt::Debug;

use gather_core::{
    Bags, BatchToSpace, Bitmap, Codes, DType, DepthMode, DepthToSpace, DynPlan, DynTensor, DynView, DynViewMut,
    Element, EmbeddingBag, Error, FusedFormat, FusedRows, Gather, GatherElements, GatherNd, Given, IndexType, Nulls,
    Pool, Reduction, ScatterElements, ScatterNd, SpaceToBatch, SpaceToDepth, Tensor, View, ViewMut, maps, rows, tables,
    tables_dyn,
};
use half::{bf16, f16};

const SHAPES: [&[usize]; 4] = [&[0], &[0, 4], &[4, 0], &[2, 0, 3]];

/// No bytes, at each of 16 addresses in a row: of those at most two are aligned for a type of 8 bytes.
static MEMORY: [u8; 16] = [1; 16];

fn nothing() -> impl Iterator<Item = &'static [u8]> {
    (0..MEMORY.len()).map(|at| &MEMORY[at..at])
}

/// The typed view that a dynamic one becomes: of the same layout, at an aligned address.
fn typed<T: Element>(view: &DynView<'_>) {
    let layout = view.layout().clone();
    for view in [view.clone(), view.permuted(&(0..layout.rank()).rev().collect::<Vec<_>>()).unwrap()] {
        let typed = view.downcast::<T>().unwrap_or_else(|error| panic!("{view:?}: {error}"));
        assert_eq!(typed.layout(), view.layout());
        assert!(typed.is_empty() && typed.get(&vec![0; layout.rank()]).is_none());
        assert_eq!(DynView::from(&typed).downcast::<T>().map(|again| again.len()), Ok(0));
    }
}

/// Every constructor of views and tensors over bytes.
fn made<T: Element + Debug>() {
    let mut own = [0u8; 16];
    for (at, shape) in (0..MEMORY.len()).flat_map(|at| SHAPES.map(|shape| (at, shape))) {
        let (bytes, strides) = (&MEMORY[at..at], vec![-7; shape.len()]);
        assert_eq!(View::<T>::from_bytes(bytes, shape).map(|view| view.len()), Ok(0), "{shape:?} at {at}");
        typed::<T>(&DynView::from_bytes(T::DTYPE, bytes, shape).unwrap());
        typed::<T>(&DynView::strided(T::DTYPE, bytes, shape, &strides, 0).unwrap());
        // SAFETY: no bytes are no values.
        typed::<T>(&unsafe { DynView::from_bytes_unchecked(T::DTYPE, bytes, shape) }.unwrap());
        let layout = gather_core::Layout::strided(shape, &strides).unwrap();
        // SAFETY: there is no coordinate, and the address is not null.
        typed::<T>(&unsafe { DynView::from_raw_parts(T::DTYPE, bytes.as_ptr(), layout) });
        let tensor = DynTensor::from_bytes(T::DTYPE, bytes, shape).unwrap();
        typed::<T>(&tensor.view());
        assert_eq!(tensor.downcast::<T>().unwrap().shape(), shape);
        let read = DynTensor::from_reader(T::DTYPE, bytes, shape).unwrap();
        assert_eq!(read.downcast::<T>().unwrap().shape(), shape);
        assert_eq!(DynViewMut::from_bytes(T::DTYPE, &mut own[at..at], shape).unwrap().shape(), shape);
        assert_eq!(DynViewMut::strided(T::DTYPE, &mut own[at..at], shape, &strides, 0).unwrap().shape(), shape);
    }
    // One element is asked where it lies.
    let size = size_of::<T>();
    let bytes = [0; 80];
    let views = (0..8).map(|at| View::<T>::from_bytes(&bytes[at..at + size], &[1]));
    let misaligned = views.filter(|view| matches!(view, Err(Error::Misaligned { .. }))).count();
    assert_eq!(misaligned, 8 - 8 / align_of::<T>());
}

#[test]
fn views_and_tensors_without_elements_lie_anywhere() {
    made::<u8>();
    made::<bool>();
    made::<u16>();
    made::<f16>();
    made::<bf16>();
    made::<i32>();
    made::<f32>();
    made::<u64>();
    made::<f64>();
    made::<[u64; 2]>();
    made::<num_complex::Complex<f64>>();
}

/// Data, indices and outputs without elements at an address.
struct At<'a> {
    bytes: &'a [u8],
    own: &'a mut [u8],
}

impl<'a> At<'a> {
    fn data(&self, shape: &[usize]) -> DynView<'a> {
        DynView::from_bytes(f32::DTYPE, self.bytes, shape).unwrap()
    }

    fn ids(&self, shape: &[usize]) -> DynView<'a> {
        DynView::from_bytes(IndexType::I64.dtype(), self.bytes, shape).unwrap()
    }

    fn out(&mut self, dtype: DType, shape: &[usize]) -> DynViewMut<'_> {
        DynViewMut::from_bytes(dtype, self.own, shape).unwrap()
    }
}

/// Calls `check` for each address.
fn everywhere(mut check: impl FnMut(At<'_>)) {
    let mut own = [0u8; 16];
    nothing().enumerate().for_each(|(at, bytes)| check(At { bytes, own: &mut own[at..at] }));
}

#[test]
fn gathers_of_nothing_run_anywhere() {
    let table = [1.0f32; 6];
    let (full, zero) = (DynView::from(&View::new(&table, &[3, 2]).unwrap()), f32::DTYPE);
    let pool = Pool::new();
    everywhere(|mut at| {
        let (data, ids) = (at.data(&[3, 0]), at.ids(&[0]));
        let two = [0i64, 2];
        let two = DynView::from(&two[..]);
        // Either is empty, or both are.
        for (data, ids, shape) in [(&data, &ids, [0, 0]), (&full, &ids, [0, 2]), (&data, &two, [2, 0])] {
            let op = Gather::new(0);
            let plan: DynPlan = op.plan(data, ids).unwrap();
            for any in [plan, op.plan_any_count(data, ids).unwrap()] {
                assert_eq!(any.run(data, ids).unwrap().shape(), shape);
                assert_eq!(any.run_into(data, ids, &mut at.out(zero, &shape)), Ok(()));
            }
            assert_eq!(op.run(data, ids).unwrap().shape(), shape);
            assert_eq!(op.run_into(data, ids, &mut at.out(zero, &shape)), Ok(()));
            assert_eq!(op.run_into(data, ids, &mut DynTensor::empty(u8::DTYPE)), Ok(()));
            assert_eq!(op.run_into(data, ids, &mut pool.dyn_tensor(u8::DTYPE)), Ok(()));
            let bits = Bitmap::new(at.bytes, 0, 0).unwrap();
            let nulls = Nulls { indices: ids.layout().is_empty().then_some(bits), ..Nulls::default() };
            assert_eq!(op.nullable().run(data, ids, nulls).unwrap().0.shape(), shape);
        }
        let (tuples, same) = (at.ids(&[0, 2]), at.ids(&[0, 2]));
        assert_eq!(GatherNd::new().run_into(&full, &tuples, &mut at.out(zero, &[0])), Ok(()));
        assert_eq!(GatherNd::new().plan(&full, &tuples).unwrap().run(&full, &tuples).unwrap().shape(), [0]);
        assert_eq!(GatherElements::new(0).run_into(&full, &same, &mut at.out(zero, &[0, 2])), Ok(()));
        assert_eq!(GatherElements::new(0).plan(&full, &same).unwrap().run(&full, &same).unwrap().shape(), [0, 2]);
        assert_eq!(Gather::new(0).run_cloned(&at.data(&[0, 2]).downcast::<f32>().unwrap(), &ids).map(drop), Ok(()));
    });
}

#[test]
fn conversions_of_nothing_run_anywhere() {
    let memory = [0u8; 20];
    everywhere(|mut at| {
        let gather = Gather::new(0);
        let (data, ids) = (at.data(&[0, 4]).downcast::<f32>().unwrap(), at.ids(&[0]));
        let ids_too = ids.downcast::<i64>().unwrap();
        let half = data.map(&maps::convert::<_, f16>(), ());
        assert_eq!(gather.run(&half, &ids).unwrap().shape(), [0, 4]);
        let given = (Given::All(&[0.0f32; 4][..]),);
        assert_eq!(gather.run(&data.rows(&rows::dot(), given), &ids).unwrap().shape(), [0]);
        assert_eq!(gather.run(&data.rows(&rows::dot(), given), &ids_too).unwrap().shape(), [0]);
        let codes = View::<u8>::from_bytes(at.bytes, &[0, 16]).unwrap();
        let scales = View::<f32>::from_bytes(at.bytes, &[0, 1]).unwrap();
        assert_eq!(gather.run(&codes.blocks(Codes::Bits8, 16, &scales), &ids).unwrap().shape(), [0, 16]);
        // Fused rows, with results whose type is known at run time.
        for rows in [0, 2] {
            let fused = View::new(&memory[..rows * 10], &[rows, 10]).unwrap();
            let fused = FusedRows::new(fused, FusedFormat::Torch8, 2).unwrap();
            for dtype in [f32::DTYPE, f16::DTYPE] {
                let source = fused.to_dyn(dtype);
                assert_eq!(gather.run_into(&source, &ids, &mut at.out(dtype, &[0, 2])), Ok(()));
                let plan = gather.plan(&source, &ids).unwrap();
                assert_eq!(plan.run_into(&source, &ids, &mut at.out(dtype, &[0, 2])), Ok(()));
                let plan = gather.plan_any_count(&source, &ids).unwrap();
                assert_eq!(plan.run_into(&source, &ids, &mut at.out(dtype, &[0, 2])), Ok(()));
                let bags = Bags::packed(&ids_too);
                let two = at.ids(&[0, 3]);
                let sum = EmbeddingBag::new(Reduction::Add);
                assert!(sum.run(&source, &bags).is_err(), "bags of one length are rows");
                assert_eq!(sum.run_into(&source, &Bags::packed(&two), &mut at.out(dtype, &[0, 2])), Ok(()));
                let all = tables_dyn(dtype, [&fused, &fused]).unwrap();
                let lists = [Bags::packed(&two), Bags::packed(&two)];
                assert_eq!(sum.run_into(&all, &lists, &mut at.out(dtype, &[0, 4])), Ok(()));
            }
        }
        let plain = FusedRows::plain(data.clone()).unwrap();
        let two = at.ids(&[0, 3]);
        let lists = [Bags::packed(&two), Bags::packed(&two)];
        let sums = EmbeddingBag::new(Reduction::Mean).run(&tables::<f32>([&plain, &plain]).unwrap(), &lists).unwrap();
        assert_eq!(sums.shape(), [0, 8]);
    });
}

#[test]
fn scatters_and_bags_of_nothing_run_anywhere() {
    let zero = f32::DTYPE;
    everywhere(|mut at| {
        let (data, ids, updates) = (at.data(&[0, 2]), at.ids(&[0]), at.data(&[0, 2]));
        for reduction in [Reduction::None, Reduction::Add, Reduction::Mean] {
            let scatter = ScatterElements::new(0).reduction(reduction);
            let same = at.ids(&[0, 2]);
            assert_eq!(scatter.run_into(&data, &same, &updates, &mut at.out(zero, &[0, 2])), Ok(()));
            assert_eq!(scatter.run_on(&mut at.out(zero, &[0, 2]), &same, &updates), Ok(()));
            let plan = scatter.plan(&data, &same, &updates).unwrap();
            assert_eq!(plan.run(&data, &same, &updates).unwrap().shape(), [0, 2]);
            let scatter = ScatterNd::new().reduction(reduction);
            let tuples = at.ids(&[0, 1]);
            assert_eq!(scatter.run_into(&data, &tuples, &updates, &mut at.out(zero, &[0, 2])), Ok(()));
            assert_eq!(scatter.run_on(&mut at.out(zero, &[0, 2]), &tuples, &updates), Ok(()));
            let adjoint = Gather::new(0).adjoint().reduction(reduction);
            assert_eq!(adjoint.run_into(&data, &ids, &updates, &mut at.out(zero, &[0, 2])), Ok(()));
            assert_eq!(adjoint.run_on(&mut at.out(zero, &[0, 2]), &ids, &updates), Ok(()));
        }
        for reduction in [Reduction::Add, Reduction::Mean, Reduction::Max] {
            let bag = EmbeddingBag::new(reduction);
            let (packed, weights) = (at.ids(&[0, 3]), at.data(&[0, 3]));
            let bags = Bags::packed(&packed);
            assert_eq!(bag.run_into(&data, &bags, &mut at.out(zero, &[0, 2])), Ok(()));
            let plan = bag.plan(&data, &bags).unwrap();
            assert_eq!(plan.run_into(&data, &bags, &mut at.out(zero, &[0, 2])), Ok(()));
            if reduction == Reduction::Add {
                assert_eq!(bag.run_into(&data, &bags.weights(&weights), &mut at.out(zero, &[0, 2])), Ok(()));
            }
            let lists = Bags::new(&ids, &ids);
            assert_eq!(bag.run_into(&data, &lists, &mut at.out(zero, &[0, 2])), Ok(()));
        }
    });
}

#[test]
fn space_of_nothing_is_rearranged_anywhere() {
    let zero = f32::DTYPE;
    everywhere(|mut at| {
        let data = at.data(&[0, 4, 2, 2]);
        let batch = BatchToSpace::new(&[1, 1, 2, 1], &[0; 4], &[0; 4]);
        assert_eq!(batch.run_into(&data, &mut at.out(zero, &[0, 4, 4, 2])), Ok(()));
        let space = SpaceToBatch::new(&[1, 1, 2, 1], &[0; 4], &[0; 4]);
        assert_eq!(space.run_into(&data, &mut at.out(zero, &[0, 4, 1, 2])), Ok(()));
        let depth = DepthToSpace::new(2, DepthMode::Dcr);
        assert_eq!(depth.run_into(&data, &mut at.out(zero, &[0, 1, 4, 4])), Ok(()));
        let deep = SpaceToDepth::new(2, DepthMode::Dcr);
        assert_eq!(deep.plan(&data).unwrap().run_into(&data, &mut at.out(zero, &[0, 16, 1, 1])), Ok(()));
        let typed = data.downcast::<f32>().unwrap();
        let mut out = Tensor::<f32>::default();
        assert_eq!(deep.run_into(&typed, &mut out), Ok(()));
        assert_eq!(out.shape(), [0, 16, 1, 1]);
        assert_eq!(deep.run_into(&typed, &mut ViewMut::<f32>::new(&mut [], &[0, 16, 1, 1]).unwrap()), Ok(()));
    });
}
