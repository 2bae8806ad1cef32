//! Cases of block-quantised data: every door must give what reading value by value gives.

use arbitrary::{Result, Unstructured};
use gather_core::{Argument, Codes, Error, Gather, OutOfBounds, Par, Tensor, View, ViewMut, maps};

use super::draw;
use super::elements::mixed;
use super::judge::OnPanic;
use super::{MOST_OUT, Outcome};

const BLOCK_SIZES: [usize; 9] = [16, 32, 16, 64, 128, 16, 1 << (usize::BITS / 2 + 8), 24, 0];

#[derive(Debug)]
struct Case {
    codes: Codes,
    block_size: usize,
    /// Of data: before the axis, the axis, between it and the last, bytes of the last.
    shape: [usize; 4],
    indices: Vec<i64>,
    out_of_bounds: OutOfBounds,
    par: Par,
    level: gather_core::Level,
    /// Bytes of zero points, if there are any.
    has_zero_points: bool,
    /// Whether there is a scale too many.
    misfits: bool,
    /// Of the first three dimensions, those along which floating-point codes share scales.
    shared: [bool; 3],
    seed: u64,
}

/// Runs the doors of block-quantised data.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn block_quantized(u: &mut Unstructured<'_>) -> Result<Outcome> {
    let codes = *u.choose(Codes::ALL)?;
    let block_size = *u.choose(&BLOCK_SIZES)?;
    let bytes = u.int_in_range(0..=130 / codes.per_byte())?;
    let shape = [u.int_in_range(1..=2)?, u.int_in_range(0..=9)?, u.int_in_range(1..=2)?, bytes];
    let row = (shape[0] * shape[2] * bytes * codes.per_byte()).max(1);
    let count = u.int_in_range(0..=(MOST_OUT / row).min(90))?;
    let dim = shape[1] as i64;
    let indices = (0..count).map(|_| if draw::one_in(u, 40)? { u.arbitrary() } else { u.int_in_range(-dim..=dim) });
    let case = Case {
        codes,
        block_size,
        shape,
        indices: indices.collect::<Result<_>>()?,
        out_of_bounds: *u.choose(&[OutOfBounds::Zero, OutOfBounds::Zero, OutOfBounds::Error, OutOfBounds::Wrap])?,
        par: draw::par(u)?,
        level: draw::level(u)?,
        has_zero_points: u.arbitrary()?,
        misfits: draw::one_in(u, 24)?,
        shared: if codes.is_float() { u.arbitrary()? } else { [false; 3] },
        seed: u64::from(u.arbitrary::<u16>()?) << 32,
    };
    Ok(case.check())
}

impl Case {
    fn noise(&self, at: usize) -> u64 {
        mixed(self.seed.wrapping_add(at as u64))
    }

    /// Blocks of a row.
    fn blocks(&self) -> usize {
        match self.block_size {
            0 => 1,
            block_size => (self.shape[3] * self.codes.per_byte()).div_ceil(block_size),
        }
    }

    fn takes_block_size(&self) -> bool {
        self.block_size.is_power_of_two() || self.block_size == 0 && self.codes.is_float()
    }

    /// The dimensions of rows of scales.
    fn scale_rows(&self) -> [usize; 3] {
        [0, 1, 2].map(|dim| if self.shared[dim] { 1 } else { self.shape[dim] })
    }

    /// Value `at` of packed codes.
    fn code(&self, bytes: &[u8], at: usize) -> f32 {
        let (per, bits) = (self.codes.per_byte(), 8 / self.codes.per_byte());
        let code = u32::from(bytes[at / per]) >> (at % per * bits) & ((1 << bits) - 1);
        match self.codes {
            Codes::I4 if code > 7 => code as f32 - 16.0,
            Codes::E4M3 => maps::e4m3_to_f32(code as u8),
            Codes::E5M2 => maps::e5m2_to_f32(code as u8),
            Codes::E2M1 => maps::e2m1_to_f32(code as u8),
            Codes::E4M3Fnuz => fnuz(code, 3),
            Codes::E5M2Fnuz => fnuz(code, 2),
            _ => code as f32,
        }
    }

    /// What position `index` of the axis is, or `None` for zeros.
    fn position(&self, index: i64) -> Option<usize> {
        let dim = self.shape[1] as i64;
        match self.out_of_bounds {
            OutOfBounds::Wrap => Some(index.rem_euclid(dim) as usize),
            _ => (-dim..dim).contains(&index).then(|| index.rem_euclid(dim) as usize),
        }
    }

    fn expected(&self, data: &[u8], scales: &[f32], zero_points: Option<&[u8]>) -> Vec<f32> {
        let [before, dim, between, bytes] = self.shape;
        let (per, blocks) = (self.codes.per_byte(), self.blocks());
        let lists = matches!(self.codes, Codes::U4 | Codes::I4);
        let zero_row = if lists { blocks } else { blocks.div_ceil(per) * per };
        let mut out = Vec::new();
        for p in 0..before {
            for &index in &self.indices {
                for q in 0..between * bytes * per {
                    let Some(at) = self.position(index) else {
                        out.push(0.0);
                        continue;
                    };
                    let (row, value) = ((p * dim + at) * between + q / (bytes * per), q % (bytes * per));
                    let block = value.checked_div(self.block_size).unwrap_or(0);
                    let zero_point = match zero_points {
                        Some(codes) => self.code(codes, row * zero_row + block),
                        None => self.codes.default_zero_point().into(),
                    };
                    let coordinates = [p, at, q / (bytes * per)];
                    let scale_row = (0..3).fold(0, |row, dim| {
                        let rows = self.scale_rows()[dim];
                        row * rows + coordinates[dim] % rows
                    });
                    let scale = scales[scale_row * blocks + block];
                    out.push((self.code(data, row * bytes * per + value) - zero_point) * scale);
                }
            }
        }
        out
    }

    fn check(&self) -> Outcome {
        let _shown = OnPanic(self);
        let [before, dim, between, bytes] = self.shape;
        let (rows, per, blocks) = (before * dim * between, self.codes.per_byte(), self.blocks());
        let data: Vec<u8> = (0..rows * bytes).map(|at| self.noise(at) as u8).collect();
        let last = blocks + usize::from(self.misfits);
        let [a, b, c] = self.scale_rows();
        let scales: Vec<f32> = (0..a * b * c * last).map(|at| self.noise(!at) as i16 as f32 / 64.0).collect();
        let zero_shape = match self.codes {
            Codes::U4 | Codes::I4 => vec![(rows * blocks).div_ceil(per)],
            codes if codes.is_float() => vec![0],
            _ => vec![before, dim, between, blocks.div_ceil(per)],
        };
        let zero_points: Vec<u8> =
            (0..zero_shape.iter().product()).map(|at: usize| self.noise(at + 1_000_000) as u8).collect();
        let zero_view = View::new(&zero_points, &zero_shape).expect("as many as the shape says");
        let zero_points = (self.has_zero_points && !self.codes.is_float()).then_some(&zero_points[..]);
        let data_view = View::new(&data, &self.shape).expect("as many as the shape says");
        let scale_view = View::new(&scales, &[a, b, c, last]).expect("as many as the shape says");
        let indices = View::new(&self.indices, &[self.indices.len()]).expect("as many as the shape says");

        let op = Gather::new(1).out_of_bounds(self.out_of_bounds);
        let op = op.par(self.par).level(self.level);
        let given = self.has_zero_points.then_some(&zero_view);
        let blocks = data_view.blocks(self.codes, self.block_size, &scale_view);
        let blocks = given.map_or(blocks, |given| blocks.zero_points(given));
        let got = op.run(&blocks, &indices);
        let planned = op.plan(&blocks, &indices);
        let planned = planned.and_then(|plan| plan.run(&blocks, &indices));
        assert_eq!(got.as_ref().map(Tensor::shape), planned.as_ref().map(Tensor::shape));
        let bad = self.indices.iter().any(|&index| !(-(dim as i64)..dim as i64).contains(&index));
        match &got {
            Err(Error::BlockSizeOutOfRange { .. }) => assert!(!self.takes_block_size()),
            Err(Error::ShapeMismatch { argument: Argument::Scales | Argument::ZeroPoints, .. }) => {
                assert!(self.misfits)
            }
            // Nothing can be wrapped onto an empty axis.
            Err(Error::IndexOutOfRange { .. }) => {
                assert!(bad && (self.out_of_bounds == OutOfBounds::Error || dim == 0));
            }
            Err(error) => panic!("{error}"),
            Ok(_) => {
                assert!(!self.misfits && self.takes_block_size());
                assert!(!bad || self.out_of_bounds != OutOfBounds::Error);
            }
        }
        let Ok(got) = got else { return Outcome::Refused };
        let expected = self.expected(&data, &scales, zero_points);
        let shape = [before, self.indices.len(), between, bytes * per];
        assert_eq!(got.shape(), shape);
        self.assert_same(got.as_slice(), &expected);
        let mut out = vec![f32::NAN; expected.len()];
        let mut view = ViewMut::new(&mut out, &shape).expect("as many as the shape says");
        op.run_into(&blocks, &indices, &mut view).expect("a run like the one before");
        self.assert_same(&out, &expected);
        Outcome::Values
    }

    /// NaN is like NaN.
    fn assert_same(&self, got: &[f32], expected: &[f32]) {
        assert_eq!(got.len(), expected.len());
        for (at, (got, expected)) in got.iter().zip(expected).enumerate() {
            assert!(got == expected || got.is_nan() && expected.is_nan(), "value {at} is {got}, not {expected}");
        }
    }
}

/// FP8 without infinities and without -0.0, by its definition: the bias is one more than the middle of the exponents.
fn fnuz(code: u32, mantissa_bits: u32) -> f32 {
    let (exponent, mantissa) = ((code & 0x7f) >> mantissa_bits, code & ((1 << mantissa_bits) - 1));
    let bias = 1 << (6 - mantissa_bits);
    let fraction = mantissa as f32 / (1 << mantissa_bits) as f32;
    let (whole, exponent) = if exponent == 0 { (0.0, 1) } else { (1.0, exponent as i32) };
    let magnitude = (whole + fraction) * 2f32.powi(exponent - bias);
    match code {
        0x80 => f32::NAN,
        0x81.. => -magnitude,
        _ => magnitude,
    }
}
