//! Cases of fused rows: bytes of any kind, some of the wrong width, gathered and reduced.

use arbitrary::{Result, Unstructured};
use gather_core::{
    Bags, EmbeddingBag, Error, FusedFormat, FusedRows, Gather, Level, OutOfBounds, Par, Reduction, Tensor, View,
};

use super::Outcome;
use super::draw;
use super::elements::mixed;
use super::judge::OnPanic;
use crate::fused::{reduced, rows, same, values};

#[derive(Debug)]
struct Case {
    format: FusedFormat,
    columns: usize,
    rows: usize,
    /// Bytes that a row has too many, or too few.
    misfit: isize,
    /// Bytes between rows.
    gap: usize,
    indices: Vec<i64>,
    offsets: Vec<u8>,
    reduction: Reduction,
    has_weights: bool,
    padding: Option<i64>,
    default: Option<i64>,
    out_of_bounds: OutOfBounds,
    par: Par,
    level: Level,
    seed: u64,
}

/// Runs the doors of fused rows.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn fused(u: &mut Unstructured<'_>) -> Result<Outcome> {
    let rows = u.int_in_range(1..=9)?;
    let dim = rows as i64;
    let reduction = *u.choose(&[Reduction::Add, Reduction::Add, Reduction::Mean, Reduction::Max, Reduction::Min])?;
    let count = u.int_in_range(0..=90)?;
    let indices = (0..count).map(|_| if draw::one_in(u, 60)? { u.arbitrary() } else { u.int_in_range(-dim..=dim - 1) });
    let indices = indices.collect::<Result<Vec<_>>>()?;
    let mut offsets = vec![0; u.int_in_range(1..=5)?];
    for offset in &mut offsets[1..] {
        *offset = u.int_in_range(0..=count as u8)?;
    }
    offsets.sort_unstable();
    let columns = *u.choose(&[0usize, 1, 2, 3, 5, 7, 8, 9, 16, 17, 31, 64, 65, 72, 100, 130])?;
    let case = Case {
        format: *u.choose(FusedFormat::ALL)?,
        columns: if draw::one_in(u, 4)? { u.int_in_range(0..=1100)? } else { columns },
        rows,
        misfit: if draw::one_in(u, 20)? { u.int_in_range(-3..=3)? } else { 0 },
        gap: u.int_in_range(0..=2)?,
        indices,
        offsets,
        reduction,
        has_weights: reduction == Reduction::Add && u.arbitrary()?,
        padding: if draw::one_in(u, 3)? { Some(u.int_in_range(-dim..=dim - 1)?) } else { None },
        default: if draw::one_in(u, 3)? { Some(u.int_in_range(0..=dim - 1)?) } else { None },
        out_of_bounds: *u.choose(&[OutOfBounds::Zero, OutOfBounds::Error, OutOfBounds::Wrap, OutOfBounds::Clamp])?,
        par: draw::par(u)?,
        level: draw::level(u)?,
        seed: u64::from(u.arbitrary::<u16>()?) << 32,
    };
    Ok(case.check())
}

impl Case {
    /// The row that an index names; `None` for a row of zeros.
    fn row(&self, index: i64) -> std::result::Result<Option<usize>, ()> {
        let (dim, index) = (self.rows as i128, i128::from(index));
        let row = if index < 0 { index + dim } else { index };
        match self.out_of_bounds {
            _ if (0..dim).contains(&row) => Ok(Some(row as usize)),
            OutOfBounds::Zero => Ok(None),
            OutOfBounds::Wrap => Ok(Some(index.rem_euclid(dim) as usize)),
            OutOfBounds::Clamp => Ok(Some(row.clamp(0, dim - 1) as usize)),
            _ => Err(()),
        }
    }

    fn check(&self) -> Outcome {
        let _shown = OnPanic(self);
        let &Case { format, columns, rows: dim, gap, .. } = self;
        let bytes = format.row_bytes(columns).expect("few columns");
        let memory = rows(format, columns, dim, |at| mixed(self.seed.wrapping_add(at as u64)));
        let rows = || (0..dim).map(|row| &memory[row * bytes..][..bytes]);
        let spaced = rows().flat_map(|row| [row, &vec![99; gap]].concat());
        let spaced: Vec<u8> = spaced.chain([0; 32]).collect();
        let width = bytes.saturating_add_signed(self.misfit);
        let view = View::strided(&spaced, &[dim, width], &[(bytes + gap) as isize, 1], 0).expect("rows of the memory");
        let table = FusedRows::new(view, format, columns);
        if width != bytes {
            let mismatch = Error::FusedRowMismatch { format, columns, expected: Some(bytes), got: width };
            assert_eq!(table.err(), Some(mismatch));
            return Outcome::Refused;
        }
        let table = table.expect("rows of the format");
        let numbers: Vec<Vec<f32>> = rows().map(|row| values(row, format, columns)).collect();
        let zeros = vec![0.0; columns];
        let named = |index: i64| self.row(index).map(|row| row.map_or(&zeros[..], |row| &numbers[row][..]));

        let indices = View::new(&self.indices, &[self.indices.len()]).expect("a list");
        let gather = Gather::new(0).out_of_bounds(self.out_of_bounds).par(self.par).level(self.level);
        let gathered: std::result::Result<Vec<_>, ()> = self.indices.iter().map(|&index| named(index)).collect();
        self.compare(gather.run(&table.to::<f32>(), &indices), gathered.map(|rows| rows.concat()));

        let weights: Vec<f32> = (0..self.indices.len()).map(|at| mixed(at as u64) as i8 as f32 / 16.0).collect();
        let weight = |at: usize| if self.has_weights { weights[at] } else { 1.0 };
        let weights = View::new(&weights, &[weights.len()]).expect("a list");
        let offsets = View::new(&self.offsets, &[self.offsets.len()]).expect("a list");
        let bags = Bags::new(&indices, &offsets);
        let bags = bags.weights(self.has_weights.then_some(&weights));
        let op = EmbeddingBag::new(self.reduction).out_of_bounds(self.out_of_bounds).par(self.par).level(self.level);
        let op = op.padding_index(self.padding).default_index(self.default);
        let padding = self.padding.map(|row| row.rem_euclid(dim as i64) as usize);
        let ends = self.offsets[1..].iter().map(|&end| usize::from(end)).chain([self.indices.len()]);
        let expected = self.offsets.iter().zip(ends).map(|(&start, end)| {
            let counts = |&at: &usize| self.row(self.indices[at]) != Ok(padding) || padding.is_none();
            let terms = (usize::from(start)..end).filter(counts);
            let terms = terms.map(|at| named(self.indices[at]).map(|row| (row, weight(at))));
            let terms = terms.collect::<std::result::Result<Vec<_>, ()>>()?;
            let otherwise = self.default.map_or(&zeros, |row| &numbers[row as usize]);
            let column = |column: usize| {
                let terms: Vec<_> = terms.iter().map(|&(row, weight)| (row[column], weight)).collect();
                reduced(self.reduction, &terms).unwrap_or(otherwise[column])
            };
            Ok((0..columns).map(column).collect::<Vec<f32>>())
        });
        let expected = expected.collect::<std::result::Result<Vec<_>, ()>>().map(|bags| bags.concat());
        let planned = op.plan(&table.to::<f32>(), &bags).expect("a plan of the case");
        self.compare(planned.run(&table.to::<f32>(), &bags), expected.clone());
        self.compare(op.run(&table.to::<f32>(), &bags), expected)
    }

    fn compare(
        &self,
        got: std::result::Result<Tensor<f32>, Error>,
        expected: std::result::Result<Vec<f32>, ()>,
    ) -> Outcome {
        match (got, expected) {
            (Ok(got), Ok(expected)) => {
                assert_eq!(got.len(), expected.len());
                for (at, (&got, &expected)) in got.as_slice().iter().zip(&expected).enumerate() {
                    assert!(same(got, expected), "value {at} is {got}, not {expected}");
                }
                Outcome::Values
            }
            (Err(Error::IndexOutOfRange { .. }), Err(())) => Outcome::Refused,
            (got, expected) => panic!("{got:?} in place of {expected:?}"),
        }
    }
}
