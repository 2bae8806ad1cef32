//! How the tensors of a case lie in memory: with any strides, in memory that is no larger than they need. Outputs are
//! surrounded by canaries.

use std::mem::MaybeUninit;

use arbitrary::{Result, Unstructured};
use gather_core::{Layout, View, ViewMut};

use super::draw::one_in;
use super::elements::Sample;
use crate::oracle::{self, Dense};
use crate::values::bytes;

/// A tensor's place in a slice of `len` elements.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<isize>,
    pub(super) offset: usize,
    pub(super) len: usize,
}

impl Place {
    /// Row-major, without a gap.
    pub(super) fn dense(shape: &[usize]) -> Self {
        let layout = Layout::contiguous(shape).expect("a shape of a case is small");
        Place { shape: shape.to_vec(), strides: layout.strides().to_vec(), offset: 0, len: layout.len() }
    }

    /// Half of the places are row-major. The others are transposed, reversed, cut out of something larger and, where
    /// elements may be `shared`, repeated.
    pub(super) fn draw(u: &mut Unstructured<'_>, shape: &[usize], shared: bool) -> Result<Self> {
        let mut place = Self::dense(shape);
        if u.arbitrary::<u8>()? < 128 {
            return Ok(place);
        }
        let mut order: Vec<usize> = (0..shape.len()).rev().collect();
        if u.arbitrary()? {
            for at in 1..order.len() {
                let other = u.int_in_range(0..=at)?;
                order.swap(at, other);
            }
        }
        let gaps = u.arbitrary()?;
        let empty = shape.contains(&0);
        // How many elements lie before coordinate 0, and how many from there to the last.
        let (mut origin, mut last) = (0, 0);
        let mut step = 1;
        for d in order {
            // Without elements, the other dimensions and the strides may be anything.
            let span = if empty { shape[d].min(4) } else { shape[d] - 1 };
            if gaps {
                step += u.int_in_range(0..=2)?;
            }
            if shared && one_in(u, 8)? {
                place.strides[d] = 0;
                continue;
            }
            place.strides[d] = step as isize;
            last += step * span;
            if one_in(u, 4)? {
                place.strides[d] = -(step as isize);
                origin += step * span;
            }
            step *= span + 1;
        }
        let (before, behind) = if gaps { (u.int_in_range(0..=3)?, u.int_in_range(0..=3)?) } else { (0, 0) };
        place.offset = if empty { before } else { before + origin };
        place.len = if empty { before } else { before + last + 1 + behind };
        Ok(place)
    }

    /// The element of the slice at a coordinate.
    pub(super) fn position(&self, coords: &[usize]) -> usize {
        let offset: isize = coords.iter().zip(&self.strides).map(|(&c, &stride)| c as isize * stride).sum();
        self.offset.checked_add_signed(offset).expect("a coordinate inside the slice")
    }

    /// The elements of the slice, in the tensor's row-major order.
    pub(super) fn positions(&self) -> Dense<usize> {
        let values = oracle::coords(&self.shape).map(|coords| self.position(&coords)).collect();
        Dense { shape: self.shape.clone(), values }
    }

    pub(super) fn view<'a, T>(&self, memory: &'a [T]) -> View<'a, T> {
        View::strided(memory, &self.shape, &self.strides, self.offset).expect("laid out in this memory")
    }

    pub(super) fn view_mut<'a, T>(&self, memory: &'a mut [T]) -> ViewMut<'a, T> {
        ViewMut::strided(memory, &self.shape, &self.strides, self.offset).expect("laid out in this memory, apart")
    }

    /// Whether the tensor is the whole slice in row-major order.
    pub(super) fn is_dense(&self) -> bool {
        let dense = Self::dense(&self.shape);
        self.strides == dense.strides && self.offset == 0 && self.len == dense.len
    }
}

/// An output in memory full of canaries.
pub(super) struct Guarded<T> {
    pub(super) memory: Vec<T>,
    before: Vec<T>,
}

impl<T: Sample> Guarded<T> {
    pub(super) fn new(place: &Place) -> Self {
        let memory: Vec<T> = (0..place.len as u64).map(|at| T::sample(!at)).collect();
        Guarded { before: memory.clone(), memory }
    }

    /// Whether nothing was written outside the output's elements. With `inside`, whether they were not written either.
    pub(super) fn is_intact(&self, place: &Place, inside: bool) -> bool {
        let mut written = vec![false; place.len];
        if !inside {
            place.positions().values.iter().for_each(|&at| written[at] = true);
        }
        let kept = |at: &usize| bytes(&self.memory[*at..=*at]) == bytes(&self.before[*at..=*at]);
        (0..place.len).filter(|&at| !written[at]).all(|at| kept(&at))
    }

    /// The elements of the place, in row-major order.
    pub(super) fn read(&self, place: &Place) -> Vec<T> {
        place.positions().values.iter().map(|&at| self.memory[at]).collect()
    }
}

/// Uninitialised memory for `len` elements.
pub(super) fn uninit<T>(len: usize) -> Vec<MaybeUninit<T>> {
    std::iter::repeat_with(MaybeUninit::uninit).take(len).collect()
}

/// The values in memory that has been initialised.
///
/// # Safety
/// Every element has been initialised.
pub(super) unsafe fn written<T: Copy>(memory: &[MaybeUninit<T>]) -> Vec<T> {
    // SAFETY: the caller's promise.
    memory.iter().map(|value| unsafe { value.assume_init() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_without_elements_have_places_whatever_their_other_dimensions() {
        let most = isize::MAX as usize;
        for shape in [&[0, most][..], &[most, 0], &[0, most / 4, 4], &[most, 0, 1]] {
            for byte in 0..=255 {
                let bytes: Vec<u8> = (0..64).map(|at| if at % 3 == 0 { 255 } else { byte ^ at }).collect();
                let place = Place::draw(&mut Unstructured::new(&bytes), shape, byte % 2 == 0).unwrap();
                let memory = vec![0u8; place.len];
                assert_eq!(place.view(&memory).layout().len(), 0);
            }
        }
    }
}
