//! Calls that `find_cliffs` found: the worst of each kind, of its seed 1. The record has the reasons.

use super::Case;
use crate::find::{Found, LIMITS};

/// The seed, which the numbers are of.
const SEED: u64 = 1;

/// Numbers, and what is slow about them.
const FOUND: [(&str, u64); 22] = [
    ("gather, rows of 16 B, spaced indices", 7344),
    ("gather, rows of 12 B, reversed data", 56),
    ("tuples, rows of 16 B, spaced", 4713),
    ("tuples, rows of 12 B, spaced", 8085),
    ("elements of 16 B, panels, all filled", 6277),
    ("elements of 1 B, spaced indices, wrapped", 3069),
    ("scatter min of u8 along a middle axis, reversed indices", 5808),
    ("scatter of f32 rows, reversed updates", 1203),
    ("scatter add of complex rows, reversed updates", 2963),
    ("scatter add of f32 along a middle axis, permuted indices", 4708),
    ("scatter mul of i64 along an axis of 3", 6222),
    ("scatter add of f32 rows, all dropped", 839),
    ("scatter min of f64 pairs, spaced updates", 5622),
    ("scatter sub of i64, one row of indices into three", 4466),
    ("scatter min of f64 rows by one pair, reversed updates", 3688),
    ("scatter min of i64, ascending and spaced indices", 4311),
    ("scatter max of u8 rows, one update for all", 9542),
    ("bag/mean of f32, short bags of one column", 4763),
    ("bag/max of i64, short bags of one column", 7096),
    ("bag/sum of f16, one column", 6951),
    ("bag/sum of u8, spaced table", 3994),
    ("bag/sum of i64, stretched table", 4100),
];

pub(super) fn cases() -> Vec<Case> {
    let case = |(name, number)| {
        Case::new(format!("found/{name}, {SEED}:{number}"), move |level| Found::new(SEED, number, LIMITS, level).into())
    };
    FOUND.into_iter().map(case).collect()
}
