//! Reduction of rows that a map converts first.
//!
//! ```text
//! for each block of columns whose rows fit in the L1 cache:
//!     for each row: prefetch a later row, and its params
//!     convert the rows into the scratch, by the map    (`kernels/convert`; short rows `AT_ONCE` at a time)
//!     reduce the rows of the scratch                   (`kernels/reduce/bag`)
//! ```
//!
//! The result equals a gather followed by a reduction. In between, only the scratch in the cache is written.

use smallvec::SmallVec;

use crate::exec::bag::scratch::Scratch;
use crate::exec::bag::{BagCall, BagMap};
use crate::kernels::convert::{EncodedRow, ErasedParams};
use crate::kernels::reduce::bag::{BagArgs, BagFn, BagRows, PartialBag, SPARE};
use crate::plan::{BagConversion, BagReducePlan, MOST_CONVERTED};

/// Maximum rows per call of the conversion.
const AT_ONCE: usize = 16;
/// Maximum bytes of data per call of the conversion, unless the call converts one row.
const SHORT_ROWS: usize = 1 << 10;

/// The converted rows of a worker.
pub(super) struct Converted<'a> {
    plan: &'a BagReducePlan,
    conversion: &'a BagConversion,
    params: ErasedParams<'a>,
    /// R1: this worker's `conversion.rows` rows of scratch.
    rows: *mut u8,
}

/// Positions in the scratch of rows without marks.
static ALL_COUNT: [i64; MOST_CONVERTED] = {
    let (mut positions, mut at) = ([0; MOST_CONVERTED], 0);
    while at < MOST_CONVERTED {
        positions[at] = at as i64;
        at += 1;
    }
    positions
};

impl<'a> Converted<'a> {
    /// Takes the rows of `scratch` that belong to `worker`, for a call with a map.
    ///
    /// # Safety
    /// No other thread uses the number `worker` during the lifetime of the value.
    pub(super) unsafe fn new(
        call: &'a BagCall<'a>,
        &BagMap { ref conversion, params }: &'a BagMap<'a>,
        scratch: &Scratch<'_>,
        worker: usize,
    ) -> Self {
        let plan = call.plan;
        assert!(conversion.rows <= MOST_CONVERTED, "more rows than there are numbers for");
        Converted { plan, conversion, params, rows: scratch.rows(worker) }
    }

    /// Converts the first `count` rows, which are all of `rows`, and reduces them. `rows.elements` counts elements of
    /// the map's input; each becomes `plan.values` values of the output and the sums.
    pub(super) fn reduce(&self, reduce: BagFn, rows: &BagRows<'_>, count: usize) {
        let rows = rows.args();
        let (plan, conversion) = (self.plan, self.conversion);
        assert!(count <= conversion.rows, "R1: more rows than the scratch has");
        let are_marked = rows.part.is_some() || rows.zeros.is_some();
        // The position of each row in the scratch, or the negative mark of a row that is skipped or zeros.
        let marked: SmallVec<[i64; MOST_CONVERTED]>;
        let positions = if are_marked {
            let given = rows.positions[..count].iter().enumerate();
            marked = given.map(|(at, &position)| if position < 0 { position } else { at as i64 }).collect();
            &marked[..]
        } else {
            &ALL_COUNT[..count]
        };
        for (number, first) in (0..rows.elements).step_by(conversion.columns).enumerate() {
            let elements = conversion.columns.min(rows.elements - first);
            let (start, values) = (first * plan.size, first * plan.values);
            self.convert(rows, count, first, elements);
            let after = |carried: *mut u8| match carried.is_null() {
                true => carried,
                false => carried.wrapping_add((values + number * SPARE) * plan.fns.sum),
            };
            let args = BagArgs {
                data: self.rows,
                stride: conversion.stride as isize,
                positions,
                distance: 0,
                out: rows.out.wrapping_add(start),
                elements: elements * plan.values,
                zeros: rows.zeros.map(|zeros| zeros.wrapping_add(start)),
                part: rows.part.map(|part| PartialBag { carried: after(part.carried), ..part }),
                ..*rows
            };
            // SAFETY: B1: the rows that are not skipped have just been converted, in the order of their numbers. The
            // other clauses follow from the contract of `rows`: output and weights (B2, B3), sums with `SPARE` more per
            // conversion (B4). `count` positions with a `distance` of 0 (B6).
            reduce(&unsafe { BagRows::new(args) });
        }
    }

    /// Converts columns `first..first + elements` of the first `count` rows.
    fn convert(&self, rows: &BagArgs<'_>, count: usize, first: usize, elements: usize) {
        debug_assert!(first + elements <= rows.elements && elements <= self.conversion.columns, "R1");
        let size_in = self.plan.size_in;
        // If data has no rows the product may wrap: nothing is read.
        let data = rows.data.wrapping_add(first.wrapping_mul(size_in));
        let at = |position: i64| data.wrapping_offset((position as isize).wrapping_mul(rows.stride));
        let most = (SHORT_ROWS / elements.saturating_mul(size_in).max(1)).clamp(1, AT_ONCE);
        let mut short = [EncodedRow { from: data, to: self.rows, row: 0 }; AT_ONCE];
        let (positions, ahead) = (&rows.positions[..count], &rows.positions[rows.distance..]);
        let mut to = self.rows;
        for (positions, ahead) in positions.chunks(most).zip(ahead.chunks(most)) {
            if rows.distance > 0 {
                for &next in &ahead[..positions.len()] {
                    self.params.prefetch(at(next), size_in, next as usize, elements);
                }
            }
            let mut n = 0;
            for &position in positions {
                // Written unconditionally; overwritten by the next row if skipped.
                short[n] = EncodedRow { from: at(position), to, row: position as usize };
                n += usize::from(position >= 0);
                to = to.wrapping_add(self.conversion.stride);
            }
            // SAFETY: B1 for data of the call, whose map this is (K8). R1: this worker alone uses `conversion.rows`
            // rows of `conversion.columns` elements, aligned to cache lines.
            unsafe { self.decode(&short[..n], elements) };
        }
    }

    /// Converts `elements` elements of each row.
    ///
    /// # Safety
    /// K8 for the elements of each row and for their results.
    #[inline(always)]
    pub(super) unsafe fn decode(&self, rows: &[EncodedRow], elements: usize) {
        // SAFETY: the caller promises the elements; the params are the call's (X1); K7: the plan's level.
        unsafe { (self.conversion.decode_fn)(rows, elements, self.params.given) }
    }
}
