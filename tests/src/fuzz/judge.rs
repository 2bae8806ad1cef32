//! What a call gave against what it should have given.

use std::fmt::Debug;
use std::mem::MaybeUninit;

use gather_core::{DynTensor, DynView, Element, Error, Shape, Tensor, ViewMut};

use super::elements::Sample;
use super::memory::{Guarded, Place, uninit, written};
use crate::oracle::Dense;
use crate::values::bytes;

/// Prints a case when what follows panics.
pub(super) struct OnPanic<'a, C: Debug>(pub(super) &'a C);

impl<C: Debug> Drop for OnPanic<'_, C> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the case: {:?}", self.0);
        }
    }
}

/// A way of writing to memory without values.
type IntoUninit<'a, T> = dyn Fn(&mut ViewMut<'_, MaybeUninit<T>>) -> Result<(), Error> + 'a;

/// What every face of a call should give.
pub(super) struct Expected<T>(Result<Dense<T>, Error>);

impl<T> From<Result<Dense<T>, Error>> for Expected<T> {
    fn from(expected: Result<Dense<T>, Error>) -> Self {
        Expected(expected)
    }
}

impl<T: Sample> Expected<T> {
    /// From where each element comes from in memory, `None` standing for the type's zero.
    pub(super) fn new(positions: &Result<Dense<Option<usize>>, Error>, memory: &[T]) -> Self {
        Expected(positions.as_ref().map_err(Error::clone).map(|positions| Dense {
            shape: positions.shape.clone(),
            values: positions.values.iter().map(|at| at.map_or(T::ZERO, |at| memory[at])).collect(),
        }))
    }

    /// Values with their shape, or an error.
    fn compare(&self, face: &str, got: Result<(&[usize], &[T]), Error>) {
        match (&self.0, got) {
            (Ok(expected), Ok((shape, values))) => {
                assert_eq!(expected.shape, shape, "{face}: the shape");
                let differs = expected.values.iter().zip(values).position(|(a, b)| bytes(&[*a]) != bytes(&[*b]));
                assert_eq!((differs, expected.values.len()), (None, values.len()), "{face}: the first that differs");
            }
            (Err(expected), Err(got)) => assert_eq!(*expected, got, "{face}"),
            (Ok(_), Err(got)) => panic!("{face}: {got}"),
            (Err(expected), Ok(_)) => panic!("{face} succeeded; expected: {expected}"),
        }
    }

    pub(super) fn is(&self, face: &str, got: Result<Tensor<T>, Error>) {
        match got {
            Ok(tensor) => self.compare(face, Ok((tensor.shape(), tensor.as_slice()))),
            Err(error) => self.compare(face, Err(error)),
        }
    }

    pub(super) fn is_dyn(&self, face: &str, got: Result<DynTensor, Error>) {
        self.is(face, got.map(|tensor| tensor.downcast().expect("the data type that went in")));
    }

    /// Shape inference sees no values of indices.
    pub(super) fn is_shape(&self, got: Result<Shape, Error>) {
        match (&self.0, got) {
            (Ok(expected), got) => assert_eq!(got.as_deref(), Ok(&expected.shape[..]), "output_shape"),
            (Err(Error::IndexOutOfRange { .. }), got) => assert!(got.is_ok(), "output_shape: {got:?}"),
            (Err(expected), got) => assert_eq!(got.as_ref(), Err(expected), "output_shape"),
        }
    }

    /// Both ways of writing to a given output: among canaries of any layout, and to memory without values.
    pub(super) fn is_written(
        &self,
        face: &str,
        place: &Place,
        into: &dyn Fn(&mut ViewMut<'_, T>) -> Result<(), Error>,
        into_uninit: &IntoUninit<'_, T>,
    ) {
        let mut guarded = Guarded::<T>::new(place);
        let ran = into(&mut place.view_mut(&mut guarded.memory));
        let may_write = matches!(ran, Ok(()) | Err(Error::IndexOutOfRange { .. }));
        assert!(guarded.is_intact(place, !may_write), "{face} has written outside its output");
        let values = guarded.read(place);
        self.compare(face, ran.map(|()| (&place.shape[..], &values[..])));

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
