//! A failed allocation is an error, never an abort. No call takes time out of proportion to its inputs and its result.
#![cfg_attr(
    target_pointer_width = "32",
    allow(dead_code, unused_imports, reason = "most sizes here need pointers of 64 bits")
)]

use gather_core::{
    BatchToSpace, DynView, Element, Error, Gather, GatherElements, GatherNd, Given, Index, Layout, Method, Op,
    OutOfBounds, Spec, Tensor, View, maps,
};
use gather_tests::support::available_levels;

/// A number of 8-byte elements whose bytes `isize` can count and no machine can hold.
const HUGE: usize = isize::MAX as usize / 64 + 1;
/// Their bytes.
const BYTES: usize = HUGE * 8;

/// The doors of an index operator that allocate.
trait Allocating {
    fn faces<T: Element + Default, I: Index>(&self, data: &View<'_, T>, indices: &View<'_, I>) -> [Option<Error>; 4];
}

macro_rules! allocating {
    ($($op:ident)*) => {$(
        impl Allocating for $op {
            fn faces<T: Element + Default, I: Index>(
                &self,
                data: &View<'_, T>,
                indices: &View<'_, I>,
            ) -> [Option<Error>; 4] {
                let plan = self.plan(&data, &indices).unwrap();
                let (erased, list) = (DynView::from(data), DynView::from(indices));
                [
                    self.run(data, indices).err(),
                    plan.run(data, indices).err(),
                    self.run_cloned(data, indices).err(),
                    self.run(&erased, &list).err(),
                ]
            }
        }
    )*};
}
allocating!(Gather GatherElements GatherNd);

const REFUSED: Option<Error> = Some(Error::AllocationFailed { bytes: BYTES });

#[test]
#[cfg(target_pointer_width = "64")]
fn results_that_no_memory_holds() {
    let (one, zero) = ([7u64], [0i64, 0]);
    // One element for all, along data or along indices.
    let row = View::strided(&one, &[1, HUGE], &[0, 0], 0).unwrap();
    let data = View::new(&one, &[1]).unwrap();
    let (list, tuple) = (View::new(&zero[..1], &[1]).unwrap(), View::new(&zero[..1], &[1, 1]).unwrap());
    let (many, tuples) =
        (View::strided(&zero, &[HUGE], &[0], 0).unwrap(), View::strided(&zero, &[HUGE, 1], &[0, 1], 0).unwrap());
    for &policy in OutOfBounds::ALL {
        let (gather, elements) = (Gather::new(0).out_of_bounds(policy), GatherElements::new(0).out_of_bounds(policy));
        let nd = GatherNd::new().out_of_bounds(policy);
        assert_eq!(gather.faces(&row, &list), [REFUSED; 4]);
        assert_eq!(gather.faces(&data, &many), [REFUSED; 4]);
        assert_eq!(elements.faces(&data, &many), [REFUSED; 4]);
        assert_eq!(nd.faces(&row, &tuple), [REFUSED; 4]);
        assert_eq!(nd.faces(&data, &tuples), [REFUSED; 4]);
    }

    let op = BatchToSpace::new(&[1, 2], &[0; 2], &[0; 2]);
    let batches = View::strided(&one, &[2, HUGE / 2], &[0, 0], 0).unwrap();
    assert_eq!(op.run(&batches).err(), REFUSED);
    assert_eq!(op.plan(&batches).unwrap().run(&batches).err(), REFUSED);
    assert_eq!(op.run_cloned(&batches).err(), REFUSED);
    assert_eq!(op.run(&DynView::from(&batches)).err(), REFUSED);

    assert_eq!(Tensor::full(&[HUGE], 7u64).err(), REFUSED);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn results_of_clone_types_and_of_maps_that_no_memory_holds() {
    let (words, zero) = ([String::from("word")], [0u8]);
    let row = View::strided(&words, &[1, HUGE], &[0, 0], 0).unwrap();
    let list = View::new(&zero, &[1]).unwrap();
    let bytes = HUGE * size_of::<String>();
    let expected = match isize::try_from(bytes) {
        Ok(_) => Error::AllocationFailed { bytes },
        Err(_) => Error::TooManyBytes { shape: [1, HUGE].into(), element: size_of::<String>() },
    };
    assert_eq!(Gather::new(0).run_cloned(&row, &list).unwrap_err(), expected);
    assert_eq!(Gather::new(0).run_cloned_or(&row, &list, &words[0]).unwrap_err(), expected);

    // 4 bytes for each byte of data.
    let row = View::strided(&zero, &[1, 2 * HUGE], &[0, 0], 0).unwrap();
    let given = (Given::All(1.0), Given::All(0));
    let got = Gather::new(0).run(&row.map(&maps::dequantize(), given), &list);
    assert_eq!(got.err(), REFUSED);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn panels_of_an_axis_that_is_repeated_are_refused() {
    // A panel would hold one column of 64 KiB elements as often as the axis says, 2^31 - 1 times.
    let lane = [[1u64; 8192]; 2];
    let rows = i32::MAX as usize;
    let data = View::strided(&lane, &[rows, 2], &[0, 1], 0).unwrap();
    let list = View::new(&[5i32, -1], &[1, 2]).unwrap();
    for level in available_levels() {
        let op = GatherElements::new(0).level(level);
        let panels = op.method(Method::Panels);
        let refused = Error::MethodUnavailable { op: Op::GatherElements, method: Method::Panels };
        assert_eq!(panels.run(&data, &list).unwrap_err(), refused);
        assert_eq!(panels.plan(&data, &list).unwrap_err(), refused);
        assert_eq!(op.run(&data, &list).unwrap().as_slice(), lane);
    }
}

/// Indices repeated by strides of 0, as often as `isize` can count, are checked once.
#[test]
fn checking_takes_no_longer_than_what_is_there() {
    let (none, list) = ([0i32; 0], [2i64, 1, 5, 7]);
    let most = isize::MAX as usize / 8;
    // Two dimensions that are stored between two that are repeated. The first bad index is 5, at [0, 1, 0, 0].
    let shape = [1 << 10, 2, most >> 12, 2];
    let indices = View::strided(&list, &shape, &[0, 2, 0, 1], 0).unwrap();
    let data = View::new(&none, &[3, 0]).unwrap();
    let error = Gather::new(0).run(&data, &indices).unwrap_err();
    let text = format!("gather: index 5 at position {} is out of range for axis 0 of size 3", (most >> 12) * 2);
    assert_eq!(error.to_string(), text);
    assert_eq!(Gather::new(0).run_cloned(&data, &indices).unwrap_err(), error);

    // Both components of a tuple are one stored index, which is out of range for the second axis.
    let tuples = View::strided(&list, &[most >> 4, 2], &[0, 0], 0).unwrap();
    let data = View::new(&none, &[3, 2, 0]).unwrap();
    let error = GatherNd::new().run(&data, &tuples).unwrap_err();
    assert_eq!(error.to_string(), "gather_nd: index 2 at position 1 is out of range for axis 1 of size 2");
    assert!(GatherNd::new().run(&View::new(&none, &[3, 3, 0]).unwrap(), &tuples).unwrap().is_empty());
}

/// Layouts without memory may have strides that overflow in bytes. Plans for them are made and explained all the same.
#[test]
fn plans_of_layouts_that_no_memory_has() {
    let far = [isize::MAX, 3, isize::MIN, -1];
    for a in far {
        for b in far {
            let data = Layout::strided(&[4, 5], &[a, b]).unwrap();
            let indices = Layout::strided(&[2, 2], &[b, a]).unwrap();
            let plan =
                GatherNd::new().plan(&Spec::<u64>::from_layout(&data), &Spec::<i64>::from_layout(&indices)).unwrap();
            assert!(plan.explain().to_string().contains("gather_nd: "));
            let plan =
                Gather::new(1).plan(&Spec::<u64>::from_layout(&data), &Spec::<i64>::from_layout(&indices)).unwrap();
            assert!(plan.explain().to_string().contains("gather: "));
            let plan = GatherElements::new(0)
                .plan(&Spec::<u64>::from_layout(&data), &Spec::<i64>::from_layout(&indices))
                .unwrap();
            assert!(plan.explain().to_string().contains("gather_elements: "));
            let copy = BatchToSpace::new(&[1, 2], &[0, 1], &[0, 0]).plan(&Spec::<u64>::from_layout(&data)).unwrap();
            assert!(copy.explain().to_string().contains("batch_to_space: "));
        }
    }
}

gather_tests::needs_64_bits!(
    results_that_no_memory_holds,
    results_of_clone_types_and_of_maps_that_no_memory_holds,
    panels_of_an_axis_that_is_repeated_are_refused
);
