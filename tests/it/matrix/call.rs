//! One call of the matrix, through the typed or the type-erased door.

use gather_core::{
    DType, DynView, Element, Error, Gather, GatherElements, GatherNd, Level, Method, NegativeIndex, OutOfBounds, Par,
    Tensor, View,
};
use num_complex::Complex;

use super::indices::{Bytes, Laid};
use super::variants::{Form, Operator, Variant};

/// A call except for its indices.
pub(super) struct Call<'a> {
    pub(super) variant: &'a Variant,
    pub(super) data: &'a [u8],
    pub(super) data_shape: &'a [usize],
    pub(super) width: usize,
    pub(super) negative: NegativeIndex,
    pub(super) out_of_bounds: OutOfBounds,
    pub(super) level: Level,
    pub(super) method: Option<Method>,
}

/// Runs a body on the operator of a call with all that the call sets.
macro_rules! with_operator {
    ($call:expr, $op:ident => $run:expr) => {{
        let call = $call;
        macro_rules! set {
            ($new:expr) => {{
                let op = $new.negative_index(call.negative).out_of_bounds(call.out_of_bounds);
                let op = op.par(Par::Seq).level(call.level);
                let $op = match call.method {
                    Some(method) => op.method(method),
                    None => op,
                };
                $run
            }};
        }
        match call.variant.operator {
            Operator::Gather { axis, batch } => set!(Gather::new(axis as i64).batch_dims(batch as i64)),
            Operator::Elements { axis } => set!(GatherElements::new(axis as i64)),
            Operator::Nd { batch } => set!(GatherNd::new().batch_dims(batch as i64)),
        }
    }};
}

/// The strides of data in elements: row-major, or with the dimensions in the reverse order.
fn strides(shape: &[usize], transposed: bool) -> Vec<isize> {
    let mut strides = vec![0; shape.len()];
    let mut step = 1;
    for at in 0..shape.len() {
        let d = if transposed { at } else { shape.len() - 1 - at };
        strides[d] = step;
        step *= shape[d] as isize;
    }
    strides
}

impl Call<'_> {
    /// Shape and strides of data in its own elements.
    fn data_layout(&self) -> (Vec<usize>, Vec<isize>) {
        let mut shape = self.data_shape.to_vec();
        if self.variant.form == Form::Rows {
            shape.push(self.width);
        }
        let strides = strides(&shape, self.variant.transposed);
        (shape, strides)
    }

    /// Runs the typed door; the bytes of the result.
    pub(super) fn run<I: Bytes>(&self, indices: &Laid<I>) -> Result<Vec<u8>, Error> {
        match (self.variant.form, self.width) {
            (Form::Rows, _) => self.run_typed::<1, I>(indices),
            (_, 1) => self.run_typed::<1, I>(indices),
            (_, 2) => self.run_typed::<2, I>(indices),
            (_, 3) => self.run_typed::<3, I>(indices),
            (_, 4) => self.run_typed::<4, I>(indices),
            (_, 8) => self.run_typed::<8, I>(indices),
            (_, 12) => self.run_typed::<12, I>(indices),
            (_, 16) => self.run_typed::<16, I>(indices),
            (_, 24) => self.run_typed::<24, I>(indices),
            (_, 64) => self.run_typed::<64, I>(indices),
            (_, 100) => self.run_typed::<100, I>(indices),
            (_, width) => panic!("no element of {width} bytes"),
        }
    }

    fn run_typed<const N: usize, I: Bytes>(&self, indices: &Laid<I>) -> Result<Vec<u8>, Error> {
        let (elements, rest) = self.data.as_chunks::<N>();
        assert!(rest.is_empty(), "data has whole elements");
        let (shape, strides) = self.data_layout();
        let data = View::strided(elements, &shape, &strides, 0).expect("data fits its shape");
        let indices = indices.view();
        let out: Tensor<[u8; N]> = with_operator!(self, op => op.run(&data, &indices))?;
        Ok(out.into_vec().into_flattened())
    }

    /// Runs the type-erased door on the unaligned indices; the bytes of the result.
    pub(super) fn run_dyn<I: Bytes>(&self, indices: &Laid<I>) -> Result<Vec<u8>, Error> {
        let (mut shape, _) = self.data_layout();
        if self.variant.transposed {
            shape.reverse();
        }
        let data = DynView::from_bytes(self.dtype(), self.data, &shape).expect("data fits its shape");
        let order: Vec<usize> = (0..shape.len()).collect();
        let reverse: Vec<usize> = (0..shape.len()).rev().collect();
        let data = data.permuted(if self.variant.transposed { &reverse } else { &order }).expect("an order");
        let indices = indices.unaligned();
        let out = with_operator!(self, op => op.run(&data, &indices))?;
        Ok(out.as_bytes().to_vec())
    }

    fn dtype(&self) -> DType {
        match (self.variant.form, self.width) {
            (Form::Rows, _) | (_, 1) => u8::DTYPE,
            (_, 2) => i16::DTYPE,
            (_, 4) => u32::DTYPE,
            (_, 8) => i64::DTYPE,
            (_, 16) => Complex::<f64>::DTYPE,
            (_, width) => panic!("no data type of {width} bytes"),
        }
    }
}
