"""Extents of strided nests: what layouts check once, so that offsets of elements and of bytes fit in `isize`.

Sizes, strides and offsets are integers. `most` is `isize::MAX` and stands for that of any machine; `usize::MAX` is
`2 * most + 1`. Statements about all dimensions are the step of an induction, from some dimensions to one more.
"""

import z3

from frame import lemma, rust

MULTIPLY = rust("tensor/layout/mod.rs", """
    fn multiply(&mut self, dim: usize) {
        let step = self.step as u128 * dim.max(1) as u128;
        self.step = step as usize;
        self.len = self.len.wrapping_mul(dim);
        // A first excess is one of at most `isize::MAX * usize::MAX`, none of whose bits is lost here.
        self.beyond |= (step >> (usize::BITS - 1)) as usize;
    }
""")

LEN = rust("tensor/layout/mod.rs", """
    fn len(&self) -> Option<usize> {
        if self.beyond == 0 { Some(self.len) } else { None }
    }
""")

LEN_WITHIN = rust("tensor/shape.rs", """
    fn len_within(dims: &[usize], most: usize) -> Option<usize> {
        let (mut product, mut empty) = (1usize, false);
        for &dim in dims {
            empty |= dim == 0;
            product = product.checked_mul(dim.max(1)).filter(|&product| product <= most)?;
        }
        Some(if empty { 0 } else { product })
    }
""")

REACH = rust("tensor/layout/mod.rs", """
    let span = stride.checked_mul((dim - 1) as isize);
    let end = if stride < 0 { &mut first } else { &mut last };
    *end = end.zip(span).and_then(|(end, span)| end.checked_add(span));
""")

CHECK_BYTES = rust("tensor/layout/mod.rs", """
    let span = last.zip(first).and_then(|(last, first)| last.checked_sub(first)?.checked_add(1));
    let bytes = span.zip(isize::try_from(size).ok()).and_then(|(span, size)| span.checked_mul(size));
""")

CHECK_WITHIN = rust("tensor/layout/mod.rs", """
    let shift = |end: Option<isize>| end.and_then(|end| isize::try_from(offset).ok()?.checked_add(end));
    let (first, last) = (shift(first), shift(last));
    match (first, last) {
        (Some(low), Some(high)) if low >= 0 && (high as usize) < len => Ok(()),
""")

CHECK_DISJOINT = rust("tensor/layout/mod.rs", """
    for d in order {
        let stride = strides[d].unsigned_abs();
        if stride <= reached {
            let needed = reached.saturating_add(1);
            return Err(Error::StridesOverlap { dim: d, stride: strides[d], needed, strides: strides.into() });
        }
        reached = stride.saturating_mul(shape[d] - 1).saturating_add(reached);
    }
""")

MERGE = rust("plan/fold.rs", """
    Some(outer)
        if outer.out == dim.out.wrapping_mul(n)
            && outer.data == dim.data.wrapping_mul(n)
            && outer.index == dim.index.wrapping_mul(n) =>
    {
        *outer = Loop { n: outer.n.saturating_mul(dim.n), ..dim };
    }
""")

IN_BYTES = rust("plan/nest.rs", """
    l.out = l.out.wrapping_mul(sizes.dense as isize);
    l.data = l.data.wrapping_mul(sizes.indexed as isize);
    l.index = l.index.wrapping_mul(sizes.index as isize);
""")

most, stride, dim, c, size, first, last, off = z3.Ints("most stride dim c size first last off")


@lemma(MULTIPLY, LEN)
def products(twin):
    """A product is beyond where it exceeds `isize::MAX`, and no bit of it is lost; twin: a bit further is beyond."""
    step, product = z3.Ints("step product")
    for bits in (32, 64):
        beyond = product / 2 ** (bits if twin else bits - 1)
        assumed = [1 <= step, step < 2 ** (bits - 1), 0 <= dim, dim < 2**bits]
        assumed += [product == step * z3.If(dim > 1, dim, 1)]
        kept = z3.And(beyond < 2**bits, product < 2**128)
        # Strides are the products before a size: none exceeds the product behind it.
        yield f"{bits} bits", assumed, z3.And((beyond == 0) == (product < 2 ** (bits - 1)), kept, step <= product)


@lemma(LEN_WITHIN)
def lengths(twin):
    """What `len_within` passes has a product of all sizes, zeros left aside, within the limit; twin: of all sizes."""
    product, before = z3.Ints("product before")
    # `before` is the true product, zeros left aside. The one that is counted is the same.
    counted = product * (dim if twin else z3.If(dim > 1, dim, 1))
    assumed = [product == before, 1 <= before, before <= most, 0 <= dim, counted <= most]
    yield "a size", assumed, z3.And(before * z3.If(dim > 0, dim, 1) == counted, before <= counted)


def one_more_dimension():
    """Positions from `first` to `last`, and the ends after another dimension, which `reach` has not refused."""
    span = stride * (dim - 1)
    ends = z3.If(stride < 0, first + span, first), z3.If(stride < 0, last, last + span)
    fit = [-most - 1 <= value for value in (stride, first, last, *ends)] + [
        value <= most for value in (stride, first, last, dim, *ends)
    ]
    return [most > 0, first <= off, off <= last, first <= 0, 0 <= last, 1 <= dim, *fit], ends


@lemma(REACH)
def reaches(twin):
    """Every coordinate lies between the ends, and so its offset fits in `isize`; twin: a coordinate `dim`."""
    assumed, (low, high) = one_more_dimension()
    at = off + c * stride
    for name, sign in (("stride from 0 on", stride >= 0), ("negative stride", stride < 0)):
        assumed_here = assumed + [sign, 0 <= c, c <= dim if twin else c < dim]
        yield name, assumed_here, z3.And(low <= at, at <= high, -most - 1 <= at, at <= most)


@lemma(REACH)
def ends_are_reached(twin):
    """The ends are those of coordinates, so that nothing is refused that fits; twin: of coordinates before the last."""
    assumed, (low, high) = one_more_dimension()
    to = dim - (2 if twin else 1)
    found = z3.If(stride < 0, z3.And(low == first + to * stride, high == last), high == last + to * stride)
    yield "a dimension", assumed, found


@lemma(REACH, CHECK_WITHIN)
def within_a_slice(twin):
    """A view has its elements in its slice, whatever its strides; twin: the last may be one further."""
    offset, length = z3.Ints("offset length")
    low, high = offset + first, offset + last
    assumed = [first <= off, off <= last, 0 <= offset, offset <= most, length <= most]
    assumed += [low >= 0, high <= length if twin else high < length]
    yield "an element", assumed, z3.And(0 <= offset + off, offset + off < length)


@lemma(REACH, CHECK_BYTES, IN_BYTES)
def steps_in_bytes(twin):
    """Strides of what is stepped along, and distances, fit in bytes; twin: of dimensions of one element too."""
    # A dimension that is stepped along has both its ends between the layout's.
    assumed = [1 <= dim if twin else 2 <= dim, 0 <= last - first, 1 <= size, size <= most]
    assumed += [z3.If(stride < 0, -stride, stride) * (dim - 1) <= last - first, (last - first + 1) * size <= most]
    other = z3.Int("other")
    assumed += [first <= off, off <= last, first <= other, other <= last]
    step, distance = stride * size, (off - other) * size
    fits = [z3.And(-most <= value, value <= most) for value in (step, distance)]
    yield "a step", assumed, z3.And(*fits)


@lemma(CHECK_DISJOINT)
def disjoint(twin):
    """Coordinates that differ have different offsets; twin: a stride as long as what is reached is taken."""
    reached, shorter, d = z3.Ints("reached shorter d")
    size_of_stride = z3.If(stride < 0, -stride, stride)
    # The coordinates differ by `d` along this dimension, and along the shorter ones by `shorter` in offset.
    assumed = [0 <= reached, -reached <= shorter, shorter <= reached, 1 <= dim, -dim < d, d < dim]
    assumed += [size_of_stride >= reached if twin else size_of_stride > reached, stride != 0]
    offset, after = d * stride + shorter, reached + size_of_stride * (dim - 1)
    apart = z3.Implies(d != 0, offset != 0)
    for name, sign in (("stride from 0 on", stride >= 0), ("negative stride", stride < 0)):
        yield name, assumed + [sign], z3.And(apart, -after <= offset, offset <= after)


@lemma(MERGE)
def merged_loops(twin):
    """Loops that are one have the coordinates and the offsets of two; twin: the outer stride is one longer."""
    i, j, n, outer_n, outer = z3.Ints("i j n outer_n outer")
    assumed = [0 <= i, i < outer_n, 0 <= j, j < n, outer == stride * n + (1 if twin else 0)]
    at = i * n + j
    yield "a coordinate", assumed, z3.And(0 <= at, at < outer_n * n, i * outer + j * stride == at * stride)
