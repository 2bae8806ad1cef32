//! The doors of tensors and of what is known of types: views, owned tensors, layouts, registries.

use std::any::TypeId;
use std::io::ErrorKind;

use gather_core::{
    DType, DynTensor, DynView, DynViewMut, Element, Error, Gather, IndexType, KernelKey, Layout, Level, Op, Pool,
    Registry, Shape, Tensor, View, ViewMut, promote,
};

use crate::common::{Line, Lines, METHODS, Packed, Point, Sample};

/// Views and tensors of any type, which may have no bytes.
fn borrowed<T: Clone + PartialEq + std::fmt::Debug>(value: impl Fn(usize) -> T) {
    let mut values: Vec<T> = (0..6).map(value).collect();
    let copy = values.clone();
    let view = View::new(&copy, &[2, 3]).unwrap();
    assert_eq!((view.shape(), view.strides(), view.rank(), view.len()), (&[2, 3][..], &[3, 1][..], 2, 6));
    assert!(view.is_contiguous() && !view.is_empty());
    assert_eq!(view.get(&[1, 2]), Some(&copy[5]));
    assert_eq!((view.get(&[2, 0]), view.get(&[0]), view.get(&[0, 0, 0])), (None, None, None));
    let turned = view.permuted(&[1, 0]).unwrap();
    assert_eq!((turned.get(&[2, 1]), turned.is_contiguous()), (Some(&copy[5]), false));
    assert!(view.permuted(&[1, 1]).is_err() && view.permuted(&[]).is_err() && view.permuted(&[0, 2]).is_err());
    let (column, corner) = (turned.select(0, 2).unwrap(), turned.narrow(0, 1..3).unwrap().narrow(1, 1..2).unwrap());
    assert_eq!((column.shape(), column.get(&[1])), (&[2][..], Some(&copy[5])));
    assert_eq!(
        (corner.shape(), corner.get(&[0, 0]), corner.get(&[1, 0])),
        (&[2, 1][..], Some(&copy[4]), Some(&copy[5]))
    );
    assert!(view.narrow(1, 3..3).unwrap().is_empty());
    for (axis, range) in [(2, 0..1), (0, 1..3), (1, 0..usize::MAX), (usize::MAX, 0..0)] {
        assert!(view.select(axis, range.end).is_err());
        let (start, end, shape) = (range.start, range.end, [2, 3].into());
        assert_eq!(view.narrow(axis, range).unwrap_err(), Error::RangeOutOfBounds { axis, start, end, shape });
    }
    assert_eq!(View::new(&copy, &[7]).unwrap_err(), Error::LengthMismatch { len: 6, expected: 7, shape: [7].into() });
    let backwards = View::strided(&copy, &[6], &[-1], 5).unwrap();
    assert_eq!((backwards.get(&[0]), backwards.get(&[5])), (Some(&copy[5]), Some(&copy[0])));
    let still = View::strided(&copy, &[1 << 30], &[0], 3).unwrap();
    assert_eq!(still.get(&[(1 << 30) - 1]), Some(&copy[3]));
    for (shape, strides, offset) in [(&[6][..], &[1isize][..], 1), (&[2], &[-1], 0), (&[2, 2], &[isize::MAX; 2], 0)] {
        assert!(View::strided(&copy, shape, strides, offset).is_err(), "{shape:?} {strides:?} {offset}");
    }
    assert!(View::strided(&copy, &[0], &[isize::MIN], 6).unwrap().is_empty());
    assert!(View::strided(&copy, &[0], &[1], 7).is_err());
    assert!(View::new(&copy, &[usize::MAX, 2]).is_err());
    assert_eq!(View::scalar(&copy[4]).get(&[]), Some(&copy[4]));

    let mut view = ViewMut::new(&mut values, &[3, 2]).unwrap();
    assert_eq!((view.shape(), view.strides(), view.rank(), view.len()), (&[3, 2][..], &[2, 1][..], 2, 6));
    assert!(view.is_contiguous() && !view.is_empty() && *view.layout() == Layout::contiguous(&[3, 2]).unwrap());
    assert_eq!(view.permuted(&[1, 0]).unwrap().narrow(1, 1..3).unwrap().shape(), [2, 2]);
    assert_eq!(view.select(1, 1).unwrap().strides(), [2]);
    assert!(view.permuted(&[0]).is_err() && view.narrow(0, 1..4).is_err() && view.select(2, 0).is_err());
    view = ViewMut::strided(&mut values, &[2, 3], &[1, 2], 0).unwrap();
    assert!(!view.is_contiguous());
    for strides in [[0, 1], [1, 1], [2, -1], [isize::MIN, 1]] {
        assert!(ViewMut::strided(&mut values, &[2, 3], &strides, 0).is_err(), "{strides:?}");
    }

    let mut tensor = Tensor::new(copy.clone(), &[3, 2]).unwrap();
    assert_eq!((tensor.shape(), tensor.rank(), tensor.len(), tensor.is_empty()), (&[3, 2][..], 2, 6, false));
    assert_eq!(tensor.view().get(&[2, 1]), Some(&copy[5]));
    assert_eq!(tensor.view_mut().shape(), [3, 2]);
    tensor.as_mut_slice()[0] = copy[5].clone();
    assert_eq!((&tensor.as_slice()[0], &tensor.clone().into_vec()[1]), (&copy[5], &copy[1]));
    assert!(Tensor::new(copy.clone(), &[4]).is_err());
    let filled = Tensor::full(&[2, 0, 3], copy[0].clone()).unwrap();
    assert!(filled.is_empty() && filled.view().is_empty());
    assert_eq!(Tensor::full(&[2, 2], copy[1].clone()).unwrap().as_slice(), vec![copy[1].clone(); 4]);
    let made = Tensor::from_fn(&[3, 2], |at| copy[at].clone()).unwrap();
    assert_eq!((made.shape(), made.as_slice()), (&[3, 2][..], &copy[..]));
    assert!(Tensor::from_fn(&[7, 0], |at| copy[at].clone()).unwrap().is_empty());
    let many = Tensor::from_fn(&[usize::MAX, 2], |_| copy[0].clone());
    assert!(matches!(many, Err(Error::TooManyElements { .. })));
}

/// Each part is the outputs of a gather, and no other element changes.
#[test]
fn parts_of_views_are_written() {
    let mut values = [0u8; 24];
    let mut view = ViewMut::new(&mut values, &[2, 3, 4]).unwrap();
    let one = |out: &mut ViewMut<'_, u8>, value: u8| {
        let ids = vec![0u32; out.len()];
        gather_core::Gather::new(0).run_into(&[value], &View::new(&ids, out.shape()).unwrap(), out).unwrap();
    };
    one(&mut view.select(0, 1).unwrap().narrow(1, 1..3).unwrap(), 1);
    one(&mut view.permuted(&[2, 0, 1]).unwrap().select(0, 3).unwrap().select(0, 0).unwrap(), 2);
    one(&mut view.narrow(1, 3..3).unwrap(), 3);
    assert_eq!(values[..12], [0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2]);
    assert_eq!(values[12..], [0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0]);
}

#[test]
fn views_and_tensors_of_any_type() {
    borrowed(|_| ());
    borrowed(|_| [0u8; 0]);
    borrowed(|at| at.to_string());
    borrowed(u8::sample);
    borrowed(Point::sample);
    borrowed(Packed::sample);
    borrowed(Line::sample);
    borrowed(Lines::sample);
    borrowed(|at| vec![at as u8; 1 << 20]);
}

/// Tensors whose type is known at run time, with elements of any kind.
fn erased<T: Sample>() {
    let values: Vec<T> = (0..6).map(T::sample).collect();
    let view = View::new(&values, &[2, 3]).unwrap();
    let dynamic = DynView::from(&view);
    assert_eq!((dynamic.dtype(), dynamic.shape(), dynamic.layout()), (T::DTYPE, &[2, 3][..], view.layout()));
    assert_eq!(dynamic.permuted(&[1, 0]).unwrap().shape(), [3, 2]);
    assert!(dynamic.permuted(&[2, 0]).is_err());
    let dtype = T::DTYPE;
    assert_eq!((dtype.size(), dtype.align()), (size_of::<T>(), align_of::<T>()));
    assert_eq!((dtype.type_id(), dtype == u8::DTYPE), (TypeId::of::<T>(), TypeId::of::<T>() == TypeId::of::<u8>()));
    assert_eq!(DType::new::<T>("mine"), dtype);
    assert_eq!(DType::new::<T>("mine").name(), "mine");
    let bytes = vec![0; 6 * size_of::<T>()];
    assert_eq!(DynView::from_bytes(u8::DTYPE, &bytes, &[bytes.len()]).unwrap().shape(), [bytes.len()]);
    let short = DynView::from_bytes(dtype, &bytes[1..], &[6]);
    assert!(matches!(short, Err(Error::LengthMismatch { .. } | Error::InvalidBytes { .. })), "{short:?}");
}

#[test]
fn types_known_at_run_time() {
    erased::<u8>();
    erased::<u16>();
    erased::<[u64; 2]>();
    erased::<Point>();
    erased::<Packed>();
    erased::<Line>();
    erased::<Lines>();
}

/// Memory of outputs goes round.
#[test]
fn pools() {
    let (pool, table) = (Pool::with_limit(1 << 20), [1u16, 2, 3]);
    let (table, ids) = (View::new(&table, &[3]).unwrap(), View::new(&[2u8, 0], &[2]).unwrap());
    let mut out = pool.tensor();
    assert_eq!((out.shape(), out.as_slice()), (&[0][..], &[][..]));
    Gather::new(0).run_into(&table, &ids, &mut out).unwrap();
    out.as_mut_slice()[1] += 10;
    assert_eq!((out.shape(), out.view().get(&[1])), (&[2][..], Some(&11)));
    assert_eq!(out.view_mut().shape(), [2]);
    drop(out);
    assert_eq!((pool.stats().blocks, Pool::new().stats()), (1, Pool::default().stats()));
    let mut out = pool.tensor();
    Gather::new(0).run_into(&table, &ids, &mut out).unwrap();
    assert_eq!(out.into_tensor().unwrap().into_vec(), [3, 1]);
    pool.trim();
    assert_eq!((pool.stats().blocks, pool.stats().reused), (0, 1));

    let (table, ids) = (DynView::from(&table), DynView::from(&ids));
    let mut out = pool.dyn_tensor(f64::DTYPE);
    assert_eq!((out.dtype(), out.shape(), out.as_bytes()), (f64::DTYPE, &[0][..], &[][..]));
    Gather::new(0).run_into(&table, &ids, &mut out).unwrap();
    assert_eq!((out.dtype(), out.as_bytes().len()), (u16::DTYPE, 4));
    assert_eq!(out.view_mut().shape(), [2]);
    assert_eq!(out.view().downcast::<u16>().unwrap().get(&[0]), Some(&3));
    drop(out);
    assert_eq!(pool.stats().blocks, 1);
    let mut out = pool.dyn_tensor(u16::DTYPE);
    Gather::new(0).run_into(&table, &ids, &mut out).unwrap();
    assert_eq!((pool.stats().blocks, pool.stats().reused), (0, 2));
    assert_eq!(out.into_tensor().downcast::<u16>().unwrap().into_vec(), [3, 1]);
}

/// Tensors of bytes that a reader gives. Readers may be short, and bytes need be no values.
#[test]
fn tables_that_are_read() {
    let bytes: Vec<u8> = (0..50).collect();
    let two = Tensor::<u16>::from_reader(&bytes[..], &[5, 2]).unwrap();
    let expected: Vec<u16> = (0..10u16).map(|at| u16::from_ne_bytes([2 * at as u8, 2 * at as u8 + 1])).collect();
    assert_eq!((two.shape(), two.as_slice()), (&[5, 2][..], &expected[..]));
    let mut reader = &bytes[..];
    let (first, second) =
        (DynTensor::from_reader(u8::DTYPE, &mut reader, &[20]), DynTensor::from_reader(u8::DTYPE, reader, &[30]));
    assert_eq!((first.unwrap().as_bytes(), second.unwrap().as_bytes()), (&bytes[..20], &bytes[20..]));
    assert_eq!(Tensor::<[u8; 3]>::from_reader(&bytes[..], &[0, 7]).unwrap().shape(), [0, 7]);
    assert_eq!(Tensor::<bool>::from_reader(&bytes[..2], &[2]).unwrap().as_slice(), [false, true]);

    let refused = |read: std::io::Result<DynTensor>| {
        let error = read.unwrap_err();
        (error.kind(), error.into_inner().and_then(|inner| inner.downcast::<Error>().ok()).map(|inner| *inner))
    };
    let short = refused(DynTensor::from_reader(u16::DTYPE, &bytes[..], &[26]));
    assert_eq!(short, (ErrorKind::UnexpectedEof, None));
    let wrong = refused(DynTensor::from_reader(bool::DTYPE, &bytes[..], &[4]));
    assert_eq!(wrong, (ErrorKind::InvalidData, Some(Error::InvalidBytes { dtype: bool::DTYPE, position: Some(2) })));
    let unknown = refused(DynTensor::from_reader(Point::DTYPE, &bytes[..], &[1]));
    assert_eq!(unknown, (ErrorKind::InvalidData, Some(Error::InvalidBytes { dtype: Point::DTYPE, position: None })));
    let (kind, many) = refused(DynTensor::from_reader(u64::DTYPE, &bytes[..], &[usize::MAX, 2]));
    assert!(kind == ErrorKind::InvalidInput && matches!(many, Some(Error::TooManyElements { .. })));
    let (_, large) = refused(DynTensor::from_reader(u64::DTYPE, &bytes[..], &[usize::MAX / 4]));
    assert!(matches!(large, Some(Error::TooManyBytes { .. } | Error::AllocationFailed { .. })));
    let (_, none) = refused(DynTensor::from_reader(u8::DTYPE, &bytes[..], &[isize::MAX as usize]));
    assert!(matches!(none, Some(Error::AllocationFailed { .. })));
}

/// Memory of any type and length keeps its contents, whatever the system says.
#[test]
fn tables_on_huge_pages() {
    fn promoted<T: Clone + PartialEq + std::fmt::Debug>(value: T, len: usize) -> Option<(usize, usize)> {
        let mut table = vec![value.clone(); len];
        let start = table.as_ptr();
        let reached = promote(&mut table);
        assert!(table.as_ptr() == start && table.iter().all(|kept| *kept == value));
        match reached {
            Ok(reached) => {
                assert!(
                    reached.huge <= reached.candidates && reached.candidates * reached.page <= size_of_val(&table[..])
                );
                Some((reached.candidates, reached.huge))
            }
            Err(Error::HugePagesUnavailable { bytes, .. }) => {
                assert_eq!(bytes, size_of_val(&table[..]));
                None
            }
            Err(error) => panic!("{error}"),
        }
    }
    let fits = |reached: Option<(usize, usize)>| reached.is_none_or(|reached| reached == (0, 0));
    assert!(fits(promoted((), 1000)) && fits(promoted(1u8, 0)) && fits(promoted([7u64; 8], 100)));
    for reached in [promoted(3u8, 6 << 20), promoted("text".to_string(), 1 << 18)] {
        assert!(reached.is_none_or(|(places, huge)| huge <= places));
    }
}

/// Views of bytes get their type back where it is theirs, and where the bytes lie at its alignment.
#[test]
fn types_that_come_back() {
    let numbers = [1u32, 2, 3, 4];
    let view = View::new(&numbers, &[2, 2]).unwrap();
    let columns = DynView::from(&view).permuted(&[1, 0]).unwrap();
    let typed = columns.downcast::<u32>().unwrap();
    assert_eq!((typed.shape(), typed.get(&[0, 1]), typed.get(&[1, 0])), (&[2, 2][..], Some(&3), Some(&2)));
    let (expected, got) = (i32::DTYPE, u32::DTYPE);
    assert_eq!(columns.downcast::<i32>().map(drop), Err(Error::DTypeMismatch { expected, got }));
    let bytes = [0u8; 24];
    let first = bytes.as_ptr().addr().wrapping_neg() % 4;
    for shift in 0..4 {
        let view = DynView::from_bytes(u32::DTYPE, &bytes[first + shift..][..16], &[4]).unwrap();
        let aligned = shift == 0;
        let misaligned = Err(Error::Misaligned { dtype: u32::DTYPE, align: 4 });
        assert_eq!(view.downcast::<u32>().map(drop), if aligned { Ok(()) } else { misaligned });
    }
}

#[test]
fn views_of_bytes() {
    let numbers: Vec<u8> = [1u32, 2, 3, 4, 5, 6].iter().flat_map(|number| number.to_ne_bytes()).collect();
    let rows = View::new(&[0i64, 2], &[2]).unwrap();
    for shift in 0..4 {
        // Elements of 4 bytes at every address, with bytes behind them that are no element.
        let mut bytes = vec![0xff; shift];
        bytes.extend_from_slice(&numbers);
        bytes.extend([0xff; 3]);
        let columns = DynView::strided(u32::DTYPE, &bytes[shift..], &[3, 2], &[1, 3], 0).unwrap();
        let picked = Gather::new(0).run(&columns, &DynView::from(&rows)).unwrap();
        assert_eq!(picked.downcast::<u32>().unwrap().into_vec(), [1, 4, 3, 6]);
        let refused = |shape: &[usize], strides: &[isize], offset| {
            DynView::strided(u32::DTYPE, &bytes[shift..], shape, strides, offset).is_err()
        };
        assert!(refused(&[7], &[1], 0) && refused(&[2], &[-1], 0) && refused(&[2], &[isize::MAX], 0));
        assert!(refused(&[2], &[], 0) && refused(&[0], &[1], 7) && !refused(&[0], &[isize::MIN], 6));
        let mut written = bytes.clone();
        let whole = DynViewMut::from_bytes(u32::DTYPE, &mut written[shift..shift + 24], &[2, 3]).unwrap();
        assert_eq!((whole.dtype(), whole.shape(), whole.layout().strides()), (u32::DTYPE, &[2, 3][..], &[3, 1][..]));
        let mut refused = |shape: &[usize], strides: &[isize]| {
            DynViewMut::strided(u32::DTYPE, &mut written[shift..], shape, strides, 0).is_err()
        };
        assert!(refused(&[2], &[0]) && refused(&[2, 3], &[1, 1]) && refused(&[7], &[1]) && !refused(&[2, 3], &[1, 2]));
    }
    let mut numbers = [0u16; 6];
    let mut view = ViewMut::strided(&mut numbers, &[2, 2], &[-3, 2], 3).unwrap();
    let erased = DynViewMut::from(&mut view);
    assert_eq!((erased.dtype(), erased.layout().strides()), (u16::DTYPE, &[-3, 2][..]));
}

#[test]
fn arrays_are_flattened() {
    let flat = Tensor::new(vec![[1u8, 2, 3]; 4], &[2, 2]).unwrap().into_flattened();
    assert_eq!((flat.shape(), flat.as_slice()), (&[2, 2, 3][..], &[1, 2, 3].repeat(4)[..]));
    let empty = Tensor::new(vec![[0u32; 0]; 4], &[4]).unwrap().into_flattened();
    assert_eq!(empty.shape(), [4, 0]);
}

#[test]
fn types_by_the_names_of_others() {
    assert_eq!(DType::from_name("complex64").map(|dtype| dtype.size()), Some(8));
    assert_eq!(DType::from_safetensors("I64"), Some(i64::DTYPE));
    assert_eq!((DType::from_onnx(1), DType::from_onnx_name("DOUBLE")), (Some(f32::DTYPE), Some(f64::DTYPE)));
    assert_eq!((DType::from_dlpack(1, 8, 1), DType::from_dlpack(1, 8, 4)), (Some(u8::DTYPE), None));
    assert_eq!((DType::from_gguf(28), DType::from_numpy("|b1")), (Some(f64::DTYPE), Some(bool::DTYPE)));
    for name in ["", "[u8; 2]", "F32", "f33", "|", "<f", "<f44", "\u{e9}"] {
        assert!(
            DType::from_name(name).is_none()
                && DType::from_onnx_name(name).is_none()
                && DType::from_numpy(name).is_none()
        );
    }
    for code in [i32::MIN, -1, 0, 8, 17, i32::MAX] {
        assert!(DType::from_onnx(code).is_none() && DType::from_gguf(code.unsigned_abs().max(2)).is_none(), "{code}");
    }
}

#[test]
fn results_known_at_run_time() {
    let (values, ids) = ([1u16, 2, 3], [2u8, 0]);
    let (data, ids) = (View::new(&values, &[3]).unwrap(), View::new(&ids, &[2]).unwrap());
    let run = || Gather::new(0).run(&DynView::from(&data), &DynView::from(&ids)).unwrap();
    let out = run();
    assert_eq!(
        (out.dtype(), out.shape(), out.as_bytes()),
        (u16::DTYPE, &[2][..], &[3u16, 1].map(u16::to_ne_bytes).concat()[..])
    );
    assert_eq!(out.view().shape(), [2]);
    assert_eq!((run().view_mut().shape(), run().view_mut().dtype()), (&[2][..], u16::DTYPE));
    assert_eq!(out.downcast::<u16>().unwrap().into_vec(), [3, 1]);
    let wrong = run().downcast::<i16>().unwrap_err();
    assert_eq!(wrong, Error::DTypeMismatch { expected: i16::DTYPE, got: u16::DTYPE });
    let list = run().view().layout().clone();
    let again = DynTensor::from(Tensor::new(vec![7u16, 8], &[2]).unwrap());
    assert_eq!((again.view().layout(), again.dtype()), (&list, u16::DTYPE));
    let copied = DynTensor::from_bytes(u16::DTYPE, again.as_bytes(), &[2]).unwrap();
    assert_eq!(copied.downcast::<u16>().unwrap().into_vec(), [7, 8]);
    assert_eq!(DynTensor::zeros::<Point>(&[2]).unwrap().as_bytes(), [0; 24]);
    assert_eq!(DynTensor::empty(u16::DTYPE).shape(), [0]);
    let bytes = [0u8, 2];
    assert!(matches!(
        DynView::from_bytes(bool::DTYPE, &bytes, &[2]),
        Err(Error::InvalidBytes { position: Some(1), .. })
    ));
    assert!(matches!(
        DynView::from_bytes(Point::DTYPE, &[0; 12], &[1]),
        Err(Error::InvalidBytes { position: None, .. })
    ));
}

#[test]
fn layouts_and_shapes() {
    let layout = Layout::contiguous(&[2, 3]).unwrap();
    assert_eq!((layout.shape(), layout.strides(), layout.rank(), layout.len()), (&[2, 3][..], &[3, 1][..], 2, 6));
    assert!(layout.is_contiguous() && !layout.is_empty());
    assert!(!Layout::strided(&[2, 3], &[1, 2]).unwrap().is_contiguous());
    assert!(Layout::strided(&[2, 3], &[1]).is_err() && Layout::contiguous(&[usize::MAX, usize::MAX]).is_err());
    assert!(Layout::contiguous(&[usize::MAX, 2, 0]).is_err());
    let shapes = [Shape::from(&[1usize, 2][..]), Shape::from([1, 2]), [1, 2].into_iter().collect()];
    assert!(shapes.iter().all(|shape| *shape == [1, 2]));
}

gather_core::kernels! {
    /// One kernel for each level.
    static ONE;
    elements: [u32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

#[test]
fn sets_of_kernels() {
    assert_eq!(ONE.name(), "ONE");
    assert!(ONE.function_count() >= 1);
    let (builtin, more) = (Registry::builtin().kernels().count(), Registry::builtin().with(&ONE).kernels().count());
    assert!(more > builtin && more - builtin <= Level::ALL.len(), "{builtin} and {more} kernels");
}

#[test]
fn names_and_lists() {
    assert!(Level::preferred().is_available() && Level::Scalar.is_available());
    let distinct =
        |names: Vec<&str>| names.iter().all(|a| !a.is_empty() && names.iter().filter(|b| a == *b).count() == 1);
    assert!(distinct(Level::ALL.iter().map(|level| level.name()).collect()));
    assert!(distinct(METHODS.iter().map(|method| method.name()).collect()));
    let ops = [Op::Gather, Op::GatherElements, Op::GatherNd, Op::BatchToSpace, Op::SpaceToBatch];
    let ops = [&ops[..], &[Op::DepthToSpace, Op::SpaceToDepth, Op::ScatterElements, Op::ScatterNd]].concat();
    assert!(distinct(ops.into_iter().map(Op::name).collect()));
    let registry = Registry::builtin();
    assert!(registry.kernels().count() > 100);
    let key =
        KernelKey { op: Op::Gather, dtype: f32::DTYPE, index: Some(IndexType::I64), rank: 2, level: Level::Scalar };
    assert!(registry.select(&key).is_some());
    assert!(registry.select(&KernelKey { dtype: Point::DTYPE, ..key }).is_none());
    assert!(registry.select(&KernelKey { index: None, ..key }).is_none());
    assert!(registry.select(&KernelKey { op: Op::EmbeddingBag, ..key }).is_none());
    let scatter = registry.select(&KernelKey { op: Op::ScatterNd, ..key }).unwrap();
    assert_eq!((scatter.name, scatter.rank), ("scatter_i64_r2__scalar", Some(2)));
    assert_eq!(scatter.name, registry.select(&KernelKey { op: Op::ScatterElements, ..key }).unwrap().name);
    assert!(registry.select(&KernelKey { op: Op::ScatterNd, index: None, ..key }).is_none());
}

/// A tensor of elements of a type by coordinates, and its bytes as a view of the type.
fn coordinates<T: Sample>(any_bits: bool) {
    let values: Vec<T> = (0..6).map(T::sample).collect();
    let tensor = Tensor::new(values.clone(), &[3, 2]).unwrap();
    assert!(tensor.iter().eq(&values) && tensor.as_ref() == values);
    assert_eq!((tensor.get(&[2, 1]), tensor.get(&[2, 2]), tensor.get(&[0])), (Some(&values[5]), None, None));
    assert_eq!((tensor[[1, 0]], tensor[&[0, 1][..]]), (values[2], values[1]));
    let list = DynView::from(&values[..]);
    assert_eq!(list.downcast::<T>().unwrap().get(&[3]), Some(&values[3]));
    let erased = DynTensor::from(tensor.clone());
    match View::<T>::from_bytes(erased.as_bytes(), &[3, 2]) {
        Ok(view) => assert_eq!(Some(view.get(&[2, 0])), any_bits.then_some(Some(&values[4]))),
        Err(error) => assert!(!any_bits && matches!(error, Error::InvalidBytes { .. }), "{error}"),
    }
    assert_eq!(Vec::from(tensor), values);
}

#[test]
fn elements_by_coordinates_and_from_bytes() {
    coordinates::<u8>(true);
    coordinates::<u32>(true);
    coordinates::<[u64; 2]>(true);
    coordinates::<Point>(false);
    coordinates::<Packed>(false);
    let numbers = [half::f16::ONE; 4];
    let file = DynTensor::from(Tensor::new(numbers.to_vec(), &[4]).unwrap());
    let view = View::<half::f16>::from_bytes(&file.as_bytes()[2..], &[3]).unwrap();
    assert_eq!(view.get(&[2]), Some(&half::f16::ONE));
    let odd = View::<half::f16>::from_bytes(&file.as_bytes()[1..7], &[3]).unwrap_err();
    assert!(matches!(odd, Error::Misaligned { .. }), "{odd}");
    let short = View::<half::f16>::from_bytes(&file.as_bytes()[..5], &[3]).unwrap_err();
    assert!(matches!(short, Error::LengthMismatch { .. }), "{short}");
    let truths = View::<bool>::from_bytes(&[0, 1, 2], &[3]).unwrap_err();
    assert!(matches!(truths, Error::InvalidBytes { .. }), "{truths}");
}
