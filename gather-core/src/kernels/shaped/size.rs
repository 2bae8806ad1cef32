//! Sizes with a factor known at compile time and a factor known at the call.

#![forbid(unsafe_code)]

use crate::types::declared::{ANY, times};

/// A product: `known` times the open sizes in `slots`. Both fields are constants, so the compiler sees numbers, or
/// products of a number and open sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) known: usize,
    /// A bit for each open size in the product: its slot in [`Sizes`].
    pub(crate) slots: u32,
}

/// The open sizes of a call: the first of data, the first of indices, and the arguments.
///
/// Open sizes of a dimension in both tensors have two entries, which have been compared.
#[derive(Clone, Copy)]
pub(crate) struct Sizes<const ARGS: usize> {
    pub(crate) first: [usize; 2],
    pub(crate) args: [usize; ARGS],
}

impl Size {
    pub(crate) const ONE: Size = Size::of(1);
    pub(crate) const ZERO: Size = Size::of(0);

    pub(crate) const fn of(known: usize) -> Self {
        Size { known, slots: 0 }
    }

    pub(crate) const fn open(slot: usize) -> Self {
        Size { known: 1, slots: 1 << slot }
    }

    /// # Panics
    /// At compile time, if the product is no size of a tensor, or has an open size twice.
    pub(crate) const fn times(self, other: Size) -> Self {
        if self.known == 0 || other.known == 0 {
            return Size::ZERO;
        }
        assert!(self.slots & other.slots == 0, "an open size counts once");
        Size { known: times(self.known, other.known), slots: self.slots | other.slots }
    }

    pub(crate) const fn is(self, other: Size) -> bool {
        self.known == other.known && self.slots == other.slots
    }

    /// The value for the open sizes of a call; wraps on overflow.
    // Used many times per function: without iterators there is less to compile.
    #[inline(always)]
    pub(crate) fn at<const ARGS: usize>(self, sizes: &Sizes<ARGS>) -> usize {
        let mut value = self.known;
        if self.has(0) {
            value = value.wrapping_mul(sizes.first[0]);
        }
        if self.has(1) {
            value = value.wrapping_mul(sizes.first[1]);
        }
        let mut arg = 0;
        while arg < ARGS {
            if self.has(2 + arg) {
                value = value.wrapping_mul(sizes.args[arg]);
            }
            arg += 1;
        }
        value
    }

    /// [`Size::at`], or `None` if a partial product overflows, even if a later factor is 0.
    #[inline(always)]
    pub(crate) fn checked_at<const ARGS: usize>(self, sizes: &Sizes<ARGS>) -> Option<usize> {
        let mut value = self.known;
        if self.has(0) {
            value = value.checked_mul(sizes.first[0])?;
        }
        if self.has(1) {
            value = value.checked_mul(sizes.first[1])?;
        }
        let mut arg = 0;
        while arg < ARGS {
            if self.has(2 + arg) {
                value = value.checked_mul(sizes.args[arg])?;
            }
            arg += 1;
        }
        Some(value)
    }

    #[inline(always)]
    const fn has(self, slot: usize) -> bool {
        self.slots >> slot & 1 == 1
    }
}

/// Where an open size occurs alone in folded loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizeSource {
    Loop(usize),
    Axis(usize),
    Row,
    /// Nowhere: its value makes no difference.
    Unused,
}

impl SizeSource {
    /// The source of an open size that is alone in no loop or axis: the row, or `Unused`; `None` if it never occurs
    /// alone.
    pub(crate) const fn in_row(row: Size, slot: usize, used: bool) -> Option<(Self, usize)> {
        if row.slots == 1 << slot {
            return Some((SizeSource::Row, row.known));
        }
        let used = used || row.slots >> slot & 1 == 1;
        if used { None } else { Some((SizeSource::Unused, 1)) }
    }
}

impl<const ARGS: usize> Sizes<ARGS> {
    /// The open sizes of folded loops: `source` returns the place of each and its factor there, and `value` the value
    /// at a place. `None` if an open size never occurs alone.
    #[inline(always)]
    pub(crate) fn read(
        source: impl Fn(usize) -> Option<(SizeSource, usize)>,
        value: impl Fn(SizeSource) -> usize,
    ) -> Option<Self> {
        let mut sizes = Sizes { first: [1; 2], args: [1; ARGS] };
        for (slot, size) in sizes.first.iter_mut().chain(&mut sizes.args).enumerate() {
            let (source, known) = source(slot)?;
            *size = if matches!(source, SizeSource::Unused) { 1 } else { value(source) / known };
        }
        Some(sizes)
    }
}

/// Assigns a slot to each open size of both tensors: 0 to the first of data, 1 to the first of indices. The others
/// follow in the order of arguments.
pub(crate) struct Slots {
    next: usize,
}

impl Slots {
    pub(crate) const fn new() -> Self {
        Slots { next: 2 }
    }

    /// The sizes of a tensor whose first open size has slot `first`.
    pub(crate) const fn sizes<const N: usize>(&mut self, shape: &[usize], first: usize) -> [Size; N] {
        let (mut sizes, mut dim, mut seen) = ([Size::ONE; N], 0, false);
        while dim < shape.len() {
            sizes[dim] = match shape[dim] {
                ANY if !seen => {
                    seen = true;
                    Size::open(first)
                }
                ANY => {
                    self.next += 1;
                    Size::open(self.next - 1)
                }
                known => Size::of(known),
            };
            dim += 1;
        }
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_takes_the_sizes_of_its_slots() {
        let mut slots = Slots::new();
        let [a, b, c]: [Size; 3] = slots.sizes(&[ANY, 3, ANY], 0);
        let [d, e]: [Size; 2] = slots.sizes(&[ANY, ANY], 1);
        let all = a.times(b).times(c).times(d).times(e);
        let sizes = Sizes { first: [5, 7], args: [11, 13] };
        assert_eq!([a, b, c, d, e].map(|size| size.at(&sizes)), [5, 3, 11, 7, 13]);
        assert_eq!((all.at(&sizes), all.checked_at(&sizes)), (5 * 3 * 11 * 7 * 13, Some(5 * 3 * 11 * 7 * 13)));
        assert_eq!(all.checked_at(&Sizes { first: [5, usize::MAX], args: [1, 1] }), None);
        assert!(a.times(Size::ZERO).is(Size::ZERO) && !a.is(Size::ONE));
    }
}
