//! The loops that one would write in the place of a short call, in safe Rust, with sizes that are known at run time
//! only.
//!
//! They are never inlined: a call of a plan is a call too.

use crate::inputs::Position;

/// Gather along axis 0: row `ids[k]` of a table whose rows have `dim` elements.
#[inline(never)]
pub(super) fn rows<I: Position>(table: &[f32], dim: usize, ids: &[I], out: &mut [f32]) {
    for (at, id) in ids.iter().enumerate() {
        let start = id.position() * dim;
        out[at * dim..(at + 1) * dim].copy_from_slice(&table[start..start + dim]);
    }
}

/// GatherElements along the last axis of two.
#[inline(never)]
pub(super) fn elements<I: Position>(data: &[f32], [rows, columns]: [usize; 2], ids: &[I], out: &mut [f32]) {
    for row in 0..rows {
        let row = row * columns..(row + 1) * columns;
        let (from, ids, to) = (&data[row.clone()], &ids[row.clone()], &mut out[row]);
        for (to, id) in to.iter_mut().zip(ids) {
            *to = from[id.position()];
        }
    }
}

/// The sum of rows of a table whose rows have `dim` elements.
#[inline(never)]
pub(super) fn sum(table: &[f32], dim: usize, ids: &[u32], out: &mut [f32]) {
    out.fill(0.0);
    for &id in ids {
        let row = &table[id as usize * dim..][..dim];
        out.iter_mut().zip(row).for_each(|(sum, &value)| *sum += value);
    }
}

/// As [`sum`], of codes with a scale for each row.
#[inline(never)]
pub(super) fn codes(codes: &[u8], scales: &[f32], zero: u8, dim: usize, ids: &[u32], out: &mut [f32]) {
    out.fill(0.0);
    for &id in ids {
        let (row, scale) = (&codes[id as usize * dim..][..dim], scales[id as usize]);
        let value = |code: u8| scale * (i32::from(code) - i32::from(zero)) as f32;
        out.iter_mut().zip(row).for_each(|(sum, &code)| *sum += value(code));
    }
}

/// Adds rows of updates to those of a table whose rows have `dim` elements.
#[inline(never)]
pub(super) fn add(updates: &[f32], dim: usize, ids: &[u32], table: &mut [f32]) {
    for (&id, row) in ids.iter().zip(updates.chunks_exact(dim)) {
        let to = &mut table[id as usize * dim..][..dim];
        to.iter_mut().zip(row).for_each(|(sum, &value)| *sum += value);
    }
}

/// BatchToSpace of images of `rows` by `columns`, in blocks of `size` by `size`, as many images as a block has places.
#[inline(never)]
pub(super) fn blocks(data: &[f32], [rows, columns]: [usize; 2], size: usize, out: &mut [f32]) {
    for above in 0..size {
        for left in 0..size {
            for row in 0..rows {
                let from = &data[((above * size + left) * rows + row) * columns..][..columns];
                let to = &mut out[(row * size + above) * columns * size..][..columns * size];
                for (column, &value) in from.iter().enumerate() {
                    to[column * size + left] = value;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_move_what_their_operators_move() {
        let data: Vec<f32> = (0u8..16).map(f32::from).collect();
        let mut out = [0.0; 4];
        rows(&data, 2, &[7u32, 0], &mut out);
        assert_eq!(out, [14.0, 15.0, 0.0, 1.0]);
        elements(&data, [2, 2], &[1u32, 0, 1, 1], &mut out);
        assert_eq!(out, [1.0, 0.0, 3.0, 3.0]);
        sum(&data, 4, &[1, 3, 1], &mut out);
        assert_eq!(out, [20.0, 23.0, 26.0, 29.0]);
        codes(&[1, 2, 3, 4], &[0.5, 2.0], 1, 2, &[1, 0], &mut out[..2]);
        assert_eq!(out[..2], [4.0, 6.5]);
        let mut sums = [1.0; 4];
        add(&data, 2, &[1, 0, 1], &mut sums);
        assert_eq!(sums, [3.0, 4.0, 5.0, 7.0]);
        let mut out = [0.0; 16];
        blocks(&data, [2, 2], 2, &mut out);
        let expected = [0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15].map(|value: u8| f32::from(value));
        assert_eq!(out, expected);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn a_bad_id_is_found() {
        rows(&[0.0; 8], 2, &[4u32], &mut [0.0; 2]);
    }
}
