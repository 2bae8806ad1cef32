//! Elements of any width by their numbers: results of the oracle as the bytes that a call on elements of a width gives.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::{each, row_major};

thread_local! {
    /// The bytes of the elements of a width that were needed so far, in the order of their numbers.
    static KNOWN: RefCell<BTreeMap<usize, Vec<u8>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Appends the bytes of an element; zeros for 0, which stands for none.
fn make(number: u32, width: usize, bytes: &mut Vec<u8>) {
    if number == 0 {
        bytes.resize(bytes.len() + width, 0);
    } else {
        // Neighbours differ in every byte, and 255 in a row in the first.
        let mixed = number.wrapping_mul(0x9e37_79b1);
        bytes.push((number % 255) as u8 + 1);
        bytes.extend((1..width).map(|at| (mixed >> (at % 4 * 8)) as u8 ^ (at as u8)));
    }
}

/// The bytes of elements by their numbers; zeros for 0. Each element is made once.
#[must_use]
pub fn elements(numbers: &[u32], width: usize) -> Vec<u8> {
    let last = numbers.iter().copied().max().unwrap_or(0) as usize;
    KNOWN.with_borrow_mut(|known| {
        let known = known.entry(width).or_default();
        for number in known.len() / width..=last {
            make(number as u32, width, known);
        }
        let mut bytes = Vec::with_capacity(numbers.len() * width);
        for &number in numbers {
            bytes.extend_from_slice(&known[number as usize * width..][..width]);
        }
        bytes
    })
}

/// The numbers of the elements of a shape in the order of memory, from 1 on: row-major, or with the dimensions in the
/// reverse order.
#[must_use]
pub fn numbers(shape: &[usize], transposed: bool) -> Vec<u32> {
    if !transposed {
        return (1..=super::len(shape) as u32).collect();
    }
    let reversed: Vec<usize> = shape.iter().rev().copied().collect();
    let mut numbers = Vec::with_capacity(super::len(shape));
    each(&reversed, |coords| numbers.push(row_major(shape, coords.iter().rev()) as u32 + 1));
    numbers
}
