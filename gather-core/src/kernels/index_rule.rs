//! The rule by which an index names a position along an axis, in scalar code.
//!
//! ```text
//! x < 0 counts from the end:  x + dim      (FromEnd; else it stays negative)
//! then a position if 0 <= x < dim, else missing
//! ```
//!
//! Under `Clamp` and `Wrap`, an earlier pass replaces the indices (`remap.rs`) by [`Remap::replace`].
//!
//! Vector code has the same rule in registers (`resolve`); its tests compare the two.

#![forbid(unsafe_code)]

use crate::types::index::Index;
use crate::types::policy::{KernelPolicy, Remap};

/// The rule for the indices of one axis.
#[derive(Clone, Copy)]
pub(crate) struct IndexRule {
    /// The size of the axis; not negative.
    dim: i64,
    /// The addend of a negative index: `dim`, or 0.
    from_end: i64,
}

impl IndexRule {
    #[inline(always)]
    pub(crate) fn new(policy: KernelPolicy, dim: i64) -> Self {
        debug_assert!(dim >= 0);
        IndexRule { dim, from_end: if policy.from_end { dim } else { 0 } }
    }

    /// The index, with negative values counted from the end. Branch-free: the sign selects `dim` or 0.
    #[inline(always)]
    fn count<I: Index>(self, index: I) -> i64 {
        let x = index.widen();
        // A negative value plus `dim` cannot overflow.
        if I::TYPE.is_signed() { x + (self.from_end & (x >> 63)) } else { x }
    }

    /// Whether no index of type `I` counts from the end and, if `I` has at most 32 bits, `dim` fits in 31 bits.
    #[inline(always)]
    pub(crate) fn is_plain<I: Index>(self) -> bool {
        (!I::TYPE.is_signed() || self.from_end == 0) && (size_of::<I>() > 4 || i32::try_from(self.dim).is_ok())
    }

    /// As [`IndexRule::check`], under a [plain](IndexRule::is_plain) rule: the position is the value itself. Types of
    /// at most 32 bits are compared in 32 bits: x86-64 has shorter instructions for 32 bits.
    #[inline(always)]
    pub(crate) fn check_plain<I: Index>(self, index: I) -> (usize, bool) {
        debug_assert!(self.is_plain::<I>());
        let x = index.bits();
        if const { size_of::<I>() > 4 } {
            return (x as usize, x < self.dim as u64);
        }
        let x = x as u32;
        (x as usize, x < self.dim as u32)
    }

    #[inline(always)]
    fn is_position(self, x: i64) -> bool {
        (x as u64) < self.dim as u64
    }

    /// The position of an index, and whether it is in range.
    #[inline(always)]
    pub(crate) fn check<I: Index>(self, index: I) -> (i64, bool) {
        let x = self.count(index);
        (x, self.is_position(x))
    }

    /// As [`IndexRule::check`], in 32 bits, for `size_of::<I>() <= 4` and a `dim` that fits in 31 bits.
    #[inline(always)]
    pub(crate) fn check_narrow<I: Index>(self, index: I) -> (i32, bool) {
        debug_assert!(size_of::<I>() <= 4 && i32::try_from(self.dim).is_ok());
        // An unsigned value of `2^31` or more exceeds `dim`, which is at most `2^31 - 1`.
        let x = index.widen() as i32;
        let x = if I::TYPE.is_signed() { x + (self.from_end as i32 & (x >> 31)) } else { x };
        (x, (x as u32) < self.dim as u32)
    }

    /// The index itself if `0 <= index < dim`, without counting from the end.
    #[inline(always)]
    pub(crate) fn position<I: Index>(self, index: I) -> Option<i64> {
        Some(index.bits()).filter(|&x| x < self.dim as u64).map(|x| x as i64)
    }
}

impl Remap {
    /// The index that replaces `index` along an axis of `dim >= 1` positions: of the same type, and in range by the
    /// rule with `from_end`.
    ///
    /// A replaced index fits in `I`: its magnitude decreases, since `Wrap` always has `from_end`.
    #[inline(always)]
    pub(crate) fn replace<I: Index>(self, index: I, dim: i64, from_end: bool) -> I {
        debug_assert!(dim >= 1);
        let x = index.widen();
        let least = if from_end && I::TYPE.is_signed() { -dim } else { 0 };
        match self {
            Remap::Clamp => I::truncated(x.max(least).min(dim - 1)),
            Remap::Wrap if least <= x && x < dim => index,
            Remap::Wrap => I::truncated(index.wrap(dim)),
        }
    }
}

impl KernelPolicy {
    /// The position of an index along an axis of `dim` positions, and whether it is in range, after the policy's
    /// [remap](Remap).
    #[inline(always)]
    pub(crate) fn check<I: Index>(self, index: I, dim: i64) -> (i64, bool) {
        let index = match self.remap {
            Some(remap) if dim > 0 => remap.replace(index, dim, self.from_end),
            _ => index,
        };
        IndexRule::new(self, dim).check(index)
    }

    /// The position of an index along an axis of `dim` positions; `None` if it is out of range.
    #[inline(always)]
    pub(crate) fn resolve<I: Index>(self, index: I, dim: i64) -> Option<i64> {
        let (position, inside) = self.check(index, dim);
        inside.then_some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::index::of_every_type;
    use crate::types::policy::{IndexPolicy, NegativeIndex, OutOfBounds};

    /// The rule in `i128`, as the policies document it.
    fn expected(policy: IndexPolicy, index: i128, dim: i128) -> Option<i128> {
        let counted = if index < 0 && policy.negative == NegativeIndex::FromEnd { index + dim } else { index };
        match policy.out_of_bounds {
            OutOfBounds::Clamp => Some(counted.clamp(0, dim - 1)),
            OutOfBounds::Wrap => Some(index.rem_euclid(dim)),
            OutOfBounds::Error | OutOfBounds::Zero => (0..dim).contains(&counted).then_some(counted),
        }
    }

    fn check<I: Index + TryFrom<i128>>() {
        let (least, most) = I::TYPE.bounds();
        for dim in [1i64, 2, 3, 100, i32::MAX.into(), 1 << 31, 1 << 40, i64::MAX] {
            let around = [least, -i128::from(dim), 0, i128::from(dim), i128::from(i64::MAX), most];
            for index in around.into_iter().flat_map(|x| x - 2..=x + 2) {
                let Ok(value) = I::try_from(index) else { continue };
                for negative in [NegativeIndex::FromEnd, NegativeIndex::Reject] {
                    for &out_of_bounds in OutOfBounds::ALL {
                        let policy = IndexPolicy { negative, out_of_bounds };
                        let expected = expected(policy, index, dim.into());
                        let lowered = policy.lower();
                        let found = lowered.resolve(value, dim).map(i128::from);
                        assert_eq!(found, expected, "{policy:?} {index} {dim}");
                        if matches!(out_of_bounds, OutOfBounds::Error | OutOfBounds::Zero) {
                            let rule = IndexRule::new(lowered, dim);
                            let (position, inside) = rule.check(value);
                            assert_eq!(inside.then_some(position.into()), expected, "{policy:?} {index} {dim}");
                            let itself = expected.filter(|&position| position == index);
                            assert_eq!(rule.position(value).map(i128::from), itself, "{policy:?} {index} {dim}");
                            // No axis has more elements than `usize` counts.
                            if rule.is_plain::<I>() && usize::try_from(dim).is_ok() {
                                let (position, inside) = rule.check_plain(value);
                                assert_eq!(inside.then_some(position as i128), expected, "{policy:?} {index} {dim}");
                            }
                            if size_of::<I>() <= 4 && dim <= i32::MAX.into() {
                                let (narrow, inside) = rule.check_narrow(value);
                                assert_eq!(inside.then_some(narrow.into()), expected, "{policy:?} {index} {dim}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_type_and_policy_follows_the_rule() {
        of_every_type!(check);
    }

    #[test]
    fn an_axis_without_elements_has_no_position() {
        for negative in [NegativeIndex::FromEnd, NegativeIndex::Reject] {
            for index in [i64::MIN, -1, 0, 1, i64::MAX] {
                let rule = IndexRule::new(IndexPolicy { negative, ..IndexPolicy::default() }.lower(), 0);
                assert!(!rule.check(index).1 && rule.position(index).is_none());
                assert!(!rule.is_plain::<i64>() || !rule.check_plain(index).1);
            }
        }
    }
}
