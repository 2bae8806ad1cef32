//! Compares what a call gave with what it should have given.

use std::fmt::Debug;
use std::mem::MaybeUninit;

use gather_core::{DynTensor, DynView, Element, Error, Shape, Tensor, ViewMut};

use super::elements::Sample;
use super::memory::{Guarded, Place, uninit, written};
use crate::oracle::Dense;
use crate::values::bytes;

/// Prints a case if a panic unwinds past it.
pub(super) struct OnPanic<'a, C: Debug>(pub(super) &'a C);

impl<C: Debug> Drop for OnPanic<'_, C> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the case: {:?}", self.0);
        }
    }
}

/// A call that writes to uninitialised memory.
type IntoUninit<'a, T> = dyn Fn(&mut ViewMut<'_, MaybeUninit<T>>) -> Result<(), Error> + 'a;

/// What every door of a call should give.
pub(super) struct Expected<T>(Result<Dense<T>, Error>);

impl<T> From<Result<Dense<T>, Error>> for Expected<T> {
    fn from(expected: Result<Dense<T>, Error>) -> Self {
        Expected(expected)
    }
}

impl<T: Sample> Expected<T> {
    /// From the place in memory that each element comes from; `None` is the type's zero.
    pub(super) fn new(positions: &Result<Dense<Option<usize>>, Error>, memory: &[T]) -> Self {
        Expected(positions.as_ref().map_err(Error::clone).map(|positions| Dense {
            shape: positions.shape.clone(),
            values: positions.values.iter().map(|at| at.map_or(T::ZERO, |at| memory[at])).collect(),
        }))
    }

    /// Values with their shape, or an error.
    fn compare(&self, door: &str, got: Result<(&[usize], &[T]), Error>) {
        match (&self.0, got) {
            (Ok(expected), Ok((shape, values))) => {
                assert_eq!(expected.shape, shape, "{door}: the shape");
                let differs = expected.values.iter().zip(values).position(|(a, b)| bytes(&[*a]) != bytes(&[*b]));
                assert_eq!((differs, expected.values.len()), (None, values.len()), "{door}: the first that differs");
            }
            (Err(expected), Err(got)) => assert_eq!(*expected, got, "{door}"),
            (Ok(_), Err(got)) => panic!("{door}: {got}"),
            (Err(expected), Ok(_)) => panic!("{door} succeeded; expected: {expected}"),
        }
    }

    pub(super) fn is(&self, door: &str, got: Result<Tensor<T>, Error>) {
        match got {
            Ok(tensor) => self.compare(door, Ok((tensor.shape(), tensor.as_slice()))),
            Err(error) => self.compare(door, Err(error)),
        }
    }

    pub(super) fn is_dyn(&self, door: &str, got: Result<DynTensor, Error>) {
        self.is(door, got.map(|tensor| tensor.downcast().expect("the data type that went in")));
    }

    /// Shape inference sees no values of indices.
    pub(super) fn is_shape(&self, got: Result<Shape, Error>) {
        match (&self.0, got) {
            (Ok(expected), got) => assert_eq!(got.as_deref(), Ok(&expected.shape[..]), "output_shape"),
            (Err(Error::IndexOutOfRange { .. }), got) => assert!(got.is_ok(), "output_shape: {got:?}"),
            (Err(expected), got) => assert_eq!(got.as_ref(), Err(expected), "output_shape"),
        }
    }

    /// Checks writing to a layout among canaries.
    pub(super) fn is_laid(&self, door: &str, place: &Place, into: &dyn Fn(&mut ViewMut<'_, T>) -> Result<(), Error>) {
        let mut guarded = Guarded::<T>::new(place);
        let ran = into(&mut place.view_mut(&mut guarded.memory));
        let may_write = matches!(ran, Ok(()) | Err(Error::IndexOutOfRange { .. }));
        assert!(guarded.is_intact(place, !may_write), "{door} wrote outside its output");
        let values = guarded.read(place);
        self.compare(door, ran.map(|()| (&place.shape[..], &values[..])));
    }

    /// Checks both ways of writing to a given output: a layout among canaries, and uninitialised memory.
    pub(super) fn is_written(
        &self,
        door: &str,
        place: &Place,
        into: &dyn Fn(&mut ViewMut<'_, T>) -> Result<(), Error>,
        into_uninit: &IntoUninit<'_, T>,
    ) {
        self.is_laid(door, place, into);
        let mut memory = uninit::<T>(Place::dense(&place.shape).len);
        let ran = into_uninit(&mut Place::dense(&place.shape).view_mut(&mut memory));
        let values = match ran {
            // SAFETY: the run has succeeded, and the output is the whole memory.
            Ok(()) => Ok(unsafe { written(&memory) }),
            Err(error) => Err(error),
        };
        let values = values.as_ref().map(|values| (&place.shape[..], &values[..])).map_err(Error::clone);
        self.compare("run_uninit", values);
    }
}

/// Values as bytes at an odd address.
pub(super) struct Misaligned {
    memory: Vec<u8>,
    start: usize,
    dtype: gather_core::DType,
}

pub(super) fn misaligned<T: Element>(values: &[T]) -> Misaligned {
    let values = bytes(values);
    let mut memory = vec![0; values.len() + 1];
    let start = 1 - memory.as_ptr() as usize % 2;
    memory[start..start + values.len()].copy_from_slice(values);
    Misaligned { memory, start, dtype: T::DTYPE }
}

impl Misaligned {
    pub(super) fn view(&self, shape: &[usize]) -> DynView<'_> {
        let len = shape.iter().product::<usize>() * self.dtype.size();
        let values = &self.memory[self.start..self.start + len];
        // SAFETY: the bytes are those of values of the type.
        unsafe { DynView::from_bytes_unchecked(self.dtype, values, shape) }.expect("as many as the shape says")
    }
}
