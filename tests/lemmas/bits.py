"""Bits of bitmaps: the byte and the bit of an element, words at any offset, and words that are written."""

import z3

from frame import ceil, extended, greatest, lemma, low, rust

WORD = 64

NEW = rust("tensor/bitmap.rs", """
    let end = offset.checked_add(len).map(|end| end.div_ceil(8));
    match end.and_then(|end| bytes.get(offset / 8..end.max(offset / 8))) {
        Some(bytes) => Ok(Bitmap { bytes, offset: offset % 8, len }),
""")

BIT = rust("tensor/bitmap.rs", """
    pub(crate) fn bit(&self, at: usize) -> u64 {
        debug_assert!(at < self.len, "bit {at} of {}", self.len);
        let at = self.offset + at;
        u64::from(self.bytes[at / 8] >> (at % 8)) & 1
    }
""")

BYTES_FROM = rust("tensor/bitmap.rs", """
    pub(crate) fn bytes_from(&self, at: usize) -> (&'a [u8], usize) {
        debug_assert!(at < self.len, "bit {at} of {}", self.len);
        let at = self.offset + at;
        (&self.bytes[at / 8..], at % 8)
    }
""")

WORD_AT = rust("tensor/bitmap.rs", """
    pub(crate) fn word(&self, at: usize, n: usize) -> u64 {
        debug_assert!(n <= WORD && at + n <= self.len, "{n} bits from {at} on, of {}", self.len);
        let (first, shift) = ((self.offset + at) / 8, (self.offset + at) % 8);
        let (low, next) = match self.bytes.get(first..).and_then(<[u8]>::split_first_chunk::<8>) {
            Some((bytes, rest)) => (u64::from_le_bytes(*bytes), rest.first().copied().unwrap_or(0)),
            None => (self.bytes.iter().skip(first).rev().fold(0, |word, &byte| word << 8 | u64::from(byte)), 0),
        };
        let high = u64::from(next) << (WORD - 1 - shift) << 1;
        (low >> shift | high) & first_bits(n)
    }
""")

FIRST_BITS = rust("tensor/bitmap.rs", """
    pub(crate) fn first_bits(n: usize) -> u64 {
        if n == 0 { 0 } else { u64::MAX >> (WORD - n) }
    }
""")

PUSH = rust("tensor/bitmap.rs", """
    self.word |= bits << self.filled;
    if self.filled + n < WORD {
        self.filled += n;
        return;
    }
    self.bytes[self.at..][..8].copy_from_slice(&self.word.to_le_bytes());
    self.at += 8;
    self.word = if self.filled == 0 { 0 } else { bits >> (WORD - self.filled) };
    self.filled = self.filled + n - WORD;
""")

FINISH = rust("tensor/bitmap.rs", """
    let left = self.filled.div_ceil(8);
    self.bytes[self.at..][..left].copy_from_slice(&self.word.to_le_bytes()[..left]);
""")

MARK = rust("kernels/moves/bits.rs", """
    let mut mark = |position: &mut I, word: u32, lane: usize| {
        let mask = I::truncated(i64::from((word << (LANES - 1 - lane)) as i32 >> 31));
        signs = signs | (*position & mask);
        *position = *position | !mask;
    };
""")

LOOK_UP = rust("kernels/moves/bits.rs", """
    let (Some(level), Some(last)) = (here.avx2(), bytes.len().checked_sub(size_of::<u32>())) else {
        return look_up_bits(bits, first, positions);
    };
    // Positions reach 2^28 bytes.
    let last = Eight::splat(level, last.min(1 << 28) as i32);
""")

LOOK_UP_LANE = rust("kernels/moves/bits.rs", """
    let at = Eight::plus(level.at_least_zero32(positions), skipped);
    let offsets = level.least32(level.eighths32(at), last);
""")

LOOK_UP_BIT = rust("kernels/moves/bits.rs", """
    let bit = level.minus32(at, level.times_eight32(offsets));
    let signs = [level.shifted32(fours, level.minus32(sign, bit)), positions];
""")

offset, length, size, at = z3.Ints("offset length size at")


@lemma(NEW, BIT, BYTES_FROM)
def place_of_a_bit(twin):
    """A bit lies in the bytes that are held, where Arrow has it; twin: the last byte that is begun is left out."""
    end = (offset + length) / 8 if twin else ceil(offset + length, 8)
    first = offset / 8
    held = greatest(end, first) - first
    assumed = [0 <= offset, 0 <= at, at < length, greatest(end, first) <= size]
    here = offset % 8 + at
    same = z3.And(first + here / 8 == (offset + at) / 8, here % 8 == (offset + at) % 8)
    yield "a bit", assumed, z3.And(here / 8 < held, same)


def first_bits(n, twin=False):
    ones = z3.BitVecVal(-1, WORD)
    return z3.If(n == 0, z3.BitVecVal(0, WORD), z3.LShR(ones, (WORD - 1 if twin else WORD) - n))


def bit_of(value, lane):
    return z3.LShR(value, extended(lane, value.size(), False)) & 1


@lemma(FIRST_BITS)
def first_bits_of_a_word(twin):
    """Bit `lane` is set where it is below `n`; twin: one bit more."""
    n, lane = z3.BitVecs("n lane", WORD)
    assumed = [z3.ULE(n, WORD), z3.ULT(lane, WORD)]
    yield "a lane", assumed, (bit_of(first_bits(n, twin), lane) == 1) == z3.ULT(lane, n)


@lemma(WORD_AT, FIRST_BITS)
def word_of_a_bitmap(twin):
    """Bit `lane` of a word is that of the bitmap, behind `n` it is 0; twin: the ninth byte is shifted by one less."""
    # Nine bytes from that of the first bit on. Bytes behind the last one count as 0.
    memory, (n, lane) = z3.BitVec("memory", 72), z3.BitVecs("n lane", WORD)
    here = extended(lane, 72, False)
    for shift in range(8):
        ninth = extended(z3.Extract(71, 64, memory), 64, False)
        high = ninth << (WORD - 1 - shift) << (0 if twin else 1)
        word = (z3.LShR(low(memory, 64), shift) | high) & first_bits(n)
        bit = z3.LShR(memory, here + shift) & 1
        expected = z3.If(z3.ULT(lane, n), low(bit, 64), z3.BitVecVal(0, WORD))
        yield f"a bit at {shift}", [z3.ULE(n, WORD), z3.ULT(lane, WORD)], bit_of(word, lane) == expected


@lemma(WORD_AT)
def bytes_of_a_word(twin):
    """The bits of a word lie in nine bytes, and in eight where the first is bit 0; twin: in eight."""
    n, first = z3.Int("n"), (offset + at) / 8
    assumed = [0 <= offset, offset < 8, 0 <= at, 1 <= n, n <= WORD]
    last = (offset + at + n - 1) / 8 - first
    in_eight = z3.Implies((offset + at) % 8 == 0, last < 8)
    yield "a word", assumed, z3.And(last < 8 if twin else last < 9, in_eight)


@lemma(PUSH, FIRST_BITS)
def pushed_bits(twin):
    """What was held and what is pushed are written in order, and the rest is held; twin: one bit less is held."""
    word, bits, filled, n = z3.BitVecs("word bits filled n", WORD)
    assumed = [z3.ULT(filled, WORD), z3.ULE(n, WORD), bits & ~first_bits(n) == 0, word & ~first_bits(filled) == 0]
    stream = extended(word, 128, False) | extended(bits, 128, False) << extended(filled, 128, False)
    joined = word | bits << filled
    stays = z3.ULT(filled + n, WORD)
    kept = z3.If(filled == 0, z3.BitVecVal(0, WORD), z3.LShR(bits, (WORD + 1 if twin else WORD) - filled))
    held, now = z3.If(stays, joined, kept), z3.If(stays, filled + n, filled + n - WORD)
    written = z3.If(stays, z3.BitVecVal(0, 128), extended(joined, 128, False))
    all_bits = z3.If(stays, extended(held, 128, False), written | extended(held, 128, False) << WORD)
    yield "a push", assumed, z3.And(all_bits == stream, z3.ULT(now, WORD), held & ~first_bits(now) == 0)


@lemma(PUSH, FINISH)
def room_of_a_writer(twin):
    """Bytes for all bits take every word and what is left at the end; twin: what is left is rounded down."""
    words, filled, total = z3.Ints("words filled total")
    assumed = [0 <= words, 0 <= filled, filled < WORD, total == words * WORD + filled]
    left = filled / 8 if twin else ceil(filled, 8)
    yield "the end", assumed, z3.And(words * 8 + left == ceil(total, 8), left <= 8)


@lemma(MARK)
def marked_nulls(twin):
    """A null's position is -1, another stays, and its sign is kept; twin: the mask is that of nulls."""
    word, lane = z3.BitVecs("word lane", 32)
    valid = z3.LShR(word, lane) & 1 == 1
    of_lane = (word << (31 - lane)) >> 31
    for bits in (32, 64):
        position = z3.BitVec("position", bits)
        mask = z3.SignExt(bits - 32, ~of_lane if twin else of_lane)
        stays = (position | ~mask) == z3.If(valid, position, z3.BitVecVal(-1, bits))
        kept = (position & mask < 0) == z3.And(valid, position < 0)
        yield f"{bits} bits", [z3.ULT(lane, 32)], z3.And(stays, kept)


@lemma(LOOK_UP, LOOK_UP_LANE, LOOK_UP_BIT)
def looked_up_bits(twin):
    """Four bytes are loaded within the bitmap, with the bit among theirs; twin: the last may begin one byte later."""
    position, skipped = z3.BitVecs("position skipped", 32)
    size = z3.BitVec("size", 64)
    last = size - (3 if twin else 4)
    last = low(z3.If(z3.ULE(last, 1 << 28), last, z3.BitVecVal(1 << 28, 64)), 32)
    from_zero = z3.If(position > 0, position, z3.BitVecVal(0, 32))
    here = from_zero + skipped
    byte = z3.LShR(here, 3)
    start = z3.If(z3.ULE(byte, last), byte, last)
    bit = here - (start << 3)
    exact_at = extended(here, 64, False)
    # The bitmap has the bit.
    assumed = [z3.ULT(skipped, 8), z3.UGE(size, 4), z3.ULT(size, 1 << 62), z3.ULT(z3.LShR(exact_at, 3), size)]
    inside = z3.ULE(extended(start, 64, False) + 4, size)
    same = (extended(start, 64, False) << 3) + extended(bit, 64, False) == exact_at
    no_wrap = exact_at == extended(from_zero, 64, False) + extended(skipped, 64, False)
    # The bit is shifted to the sign.
    fours = z3.BitVec("fours", 32)
    found = (fours << (31 - bit) < 0) == (z3.LShR(fours, bit) & 1 == 1)
    yield "a lane", assumed, z3.And(inside, z3.ULT(bit, 32), same, no_wrap, found)
