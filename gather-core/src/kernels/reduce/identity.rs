//! Reductions without what the destination holds, where the reduction has an identity.
//!
//! ```text
//! mark:   a byte for every row of the destination that an update meets
//! reset:  each marked row = the identity, in all its elements
//! then:   reduce the updates where the rows lie, as if what they hold counted
//! ```
//!
//! Marks are records of one byte: *take* stores a 1, *end* resets. They depend on the size of an element alone, where
//! accumulators would be functions of each type and reduction.

use crate::kernels::by_level::ByLevel;
use crate::kernels::reduce::accumulators::{AccumulatorFns, RowsJob};
use crate::kernels::reduce::rows::{Combine, ReduceFn};
use crate::kernels::reduce::store::STORE;
use crate::types::element::Unaligned;

/// Bytes of the widest element whose identity is known.
const WIDEST: usize = 16;

/// The identity of a reduction.
#[derive(Clone, Copy)]
pub(crate) struct Identity {
    write: fn(&mut [u8; WIDEST]),
    marks: Option<&'static AccumulatorFns>,
}

impl Identity {
    /// The identity of a reduction, if it has one.
    pub(super) const fn of<C: Combine>() -> Option<Self> {
        if C::IDENTITY.is_none() || size_of::<C::Item>() > WIDEST {
            return None;
        }
        Some(Identity { write: write::<C>, marks: marks(size_of::<C::Item>()) })
    }

    /// The functions that mark and reset rows.
    pub(crate) fn marks(&self) -> Option<&'static AccumulatorFns> {
        self.marks
    }

    /// The bytes of the element, and others behind it.
    pub(crate) fn bytes(&self) -> [u8; WIDEST] {
        let mut bytes = [0; WIDEST];
        (self.write)(&mut bytes);
        bytes
    }
}

/// Writes the bytes of an identity.
fn write<C: Combine>(to: &mut [u8; WIDEST]) {
    if let Some(identity) = const { C::IDENTITY } {
        debug_assert!(size_of::<C::Item>() <= WIDEST);
        // SAFETY: an element is at most as large; elements of numbers have no padding.
        unsafe { to.as_mut_ptr().cast::<C::Item>().write_unaligned(identity) };
    }
}

/// The functions that mark rows of elements of a size, and reset them.
const fn marks(size: usize) -> Option<&'static AccumulatorFns> {
    macro_rules! of_size {
        ($($bytes:literal)*) => {
            match size {
                $($bytes => Some(const { &AccumulatorFns::marks(TAKE, unmark, reset::<$bytes>) }),)*
                _ => None,
            }
        };
    }
    of_size!(1 2 4 8 16)
}

/// Stores a mark: rows of one byte.
const TAKE: ByLevel<ReduceFn> = match &STORE.rows {
    Some(rows) => rows.resolved,
    None => panic!("rows are stored one by one"),
};

/// The update that is stored as a mark.
pub(crate) static MARK: u8 = 1;

/// # Safety
/// As for [`RowsFn`](super::RowsFn), for marks.
unsafe fn unmark(job: &RowsJob) {
    // SAFETY: A1: `n` records of one byte.
    unsafe { job.records.write_bytes(0, job.n) };
}

/// Resets marked rows of elements of `BYTES` bytes.
///
/// # Safety
/// As for [`RowsFn`](super::RowsFn), for marks; `job.identity` begins with an element.
unsafe fn reset<const BYTES: usize>(job: &RowsJob) {
    let identity: [u8; BYTES] = core::array::from_fn(|at| job.identity[at]);
    // SAFETY: A1: `n` records of one byte, which have begun.
    let marks = unsafe { core::slice::from_raw_parts(job.records, job.n) };
    let mut first = 0;
    // Destinations with few updates are mostly unmarked.
    for some in marks.chunks(MARKS) {
        if some.iter().fold(0, |any, mark| any | mark) != 0 {
            for (at, _) in some.iter().enumerate().filter(|(_, mark)| **mark != 0) {
                let row = job.destination.wrapping_offset(job.step.wrapping_mul((first + at) as isize));
                for element in 0..job.elements {
                    let to = row.cast::<Unaligned<[u8; BYTES]>>().wrapping_add(element);
                    // SAFETY: A1: an element of a row of the destination, at any alignment.
                    unsafe { to.write(Unaligned(identity)) };
                }
            }
        }
        first += some.len();
    }
}

/// Marks that are looked at together.
const MARKS: usize = 32;
