//! What one would write in the place of a specialised function: the plain checked loop with sizes that are known at run
//! time only, and a loop over arrays without checks.
//!
//! They are never inlined; specialised functions are where the compiler likes.

/// Row `ids[k]` of a table whose rows have `dim` elements.
#[inline(never)]
pub(super) fn rows<T: Copy>(table: &[T], dim: usize, ids: &[u32], out: &mut [T]) {
    for (at, &id) in ids.iter().enumerate() {
        let start = id as usize * dim;
        out[at * dim..(at + 1) * dim].copy_from_slice(&table[start..start + dim]);
    }
}

/// As [`rows`], for `COUNT` rows of a constant length, without checks.
///
/// # Safety
/// Every id is below the rows of the table.
#[inline(never)]
pub(super) unsafe fn rows_unchecked<T: Copy, const DIM: usize, const COUNT: usize>(
    table: &[[T; DIM]],
    ids: &[u32; COUNT],
    out: &mut [[T; DIM]; COUNT],
) {
    for (out, &id) in out.iter_mut().zip(ids) {
        // SAFETY: the caller's promise.
        *out = unsafe { *table.get_unchecked(id as usize) };
    }
}

/// GatherElements along the last axis of two.
#[inline(never)]
pub(super) fn elements(data: &[f32], [rows, columns]: [usize; 2], ids: &[u32], out: &mut [f32]) {
    for row in 0..rows {
        let row = row * columns..(row + 1) * columns;
        let (from, ids, to) = (&data[row.clone()], &ids[row.clone()], &mut out[row]);
        for (to, &id) in to.iter_mut().zip(ids) {
            *to = from[id as usize];
        }
    }
}

/// As [`elements`], of eight by eight, without checks.
///
/// # Safety
/// Every id is below 8.
#[inline(never)]
pub(super) unsafe fn elements_unchecked(data: &[[f32; 8]; 8], ids: &[[u32; 8]; 8], out: &mut [[f32; 8]; 8]) {
    for ((from, ids), to) in data.iter().zip(ids).zip(out) {
        for (to, &id) in to.iter_mut().zip(ids) {
            // SAFETY: the caller's promise.
            *to = unsafe { *from.get_unchecked(id as usize) };
        }
    }
}

/// BatchToSpace of images of `height` by `width` by `depth`, in blocks of `size` by `size`.
#[inline(never)]
pub(super) fn blocks<T: Copy>(data: &[T], [height, width, depth]: [usize; 3], size: usize, out: &mut [T]) {
    for above in 0..size {
        for left in 0..size {
            for y in 0..height {
                for x in 0..width {
                    let from = (((above * size + left) * height + y) * width + x) * depth;
                    let to = ((y * size + above) * width * size + x * size + left) * depth;
                    out[to..to + depth].copy_from_slice(&data[from..from + depth]);
                }
            }
        }
    }
}

/// As [`blocks`], of four images of [4, 4, 3] in blocks of 2 by 2, without checks.
#[inline(never)]
pub(super) fn blocks_unchecked<T: Copy>(data: &[[[[T; 3]; 4]; 4]; 4], out: &mut [[[T; 3]; 8]; 8]) {
    for (place, image) in data.iter().enumerate() {
        for (y, line) in image.iter().enumerate() {
            for (x, &pixel) in line.iter().enumerate() {
                // SAFETY: `place` is below 4 and `y` too, so that this is below 8.
                let to = unsafe { out.get_unchecked_mut(y * 2 + place / 2) };
                // SAFETY: as above, of `x`.
                *unsafe { to.get_unchecked_mut(x * 2 + place % 2) } = pixel;
            }
        }
    }
}
