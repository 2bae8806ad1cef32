//! A workload with its tensors in memory and the output that it must give.

use half::f16;

use crate::buffer::Buffer;
use crate::inputs::{Position, Value, inputs};
use crate::naive;
use crate::workloads::{Data, Indices, Workload};

/// A tensor of data.
pub enum Values {
    /// Of `f32`.
    F32(Buffer<f32>),
    /// Of `f16`.
    F16(Buffer<f16>),
    /// Of `u8`.
    U8(Buffer<u8>),
}

/// A tensor of indices.
pub enum Positions {
    /// Of `i64`.
    I64(Buffer<i64>),
    /// Of `i32`.
    I32(Buffer<i32>),
    /// Of `u8`.
    U8(Buffer<u8>),
}

/// Evaluates an expression with the buffer of values, of whichever type.
#[macro_export]
macro_rules! with_values {
    ($values:expr, $buffer:ident => $body:expr) => {
        match $values {
            $crate::case::Values::F32($buffer) => $body,
            $crate::case::Values::F16($buffer) => $body,
            $crate::case::Values::U8($buffer) => $body,
        }
    };
}

/// Evaluates an expression with the buffer of indices, of whichever type.
#[macro_export]
macro_rules! with_positions {
    ($positions:expr, $buffer:ident => $body:expr) => {
        match $positions {
            $crate::case::Positions::I64($buffer) => $body,
            $crate::case::Positions::I32($buffer) => $body,
            $crate::case::Positions::U8($buffer) => $body,
        }
    };
}

impl Values {
    /// Bytes of an element.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Values::F32(_) => size_of::<f32>(),
            Values::F16(_) => size_of::<f16>(),
            Values::U8(_) => size_of::<u8>(),
        }
    }
}

impl Positions {
    /// The shape.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        with_positions!(self, indices => indices.shape())
    }

    /// Every index in another type.
    #[must_use]
    pub fn map<I>(&self, index: impl Fn(usize) -> I) -> Vec<I> {
        with_positions!(self, indices => indices.as_slice().iter().map(|each| index(each.position())).collect())
    }
}

/// A workload with its tensors and the output of the plain loop.
pub struct Case {
    /// The workload.
    pub workload: Workload,
    /// Data.
    pub data: Values,
    /// Indices; empty for BatchToSpace.
    pub indices: Positions,
    /// The shape of the output.
    pub output_shape: Vec<usize>,
    /// The bytes of the output, row-major.
    pub expected: Vec<u8>,
}

impl Case {
    /// Makes the tensors and runs the plain loop.
    #[must_use]
    pub fn new(workload: &Workload) -> Self {
        match workload.data {
            Data::F32 => Self::of_data(workload, Values::F32),
            Data::F16 => Self::of_data(workload, Values::F16),
            Data::U8 => Self::of_data(workload, Values::U8),
        }
    }

    /// Whether the operator has indices. All but BatchToSpace do.
    #[must_use]
    pub fn has_indices(&self) -> bool {
        !self.workload.index_shape.is_empty()
    }

    fn of_data<T: Value>(workload: &Workload, values: fn(Buffer<T>) -> Values) -> Self {
        match workload.indices {
            Indices::I64 => Self::of(workload, values, Positions::I64),
            Indices::I32 => Self::of(workload, values, Positions::I32),
            Indices::U8 => Self::of(workload, values, Positions::U8),
        }
    }

    fn of<T: Value, I: Position>(
        workload: &Workload,
        values: fn(Buffer<T>) -> Values,
        positions: fn(Buffer<I>) -> Positions,
    ) -> Self {
        let (data, indices) = inputs::<T, I>(workload);
        let output_shape = workload.output_shape();
        let mut out = Buffer::<T>::zeroed(&output_shape);
        naive::run(workload, data.as_slice(), indices.as_slice(), out.as_mut_slice());
        let expected = out.as_bytes().to_vec();
        Case { workload: *workload, data: values(data), indices: positions(indices), output_shape, expected }
    }
}
