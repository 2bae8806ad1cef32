//! Elements that differ by their place, and indices of every kind.

use std::fmt::Debug;

use gather_core::{Element, Index};
use gather_tests::oracle::Rules;

/// An element whose value tells where it comes from.
pub trait Sample: Element + Debug + PartialEq {
    /// The element at a place.
    fn sample(at: usize) -> Self;
}

macro_rules! samples {
    ($($ty:ty: |$at:ident| $value:expr;)*) => {$(
        impl Sample for $ty {
            fn sample($at: usize) -> Self {
                $value
            }
        }
    )*};
}

samples! {
    u8: |at| (at % 251) as u8;
    u16: |at| (at % 65_521) as u16;
    f32: |at| at as f32 + 0.5;
    f64: |at| at as f64 + 0.25;
    bool: |at| at.is_multiple_of(3);
    [u8; 3]: |at| [at as u8, (at >> 8) as u8, 7];
    [u32; 4]: |at| [at as u32, 1, 2, u32::MAX];
}

/// An index type that is no wider on some machine than on others.
pub trait Id: Index + TryFrom<i128> + Into<i128> + Debug {}

impl<I: Index + TryFrom<i128> + Into<i128> + Debug> Id for I {}

/// A sequence of numbers (xorshift).
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// The next number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) as usize % n
    }

    /// Whether one of `n` equal chances came.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// An index into `dim` elements; in range, or with `wild` any that the type has.
    pub(crate) fn index<I: Id>(&mut self, dim: usize, rules: Rules, wild: bool) -> I {
        let (least, most) = I::TYPE.bounds();
        let dim = dim as i128;
        let near = self.below(dim.max(1) as usize) as i128;
        let value = match self.below(if wild { 12 } else { 4 }) {
            0 if rules.from_end => near - dim,
            0..=3 => near,
            4 => dim,
            5 => -dim - 1,
            6 => least,
            7 => most,
            8 => dim + near,
            9 => -1,
            _ => near,
        };
        let value = if (least..=most).contains(&value) { value } else { near.min(most) };
        I::try_from(value).ok().expect("a value of the type")
    }
}
