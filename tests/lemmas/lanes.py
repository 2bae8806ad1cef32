"""The index rule in lanes of 32 bits, as vectors resolve indices, and tuples of several components.

One lane stands for all: no operation here moves between lanes.
"""

import z3

from frame import extended, lemma, low, rust
from index_rule import EXACT, TYPES

I32_MAX = (1 << 31) - 1

LOAD = rust("kernels/words.rs", """
    match I::TYPE.fixed_width() {
        IndexType::I8 => Self::signed(W::of_i8(like, load!(W::Bytes, 1))),
        IndexType::U8 => Self::unsigned(W::of_u8(like, load!(W::Bytes, 1))),
        IndexType::I16 => Self::signed(W::of_i16(like, load!(W::Halves, 2))),
        IndexType::U16 => Self::unsigned(W::of_u16(like, load!(W::Halves, 2))),
        IndexType::I32 => Self::signed(load!(W, 4)),
        IndexType::U32 => Self::unsigned(load!(W, 4)),
        wide => {
            let [first, last] = load!([W; 2], 8);
            let [low, high] = W::of_wide(first, last);
            if wide == IndexType::U64 {
                IndexWords { fits: W::equal(high, W::filled(low, 0)), ..Self::unsigned(low) }
            } else {
                IndexWords { low, negative: W::negative(low), fits: W::equal(high, W::signs(low)) }
            }
        }
    }
""")

SIGNED = rust("kernels/words.rs", """
    fn signed(low: W) -> Self {
        IndexWords { low, negative: W::negative(low), fits: W::lanes(low, true) }
    }
""")

UNSIGNED = rust("kernels/words.rs", """
    fn unsigned(low: W) -> Self {
        IndexWords { low, negative: W::lanes(low, false), fits: W::lanes(low, true) }
    }
""")

BOUNDS = rust("kernels/resolve/vectors.rs", """
    pub(crate) fn new(dim: W, policy: KernelPolicy) -> Self {
        let last = W::plus(dim, W::filled(dim, -1));
        VectorBounds { from_end: if policy.from_end { dim } else { W::filled(dim, 0) }, last }
    }
""")

RESOLVE = rust("kernels/resolve/vectors.rs", """
    pub(crate) fn resolve(self, indices: IndexWords<W>) -> W {
        let IndexWords { low, negative, fits } = indices;
        let r = W::plus_where(low, negative, self.from_end);
        let inside = W::both(W::at_most(r, self.last), fits);
        W::select(inside, r, W::filled(self.last, -1))
    }
""")

POSITIONS = rust("kernels/resolve/vectors.rs", """
    pub(crate) fn positions(self, indices: IndexWords<W>) -> W::Mask {
        W::both(W::at_most(indices.low, self.last), indices.fits)
    }
""")

ARE_POSITIONS = rust("kernels/resolve/check.rs", """
    let last = I::from(dim - 1);
    let signs = |indices: Indices| {
        (0..indices.n()).fold(I::ZERO, |signs, at| {
            let x = indices.read::<I>(at);
            signs | x | last.wrapping_sub(&x)
        })
    };
""")

ADDED_UP = rust("kernels/resolve/tuples.rs", """
    sums = W::plus(sums, component);
    signs = W::or(signs, component);
    }
    W::or(sums, W::signs(signs))
""")

FITS = rust("kernels/nest/args.rs", """
    pub(crate) fn fits_i32(components: &[Component]) -> bool {
        let mut reach = 0i64;
        for component in components {
            let span = (component.dim - 1).checked_mul(component.scale.unsigned_abs().try_into().unwrap_or(i64::MAX));
            match span.and_then(|span| reach.checked_add(span)) {
                Some(sum) if sum <= i64::from(i32::MAX) => reach = sum,
                _ => return false,
            }
        }
        let fits = |value: i64| i32::try_from(value).is_ok();
        components.iter().all(|component| fits(component.dim) && fits(component.scale))
    }
""")

BAD_TUPLE = rust("kernels/nest/positions.rs", "const BAD_TUPLE: i32 = i32::MIN;")

BLOCK = rust("kernels/resolve/block.rs", """
    let next = sum.wrapping_add(position.wrapping_mul(scale));
    *sum = if *sum == BAD_TUPLE { BAD_TUPLE } else { next };
""")


class Lane:
    """A lane of `IndexWords`, the size of its axis, and the same as integers."""

    def __init__(self, bits, signed):
        self.x, self.dim = z3.BitVec("x", bits), z3.BitVec("dim", 32)
        self.X, self.D = extended(self.x, EXACT, signed), extended(self.dim, EXACT, True)
        self.low = low(self.x, 32) if bits == 64 else extended(self.x, 32, signed)
        self.negative = self.low < 0 if signed else z3.BoolVal(False)
        self.fits = z3.BoolVal(True)
        if bits == 64:
            high = z3.Extract(63, 32, self.x)
            self.fits = high == (self.low >> 31 if signed else 0)
        self.assumed = [self.dim >= 1]

    def counted(self, counts):
        return z3.If(self.X < 0, self.X + self.D, self.X) if counts else self.X

    def resolve(self, counts, last, fits=None):
        r = z3.If(self.negative, self.low + self.dim, self.low) if counts else self.low
        inside = z3.And(z3.ULE(r, last), self.fits if fits is None else fits)
        return extended(z3.If(inside, r, z3.BitVecVal(-1, 32)), EXACT, True)


def lanes(types=TYPES):
    for name, bits, signed in types:
        for counts in (True, False):
            yield f"{name}, negative {'from the end' if counts else 'rejected'}", Lane(bits, signed), counts


@lemma(LOAD, SIGNED, UNSIGNED, BOUNDS, RESOLVE)
def error_and_zero(twin):
    """Lanes have the rule's position, and -1 where an index is out of range; twin: the last position is `dim`."""
    for name, lane, counts in lanes():
        x, last = lane.counted(counts), lane.dim - (0 if twin else 1)
        position = lane.resolve(counts, last)
        yield name, lane.assumed, position == z3.If(z3.And(x >= 0, x < lane.D), x, -1)


@lemma(LOAD, RESOLVE)
def high_bits(twin):
    """An index of 64 bits beyond 32 is in range of no axis: 2^32 + 1 is not 1; twin: high bits are not looked at."""
    for name, lane, counts in lanes([t for t in TYPES if t[1] == 64]):
        far = z3.Or(lane.X > I32_MAX, lane.X < -I32_MAX - 1)
        fits = z3.BoolVal(True) if twin else None
        position = lane.resolve(counts, lane.dim - 1, fits)
        yield name, lane.assumed + [far], position == -1


@lemma(POSITIONS, LOAD, SIGNED, UNSIGNED)
def positions(twin):
    """The mask of positions has an index where it is one by itself; twin: the last position is `dim`."""
    for name, bits, signed in TYPES:
        lane = Lane(bits, signed)
        mask = z3.And(z3.ULE(lane.low, lane.dim - (0 if twin else 1)), lane.fits)
        yield name, lane.assumed, mask == z3.And(lane.X >= 0, lane.X < lane.D)


@lemma(ARE_POSITIONS)
def are_positions(twin):
    """Two signs tell positions, of signed and of unsigned indices; twin: the last position is `dim`."""
    dim = z3.BitVec("dim", 32)
    for name, bits, signed in TYPES:
        if bits < 32:
            continue
        x = z3.BitVec("x", bits)
        last = extended(dim - (0 if twin else 1), bits, True)
        found = (x | (last - x)) >= 0
        X, D = extended(x, EXACT, signed), extended(dim, EXACT, True)
        # `dim - 1` of an axis without elements is -1. It has no positions.
        yield name, [dim >= 0], found == z3.And(X >= 0, X < D)


@lemma(FITS, BAD_TUPLE, BLOCK)
def sums_of_tuples(twin):
    """Scaled positions and all their partial sums fit in `i32`, and are not `BAD_TUPLE`; twin: a span is one longer."""
    reach, sum_before, p, dim, scale, size = z3.Ints("reach sum p dim scale size")
    # The step of an induction: what components before this one add up to lies within their reach.
    assumed = [0 <= reach, -reach <= sum_before, sum_before <= reach]
    assumed += [0 <= p, p < (dim + 1 if twin else dim), size == z3.If(scale < 0, -scale, scale)]
    assumed += [reach + (dim - 1) * size <= I32_MAX, dim <= I32_MAX, -I32_MAX - 1 <= scale, scale <= I32_MAX]
    product = p * scale
    after, reached = sum_before + product, reach + (dim - 1) * size
    inside = z3.And(-reached <= after, after <= reached)
    for name, of_scale in (("a scale from 0 on", scale >= 0), ("a negative scale", scale < 0)):
        yield name, assumed + [of_scale], z3.And(inside, -I32_MAX <= product, after > -I32_MAX - 1)


@lemma(ADDED_UP)
def bad_components(twin):
    """A tuple of vectors is -1 where a component is negative, else the sum; twin: signs are those of the sum."""
    parts = z3.BitVecs("a b c d", 32)
    for k in (2, 3, 4):
        total, signs = z3.BitVecVal(0, 32), z3.BitVecVal(0, 32)
        for part in parts[:k]:
            total, signs = total + part, signs | part
        found = total | ((total if twin else signs) >> 31)
        bad = z3.Or(*[part < 0 for part in parts[:k]])
        yield f"{k} components", [], found == z3.If(bad, z3.BitVecVal(-1, 32), total)


@lemma(ADDED_UP, FITS)
def bad_components_stay_negative(twin):
    """-1 times a positive scale that fits in `i32` is negative; twin: the scale may be 0."""
    scale = z3.BitVec("scale", 32)
    yield "a scale", [scale >= 0 if twin else scale > 0], scale * -1 < 0
