//! Rows that are decoded before a row function reads them.

use crate::kernels::convert::conversion;
use crate::kernels::convert::decode::ErasedParams;
use crate::kernels::convert::row::MOST_AHEAD;
use crate::kernels::nest::args::{DecodedRow, IndexArgs, Place};
use crate::kernels::prefetch::prefetch;

/// The parameters of a row function, and those of what decodes its rows.
#[derive(Clone, Copy)]
pub(crate) struct GivenDecoded<'a> {
    /// The `GivenRows` of the row function.
    rows: *const (),
    decoder: ErasedParams<'a>,
    /// Memory for the numbers of a row, which one thread has at a time; null until a worker of the call has its own.
    room: *mut u8,
}

impl<'a> GivenDecoded<'a> {
    pub(crate) fn new(rows: *const (), decoder: ErasedParams<'a>) -> Self {
        GivenDecoded { rows, decoder, room: core::ptr::null_mut() }
    }

    /// What the arguments of a kernel have, with room for the numbers of a row.
    ///
    /// # Safety
    /// The rows of the kernel's plan are decoded (K8).
    #[inline(always)]
    pub(crate) unsafe fn in_room(args: &IndexArgs<'a>, room: *mut u8) -> Self {
        // SAFETY: K8: the parameters of a plan whose rows are decoded.
        let given = unsafe { *args.params().cast::<Self>() };
        GivenDecoded { room, ..given }
    }
}

/// The rows of a kernel's data: as they are, or decoded one by one.
#[derive(Clone, Copy)]
pub(super) struct RowsOfData<'a> {
    /// Elements of a row of data, and bytes of one.
    elements: usize,
    size_in: usize,
    /// K8: what decodes a row, and what it is given.
    decoded: Option<(DecodedRow, GivenDecoded<'a>)>,
}

impl<'a> RowsOfData<'a> {
    /// For a kernel of a row function; and the parameters of that.
    #[inline(always)]
    pub(super) fn new(args: &IndexArgs<'a>) -> (Self, *const ()) {
        let conversion = conversion(args);
        let decoded = conversion.decoded.map(|decoded| {
            // SAFETY: K8: the parameters where rows are decoded.
            (decoded, unsafe { *args.params().cast::<GivenDecoded<'a>>() })
        });
        let rows = decoded.map_or(args.params(), |(_, given)| given.rows);
        (RowsOfData { elements: conversion.elements, size_in: conversion.size_in, decoded }, rows)
    }

    /// Prefetches a row, and what is given for decoding it.
    #[inline(always)]
    pub(super) fn prefetch(&self, from: *const u8, row: usize) {
        prefetch(from, (self.elements * self.size_in).min(MOST_AHEAD));
        if let Some(ahead) = self.decoded.and_then(|(_, given)| given.decoder.ahead) {
            ahead.prefetch(row, self.element(from), self.elements);
        }
    }

    /// Where the numbers of a row are, and how many; those of the row before are gone.
    ///
    /// # Safety
    /// K2 and K8 for the row of data at `from`, which comes from position `row` of the axis.
    #[inline(always)]
    pub(super) unsafe fn numbers(&self, from: *const u8, row: usize) -> (*const u8, usize) {
        match &self.decoded {
            None => (from, self.elements),
            // SAFETY: the caller's promise.
            Some(_) => unsafe { self.decode(from, row) },
        }
    }

    /// Decodes a row into the room of this thread.
    ///
    /// # Safety
    /// As for [`Self::numbers`]; rows are decoded.
    #[inline(never)]
    unsafe fn decode(&self, from: *const u8, row: usize) -> (*const u8, usize) {
        let Some((DecodedRow { row_fn, numbers, .. }, GivenDecoded { decoder, room, .. })) = self.decoded else {
            unreachable!("rows are decoded")
        };
        if numbers > 0 {
            debug_assert!(!room.is_null(), "K8: no room");
            let place = Place { row, element: self.element(from) };
            // SAFETY: K2 and K8: the elements of a row of data, what is given for them, and room for what they become,
            // aligned to a line, which nothing else uses. K7: the function is that of the plan's level.
            unsafe { row_fn(from, room, self.elements, decoder.given, place) };
        }
        (room, numbers)
    }

    /// The place of an element of data, where it matters to what decodes.
    #[inline(always)]
    fn element(&self, at: *const u8) -> usize {
        self.decoded.map_or(0, |(_, given)| given.decoder.element(at, self.size_in))
    }
}
