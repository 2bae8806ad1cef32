//! What NumPy writes by indices of arrays, for arrays of `ndarray` of any strides.
//!
//! Copy what you need: each function is a call. Negative indices count from the end, as in NumPy. Nothing is broadcast.

use gather_core::{
    Element, Error, Gather, GatherElements, GatherNd, Index, NegativeIndex, Reduction, ScatterElements, View, ViewMut,
};
use ndarray::{Array1, Array2, ArrayD, ArrayRef, Axis, Dimension, Ix1, Ix4, stack};

/// `np.take(a, ids, axis)`.
///
/// # Errors
/// An axis or an index out of range.
pub fn take<A: Element, I: Index, D: Dimension, E: Dimension>(
    a: &ArrayRef<A, D>,
    ids: &ArrayRef<I, E>,
    axis: i64,
) -> Result<ArrayD<A>, Error> {
    Ok(Gather::new(axis).run(&View::try_from(a)?, &View::try_from(ids)?)?.into())
}

/// `np.take_along_axis(a, ids, axis)`. Where ids have fewer rows than `a` in another dimension, so has the result: NumPy
/// would repeat one row.
///
/// # Errors
/// An axis or an index out of range, shapes that do not fit.
pub fn take_along_axis<A: Element, I: Index, D: Dimension>(
    a: &ArrayRef<A, D>,
    ids: &ArrayRef<I, D>,
    axis: i64,
) -> Result<ArrayD<A>, Error> {
    Ok(GatherElements::new(axis).run(&View::try_from(a)?, &View::try_from(ids)?)?.into())
}

/// `a[i0, i1, ..]` for lists of one length, one for each of the first dimensions.
///
/// # Errors
/// An index out of range, more lists than dimensions.
///
/// # Panics
/// Without lists, or with lists of several lengths.
pub fn at<A: Element, I: Index, D: Dimension>(
    a: &ArrayRef<A, D>,
    ids: &[&ArrayRef<I, Ix1>],
) -> Result<ArrayD<A>, Error> {
    let lists: Vec<_> = ids.iter().map(|list| list.view()).collect();
    let tuples = stack(Axis(1), &lists).expect("lists of one length");
    Ok(GatherNd::new().run(&View::try_from(a)?, &View::try_from(&tuples)?)?.into())
}

/// `np.add.at(a, ids, updates)`: rows of updates are added one after the other, equal ids too.
///
/// # Errors
/// An index out of range, shapes that do not fit. `a` is untouched then.
pub fn add_at<A: Element, I: Index, D: Dimension, E: Dimension>(
    a: &mut ArrayRef<A, D>,
    ids: &ArrayRef<I, Ix1>,
    updates: &ArrayRef<A, E>,
) -> Result<(), Error> {
    Gather::new(0).adjoint().run_on(&mut ViewMut::try_from(a)?, &View::try_from(ids)?, &View::try_from(updates)?)
}

/// `np.bincount(ids, minlength=bins)`, which refuses what is negative or not below `bins`.
///
/// # Errors
/// An id out of range.
pub fn bincount<I: Index>(ids: &ArrayRef<I, Ix1>, bins: usize) -> Result<Array1<u32>, Error> {
    let mut counts = Array1::zeros(bins);
    let ones = View::strided(&[1], &[ids.len()], &[0], 0)?;
    let count = ScatterElements::new(0).reduction(Reduction::Add).negative_index(NegativeIndex::Reject);
    count.run_on(&mut ViewMut::try_from(&mut counts)?, &View::try_from(ids)?, &ones)?;
    Ok(counts)
}

/// A mosaic of tiles `[rows, columns, height, width]` in one image. (BatchToSpace would interleave their pixels.)
///
/// # Errors
/// None for tiles in memory.
///
/// # Panics
/// Never: an image has as many pixels as its tiles.
pub fn mosaic<A: Element>(tiles: &ArrayRef<A, Ix4>) -> Result<Array2<A>, Error> {
    let (rows, columns, height, width) = tiles.dim();
    let ids: Vec<usize> = (0..rows).collect();
    let lines = View::try_from(tiles)?.permuted(&[0, 2, 1, 3])?;
    let image = Gather::new(0).run(&lines, &View::new(&ids, &[rows])?)?;
    let image = Array2::from_shape_vec((rows * height, columns * width), image.into_vec());
    Ok(image.expect("an image has as many pixels as its tiles"))
}
