//! The policies of the index operators, as the library and as the oracle spell them.

use gather_core::{NegativeIndex, OutOfBounds, ScatterOutOfBounds};

use crate::oracle::{Rule, Rules};

/// Every combination of policies.
pub const RULES: [(NegativeIndex, OutOfBounds, Rules); 8] = [
    rules(NegativeIndex::FromEnd, OutOfBounds::Error, Rule::Error),
    rules(NegativeIndex::FromEnd, OutOfBounds::Zero, Rule::Zero),
    rules(NegativeIndex::FromEnd, OutOfBounds::Clamp, Rule::Clamp),
    rules(NegativeIndex::FromEnd, OutOfBounds::Wrap, Rule::Wrap),
    rules(NegativeIndex::Reject, OutOfBounds::Error, Rule::Error),
    rules(NegativeIndex::Reject, OutOfBounds::Zero, Rule::Zero),
    rules(NegativeIndex::Reject, OutOfBounds::Clamp, Rule::Clamp),
    rules(NegativeIndex::Reject, OutOfBounds::Wrap, Rule::Wrap),
];

const fn rules(negative: NegativeIndex, out: OutOfBounds, out_of_range: Rule) -> (NegativeIndex, OutOfBounds, Rules) {
    (negative, out, Rules { from_end: matches!(negative, NegativeIndex::FromEnd), out_of_range })
}

/// What negative indices mean under these rules, in the library's spelling.
#[must_use]
pub fn negative(rules: Rules) -> NegativeIndex {
    if rules.from_end { NegativeIndex::FromEnd } else { NegativeIndex::Reject }
}

/// The policy of a scatter under a rule.
#[must_use]
pub fn of_scatters(rule: Rule) -> ScatterOutOfBounds {
    match rule {
        Rule::Error => ScatterOutOfBounds::Error,
        Rule::Zero => ScatterOutOfBounds::Drop,
        Rule::Clamp => ScatterOutOfBounds::Clamp,
        Rule::Wrap => ScatterOutOfBounds::Wrap,
    }
}

#[test]
fn the_rules_are_every_combination_of_policies() {
    let all = NegativeIndex::ALL.iter().flat_map(|&negative| OutOfBounds::ALL.iter().map(move |&out| (negative, out)));
    let of_rules: Vec<_> = RULES.iter().map(|&(negative, out, _)| (negative, out)).collect();
    assert_eq!(all.collect::<Vec<_>>(), of_rules);
}
