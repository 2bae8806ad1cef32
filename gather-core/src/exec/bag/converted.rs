//! Rows that a map converts before they are reduced.
//!
//! ```text
//! for columns of the rows, as many as the first-level cache holds of all of them:
//!     for each row:
//!         prefetch a later row, and its parameters
//!         convert it into the scratch, by the map      (`kernels/convert`)
//!     reduce the rows of the scratch                   (`kernels/reduce/bag`)
//! ```
//!
//! So rows are reduced as if they had been gathered, and nothing but what fits in the cache is written between.

use crate::exec::bag::scratch::Scratch;
use crate::exec::bag::{BagCall, BagMap};
use crate::kernels::convert::{ErasedParams, Place};
use crate::kernels::prefetch_row;
use crate::kernels::reduce::bag::{BagArgs, BagFn, BagRows, Part, SPARE};
use crate::plan::{BagConversion, BagPlan, MOST_CONVERTED};

/// The rows of a worker.
pub(super) struct Converted<'a> {
    plan: &'a BagPlan,
    conversion: &'a BagConversion,
    /// The values of the map's parameters.
    params: ErasedParams<'a>,
    /// R1: room for the rows of a conversion.
    rows: *mut u8,
    /// Which of them is which, or what stands for none of them.
    positions: [i64; MOST_CONVERTED],
}

impl<'a> Converted<'a> {
    /// The rows of a worker, in its part of the scratch, for a call with a map.
    ///
    /// # Safety
    /// No other thread has the number of the worker while there are the rows.
    pub(super) unsafe fn new(
        call: &'a BagCall<'a>,
        &BagMap { ref conversion, params }: &'a BagMap<'a>,
        scratch: &Scratch<'_>,
        worker: usize,
    ) -> Self {
        let plan = call.plan;
        assert!(conversion.rows <= MOST_CONVERTED, "more rows than there are numbers for");
        let (rows, positions) = (scratch.rows(worker), [0; MOST_CONVERTED]);
        Converted { plan, conversion, params, rows, positions }
    }

    /// Converts the first `count` rows, which are all of them, and reduces them. Rows are of the map's input, with
    /// `elements` elements; each becomes as many values as the plan says, and the output and the sums have these.
    pub(super) fn reduce(&mut self, reduce: BagFn, rows: &BagRows<'_>, count: usize) {
        let rows = rows.args();
        let (plan, conversion) = (self.plan, self.conversion);
        debug_assert!(count <= conversion.rows, "more rows than there is room for");
        for (at, (mine, &position)) in self.positions.iter_mut().zip(&rows.positions[..count]).enumerate() {
            *mine = if position < 0 { position } else { at as i64 };
        }
        for (number, first) in (0..rows.elements).step_by(conversion.columns).enumerate() {
            let elements = conversion.columns.min(rows.elements - first);
            let (start, values) = (first * plan.size, first * plan.values);
            self.convert(rows, count, first, elements);
            let after = |carried: *mut u8| match carried.is_null() {
                true => carried,
                false => carried.wrapping_add((values + number * SPARE) * plan.fns.sum),
            };
            let these = BagArgs {
                data: self.rows,
                stride: conversion.stride as isize,
                positions: &self.positions[..count],
                distance: 0,
                out: rows.out.wrapping_add(start),
                elements: elements * plan.values,
                zeros: rows.zeros.map(|zeros| zeros.wrapping_add(start)),
                part: rows.part.map(|part| Part { carried: after(part.carried), ..part }),
                ..*rows
            };
            // SAFETY: B1: the rows have just been converted, those that are not left out, in the order of their
            // numbers. All else is some of what the contract of all columns says: the output and weights of B2 and B3,
            // sums of B4 with `SPARE` more for each conversion, and positions for `count` rows (B6).
            reduce(&unsafe { BagRows::new(these) });
        }
    }

    /// Converts `elements` columns of the first `count` rows of a job, from column `first` on.
    fn convert(&mut self, rows: &BagArgs<'_>, count: usize, first: usize, elements: usize) {
        debug_assert!(first + elements <= rows.elements && elements <= self.conversion.columns, "R1");
        let size_in = self.plan.size_in;
        // Of data without rows the product may wrap: nothing is read there.
        let data = rows.data.wrapping_add(first.wrapping_mul(size_in));
        let at = |position: i64| data.wrapping_offset((position as isize).wrapping_mul(rows.stride));
        let mut to = self.rows;
        for (&position, &later) in rows.positions[..count].iter().zip(&rows.positions[rows.distance..][..count]) {
            if rows.distance > 0 {
                self.ask(at(later), later, elements);
            }
            if position >= 0 {
                // SAFETY: B1 for data of the job, whose map this is (K8). By R1 this worker alone has the rows of the
                // scratch, as many as the conversion takes, of as many elements. They begin with lines, and so are
                // aligned.
                unsafe { self.row(at(position), position as usize, to, elements) };
            }
            to = to.wrapping_add(self.conversion.stride);
        }
    }

    /// Prefetches elements of a row, and their parameters.
    #[inline(always)]
    fn ask(&self, from: *const u8, position: i64, elements: usize) {
        prefetch_row(from, elements * self.plan.size_in);
        if let Some(ahead) = self.params.ahead {
            ahead.prefetch(position as usize, self.params.element(from, self.plan.size_in), elements);
        }
    }

    /// Converts elements of a row.
    ///
    /// # Safety
    /// K8 for the elements at `from`, which belong to row `position`, and for as many at `to`.
    #[inline(always)]
    pub(super) unsafe fn row(&self, from: *const u8, position: usize, to: *mut u8, elements: usize) {
        let place = Place { row: position, element: self.params.element(from, self.plan.size_in) };
        // SAFETY: the elements are the caller's promise, and parameters those of the call (X1); K7: the plan's level.
        unsafe { (self.conversion.row_fn)(from, to, elements, self.params.given, place) }
    }
}
