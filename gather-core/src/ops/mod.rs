//! The operators: small values that hold attributes, check them against shapes, and lower to loops.

/// Implements the settings and getters of an attribute that several operators have.
macro_rules! attribute {
    ($Op:ident: axis) => {
        impl $Op {
            $crate::types::declare::accessors! { self:
                /// The axis, as given.
                pub fn get_axis() -> i64 => self.attributes().axis;
            }
        }
    };
    ($Op:ident: batch_dims $(, $more:literal)?) => {
        impl $Op {
            $crate::types::declare::accessors! { self:
                /// Sets the number of leading dimensions that data and indices share.
                $(#[doc = $more])?
                pub fn batch_dims(batch_dims: i64) =>
                    self = self.with_attributes(|attributes| attributes.batch_dims = batch_dims);
                /// The number of leading dimensions that data and indices share, as given.
                pub fn get_batch_dims() -> i64 => self.attributes().batch_dims;
            }
        }
    };
    ($Op:ident: block_shape) => {
        impl $Op {
            $crate::types::declare::accessors! { self:
                /// The blocks, as given; the batch's block is the first.
                pub fn get_block_shape() -> &[i64] => &self.attributes().0.block;
            }
        }
    };
    ($Op:ident: block_size and mode) => {
        impl $Op {
            $crate::types::declare::accessors! { self:
                /// The block size, as given.
                pub fn get_block_size() -> i64 => self.attributes().0.block_size;
                /// The mode.
                pub fn get_mode() -> DepthMode => self.attributes().0.mode;
            }
        }
    };
}

mod batch_to_space;
mod bits;
mod blocks;
mod depth;
#[cfg(feature = "bags")]
mod embedding_bag;
mod gather;
mod gather_elements;
mod gather_nd;
mod ragged;
#[cfg(feature = "scatter")]
mod scatter_elements;
#[cfg(feature = "scatter")]
mod scatter_nd;
mod space_to_batch;
mod unique;

pub use batch_to_space::{BatchToSpace, BatchToSpaceAttributes, batch_to_space};
pub use bits::gather_bits;
pub use depth::{
    DepthToSpace, DepthToSpaceAttributes, SpaceToDepth, SpaceToDepthAttributes, depth_to_space, space_to_depth,
};
pub use gather::{Gather, GatherAttributes, gather, rows, rows_into};
pub use gather_elements::{GatherElements, GatherElementsAttributes, gather_elements};
pub use gather_nd::{GatherNd, GatherNdAttributes, gather_nd};
pub use ragged::{Ragged, ragged_pairs};
#[cfg(feature = "scatter")]
pub use scatter_elements::{ScatterElements, ScatterElementsAttributes, scatter_elements};
#[cfg(feature = "scatter")]
pub use scatter_nd::{ScatterNd, ScatterNdAttributes, scatter_nd};
pub use space_to_batch::{SpaceToBatch, SpaceToBatchAttributes, space_to_batch};
pub use unique::{Unique, UniqueId};

use crate::tensor::layout::Layout;
use crate::types::error::Error;
use crate::types::op::Op;

/// The size of an axis of data. Of rank 0, data is a list of one element if `lists`.
///
/// # Errors
/// [`Error::AxisOutOfRange`].
fn axis_size((op, axis): (Op, i64), data: &Layout, lists: bool) -> Result<usize, Error> {
    let shape = if lists && data.rank() == 0 { &[1] } else { data.shape() };
    normalize_axis(op, axis, shape.len()).map(|axis| shape[axis])
}

/// `axis`, counted from the start, in a tensor of rank `rank`.
fn normalize_axis(op: Op, axis: i64, rank: usize) -> Result<usize, Error> {
    let signed = rank as i64;
    if (-signed..signed).contains(&axis) {
        Ok(axis.rem_euclid(signed) as usize)
    } else {
        Err(Error::AxisOutOfRange { op, axis, rank })
    }
}
