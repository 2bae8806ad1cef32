#![allow(missing_docs, dead_code)]
//! Temporary.
use gather_core::*;

pub trait SelectExt {
    fn select_bits(&self, bits: Bitmap<'_>, columns: usize) -> Result<Validity, Error>;
}
impl SelectExt for Mask<'_> {
    fn select_bits(&self, bits: Bitmap<'_>, columns: usize) -> Result<Validity, Error> {
        gather_bits(bits, columns, &self.positions::<i32>()?)
    }
}
#[derive(Clone, Copy)]
pub struct Ragged<'a, O, T> {
    offsets: &'a [O],
    values: &'a [T],
}
impl<'a, O: Position + arrow_buffer::ArrowNativeType> Ragged<'a, O, ()> {
    pub fn of_offsets(offsets: &'a [O], n: usize) -> Result<Self, Error> {
        Ok(Ragged { offsets, values: &[(); usize::MAX][..n] })
    }
    pub fn positions(&self, ids: &Checked<'_, i32>) -> Result<(Vec<O>, Checked<'static, i32>), Error> {
        let all: Vec<i32> = (0..self.values.len() as i32).collect();
        let (offsets, rows) = Ragged::new(self.offsets, &all)?.gather(ids)?;
        Ok((offsets, Checked::<i32>::new(&rows, self.values.len(), OutOfBounds::Error)?.into_owned()?))
    }
    pub fn positions_masked(&self, mask: &Mask<'_>) -> Result<(Vec<O>, Checked<'static, i32>), Error> {
        self.positions(&mask.positions()?)
    }
}
impl<'a, O: arrow_buffer::ArrowNativeType, T: Element> Ragged<'a, O, T> {
    pub fn new(offsets: &'a [O], values: &'a [T]) -> Result<Self, Error> {
        Ok(Ragged { offsets, values })
    }
    fn row(&self, at: i32) -> &'a [T] {
        if at < 0 {
            return &[];
        }
        &self.values[self.offsets[at as usize].as_usize()..self.offsets[at as usize + 1].as_usize()]
    }
    pub fn gather(&self, ids: &Checked<'_, i32>) -> Result<(Vec<O>, Vec<T>), Error> {
        let ids = ids.positions();
        let rows: Vec<&[T]> = (0..ids.len()).map(|at| self.row(*ids.get(&[at]).unwrap())).collect();
        Ok(joined(&rows))
    }
    pub fn masked(&self, mask: &Mask<'_>) -> Result<(Vec<O>, Vec<T>), Error> {
        self.gather(&mask.positions()?)
    }
}
fn joined<O: arrow_buffer::ArrowNativeType, T: Element>(rows: &[&[T]]) -> (Vec<O>, Vec<T>) {
    let mut offsets = vec![O::from_usize(0).unwrap()];
    let mut sum = 0;
    rows.iter().for_each(|row| {
        sum += row.len();
        offsets.push(O::from_usize(sum).unwrap())
    });
    (offsets, rows.concat())
}
pub fn ragged_pairs<O: arrow_buffer::ArrowNativeType, T: Element>(
    parts: &[Ragged<'_, O, T>],
    sources: &[u32],
    rows: &[u32],
) -> Result<(Vec<O>, Vec<T>), Error> {
    let rows: Vec<&[T]> = sources.iter().zip(rows).map(|(s, r)| parts[*s as usize].row(*r as i32)).collect();
    Ok(joined(&rows))
}
