//! Faults that a review found, each in a test of its own.

use std::sync::atomic::{AtomicUsize, Ordering};

use gather_core::{
    Bags, BatchToSpace, DynView, Element, EmbeddingBag, Error, FusedRows, Gather, GatherElements, GatherNd, Index,
    Layout, Level, Method, NegativeIndex, Nulls, OutOfBounds, Par, Reduction, Registry, ScatterNd, ScatterOutOfBounds,
    Spec, View, ViewMut, kernels, map_kernels, maps, zeros,
};
use gather_tests::oracle::{self, Dense};

use crate::support::{RULES, available_levels, dense, view};

/// A plan for any count of ids whose expected layout has a stride that is never stepped along: slices are row-major all
/// the same.
#[test]
fn slices_are_no_indices_with_a_stride_that_is_not_theirs() {
    let table: Vec<u32> = (100..110).collect();
    let rows = Layout::contiguous(&[10]).unwrap();
    for (shape, strides) in [(&[0][..], &[5][..]), (&[1], &[1000]), (&[1, 2], &[900, 1]), (&[0, 2], &[900, 1])] {
        let ids = Layout::strided(shape, strides).unwrap();
        let plan =
            Gather::new(0).plan_any_count(&Spec::<u32>::from_layout(&rows), &Spec::<u32>::from_layout(&ids)).unwrap();
        let mut out = [0; 4];
        let got = plan.run_slices(&table, &[1, 2, 3, 4], &mut out);
        assert!(matches!(got, Err(Error::PlanMismatch { .. })), "{shape:?}, {strides:?}: {got:?} {out:?}");
    }
    for shape in [&[0][..], &[1], &[1, 2], &[0, 2], &[7, 2, 1]] {
        let plan =
            Gather::new(0).plan_any_count(&Spec::<u32>::from_layout(&rows), &Spec::<u32>::new(shape).unwrap()).unwrap();
        let mut out = [0; 4];
        plan.run_slices(&table, &[1, 2, 3, 4], &mut out).unwrap();
        assert_eq!(out, [101, 102, 103, 104]);
    }
}

/// Tuples without components say nothing of how many they are in a slice.
#[test]
fn the_count_of_empty_tuples_is_not_free() {
    let (data, tuples) = (Layout::contiguous(&[3]).unwrap(), Layout::contiguous(&[4, 0]).unwrap());
    match GatherNd::new().plan_any_count(&Spec::<u32>::from_layout(&data), &Spec::<u32>::from_layout(&tuples)) {
        Err(Error::AnyCountUnavailable { .. }) => {}
        Err(error) => panic!("{error}"),
        Ok(plan) => {
            let got = plan.run_slices(&[1, 2, 3], &[], &mut [0; 6]);
            panic!("{got:?}");
        }
    }
}

/// A dimension that indices share with data is tied to it, even where data is repeated along it.
#[test]
fn a_shared_dimension_is_not_free() {
    let data = Layout::strided(&[2000, 8], &[0, 1]).unwrap();
    let ids = Layout::contiguous(&[50, 3]).unwrap();
    let got = GatherElements::new(1)
        .plan_any_count(&Spec::<u32>::from_layout(&data), &Spec::<u32>::from_layout(&ids))
        .map(drop);
    assert!(matches!(got, Err(Error::AnyCountUnavailable { .. })), "{got:?}");
    let data = Layout::strided(&[50, 8], &[0, 1]).unwrap();
    let got = Gather::new(1)
        .batch_dims(1)
        .plan_any_count(&Spec::<u32>::from_layout(&data), &Spec::<u32>::from_layout(&ids))
        .map(drop);
    assert!(matches!(got, Err(Error::AnyCountUnavailable { .. })), "{got:?}");
    let got = GatherNd::new()
        .batch_dims(1)
        .plan_any_count(&Spec::<u32>::from_layout(&data), &Spec::<u32>::new(&[50, 1]).unwrap());
    assert!(matches!(got.map(drop), Err(Error::AnyCountUnavailable { .. })));
}

/// Windows of indices that overlap: what was resolved behind the begin of one is not all of the next.
#[test]
fn overlapping_windows_of_indices_are_resolved_each() {
    fn check<I: Index + TryFrom<i128> + std::fmt::Debug>(bad: i128) {
        let data: Vec<u8> = (0..100).map(|at| at as u8 + 1).collect();
        let value = |at: usize| if at == 40 { bad } else { (at * 13 % 100) as i128 };
        let ids: Vec<I> = (0..164).map(|at| I::try_from(value(at)).ok().unwrap()).collect();
        for windows in 1..=3 {
            let shape = [windows, 100];
            let indices = View::strided(&ids, &shape, &[32, 1], 0).unwrap();
            let all = Dense::from_fn(&shape, |at| value(at / 100 * 32 + at % 100));
            let table = Dense { shape: vec![100], values: data.clone() };
            for (negative, out, rules) in RULES {
                let expected = oracle::gather(&table, &all, 0, 0, rules, &0);
                for level in available_levels() {
                    for method in Method::ALL {
                        let op =
                            Gather::new(0).negative_index(negative).out_of_bounds(out).level(level).method(*method);
                        match (op.run(&view(&table), &indices), &expected) {
                            (Err(Error::MethodUnavailable { .. }), _) => {}
                            (Ok(got), Ok(expected)) => assert!(dense(&got) == *expected, "{op:?}, {windows}"),
                            (Err(Error::IndexOutOfRange { position, .. }), Err(bad)) => {
                                assert_eq!(position, bad.position);
                            }
                            (got, _) => panic!("{op:?}: {:?}", got.map(|_| ())),
                        }
                    }
                }
            }
        }
    }
    check::<u8>(200);
    check::<i8>(-128);
    check::<i32>(1 << 20);
}

/// Four bytes that are never zero.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(u32)]
#[element(zero = Word::A)]
enum Word {
    A = 0x0101_0101,
    B = 0x0202_0202,
}

/// What an output holds after an error is what it held before, or results: no bytes of another origin, which need not
/// be values.
#[test]
fn outputs_hold_values_after_an_error() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(old: T, new: T) {
        for n in [1usize, 7, 8, 9, 16, 40, 100, 600, 1100] {
            for bad in [0, n / 2, n - 1] {
                let mut ids = vec![1u32; n];
                ids[bad] = 9;
                let data = [new; 3];
                for level in available_levels() {
                    for method in Method::ALL {
                        let mut out = vec![old; n];
                        let op = Gather::new(0).level(level).method(*method);
                        let got = op.run_into(
                            &View::new(&data, &[3]).unwrap(),
                            &View::new(&ids, &[n]).unwrap(),
                            &mut ViewMut::new(&mut out, &[n]).unwrap(),
                        );
                        assert!(got.is_err());
                        assert!(out.iter().all(|value| same_bytes(value, &old) || same_bytes(value, &new)), "{op:?}");
                    }
                }
            }
        }
    }
    check(7u32, 5);
    check(7u64, 5);
    check([7u32; 3], [5; 3]);
    check(Word::A, Word::B);
    check([Word::A; 2], [Word::B; 2]);
    check([Word::A; 3], [Word::B; 3]);
}

fn same_bytes<T: Element>(a: &T, b: &T) -> bool {
    let bytes = |value: &T| {
        let value: *const T = value;
        // SAFETY: an element has no padding.
        unsafe { std::slice::from_raw_parts(value.cast::<u8>(), size_of::<T>()) }.to_vec()
    };
    bytes(a) == bytes(b)
}

/// Axes that run backwards have negative positions.
#[test]
fn tuples_along_reversed_axes() {
    let memory: Vec<u32> = (0..60).collect();
    let shape = [3, 5, 4];
    for signs in 0..8 {
        let sign = |d: usize| if signs >> d & 1 == 1 { -1 } else { 1 };
        let strides = [20 * sign(0), 4 * sign(1), sign(2)];
        let offset: isize = (0..3).filter(|&d| sign(d) < 0).map(|d| -(strides[d] * (shape[d] as isize - 1))).sum();
        let data = View::strided(&memory, &shape, &strides, offset as usize).unwrap();
        let all = Dense::from_fn(&shape, |at| *data.get(&[at / 20, at / 4 % 5, at % 4]).unwrap());
        for components in 1..=3 {
            for n in [3usize, 70, 600] {
                let tuples = Dense::from_fn(&[n, components], |at| (at * 7 % 11) as i128 - 4);
                let narrowed: Vec<i64> = tuples.values.iter().map(|&value| value as i64).collect();
                let indices = View::new(&narrowed, &[n, components]).unwrap();
                for (negative, out, rules) in RULES {
                    let expected = oracle::gather_nd(&all, &tuples, 0, rules, &0);
                    for level in available_levels() {
                        for method in Method::ALL {
                            let op = GatherNd::new()
                                .negative_index(negative)
                                .out_of_bounds(out)
                                .level(level)
                                .method(*method);
                            match (op.run(&data, &indices), &expected) {
                                (Err(Error::MethodUnavailable { .. }), _) | (Err(_), Err(_)) => {}
                                (Ok(got), Ok(expected)) => assert!(dense(&got) == *expected, "{op:?} {strides:?}"),
                                (got, _) => panic!("{op:?}: {:?}", got.map(|_| ())),
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Strides of data without elements lead anywhere, and so may its origin stand anywhere in a slice.
#[test]
fn data_without_elements_lies_nowhere() {
    let mut memory = [1u32; 40];
    let (data, out) = memory.split_at_mut(20);
    for strides in [[1, 1], [isize::MAX, isize::MIN], [isize::MIN / 4, isize::MAX / 8], [1, -1]] {
        for offset in [0, 20] {
            let data = View::strided(data, &[0, 5], &strides, offset).unwrap();
            let zeros = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
            let ids = View::new(&[3i64, -2], &[2]).unwrap();
            out.fill(1);
            zeros.run_into(&data, &ids, &mut ViewMut::new(&mut out[..10], &[2, 5]).unwrap()).unwrap();
            assert_eq!(out[..11], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        }
    }
}

/// A row without bytes is no element, though its loops fold to one.
#[test]
fn scatters_into_rows_without_elements() {
    let ids: Vec<i64> = (0..60).collect();
    let ids = View::new(&ids, &[2, 5, 6, 1]).unwrap();
    let updates = View::<u8>::strided(&[], &[2, 5, 6, 6, 1, 0], &[-50, 10, 0, 2, 1, 1], 0).unwrap();
    for reduction in [Reduction::None, Reduction::Add, Reduction::Mul, Reduction::Max, Reduction::Mean] {
        let op = ScatterNd::new().reduction(reduction).out_of_bounds(ScatterOutOfBounds::Wrap);
        let shape = [57, 6, 1, 0];
        let mut out = ViewMut::<u8>::strided(&mut [], &shape, &[6, 1, 1, 1], 0).unwrap();
        op.run_on(&mut out, &ids, &updates).unwrap();
        op.run_into(&zeros(&shape).unwrap(), &ids, &updates, &mut out).unwrap();
        assert_eq!(op.run(&zeros(&shape).unwrap(), &ids, &updates).unwrap().shape(), shape);
    }
}

/// Data and output that take turns in memory, as two halves of the columns of a matrix do.
#[test]
fn data_and_output_take_turns_in_memory() {
    for n in [4usize, 100, 700] {
        for method in Method::ALL {
            let mut memory: Vec<u64> = (0..n as u64 * 2).collect();
            let start = memory.as_mut_ptr();
            let layout = Layout::strided(&[n], &[2]).unwrap();
            // SAFETY: the even elements, which nothing else names.
            let data = unsafe { View::from_raw_parts(start.cast_const(), layout.clone()) };
            // SAFETY: the odd ones.
            let mut out = unsafe { ViewMut::from_raw_parts(start.wrapping_add(1), layout) };
            let ids: Vec<u16> = (0..n as u16).rev().collect();
            let op = Gather::new(0).method(*method);
            match op.run_into(&data, &View::new(&ids, &[n]).unwrap(), &mut out) {
                Ok(()) => assert!((0..n).all(|at| memory[2 * at + 1] == 2 * (n - 1 - at) as u64)),
                Err(error) => assert!(matches!(error, Error::MethodUnavailable { .. }), "{error}"),
            }
        }
    }
}

/// What lies between the elements of a view is not its own: another thread may write there. A table in registers is
/// loaded whole.
#[test]
fn tables_have_no_gaps() {
    let tuples = Layout::contiguous(&[100, 2]).unwrap();
    for (shape, strides, fits) in [
        ([2, 4], [4, 1], true),
        ([2, 4], [8, 1], false),
        ([2, 4], [5, 1], false),
        ([1, 4], [77, 1], true),
        ([4, 1], [1, 77], true),
        ([2, 2], [0, 3], false),
    ] {
        let data = Layout::strided(&shape, &strides).unwrap();
        for level in available_levels().into_iter().filter(|&level| level != Level::Scalar) {
            let op = GatherNd::new().level(level).method(Method::Table);
            let got = op.plan(&Spec::<u32>::from_layout(&data), &Spec::<u32>::from_layout(&tuples));
            assert_eq!(got.is_ok(), fits, "{shape:?} {strides:?}");
        }
    }
}

/// A parameter that is repeated beyond what any memory holds is refused.
#[cfg(target_pointer_width = "64")]
#[test]
fn parameters_that_no_memory_holds_are_refused() {
    let one = 1i64.to_ne_bytes();
    let list = |len: usize| DynView::strided(i64::DTYPE, &one, &[len], &[0], 0).unwrap();
    assert!(BatchToSpace::from_tensors(&list(3), &list(3), &list(3)).is_ok());
    for len in [1 << 62, isize::MAX as usize, 1 << 46] {
        let got = BatchToSpace::from_tensors(&list(3), &list(len), &list(3));
        assert!(matches!(got, Err(Error::AllocationFailed { .. })), "{got:?}");
    }
}

/// A plan for an output with gaps makes no fresh tensor, which has none.
#[test]
fn plans_for_outputs_with_gaps_make_no_fresh_tensors() {
    let (data, ids) = ([1u32, 2, 3, 4], [3u8, 0, 1]);
    let (data, ids) = (View::new(&data, &[4]).unwrap(), View::new(&ids, &[3]).unwrap());
    for (strides, offset) in [([1000], 0), ([-1], 2), ([-1000], 2000)] {
        let layout = Layout::strided(&[3], &strides).unwrap();
        let plan = Gather::new(0).plan_into(&data, &ids, &layout).unwrap();
        let got = plan.run(&data, &ids).unwrap_err();
        assert_eq!(got.to_string(), "the plan was made for other strides of output, of shape [3]");
        let mut out = vec![9; 2001];
        plan.run_into(&data, &ids, &mut ViewMut::strided(&mut out, &[3], &strides, offset).unwrap()).unwrap();
        assert_eq!([0, 1, 2].map(|at| out[offset.wrapping_add_signed(at * strides[0])]), [4, 1, 2]);
    }
    let one = Layout::strided(&[1], &[1000]).unwrap();
    let plan = Gather::new(0).plan_into(&data, &Spec::<u8>::new(&[1]).unwrap(), &one).unwrap();
    assert_eq!(plan.run(&data, &View::new(&[2], &[1]).unwrap()).unwrap().as_slice(), [3]);

    let op = BatchToSpace::new(&[1, 2], &[0, 0], &[0, 0]);
    let batch = View::new(&[1u32, 2, 3, 4], &[2, 2]).unwrap();
    let plan = op.plan_into(&batch, &Layout::strided(&[1, 4], &[4000, 1000]).unwrap()).unwrap();
    let got = plan.run(&batch).unwrap_err();
    assert_eq!(got.to_string(), "the plan was made for other strides of output, of shape [1, 4]");
}

map_kernels! {
    /// Counts its calls.
    static COUNTED = |x: u32| -> u32 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        x
    };
}
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Where indices out of range are no error, a call that has met one is done.
#[test]
fn calls_that_meet_an_index_out_of_range_run_once() {
    for n in [4, 40, 400] {
        let ids: Vec<i32> = (0..n).map(|at| if at == 2 { 9 } else { 1 }).collect();
        for method in [Method::Direct, Method::Blocks] {
            let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero).method(method);
            let before = CALLS.load(Ordering::Relaxed);
            let (data, ids) = (View::new(&[5u32, 6], &[2]).unwrap(), View::new(&ids, &[ids.len()]).unwrap());
            let got = op.run(&data.map(&COUNTED, ()), &ids).unwrap();
            let zeros = got.as_slice().iter().filter(|&&x| x == 0).count();
            assert_eq!(zeros, 1);
            assert!(CALLS.load(Ordering::Relaxed) - before <= n as usize);
        }
    }
}

/// Negative indices are out of range where they do not count from the end.
#[test]
fn negative_indices_that_are_refused_take_the_fill_everywhere() {
    let data: Vec<u32> = (1..=50).collect();
    let ids: Vec<i32> = (0..900).map(|at| if at % 5 == 4 { -1 } else { at % 50 }).collect();
    let expected: Vec<u32> = ids.iter().map(|&id| if id < 0 { 0 } else { id as u32 + 1 }).collect();
    for level in available_levels() {
        for method in Method::ALL {
            let op = Gather::new(0).negative_index(NegativeIndex::Reject).out_of_bounds(OutOfBounds::Zero);
            let op = op.level(level).method(*method);
            match op.run(&View::new(&data, &[50]).unwrap(), &View::new(&ids, &[900]).unwrap()) {
                Ok(got) => assert_eq!(got.as_slice(), expected),
                Err(error) => assert!(matches!(error, Error::MethodUnavailable { .. })),
            }
        }
    }
}

/// Four MiB, which a stack of one has no room for.
#[derive(Clone, Copy, Element)]
#[repr(transparent)]
struct Huge([u8; 4 << 20]);

kernels! {
    /// Kernels of a huge element's own size.
    static HUGE;
    elements: [Huge];
    indices: [u32];
    ranks: 1..=2, any;
    ops: [gather, batch_to_space];
}

/// Kernels of an element's own size copy it from place to place. (Builds without optimisation showed when they did
/// not.)
#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn huge_elements_do_not_pass_over_the_stack() {
    let run = || {
        let size = size_of::<Huge>();
        let bytes: Vec<u8> = (0..2 * size).map(|at| (at / size + at % 7) as u8).collect();
        static REGISTRY: Registry = Registry::builtin().with(&HUGE);
        // SAFETY: the element is bytes.
        let data = unsafe { DynView::from_bytes_unchecked(Huge::DTYPE, &bytes, &[2, 1]) }.unwrap();
        let ids = View::new(&[1u32, 0, 1], &[3]).unwrap();
        for method in Method::ALL {
            match Gather::new(0).method(*method).registry(&REGISTRY).run(&data, &DynView::from(&ids)) {
                Ok(out) => assert!(out.as_bytes() == [&bytes[size..], &bytes[..]].concat()),
                Err(error) => assert!(matches!(error, Error::MethodUnavailable { .. })),
            }
        }
        let out = BatchToSpace::new(&[1, 2], &[0, 0], &[0, 0]).registry(&REGISTRY).run(&data).unwrap();
        assert!(out.as_bytes() == bytes);
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
}

/// The one row of a result may have any stride, that of some of its columns too, which threads take apart.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn bags_of_nothing_fill_their_own_columns() {
    let (data, ids) = ([1f32; 10 * 128], vec![-1i32; 1000]);
    let (data, ids) = (View::new(&data, &[10, 128]).unwrap(), View::new(&ids, &[1, 1000]).unwrap());
    let bags = EmbeddingBag::new(Reduction::Add).skip_negative(true);
    for (threads, stride) in [(1, 128), (1, 64), (2, 64), (2, 128), (3, 48), (3, 32), (4, 32)] {
        let bags = bags.par(Par::Threads(threads));
        let mut outs = [[7f32; 128]; 2];
        let [plain, fused] = &mut outs;
        let mut into = ViewMut::strided(plain, &[1, 128], &[stride, 1], 0).unwrap();
        bags.run_into(&data, &Bags::packed(&ids), &mut into).unwrap();
        let mut into = ViewMut::strided(fused, &[1, 128], &[stride, 1], 0).unwrap();
        let rows = FusedRows::plain(data.clone()).unwrap();
        bags.run_into(&rows.to::<f32>(), &Bags::packed(&ids), &mut into).unwrap();
        assert_eq!(outs, [[0.0; 128]; 2], "{threads} threads, rows {stride} apart");
    }
}

/// Tables without columns are checked first, and their errors come in the order of tables.
#[test]
fn the_first_table_with_an_index_out_of_range_is_named() {
    let (data, empty) = ([0f32; 16], [0f32; 0]);
    let table = FusedRows::plain(View::new(&data, &[2, 8]).unwrap()).unwrap();
    let none = FusedRows::plain(View::new(&empty, &[2, 0]).unwrap()).unwrap();
    let (good, bad) = (View::new(&[0i64, 1], &[1, 2]).unwrap(), View::new(&[0i64, 9], &[1, 2]).unwrap());
    let both = gather_core::tables::<f32>([&table, &none]).unwrap();
    for par in [Par::Seq, Par::Threads(3)] {
        for (ids, expected) in [([&bad, &bad], 0), ([&good, &bad], 1), ([&bad, &good], 0)] {
            let bags = ids.map(Bags::packed);
            let got = EmbeddingBag::new(Reduction::Add).par(par).run(&both, &bags);
            assert!(matches!(got, Err(Error::InTable { table, .. }) if table == expected), "{par:?}: {got:?}");
        }
    }
}

/// Work is not cut for threads that no pool has: a loop over the parts would not end.
#[test]
fn as_many_threads_as_there_are_numbers_are_no_more_parts() {
    let (updates, ids) = (vec![1f32; 40 * 30], vec![0i64; 40]);
    let updates = View::new(&updates, &[40, 30]).unwrap();
    let ids = View::new(&ids, &[40, 1]).unwrap();
    for reduction in [Reduction::None, Reduction::Add, Reduction::Max, Reduction::Mean] {
        for method in [None, Some(Method::Grouped), Some(Method::Accumulated)] {
            let op = ScatterNd::new().reduction(reduction);
            let op = method.map_or(op, |method| op.method(method));
            let mut outs = [[0f32; 30], [0f32; 30]];
            for (out, threads) in outs.iter_mut().zip([1, usize::MAX]) {
                let ran =
                    op.par(Par::Threads(threads)).run_on(&mut ViewMut::new(out, &[1, 30]).unwrap(), &ids, &updates);
                let refused = reduction == Reduction::None && method == Some(Method::Accumulated);
                assert_eq!(ran.is_err(), refused, "{reduction:?} {method:?} {threads}: {ran:?}");
            }
            assert_eq!(outs[0], outs[1], "{reduction:?} {method:?}");
        }
    }
}

/// Data of rank 0 has no axis, and no rows: planned, unplanned, converted, and for the adjoint.
#[test]
fn data_without_dimensions_is_refused() {
    let (value, ids, mut memory) = ([1.5f32], [0u32, 0], [0f32; 2]);
    let (data, ids) = (View::scalar(&value[0]), View::new(&ids, &[2]).unwrap());
    let no_axis = |error: Option<Error>| matches!(error, Some(Error::AxisOutOfRange { rank: 0, .. }));
    for gather in [Gather::new(0), Gather::new(0).out_of_bounds(OutOfBounds::Zero)] {
        let mut out = ViewMut::new(&mut memory, &[2]).unwrap();
        assert!(no_axis(gather.run_into(&data, &ids, &mut out).err()));
        assert!(no_axis(gather.run(&data, &ids).err()));
        assert!(no_axis(gather.plan(&data, &ids).err()));
        let mapped = data.map(&maps::convert::<f32, f32>(), ());
        assert!(no_axis(gather.run(&mapped, &ids).err()));
        assert!(no_axis(gather.nullable().run(&data, &ids, Nulls::default()).err()));
        let mut sums = [0f32];
        let mut sums = ViewMut::new(&mut sums, &[]).unwrap();
        assert!(no_axis(gather.adjoint().run_on(&mut sums, &ids, &[1f32, 2.0]).err()));
    }
}
