//! Memory of benchmarks.

use bytemuck::Pod;
use gather_core::{Tensor, View, ViewMut};

/// Bytes of a cache line.
const LINE: usize = 64;

/// A tensor in memory like that of native engines: on huge pages where they pay, and aligned to a cache line.
pub struct Buffer<T> {
    memory: Tensor<T>,
    start: usize,
    shape: Vec<usize>,
}

impl<T: Pod> Buffer<T> {
    /// A tensor of zeros. Every page of it has been touched.
    ///
    /// # Panics
    /// When it does not fit in memory.
    #[must_use]
    pub fn zeroed(shape: &[usize]) -> Self {
        let len: usize = shape.iter().product();
        let memory = Tensor::filled(&[len + LINE / size_of::<T>()], T::zeroed()).expect("a tensor that fits");
        let start = memory.as_slice().as_ptr().align_offset(LINE);
        Buffer { memory, start, shape: shape.to_vec() }
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements, row-major.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.memory.as_slice()[self.start..][..self.len()]
    }

    /// The elements, row-major.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        let len = self.len();
        &mut self.memory.as_mut_slice()[self.start..][..len]
    }

    /// The elements' bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self.as_slice())
    }

    /// The tensor as gather-core takes it.
    #[must_use]
    pub fn view(&self) -> View<'_, T> {
        View::new(self.as_slice(), &self.shape).expect("a buffer of its shape")
    }

    /// The tensor as gather-core writes it.
    pub fn view_mut(&mut self) -> ViewMut<'_, T> {
        let len = self.len();
        let Buffer { memory, start, shape } = self;
        ViewMut::new(&mut memory.as_mut_slice()[*start..][..len], shape).expect("a buffer of its shape")
    }

    fn len(&self) -> usize {
        self.shape.iter().product()
    }
}
