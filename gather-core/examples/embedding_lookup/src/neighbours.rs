//! Nearest neighbours by cosine.

use half::f16;

/// The `count` rows of a table whose directions are nearest to that of `query`, nearest first, each with its cosine.
pub(crate) fn nearest(table: &[f16], dim: usize, query: &[f16], count: usize) -> Vec<(usize, f32)> {
    let norm = |row: &[f16]| dot(row, row).sqrt();
    let query_norm = norm(query);
    let cosine = |row: &[f16]| dot(row, query) / (norm(row) * query_norm).max(f32::MIN_POSITIVE);
    let mut rows: Vec<(usize, f32)> = table.chunks_exact(dim).map(cosine).enumerate().collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    rows.truncate(count);
    rows
}

fn dot(a: &[f16], b: &[f16]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.to_f32() * b.to_f32()).sum()
}
