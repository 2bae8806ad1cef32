//! Entries: updates and their destinations, sorted by destination.

#![forbid(unsafe_code)]

/// A row of updates and its destination, as byte offsets from the first ones of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) to: isize,
    pub(crate) from: isize,
}

/// Bits per digit of a radix sort.
const DIGIT: u32 = 11;
/// Minimum length of a radix sort. Shorter lists are sorted on the stack.
const DIGITS_FROM: usize = 256;

/// Sorts entries by destination, stably; `spare` has at least `list.len()` entries.
pub(crate) fn sort<'a>(list: &'a mut [Entry], spare: &'a mut [Entry]) -> &'a [Entry] {
    if list.is_sorted_by_key(|entry| entry.to) {
        return list;
    }
    if list.len() < DIGITS_FROM {
        list.sort_by_key(|entry| entry.to);
        return list;
    }
    let least = list.iter().fold(isize::MAX, |least, entry| least.min(entry.to));
    let key = |entry: &Entry| entry.to.wrapping_sub(least) as usize;
    let bits = list.iter().fold(0, |bits, entry| bits | key(entry));
    let (mut from, mut to) = (list, spare);
    let mut shift = bits.trailing_zeros();
    while shift < usize::BITS && bits >> shift != 0 {
        let digit = |entry: &Entry| key(entry) >> shift & ((1 << DIGIT) - 1);
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

/// Chunk `part` of `parts` chunks of sorted entries, of about equal length. All entries of a destination are in one
/// chunk.
pub(crate) fn part_of(sorted: &[Entry], part: usize, parts: usize) -> &[Entry] {
    let begin = |part: usize| {
        let at = (sorted.len() as u128 * part as u128 / parts as u128) as usize;
        let is_inside = |at: &usize| *at > 0 && *at < sorted.len() && sorted[*at].to == sorted[*at - 1].to;
        at + (at..).take_while(is_inside).count()
    };
    &sorted[begin(part)..begin(part + 1)]
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn entries_are_sorted_by_destination_and_stay_in_order() {
        for len in [0usize, 1, 2, 100, 1000, 5000] {
            for (modulus, step) in [(1usize, 4usize), (7, 8), (300, 12), (1 << 20, 64), (isize::MAX as usize, 1)] {
                let scrambled = |at: usize| (at as u64).wrapping_mul(0x5851_f42d_4c95_7f2d) >> 8;
                let to = |at: usize| (scrambled(at) as usize % modulus * step) as isize - 1000;
                let mut list: Vec<Entry> = (0..len).map(|at| Entry { to: to(at), from: at as isize }).collect();
                let (mut expected, mut spare) = (list.clone(), list.clone());
                expected.sort_by_key(|entry| entry.to);
                assert!(sort(&mut list, &mut spare) == expected, "{len} {modulus} {step}");
            }
        }
    }

    #[test]
    fn parts_are_all_entries_and_share_no_destination() {
        for modulus in [1isize, 2, 5, 1000] {
            let mut list: Vec<Entry> = (0..1000).map(|at| Entry { to: at * 7 % modulus * 4, from: at * 4 }).collect();
            let mut spare = list.clone();
            let sorted = sort(&mut list, &mut spare);
            for parts in [1, 2, 3, 8, 1000, 2000] {
                let mut all: Vec<Entry> = Vec::new();
                for part in (0..parts).map(|part| part_of(sorted, part, parts)) {
                    assert!(all.is_empty() || part.is_empty() || all.last().map(|last| last.to) < Some(part[0].to));
                    all.extend(part);
                }
                assert!(all == sorted, "{modulus} {parts}");
            }
        }
    }
}
