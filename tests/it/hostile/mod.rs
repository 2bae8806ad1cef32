//! Hostile input: what nobody should pass and somebody will. Each case is checked for its exact error or value, with
//! every operator that it applies to, through every kind of door: typed, planned, `Clone` and type-erased.
//!
//! | case | what | where |
//! |---|---|---|
//! | H1..H3 | blocks that are negative, 0, or overflow when multiplied | `blocks`, `inverses` |
//! | H4 | negative indices under `Reject`; tuples out of range whose flat offset is in range | `values` |
//! | H5 | index 0 into an axis without elements | `values` |
//! | H6 | batches of 0, and batches that differ | `shapes` |
//! | H7 | more elements or bytes than a tensor can have | `sizes` |
//! | H8 | `axis` and `batch_dims` at the ends of `i64` | `shapes` |
//! | H9 | tuples with no component or too many; indices of rank 0; empty data | `shapes` |
//! | H10 | components whose products overflow | `values` |
//! | H11 | data of rank 0; outputs of the wrong shape, or that overlap themselves | `shapes`, `outputs` |
//! | H12 | dimensions without elements off the axis | `shapes` |
//! | H13 | fewer work items than threads | `outputs` |
//! | H15 | crops and pads of every wrong kind; batches that blocks do not divide | `blocks`, `inverses` |
//! | H16 | indices at the ends of their types | `values` |
//! | H17 | the last element at the end of a page | `outputs` |
//! | H18 | more than 2^24 outputs | `sizes` |
//! | H19 | NaN payloads; misaligned and unaligned views | `outputs` |
//! | H20 | strides at the ends of their type | `strides` |
//! | H21 | chunks that overlap, that are very many or very long, whose rows cannot be counted | `chunks` |

mod blocks;
mod chunks;
mod inverses;
mod outputs;
mod shapes;
mod sizes;
mod strides;
mod values;

use std::fmt::Debug;

use gather_core::{BatchToSpace, DynView, Element, Error, Gather, GatherElements, GatherNd, Index, Tensor, View};

/// Elements that every door takes.
trait Plain: Element + Default + PartialEq + Debug {}
impl<T: Element + Default + PartialEq + Debug> Plain for T {}

/// An index operator, called through all of its doors, which must agree.
trait Faces {
    fn call<T: Plain, I: Index>(&self, data: &View<'_, T>, indices: &View<'_, I>) -> Result<Tensor<T>, Error>;
}

macro_rules! faces {
    ($($op:ident)*) => {$(
        impl Faces for $op {
            fn call<T: Plain, I: Index>(&self, data: &View<'_, T>, indices: &View<'_, I>) -> Result<Tensor<T>, Error> {
                let erased = self.run(&DynView::from(data), &DynView::from(indices));
                let planned = self.plan(&data, &indices);
                agree([
                    self.run(data, indices),
                    planned.and_then(|plan| plan.run(data, indices)),
                    self.run_cloned(data, indices),
                    erased.map(|tensor| tensor.downcast().unwrap()),
                ])
            }
        }
    )*};
}
faces!(Gather GatherElements GatherNd);

/// Runs BatchToSpace through all of its doors.
fn call_space<T: Plain>(op: &BatchToSpace, data: &View<'_, T>) -> Result<Tensor<T>, Error> {
    let erased = op.run(&DynView::from(data));
    agree([
        op.run(data),
        op.plan(&data).and_then(|plan| plan.run(data)),
        op.run_cloned(data),
        erased.map(|tensor| tensor.downcast().unwrap()),
    ])
}

fn agree<T: Plain>(results: [Result<Tensor<T>, Error>; 4]) -> Result<Tensor<T>, Error> {
    let [first, rest @ ..] = results;
    for other in rest {
        assert_eq!(other, first);
    }
    first
}

/// The result of a call as text: shape and elements, or the error.
fn text<T: Plain>(result: Result<Tensor<T>, Error>) -> String {
    match result {
        Ok(tensor) => format!("{:?} {:?}", tensor.shape(), tensor.as_slice()),
        Err(error) => error.to_string(),
    }
}

/// Runs an operator through all doors on dense tensors.
fn run<T: Plain, I: Index>(op: &impl Faces, data: (&[T], &[usize]), indices: (&[I], &[usize])) -> String {
    text(op.call(&View::new(data.0, data.1).unwrap(), &View::new(indices.0, indices.1).unwrap()))
}

/// Runs BatchToSpace through all doors on a dense tensor.
fn space<T: Plain>(block: &[i64], begin: &[i64], end: &[i64], data: (&[T], &[usize])) -> String {
    text(call_space(&BatchToSpace::new(block, begin, end), &View::new(data.0, data.1).unwrap()))
}

const SIX: &[i32] = &[1, 2, 3, 4, 5, 6];
const NONE: &[i32] = &[];
