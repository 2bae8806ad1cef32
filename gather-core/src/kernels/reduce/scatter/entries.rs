//! Updates and where they go, sorted by destination.
//!
//! An entry has two offsets, from the first byte of the updates and of the destination that a loop nest reaches, in
//! units that all offsets are multiples of. These fit in 32 bits for all but the longest tensors, so that a sort takes
//! 16 bytes of scratch for each update.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

/// A row of updates and where it goes, in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TableEntry<N> {
    to: N,
    from: N,
}

/// A number of units.
trait Units: Copy + Default + Ord {
    /// The number, which fits.
    fn of(units: usize) -> Self;
    fn get(self) -> usize;
}

impl Units for u32 {
    #[inline(always)]
    fn of(units: usize) -> Self {
        debug_assert!(u32::try_from(units).is_ok(), "offsets that fit");
        units as u32
    }

    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }
}

impl Units for usize {
    #[inline(always)]
    fn of(units: usize) -> Self {
        units
    }

    #[inline(always)]
    fn get(self) -> usize {
        self
    }
}

/// How far the rows reach that entries are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The greatest offset, in bytes.
    pub(crate) bytes: usize,
    /// A unit, as a power of two.
    pub(crate) shift: u32,
}

impl Span {
    /// The span of steps, each with the most times that it is taken, counted from where the lowest begins; and the
    /// distance from there to where all begin.
    pub(crate) fn new(steps: impl Iterator<Item = (isize, usize)>) -> (Self, usize) {
        let (mut bits, mut bytes, mut below) = (1usize << 31, 0usize, 0usize);
        for (step, times) in steps {
            let reach = step.unsigned_abs().wrapping_mul(times);
            bytes = bytes.wrapping_add(reach);
            below = below.wrapping_add(if step < 0 { reach } else { 0 });
            bits |= if times == 0 { 0 } else { step.unsigned_abs() };
        }
        (Span { bytes, shift: bits.trailing_zeros() }, below)
    }

    fn fits(self) -> bool {
        u32::try_from(self.bytes >> self.shift).is_ok()
    }
}

/// Entries of rows, and as many spare ones to sort them.
pub(crate) struct Entries {
    list: List,
    to: Span,
    from: Span,
}

enum List {
    Narrow(Pair<u32>),
    Wide(Pair<usize>),
}

struct Pair<N> {
    entries: Vec<TableEntry<N>>,
    spare: Vec<TableEntry<N>>,
}

impl Entries {
    /// Bytes that an entry and its spare take.
    pub(crate) fn bytes(to: Span, from: Span) -> usize {
        2 * if to.fits() && from.fits() { size_of::<TableEntry<u32>>() } else { size_of::<TableEntry<usize>>() }
    }

    /// A buffer for `rows` entries of rows within the spans; `None` where there is no memory.
    pub(crate) fn with_capacity(rows: usize, to: Span, from: Span) -> Option<Self> {
        let list = match to.fits() && from.fits() {
            true => List::Narrow(Pair::with_capacity(rows)?),
            false => List::Wide(Pair::with_capacity(rows)?),
        };
        Some(Entries { list, to, from })
    }

    /// Forgets all entries.
    pub(crate) fn clear(&mut self) {
        match &mut self.list {
            List::Narrow(pair) => pair.entries.clear(),
            List::Wide(pair) => pair.entries.clear(),
        }
    }

    /// Notes a row at a distance from the lowest of the updates, and where it goes.
    ///
    /// # Panics
    /// If there are more than there is room for: to make more would move memory while a kernel runs.
    #[inline(always)]
    pub(crate) fn push(&mut self, to: usize, from: usize) {
        debug_assert!(to <= self.to.bytes && from <= self.from.bytes, "rows within the spans");
        let (to, from) = (to >> self.to.shift, from >> self.from.shift);
        match &mut self.list {
            List::Narrow(pair) => pair.push(to, from),
            List::Wide(pair) => pair.push(to, from),
        }
    }

    /// The entries by destination, those of one destination in the order in which they were pushed.
    pub(crate) fn sort(&mut self) -> SortedRows<'_> {
        let shifts = [self.to.shift, self.from.shift];
        match &mut self.list {
            List::Narrow(pair) => SortedRows { list: RadixSlice::Narrow(pair.sort()), shifts },
            List::Wide(pair) => SortedRows { list: RadixSlice::Wide(pair.sort()), shifts },
        }
    }
}

/// Sorted entries, or some of them.
#[derive(Clone, Copy)]
pub(crate) struct SortedRows<'a> {
    list: RadixSlice<'a>,
    shifts: [u32; 2],
}

#[derive(Clone, Copy)]
enum RadixSlice<'a> {
    Narrow(&'a [TableEntry<u32>]),
    Wide(&'a [TableEntry<usize>]),
}

impl SortedRows<'_> {
    /// The number of entries.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        match self.list {
            RadixSlice::Narrow(list) => list.len(),
            RadixSlice::Wide(list) => list.len(),
        }
    }

    /// Where the row of entry `k` goes, in bytes from the lowest of the destination.
    #[inline(always)]
    pub(crate) fn to(&self, k: usize) -> usize {
        let units = match self.list {
            RadixSlice::Narrow(list) => list[k].to.get(),
            RadixSlice::Wide(list) => list[k].to.get(),
        };
        units << self.shifts[0]
    }

    /// Where the row of entry `k` comes from, in bytes from the lowest of the updates.
    #[inline(always)]
    pub(crate) fn from(&self, k: usize) -> usize {
        let units = match self.list {
            RadixSlice::Narrow(list) => list[k].from.get(),
            RadixSlice::Wide(list) => list[k].from.get(),
        };
        units << self.shifts[1]
    }

    /// One of `parts` parts of about as many entries. All entries of a destination belong to one.
    pub(crate) fn part(&self, part: usize, parts: usize) -> Self {
        let begin = |part: usize| {
            let mut at = (self.len() as u128 * part as u128 / parts as u128) as usize;
            while at > 0 && at < self.len() && self.to(at) == self.to(at - 1) {
                at += 1;
            }
            at
        };
        let range = begin(part)..begin(part + 1);
        let list = match self.list {
            RadixSlice::Narrow(list) => RadixSlice::Narrow(&list[range]),
            RadixSlice::Wide(list) => RadixSlice::Wide(&list[range]),
        };
        SortedRows { list, ..*self }
    }
}

/// Bits of a key that are sorted by at a time.
const DIGIT: u32 = 11;
/// Entries from which on they are sorted digit by digit.
const DIGITS_FROM: usize = 256;

impl<N: Units> Pair<N> {
    fn with_capacity(rows: usize) -> Option<Self> {
        let mut pair = Pair { entries: Vec::new(), spare: Vec::new() };
        pair.entries.try_reserve_exact(rows).ok()?;
        pair.spare.try_reserve_exact(rows).ok()?;
        Some(pair)
    }

    #[inline(always)]
    fn push(&mut self, to: usize, from: usize) {
        assert!(self.entries.len() < self.entries.capacity(), "more rows than a plan has");
        self.entries.push(TableEntry { to: N::of(to), from: N::of(from) });
    }

    fn sort(&mut self) -> &[TableEntry<N>] {
        let Pair { entries, spare } = self;
        if entries.is_sorted_by_key(|entry| entry.to) {
            return entries;
        }
        if entries.len() < DIGITS_FROM {
            entries.sort_by_key(|entry| entry.to);
            return entries;
        }
        let key = |entry: &TableEntry<N>| entry.to.get();
        let (any, all) = entries.iter().fold((0, usize::MAX), |(any, all), entry| (any | key(entry), all & key(entry)));
        // Bits that differ.
        let bits = any ^ all;
        spare.clear();
        spare.resize(entries.len(), TableEntry::default());
        let (mut from, mut to) = (entries.as_mut_slice(), spare.as_mut_slice());
        let mut shift = bits.trailing_zeros();
        while shift < usize::BITS && bits >> shift != 0 {
            let digit = |entry: &TableEntry<N>| key(entry) >> shift & ((1 << DIGIT) - 1);
            let mut starts = [0usize; 1 << DIGIT];
            from.iter().for_each(|entry| starts[digit(entry)] += 1);
            let mut sum = 0;
            for start in &mut starts {
                (*start, sum) = (sum, sum + *start);
            }
            for entry in &*from {
                let start = &mut starts[digit(entry)];
                to[*start] = *entry;
                *start += 1;
            }
            (from, to) = (to, from);
            shift += DIGIT;
        }
        from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorts<N: Units>(most: usize) {
        for len in [0usize, 1, 2, 100, 255, 256, 1000, 5000] {
            for (modulus, step) in [(1usize, 4usize), (7, 8), (300, 12), (1 << 20, 64), (most, 1)] {
                let scrambled = |at: usize| (at as u64).wrapping_mul(0x5851_f42d_4c95_7f2d) >> 8;
                let to = |at: usize| scrambled(at) as usize % modulus * step;
                let mut pair = Pair::<N>::with_capacity(len).unwrap();
                (0..len).for_each(|at| pair.push(to(at), at));
                let mut expected: Vec<(usize, usize)> = (0..len).map(|at| (to(at), at)).collect();
                expected.sort_by_key(|entry| entry.0);
                let sorted = pair.sort().iter().map(|entry| (entry.to.get(), entry.from.get()));
                assert!(sorted.eq(expected), "{len} {modulus} {step}");
            }
        }
    }

    #[test]
    fn entries_are_sorted_by_destination_and_stay_in_order() {
        sorts::<u32>(u32::MAX as usize);
        sorts::<usize>(usize::MAX >> 8);
    }

    #[test]
    fn parts_are_all_entries_and_share_no_destination() {
        let span = Span { bytes: 1 << 20, shift: 2 };
        for modulus in [1usize, 2, 5, 1000] {
            let mut entries = Entries::with_capacity(1000, span, span).unwrap();
            (0..1000).for_each(|at| entries.push(at * 7 % modulus * 4, at * 4));
            let sorted = entries.sort();
            for parts in [1, 2, 3, 8, 1000, 2000] {
                let mut all = Vec::new();
                for part in (0..parts).map(|part| sorted.part(part, parts)) {
                    let these = (0..part.len()).map(|k| (part.to(k), part.from(k)));
                    assert!(
                        all.is_empty() || part.len() == 0 || all.last().map(|last: &(_, _)| last.0) < Some(part.to(0))
                    );
                    all.extend(these);
                }
                assert!(all.into_iter().eq((0..1000).map(|k| (sorted.to(k), sorted.from(k)))), "{modulus} {parts}");
            }
        }
    }

    #[test]
    fn spans_are_counted_from_the_lowest_row() {
        let (span, below) = Span::new([(-12, 3), (40, 10), (8, 0)].into_iter());
        assert_eq!((span, below), (Span { bytes: 436, shift: 2 }, 36));
        assert!(span.fits());
        assert_eq!(Entries::bytes(span, span), 16);
        // Where pointers have 32 bits, all offsets fit.
        #[cfg(target_pointer_width = "64")]
        {
            let [far, aligned] = [2, 9].map(|shift| Span { bytes: 1 << 40, shift });
            assert!(!far.fits() && aligned.fits());
            assert_eq!(Entries::bytes(span, far), 32);
        }
    }
}
