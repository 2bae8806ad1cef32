//! What the integration tests share: views of dense tensors in awkward memory, and rules in both spellings.

#![forbid(unsafe_code)]

use gather_core::{Element, Index, Tensor, View};

use crate::oracle::Dense;
pub use crate::policies::RULES;

/// A dense tensor as a view.
#[must_use]
pub fn view<T>(dense: &Dense<T>) -> View<'_, T> {
    View::new(&dense.values, &dense.shape).expect("a dense tensor fits its shape")
}

/// A tensor as the oracle has it.
#[must_use]
pub fn dense<T: Clone>(tensor: &Tensor<T>) -> Dense<T> {
    Dense { shape: tensor.shape().to_vec(), values: tensor.as_slice().to_vec() }
}

/// The indices of a dense tensor in an index type; all must fit.
///
/// # Panics
/// When one does not.
#[must_use]
pub fn narrow<I: Index + TryFrom<i128>>(indices: &Dense<i128>) -> Dense<I> {
    let value = |&index: &i128| I::try_from(index).ok().expect("an index that fits its type");
    Dense { shape: indices.shape.clone(), values: indices.values.iter().map(value).collect() }
}

/// Memory in which a tensor's elements lie apart: no two dimensions of its view can be merged.
pub struct Spread<T> {
    memory: Vec<T>,
    strides: Vec<isize>,
    shape: Vec<usize>,
    offset: usize,
}

impl<T: Element> Spread<T> {
    /// Lays a dense tensor out with a gap after every step of every dimension, from an odd element on.
    #[must_use]
    pub fn new(dense: &Dense<T>) -> Self {
        let rank = dense.shape.len();
        let mut strides = vec![0isize; rank];
        let mut step = 2isize;
        for d in (0..rank).rev() {
            strides[d] = step;
            step = step * dense.shape[d].max(1) as isize + 1;
        }
        let offset = 1;
        let mut memory = vec![T::ZERO; offset + step as usize];
        for (coords, value) in crate::oracle::coords(&dense.shape).zip(&dense.values) {
            let at: isize = coords.iter().zip(&strides).map(|(&c, &stride)| c as isize * stride).sum();
            memory[offset + at as usize] = *value;
        }
        Spread { memory, strides, shape: dense.shape.clone(), offset }
    }

    /// The tensor.
    #[must_use]
    pub fn view(&self) -> View<'_, T> {
        View::strided(&self.memory, &self.shape, &self.strides, self.offset).expect("laid out in this memory")
    }
}

/// Deterministic numbers that look random.
#[must_use]
pub fn mixed(seed: u64, at: usize) -> u64 {
    let x = (seed ^ (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ (x >> 29)
}

/// Data of such numbers.
#[must_use]
pub fn data(shape: &[usize], seed: u64) -> Dense<u32> {
    Dense::from_fn(shape, |at| mixed(seed, at) as u32)
}
