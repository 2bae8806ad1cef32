//! Memory of benchmarks.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytemuck::Pod;
use gather_core::{Tensor, View, ViewMut};

/// Bytes of a cache line.
pub const LINE: usize = 64;

/// See [`begin_after_lines`].
static AFTER_LINE: AtomicUsize = AtomicUsize::new(0);

/// From now on buffers begin `bytes` bytes after the start of a cache line, where they began with it. NumPy's arrays
/// begin 16 bytes after one. [`Buffer::aligned`] is not concerned.
///
/// # Errors
/// A text: the number is no multiple of 16 below 64.
pub fn begin_after_lines(bytes: usize) -> Result<(), String> {
    if bytes >= LINE || !bytes.is_multiple_of(16) {
        return Err(format!("buffers begin 0, 16, 32 or 48 bytes after a cache line, not {bytes}"));
    }
    AFTER_LINE.store(bytes, Ordering::Relaxed);
    Ok(())
}

/// The number of bytes that buffers begin after a cache line.
#[must_use]
pub fn bytes_after_line() -> usize {
    AFTER_LINE.load(Ordering::Relaxed)
}

/// A tensor in memory like that of native engines: on huge pages where they pay, and aligned to a cache line, or some
/// bytes after one: see [`begin_after_lines`].
pub struct Buffer<T> {
    memory: Tensor<T>,
    start: usize,
    shape: Vec<usize>,
}

impl<T: Pod> Buffer<T> {
    /// A tensor of zeros. Every page of it has been touched.
    ///
    /// # Panics
    /// When it does not fit in memory, or an element is so large that it cannot begin where buffers do.
    #[must_use]
    pub fn zeroed(shape: &[usize]) -> Self {
        Self::after_line(shape, bytes_after_line())
    }

    /// As [`Buffer::zeroed`], and always aligned to a cache line.
    ///
    /// # Panics
    /// When it does not fit in memory.
    #[must_use]
    pub fn aligned(shape: &[usize]) -> Self {
        Self::after_line(shape, 0)
    }

    fn after_line(shape: &[usize], bytes: usize) -> Self {
        assert_eq!(bytes % size_of::<T>(), 0, "elements of {} bytes, {bytes} bytes after a line", size_of::<T>());
        let len: usize = shape.iter().product();
        // Elements of which no whole number fills a line begin with one every `LINE` elements at least.
        let size = size_of::<T>();
        let spare = if size.is_power_of_two() { 2 * LINE / size } else { LINE + bytes / size };
        let memory = Tensor::full(&[len + spare], T::zeroed()).expect("a tensor that fits");
        let start = memory.as_slice().as_ptr().align_offset(LINE) + bytes / size_of::<T>();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_any_size_fit() {
        for len in 1..50 {
            let buffer = Buffer::<[f32; 3]>::aligned(&[len]);
            assert_eq!((buffer.as_bytes().as_ptr().addr() % LINE, buffer.as_slice().len()), (0, len));
        }
    }

    #[test]
    fn buffers_begin_where_they_are_told() {
        for bytes in [0, 16, 32, 48] {
            let buffer = Buffer::<f32>::after_line(&[5, 20], bytes);
            assert_eq!(buffer.as_bytes().as_ptr().addr() % LINE, bytes);
            assert_eq!((buffer.as_slice().len(), buffer.view().shape()), (100, &[5, 20][..]));
        }
        // Refused before the setting changes, which other tests share.
        assert!(begin_after_lines(8).is_err() && begin_after_lines(64).is_err());
        assert_eq!(bytes_after_line(), 0);
    }
}
