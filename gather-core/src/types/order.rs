//! A stable sort of a few loops or dimensions: each use of the standard library's sort adds functions to a program.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

/// Maximum items for the insertion sort.
const FEW: usize = 16;

pub(crate) fn sort_by_key<T: Copy>(items: &mut [T], key: impl Fn(&T) -> usize) {
    if items.len() > FEW {
        let mut order: SmallVec<[(usize, usize); FEW]> = items.iter().map(key).zip(0..).collect();
        sort(&mut order);
        let old: SmallVec<[T; FEW]> = items.iter().copied().collect();
        return items.iter_mut().zip(order).for_each(|(item, (_, place))| *item = old[place]);
    }
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && key(&items[at - 1]) > key(&items[at]) {
            items.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Sorts pairs of key and place, all distinct. One function serves items of every type.
#[inline(never)]
fn sort(order: &mut [(usize, usize)]) {
    order.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_keep_their_order() {
        for n in [0, 1, 2, 15, 16, 17, 100] {
            for distinct in [1, 2, 7, 100] {
                let items: Vec<(usize, usize)> = (0..n).map(|at| (at * 37 % 101 % distinct, at)).collect();
                let (mut own, mut expected) = (items.clone(), items);
                sort_by_key(&mut own, |item| item.0);
                expected.sort_by_key(|item| item.0);
                assert_eq!(own, expected, "{n}, {distinct}");
            }
        }
    }
}
