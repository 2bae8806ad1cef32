//! The policies of the index operators, in the library's spelling and in the oracle's.

use gather_core::{NegativeIndex, OutOfBounds};

use crate::oracle::{Rule, Rules};

/// Every combination of policies.
pub const RULES: [(NegativeIndex, OutOfBounds, Rules); 8] = [
    rules(NegativeIndex::FromEnd, OutOfBounds::Error),
    rules(NegativeIndex::FromEnd, OutOfBounds::Zero),
    rules(NegativeIndex::FromEnd, OutOfBounds::Clamp),
    rules(NegativeIndex::FromEnd, OutOfBounds::Wrap),
    rules(NegativeIndex::Reject, OutOfBounds::Error),
    rules(NegativeIndex::Reject, OutOfBounds::Zero),
    rules(NegativeIndex::Reject, OutOfBounds::Clamp),
    rules(NegativeIndex::Reject, OutOfBounds::Wrap),
];

const fn rules(negative: NegativeIndex, out: OutOfBounds) -> (NegativeIndex, OutOfBounds, Rules) {
    let out_of_range = match out {
        OutOfBounds::Error => Rule::Error,
        OutOfBounds::Zero => Rule::Zero,
        OutOfBounds::Clamp => Rule::Clamp,
        OutOfBounds::Wrap => Rule::Wrap,
    };
    (negative, out, Rules { from_end: matches!(negative, NegativeIndex::FromEnd), out_of_range })
}
