//! The doors to other crates: plain types of `bytemuck`, arrays of `ndarray`.

use gather_core::{Error, Gather, Plain, Reduction, ScatterNd, Tensor, View, ViewMut};
use ndarray::{
    Array, Array2, ArrayD, ArrayView2, ArrayViewMut2, Axis, Ix1, ShapeBuilder, Slice, SliceInfo, SliceInfoElem,
};

/// A plain type of another crate, such as `std` is: what `bytemuck` knows of it.
type Pair = std::num::Wrapping<u16>;

#[test]
fn plain_types_of_other_crates() {
    let mut values = [3u16, 5, 7, 9].map(std::num::Wrapping);
    Plain::wrap_slice_mut(&mut values)[1].0.0 = 6;
    let table = View::new(Plain::wrap_slice(&values), &[2, 2]).unwrap();
    let mut picked = Gather::new(0).run(&table, &View::new(&[1i8, 0, -1], &[3]).unwrap()).unwrap().into_vec();
    let plain: Vec<u16> = Plain::unwrap_slice(&picked).iter().map(|value: &Pair| value.0).collect();
    assert_eq!(plain, [7, 9, 3, 6, 7, 9]);
    Plain::unwrap_slice_mut(&mut picked)[0].0 = 1;
    let unwrapped: Vec<Pair> = Plain::unwrap_vec(picked);
    assert_eq!((unwrapped[0].0, unwrapped.len()), (1, 6));
    assert_eq!(Plain::wrap_vec(unwrapped)[5], Plain(std::num::Wrapping(9)));
}

/// Checks that a view gives the rows of an array.
fn same(view: Result<View<'_, i32>, Error>, array: ArrayView2<'_, i32>) {
    let view = view.unwrap();
    assert_eq!((view.shape(), view.strides()), (array.shape(), array.strides()));
    let last = array.nrows() - 1;
    let picked = Gather::new(0).run(&view, &View::new(&[last, 0], &[2]).unwrap()).unwrap();
    let expected: Vec<i32> = array.row(last).iter().chain(array.row(0)).copied().collect();
    assert_eq!(picked.as_slice(), expected);
}

#[test]
fn arrays_are_viewed_and_written() {
    let array: Array2<i32> = Array::from_iter(0..12).into_shape_with_order((3, 4)).unwrap();
    let columns: Array2<i32> = Array2::from_shape_vec((3, 4).f(), (0..12).collect()).unwrap();
    for array in [&array, &columns] {
        same(View::try_from(array), array.view());
        same(View::try_from(&**array), array.view());
        let mut part = array.slice_axis(Axis(0), Slice::from(..).step_by(-1));
        part.slice_axis_inplace(Axis(1), Slice::from(1..).step_by(2));
        for part in [part, array.t(), array.row(1).broadcast((3, 4)).unwrap()] {
            same(View::try_from(part), part);
        }
    }
    let table = View::new(&[10, 20, 30], &[3]).unwrap();
    let ids = View::new(&[2u8, 0, 1, 1], &[2, 2]).unwrap();
    let op = Gather::new(0);
    let mut out = Array2::<i32>::zeros((2, 2));
    op.run_into(&table, &ids, &mut ViewMut::try_from(&mut out).unwrap()).unwrap();
    assert_eq!(out, ndarray::array![[30, 10], [20, 20]]);
    out.fill(0);
    op.run_into(&table, &ids, &mut ViewMut::try_from(&mut *out).unwrap()).unwrap();
    assert_eq!(out, ndarray::array![[30, 10], [20, 20]]);
    let mut wide = Array2::<i32>::zeros((2, 4));
    let mut part: ArrayViewMut2<'_, i32> = wide.slice_axis_mut(Axis(1), Slice::from(..).step_by(2));
    part.invert_axis(Axis(0));
    op.run_into(&table, &ids, &mut ViewMut::try_from(part).unwrap()).unwrap();
    assert_eq!(wide, ndarray::array![[20, 0, 20, 0], [30, 0, 10, 0]]);
    let back = ArrayD::from(Tensor::new(vec![1, 2, 3, 4], &[2, 2]).unwrap());
    assert_eq!(back, ndarray::array![[1, 2], [3, 4]].into_dyn());
    let back = Array2::try_from(Tensor::new(vec![1, 2, 3, 4], &[2, 2]).unwrap()).unwrap();
    assert_eq!(back, ndarray::array![[1, 2], [3, 4]]);
}

/// Updates that overlap themselves may lie on both sides of a destination, and take turns with it.
#[test]
fn updates_and_destination_may_take_turns_in_memory() {
    let mut memory = Array::from_iter((0..4).map(|at| at as f32));
    // `s!` would need unsafe code.
    let part = |slice: Slice| SliceInfo::<[SliceInfoElem; 1], Ix1, Ix1>::try_from([slice.into()]).unwrap();
    let (updates, mut sums) = memory.multi_slice_mut((part(Slice::from(..).step_by(3)), part(Slice::from(1..3))));
    let updates = updates.view();
    let updates = updates.broadcast((2, 2)).unwrap();
    let (updates, ids) = (View::try_from(&updates).unwrap(), View::new(&[0u32, 1, 1, 0], &[2, 2, 1]).unwrap());
    let op = ScatterNd::new().reduction(Reduction::Add);
    op.run_on(&mut ViewMut::try_from(&mut sums).unwrap(), &ids, &updates).unwrap();
    assert_eq!(memory.to_vec(), [0.0, 4.0, 5.0, 3.0]);
}
