"""Cuts for threads: the parts of a loop cover it and do not overlap, and pieces have every combination of parts."""

import z3

from frame import lemma, least, rust

START = rust("kernels/nest/args.rs", """
    pub(crate) fn start_of_part(n: usize, part: usize, parts: usize) -> usize {
        debug_assert!(part <= parts);
        // The first `n % parts` parts have one more. `n · part` could overflow.
        n / parts * part + part.min(n % parts)
    }
""")

NEW = rust("exec/cuts.rs", """
    let alone = lengths.clone().position(|n| n >= chunks);
    let mut left = chunks;
    let parts = lengths.enumerate().map(|(d, n)| {
        let parts = if alone.is_none_or(|alone| alone == d) { left.min(n) } else { 1 };
        left = left.div_ceil(parts);
        parts
    });
""")

LONGEST = rust("exec/cuts.rs", """
    pub(super) fn longest(&self, d: usize, n: usize) -> usize {
        n.div_ceil(self.0[d])
    }
""")

RANGE = rust("exec/cuts.rs", """
    pub(super) fn range(&self, chunk: usize, d: usize, n: usize) -> Range<usize> {
        let inner: usize = self.0[d + 1..].iter().product();
        let (part, parts) = (chunk / inner % self.0[d], self.0[d]);
        start_of_part(n, part, parts)..start_of_part(n, part + 1, parts)
    }
""")

n, part, parts, quotient, rest, at = z3.Ints("n part parts quotient rest at")
# `n / parts` and `n % parts`.
DIVIDED = [1 <= parts, 0 <= n, n == quotient * parts + rest, 0 <= rest, rest < parts, quotient >= 0]


def start(part, twin=False):
    return quotient * part + least(part, rest - 1 if twin else rest)


@lemma(START)
def ends_of_parts(twin):
    """The first part begins at 0, the last ends at `n`; twin: one part less is longer."""
    yield "ends", DIVIDED, z3.And(start(z3.IntVal(0)) == 0, start(parts, twin) == n)


@lemma(START, RANGE)
def parts_in_order(twin):
    """A part begins where the one before ends, within the loop, without overflow; twin: one part less is longer."""
    begin, end = start(part), start(part + 1, twin)
    assumed = DIVIDED + [0 <= part, part < parts]
    no_overflow = z3.And(quotient * part <= n, quotient * (part + 1) <= n)
    yield "a part", assumed, z3.And(0 <= begin, begin <= end, end <= n, no_overflow)


@lemma(START, RANGE)
def no_overlap(twin):
    """An iteration lies in one part alone; twin: parts of one iteration more."""
    other, more = z3.Int("other"), 1 if twin else 0
    inside = [z3.And(start(p) <= at, at < start(p + 1) + more) for p in (part, other)]
    assumed = DIVIDED + [0 <= part, part < other, other < parts]
    yield "an iteration", assumed, z3.Not(z3.And(*inside))


@lemma(START, LONGEST)
def lengths_of_parts(twin):
    """Parts differ by one iteration, the longest is `n.div_ceil(parts)`, none is empty; twin: `parts <= n + 1`."""
    length = start(part + 1) - start(part)
    longest = quotient + z3.If(rest > 0, 1, 0)
    assumed = DIVIDED + [0 <= part, part < parts, parts <= (n + 1 if twin else n)]
    yield "a part", assumed, z3.And(1 <= length, quotient <= length, length <= longest)


@lemma(NEW)
def numbers_of_parts(twin):
    """A loop has from one part to one for each iteration, and pieces enough stay; twin: rounded down."""
    left, after, over = z3.Ints("left after over")
    # `after = left.div_ceil(parts)`, and `over` what it rounds up.
    rounded = [after * parts - over == left] if not twin else [after * parts + over == left]
    assumed = [1 <= left, 1 <= n, parts == least(left, n), 0 <= over, over < parts, *rounded]
    yield "a loop", assumed, z3.And(1 <= parts, parts <= n, 1 <= after, parts * after >= left)


@lemma(RANGE)
def pieces(twin):
    """The number of a piece names one part of each loop, and each combination has one; twin: part `parts`."""
    around, inner, inside, found = z3.Ints("around inner inside found")
    # The number that has part `part` of this loop, and of the loops around it and inside of it some parts.
    piece = (around * parts + part) * inner + inside
    assumed = [0 <= around, 0 <= part, part <= parts if twin else part < parts, 1 <= parts]
    assumed += [1 <= inner, 0 <= inside, inside < inner]
    # `found = piece / inner`, by what division is.
    left = z3.Int("left")
    assumed += [piece == found * inner + left, 0 <= left, left < inner]
    # `found % parts`, by what the rest is.
    again, of_loop = z3.Ints("again of_loop")
    assumed += [found == again * parts + of_loop, 0 <= of_loop, of_loop < parts]
    yield "a loop", assumed, z3.And(of_loop == part, again == around, left == inside)
