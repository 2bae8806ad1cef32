//! Cases of rows of different lengths and of rows of bits: offsets of any kind, by ids, masks and pairs.

use std::fmt::Debug;

use arbitrary::{Result, Unstructured};
use gather_core::{Bitmap, Checked, Element, Error, Mask, OutOfBounds, Position, Ragged, gather_bits, ragged_pairs};

use super::Outcome;

/// Takes rows in every way and compares them with slices of values, and bits of one to three columns with booleans.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn ragged(u: &mut Unstructured<'_>) -> Result<Outcome> {
    // Most offsets ascend, by at most `most`.
    let (rows, most, hostile) = (u.int_in_range(0..=40usize)?, u.int_in_range(0..=90u32)?, u.ratio(1, 4)?);
    let mut offsets = vec![u.int_in_range(0..=3i64)?];
    for _ in 0..rows {
        let last = offsets.last().copied().unwrap_or(0);
        let next = last + i64::from(u.int_in_range(0..=most)?);
        offsets.push(if hostile && u.ratio(1, 12)? { u.int_in_range(-2..=200)? } else { next });
    }
    let len = offsets.iter().copied().max().unwrap_or(0).max(0) as usize;
    let len = if hostile && u.ratio(1, 3)? { u.int_in_range(0..=len)? } else { len };
    let n = u.int_in_range(0..=150usize)?;
    let id = |u: &mut Unstructured<'_>| u.int_in_range(-(rows as i64)..=rows as i64 + i64::from(rows == 0) * 2);
    let ids: Vec<i64> = (0..n).map(|_| id(u)).collect::<Result<_>>()?;
    let bools: Vec<bool> = (0..rows).map(|_| u.arbitrary()).collect::<Result<_>>()?;
    let narrow: Vec<i32> = offsets.iter().map(|&at| at as i32).collect();
    let case = Case { ids: &ids, bools: &bools };
    case.check(&narrow, &(0..len).map(|at| at as u8).collect::<Vec<_>>());
    case.check(&narrow, &(0..len).map(|at| [at as u8; 3]).collect::<Vec<_>>());
    case.check(&offsets, &(0..len).map(|at| at as f32).collect::<Vec<_>>());
    case.check_bits(u.int_in_range(1..=3)?, u.int_in_range(0..=70)?);
    Ok(case.check(&offsets, &(0..len).map(|at| at as u64).collect::<Vec<_>>()))
}

struct Case<'a> {
    ids: &'a [i64],
    bools: &'a [bool],
}

impl Case<'_> {
    /// The rows of ids; `None` for an id out of range.
    fn rows(&self) -> Vec<Option<usize>> {
        let rows = self.bools.len() as i64;
        let row = |&id: &i64| (-rows..rows).contains(&id).then(|| id.rem_euclid(rows) as usize);
        self.ids.iter().map(row).collect()
    }

    fn check<O, T>(&self, offsets: &[O], values: &[T]) -> Outcome
    where
        O: Position + Into<i64> + TryFrom<usize, Error: Debug> + PartialEq + Debug,
        T: Element + PartialEq + Debug,
    {
        let ragged = Ragged::new(offsets, values).expect("an offset");
        let ends = |row: usize| [offsets[row], offsets[row + 1]].map(Into::<i64>::into);
        // The rows, or the first that is none.
        let expected = |rows: &mut dyn Iterator<Item = Option<usize>>| {
            let (mut ends_of, mut all) = (vec![O::try_from(0).expect("an offset")], Vec::new());
            for row in rows {
                if let Some(row) = row {
                    let [from, to] = ends(row);
                    if from < 0 || to < from || to > values.len() as i64 {
                        return Err(Error::RowOffsets { row, from: from.into(), to: to.into(), len: values.len() });
                    }
                    all.extend_from_slice(&values[from as usize..to as usize]);
                }
                ends_of.push(O::try_from(all.len()).expect("an offset"));
            }
            Ok((ends_of, all))
        };
        let rows = self.rows();
        let checked = Checked::<i64>::new(self.ids, self.bools.len(), OutOfBounds::Zero).expect("positions");
        let result = expected(&mut rows.iter().copied());
        assert_eq!(ragged.gather(&checked), result);
        let positions = ragged.positions::<i32, _>(&checked).map(|(ends, positions)| {
            let at = |at| values[*positions.positions().get(&[at]).expect("a position") as usize];
            (ends, (0..positions.positions().len()).map(at).collect::<Vec<T>>())
        });
        assert_eq!(positions, result);
        match rows.iter().position(Option::is_none) {
            None => {
                assert_eq!(ragged.gather(self.ids), result);
                let pairs: Vec<usize> = rows.iter().flatten().copied().collect();
                assert_eq!(ragged_pairs(&[ragged], &vec![0u8; pairs.len()], &pairs), result);
            }
            Some(first) => {
                let refused = ragged.gather(self.ids);
                assert!(matches!(refused, Err(Error::IndexOutOfRange { position, .. }) if position == first));
            }
        }
        let mask = Mask::new(self.bools).expect("a mask");
        let trues = expected(&mut (0..self.bools.len()).filter(|&row| self.bools[row]).map(Some));
        assert_eq!(ragged.masked(&mask), trues);
        if result.is_ok() && trues.is_ok() { Outcome::Values } else { Outcome::Refused }
    }

    /// Rows of `columns` bits, from bit `offset` on.
    fn check_bits(&self, columns: usize, offset: usize) {
        let bit = |at: usize| at * at % 7 < 3;
        let n = self.bools.len() * columns;
        let byte = |byte: usize| (0..8).fold(0, |bits, lane| bits | u8::from(bit(8 * byte + lane)) << lane);
        let bytes: Vec<u8> = (0..(offset + n).div_ceil(8)).map(byte).collect();
        let bits = Bitmap::new(&bytes, offset, n).expect("bytes for all bits");
        let checked = Checked::<i32>::new(self.ids, self.bools.len(), OutOfBounds::Zero).expect("positions");
        let of = |row: usize| (row * columns..(row + 1) * columns).map(|at| bit(offset + at)).collect::<Vec<_>>();
        let expected = self.rows().into_iter().flat_map(|row| row.map_or_else(|| vec![false; columns], of));
        let got = gather_bits(bits, columns, &checked).expect("rows of bits");
        assert!((0..got.len()).map(|at| got.get(at) == Some(true)).eq(expected), "by ids, {columns} columns");
        let got = Mask::new(self.bools).and_then(|mask| mask.select_bits(bits, columns)).expect("rows of bits");
        let expected = (0..self.bools.len()).filter(|&row| self.bools[row]).flat_map(of);
        assert!((0..got.len()).map(|at| got.get(at) == Some(true)).eq(expected), "by a mask, {columns} columns");
    }
}
