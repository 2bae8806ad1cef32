//! Nearest neighbours by cosine.

/// The `count` rows of a table whose directions are nearest to that of `query`, nearest first, each with its cosine.
pub(crate) fn nearest(table: &[u16], dim: usize, query: &[u16], count: usize) -> Vec<(usize, f32)> {
    let norm = |row: &[u16]| dot(row, row).sqrt();
    let query_norm = norm(query);
    let cosine = |row: &[u16]| dot(row, query) / (norm(row) * query_norm).max(f32::MIN_POSITIVE);
    let mut rows: Vec<(usize, f32)> = table.chunks_exact(dim).map(cosine).enumerate().collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    rows.truncate(count);
    rows
}

fn dot(a: &[u16], b: &[u16]) -> f32 {
    a.iter().zip(b).map(|(&a, &b)| single(a) * single(b)).sum()
}

/// The number whose bits as an `f16` these are, if it is finite: 2^112 times that of the same exponent and fraction as
/// an `f32`.
fn single(bits: u16) -> f32 {
    let (sign, rest) = (u32::from(bits >> 15) << 31, u32::from(bits & 0x7fff) << 13);
    f32::from_bits(sign | rest) * f32::from_bits(0x7780_0000)
}
