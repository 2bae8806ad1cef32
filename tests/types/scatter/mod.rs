//! The scatters and the adjoints of the gathers.
//!
//! | module | what |
//! |---|---|
//! | `sizes` | elements of any size, and reductions of the caller's own, in their order |
//! | `small` | every small shape, axis, index, policy and method against the oracle |
//! | `types` | every reduction of every type against the plain loop, to the bit |
//! | `threads` | the same bits for any number of threads, and for every way that work is cut |
//! | `accumulated` | beside the destination or sorted: which, in how much memory, and that nothing else differs |
//! | `any_count` | plans for any count of updates |
//! | `adjoint` | the transpose of each gather; permutations and back |
//! | `orders` | the order of loops, and that of updates
//! | `own` | kernels of one's own |
//! | `check` | one index that is negative or out of range, at every place where a check may miss it |
//! | `skipped` | negative indices that are skipped, while others out of range are errors |
//! | `histogram` | one update for all indices, of every index type |
//! | `hostile` | what nobody should pass and somebody will |

mod accumulated;
mod adjoint;
mod any_count;
mod check;
mod histogram;
mod hostile;
mod orders;
mod own;
mod runs;
mod sizes;
mod skipped;
mod small;
mod threads;
mod types;

use gather_core::{NegativeIndex, ScatterAttributes, ScatterOperator, ScatterOutOfBounds};
use gather_tests::oracle::Rules;
use gather_tests::policies::{RULES, of_scatters};

/// Every combination of policies.
fn policies() -> impl Iterator<Item = (NegativeIndex, ScatterOutOfBounds, Rules)> {
    RULES.into_iter().map(|(negative, _, rules)| (negative, of_scatters(rules.out_of_range), rules))
}

/// An operator under policies.
fn under<A: ScatterAttributes>(
    op: ScatterOperator<A>,
    (negative, out, _): (NegativeIndex, ScatterOutOfBounds, Rules),
) -> ScatterOperator<A> {
    op.negative_index(negative).out_of_bounds(out)
}
