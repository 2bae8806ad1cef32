"""The index rule of scalar code, for every index type and policy.

Integers of the statements are bit-vectors of 72 bits, which hold every value, sum and difference here exactly.
Products and remainders are over `Int`: bit-vectors of 64 bits give up there.
"""

import z3

from frame import extended, lemma, low, rust

EXACT = 72

# The name of a type, its bits, and whether it has a sign. `isize` and `usize` have two widths.
TYPES = [
    ("i8", 8, True),
    ("i16", 16, True),
    ("i32", 32, True),
    ("i64", 64, True),
    ("u8", 8, False),
    ("u16", 16, False),
    ("u32", 32, False),
    ("u64", 64, False),
    ("isize, 32 bits", 32, True),
    ("isize, 64 bits", 64, True),
    ("usize, 32 bits", 32, False),
    ("usize, 64 bits", 64, False),
]

I64_MAX = (1 << 63) - 1

WIDEN = rust("types/index.rs", """
    fn widen(self) -> i64 {
        self.to_i64().unwrap_or(i64::MAX)
    }
""")

NEW = rust("kernels/index_rule.rs", """
    pub(crate) fn new(policy: KernelPolicy, dim: i64) -> Self {
        debug_assert!(dim >= 0);
        IndexRule { dim, from_end: if policy.from_end { dim } else { 0 } }
    }
""")

COUNT = rust("kernels/index_rule.rs", """
    fn count<I: Index>(self, index: I) -> i64 {
        let x = index.widen();
        // A negative value plus `dim` cannot overflow.
        if I::TYPE.is_signed() { x + (self.from_end & (x >> 63)) } else { x }
    }
""")

IS_POSITION = rust("kernels/index_rule.rs", """
    fn is_position(self, x: i64) -> bool {
        (x as u64) < self.dim as u64
    }
""")

CHECK = rust("kernels/index_rule.rs", """
    pub(crate) fn check<I: Index>(self, index: I) -> (i64, bool) {
        let x = self.count(index);
        (x, self.is_position(x))
    }
""")

CHECK_NARROW = rust("kernels/index_rule.rs", """
    pub(crate) fn check_narrow<I: Index>(self, index: I) -> (i32, bool) {
        debug_assert!(size_of::<I>() <= 4 && i32::try_from(self.dim).is_ok());
        // An unsigned value that does not fit stays greater than the axis is long.
        let x = index.widen() as i32;
        let x = if I::TYPE.is_signed() { x + (self.from_end as i32 & (x >> 31)) } else { x };
        (x, (x as u32) < self.dim as u32)
    }
""")

IS_PLAIN = rust("kernels/index_rule.rs", """
    pub(crate) fn is_plain<I: Index>(self) -> bool {
        (!I::TYPE.is_signed() || self.from_end == 0) && (size_of::<I>() > 4 || i32::try_from(self.dim).is_ok())
    }
""")

CHECK_PLAIN = rust("kernels/index_rule.rs", """
    pub(crate) fn check_plain<I: Index>(self, index: I) -> (usize, bool) {
        debug_assert!(self.is_plain::<I>());
        let x = index.bits();
        if const { size_of::<I>() > 4 } {
            return (x as usize, x < self.dim as u64);
        }
        let x = x as u32;
        (x as usize, x < self.dim as u32)
    }
""")

BITS = rust("types/index.rs", """
    fn bits(self) -> u64 {
        self as u64
    }
""")

POSITION = rust("kernels/index_rule.rs", """
    pub(crate) fn position<I: Index>(self, index: I) -> Option<i64> {
        Some(index.bits()).filter(|&x| x < self.dim as u64).map(|x| x as i64)
    }
""")

REPLACE = rust("kernels/index_rule.rs", """
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
""")

TRUNCATED = rust("types/index.rs", """
    fn truncated(number: i64) -> Self {
        number as Self
    }
""")

WRAP = rust("types/index.rs", """
    fn wrap(self, dim: i64) -> i64 {
        match (self.to_i64(), self.to_u64()) {
            (Some(value), _) => value.rem_euclid(dim),
            (None, Some(value)) => (value % dim as u64) as i64,
            (None, None) => unreachable!("every integer of at most 64 bits is an i64 or a u64"),
        }
    }
""")

LOWERED = rust("types/policy.rs", """
    pub(crate) const fn new(negative: NegativeIndex, missing: Missing, remap: Option<Remap>) -> Self {
        let from_end = match negative {
            NegativeIndex::FromEnd => true,
            NegativeIndex::Reject => false,
        };
        // An index from `-dim` to -1 is its own remainder from the end.
        let wraps = matches!(remap, Some(Remap::Wrap));
        KernelPolicy { from_end: from_end || wraps, missing, remap, negative }
    }
""")

POLICY = rust("kernels/index_rule.rs", """
    pub(crate) fn check<I: Index>(self, index: I, dim: i64) -> (i64, bool) {
        let index = match self.remap {
            Some(remap) if dim > 0 => remap.replace(index, dim, self.from_end),
            _ => index,
        };
        IndexRule::new(self, dim).check(index)
    }
""")

RESOLVE = rust("kernels/resolve/mod.rs", """
    let rule = IndexRule::new(job.policy, i64::from(job.dim));
    each::<I>(job, move |index: I| {
        let (x, inside) = if const { size_of::<I>() <= 4 } {
            rule.check_narrow(index)
        } else {
            let (x, inside) = rule.check(index);
            (x as i32, inside)
        };
        if inside { x } else { -1 }
    })
""")


class Case:
    """An index of a type along an axis: as the machine has them, and as integers."""

    def __init__(self, bits, signed, counts, dim_bits=63):
        self.x, self.dim, self.signed = z3.BitVec("x", bits), z3.BitVec("dim", 64), signed
        self.X, self.D = extended(self.x, EXACT, signed), extended(self.dim, EXACT, True)
        self.from_end = self.dim if counts else z3.BitVecVal(0, 64)
        self.counted = z3.If(self.X < 0, self.X + self.D, self.X) if counts else self.X
        self.valid = z3.And(self.counted >= 0, self.counted < self.D)
        # An axis may have no element.
        self.assumed = [self.dim >= 0, self.D < (1 << dim_bits)]

    def widen(self):
        if self.signed or self.x.size() < 64:
            return extended(self.x, 64, self.signed)
        return z3.If(z3.ULE(self.x, I64_MAX), self.x, z3.BitVecVal(I64_MAX, 64))

    def raw(self):
        return extended(self.x, 64, self.signed) if self.x.size() < 64 else self.x

    def count(self):
        x = self.widen()
        return x + (self.from_end & (x >> 63)) if self.signed else x

    def is_position(self, x, twin):
        return z3.ULE(x, self.dim) if twin else z3.ULT(x, self.dim)


def cases(types=TYPES, **more):
    for name, bits, signed in types:
        for counts in (True, False):
            yield f"{name}, negative {'from the end' if counts else 'rejected'}", Case(bits, signed, counts, **more)


def exact(value):
    return extended(value, EXACT, True)


@lemma(WIDEN, NEW, COUNT, IS_POSITION, CHECK, POLICY)
def error_and_zero(twin):
    """An index is valid where the rule says so, and its position is the rule's; twin: `x <= dim` is a position."""
    for name, case in cases():
        x = case.count()
        inside = case.is_position(x, twin)
        yield name, case.assumed, z3.And(inside == case.valid, z3.Implies(inside, exact(x) == case.counted))


@lemma(WIDEN, COUNT)
def counting_does_not_overflow(twin):
    """Counting from the end neither overflows nor changes what fits in `i64`; twin: non-negative indices too."""
    for name, bits, signed in TYPES:
        case = Case(bits, signed, True)
        x = case.widen()
        added = case.from_end if twin else case.from_end & (x >> 63) if signed else z3.BitVecVal(0, 64)
        assumed = case.assumed + [case.X <= I64_MAX]
        yield name, assumed, exact(x + added) == z3.If(case.X < 0, case.X + case.D, case.X)


@lemma(WIDEN, NEW, CHECK_NARROW)
def in_32_bits(twin):
    """Indices of at most 32 bits are checked in 32 bits, along axes of less than 2^31; twin: `x <= dim`."""
    for name, case in cases([t for t in TYPES if t[1] <= 32], dim_bits=31):
        x, dim, from_end = low(case.widen(), 32), low(case.dim, 32), low(case.from_end, 32)
        x = x + (from_end & (x >> 31)) if case.signed else x
        inside = z3.ULE(x, dim) if twin else z3.ULT(x, dim)
        yield name, case.assumed, z3.And(inside == case.valid, z3.Implies(inside, exact(x) == case.counted))


@lemma(RESOLVE, CHECK)
def positions_of_32_bits(twin):
    """Positions along axes of less than 2^31 fit in `i32`, and -1 stands for an index out of range; twin: 0 does."""
    for name, case in cases(dim_bits=31):
        x = case.count()
        bad = z3.BitVecVal(0 if twin else -1, 32)
        position = z3.If(case.is_position(x, False), low(x, 32), bad)
        yield name, case.assumed, exact(position) == z3.If(case.valid, case.counted, z3.BitVecVal(-1, EXACT))


@lemma(WIDEN, BITS, POSITION)
def by_itself(twin):
    """An index that is a position by itself is the rule's position; twin: `x <= dim` is a position."""
    for name, case in cases():
        x = case.raw()
        yield name, case.assumed, z3.Implies(case.is_position(x, twin), z3.And(case.valid, exact(x) == case.counted))


@lemma(WIDEN, NEW, BITS, IS_PLAIN, CHECK_PLAIN)
def plain(twin):
    """Under a plain rule the check finds what the rule finds; twin: `x <= dim` is a position."""
    for name, bits, signed in TYPES:
        for counts in (True, False):
            case = Case(bits, signed, counts, dim_bits=63 if bits > 32 else 31)
            x, dim = (case.raw(), case.dim) if bits > 32 else (low(case.raw(), 32), low(case.dim, 32))
            inside = z3.ULE(x, dim) if twin else z3.ULT(x, dim)
            is_plain = z3.Or(not signed, case.from_end == 0)
            position = extended(x, EXACT, False)
            holds = z3.And(inside == case.valid, z3.Implies(inside, position == case.counted))
            yield f"{name}, {'counts' if counts else 'rejects'}", case.assumed + [is_plain], holds


@lemma(WIDEN, NEW, COUNT, REPLACE, TRUNCATED, LOWERED, POLICY)
def clamp(twin):
    """`Clamp` replaces an index by one of its type, of the nearest position of an axis that has one; twin: `min(dim)`."""
    for name, case in cases():
        x, zero, last = case.widen(), z3.BitVecVal(0, 64), case.dim - (0 if twin else 1)
        least = -case.from_end if case.signed else zero
        x = z3.If(x > least, x, least)
        x = z3.If(x < last, x, last)
        bits = case.x.size()
        replaced = extended(low(x, bits), EXACT, case.signed) if bits < 64 else extended(x, EXACT, case.signed)
        counted = z3.If(replaced < 0, replaced + exact(case.from_end), replaced)
        nearest = z3.If(case.counted < 0, 0, z3.If(case.counted >= case.D, case.D - 1, case.counted))
        yield name, case.assumed + [case.dim > 0], z3.And(replaced == exact(x), counted == nearest)


@lemma(WIDEN, REPLACE, TRUNCATED, WRAP, LOWERED, POLICY)
def wrap(twin):
    """`Wrap` replaces an index by one of its type, which counts to its remainder from 0 on; twin: `x <= dim` is kept."""
    x, dim, q, r = z3.Ints("x dim q r")
    for name, bits, signed in TYPES:
        low_end, high_end = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        # Machines divide towards zero: the rest has the sign of `x`.
        rest = z3.If(x >= 0, z3.And(0 <= r, r < dim), z3.And(-dim < r, r <= 0))
        assumed = [low_end <= x, x <= high_end, 1 <= dim, dim <= I64_MAX, x == q * dim + r, rest]
        # `rem_euclid` adds the divisor to a negative rest. Of an unsigned value beyond `i64`, there is none.
        divided = z3.If(x <= I64_MAX, z3.If(r < 0, r + dim, r), r)
        widened = z3.If(x <= I64_MAX, x, I64_MAX)
        kept = z3.And(widened >= (-dim if signed else 0), widened <= dim if twin else widened < dim)
        replaced = z3.If(kept, x, divided)
        has = z3.And(low_end <= replaced, replaced <= high_end)
        position = z3.If(replaced < 0, replaced + dim, replaced)
        # Some multiple of `dim` lies between: the rests of `x` from 0 on are those.
        multiple = z3.Or(*(x == (q + k) * dim + position for k in (-1, 0)))
        yield name, assumed, z3.And(has, 0 <= position, position < dim, multiple)
