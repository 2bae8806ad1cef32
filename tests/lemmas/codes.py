"""Offsets of packed codes: of several codes in a byte, of blocks with their scales, and of fused rows."""

import z3

from frame import ceil, extended, least, lemma, rust

PER_BYTE = (1, 2, 4)

AT_TOP = rust("kernels/convert/quantized.rs", """
    fn at_top<const PER: usize>(byte: u8, k: usize) -> u8 {
        byte << (8 - 8 / PER * (k + 1))
    }
""")

UNSIGNED = rust("kernels/convert/quantized.rs", "f32::from(at_top::<PER>(byte, k) >> (8 - 8 / PER))")

SIGNED = rust("kernels/convert/quantized.rs", "f32::from(at_top::<PER>(byte, k) as i8 >> (8 - 8 / PER))")

FUSED_VALUES = rust("types/fused.rs", """
    for k in 0..PER {
        let code = codes << (8 - 8 / PER * (k + 1)) >> (8 - 8 / PER);
        values[k] = U::from_f32(f32::from(code) * scale + bias);
    }
""")

ENCODE = rust("types/fused.rs", """
    *byte = codes.enumerate().fold(0, |byte, (k, code)| byte | code << (8 / per_byte * k));
""")

ROW_BYTES = rust("types/fused.rs", """
    pub const fn row_bytes(self, columns: usize) -> Option<usize> {
        let bits = self.bits();
        let codes = if bits < 8 { Some(columns.div_ceil(8 / bits)) } else { columns.checked_mul(bits / 8) };
        let Some(codes) = codes else { return None };
        match codes.checked_add(self.params()) {
            Some(bytes) if bytes <= isize::MAX as usize => Some(bytes),
            _ => None,
        }
    }
""")

BITS = rust("types/fused.rs", """
    match self {
        FusedFormat::Torch8 | FusedFormat::Fbgemm8 => 8,
        FusedFormat::Torch4 | FusedFormat::Fbgemm4 => 4,
        FusedFormat::Torch2 | FusedFormat::Fbgemm2 => 2,
        FusedFormat::F32 => 32,
        FusedFormat::F16 | FusedFormat::Bf16 => 16,
    }
""")

PARAMS = rust("types/fused.rs", """
    match self {
        FusedFormat::F32 | FusedFormat::F16 | FusedFormat::Bf16 => 0,
        _ if self.is_single() => 8,
        _ => 4,
    }
""")

FUSED_ROW = rust("types/fused.rs", """
    let bytes = format.row_bytes(columns)?;
    let (codes, params) =
        if format.begins_with_params() { (format.params(), 0) } else { (0, bytes - format.params()) };
    Some(FusedRow { format, columns, codes, params, bytes })
""")

CODES_OF = rust("types/fused.rs", """
    fn bytes(columns: usize) -> usize {
        columns.div_ceil(PER)
    }
""")

VALUES_OF = rust("types/fused.rs", """
    fn bytes(columns: usize) -> usize {
        columns * $size
    }
""")

DECODE = rust("types/fused.rs", """
    let codes = &row[self.codes + C::bytes(first)..][..C::bytes(out.len())];
""")

BLOCKS = rust("kernels/convert/quantized.rs", """
    fn blocks(&self) -> usize {
        // As `div_ceil`, without a division: a row has a byte or more.
        ((self.row - 1) >> self.block_log2) + 1
    }
""")

CONVERT = rust("kernels/convert/quantized.rs", """
    let (mut row, mut at) = quotient_and_rest(at, given.row);
    while !from.is_empty() {
        let len = (given.row - at).min(from.len());
""")

BLOCK_OF = rust("kernels/convert/quantized.rs", """
    let (blocks, bytes) = (given.blocks(), 1usize << given.block_log2);
    let scales = &given.scales[given.scale_rows.of(row) * blocks..][..blocks];
    // The rest of the first block, then whole ones.
    let mut len = bytes - at % bytes;
    for (block, scale) in scales.iter().enumerate().skip(at >> given.block_log2) {
        if from.is_empty() {
            break;
        }
        let (codes, later) = from.split_at(len.min(from.len()));
""")

NEXT_BLOCK = rust("kernels/convert/quantized.rs", "(from, to, len) = (later, others, bytes);")

ZERO_POINT = rust("kernels/convert/quantized.rs", """
    let place = row * of_row + block;
    D::value(codes[place / PER], place % PER)
""")


@lemma(AT_TOP, UNSIGNED, SIGNED, FUSED_VALUES)
def codes_of_a_byte(twin):
    """Code `k` of a byte has its bits, the lowest first, with or without a sign; twin: the code before."""
    byte = z3.BitVec("byte", 8)
    for per in PER_BYTE:
        bits = 8 // per
        for k in range(per):
            top = byte << (8 - bits * (k if twin else k + 1))
            code = z3.Extract(bits * k + bits - 1, bits * k, byte)
            yield f"unsigned, {k} of {per}", [], z3.LShR(top, 8 - bits) == extended(code, 8, False)
            yield f"signed, {k} of {per}", [], top >> (8 - bits) == extended(code, 8, True)


@lemma(ENCODE, FUSED_VALUES)
def encoded_codes(twin):
    """Codes that are put into a byte are those that are read from it; twin: codes may have one bit more."""
    for per in PER_BYTE[1:]:
        bits = 8 // per
        codes = [z3.BitVec(f"code{k}", 8) for k in range(per)]
        byte = z3.BitVecVal(0, 8)
        for k, code in enumerate(codes):
            byte = byte | code << (bits * k)
        read = [z3.LShR(byte << (8 - bits * (k + 1)), 8 - bits) for k in range(per)]
        assumed = [z3.ULT(code, 1 << bits + (1 if twin else 0)) for code in codes]
        yield f"{per} in a byte", assumed, z3.And(*[found == code for found, code in zip(read, codes)])


# The name of a format, its bits, bytes of scale and bias, and whether these stand before the codes.
FORMATS = [
    ("Torch8", 8, 8, False),
    ("Torch4", 4, 4, False),
    ("Torch2", 2, 4, False),
    ("Fbgemm8", 8, 4, True),
    ("Fbgemm4", 4, 4, True),
    ("Fbgemm2", 2, 4, True),
    ("F32", 32, 0, False),
    ("F16, Bf16", 16, 0, False),
]

columns, first, count, j = z3.Ints("columns first count j")


def bytes_of(n, bits):
    """`Coding::bytes`."""
    return n * (bits // 8) if bits >= 8 else ceil(n, 8 // bits)


@lemma(ROW_BYTES, BITS, PARAMS, FUSED_ROW, CODES_OF, VALUES_OF)
def fused_rows(twin):
    """F1: codes of all columns, scale and bias lie in a row, and are apart; twin: a row is one byte shorter."""
    for name, bits, params, begins in FORMATS:
        of_codes = bytes_of(columns, bits)
        row = of_codes + params - (1 if twin else 0)
        codes_at, params_at = (params, 0) if begins else (0, row - params)
        inside = z3.And(0 <= params_at, params_at + params <= row, codes_at + of_codes <= row)
        apart = z3.Or(codes_at + of_codes <= params_at, params_at + params <= codes_at)
        yield name, [0 <= columns], z3.And(inside, apart)


@lemma(CODES_OF, VALUES_OF, DECODE, FUSED_ROW)
def columns_of_a_fused_row(twin):
    """Columns from a multiple of four on have their own codes, within those of the row; twin: one column more."""
    for name, bits, _, _ in FORMATS:
        per = max(8 // bits, 1)
        assumed = [0 <= first, first % 4 == 0, 0 <= j, j < count, first + count <= columns + (1 if twin else 0)]
        start, length = bytes_of(first, bits), bytes_of(count, bits)
        size = max(bits // 8, 1)
        # The byte and the number in it, of column `j` of these, and of column `first + j` of the row.
        same = z3.And(start + j / per * size == (first + j) / per * size, j % per == (first + j) % per)
        inside = z3.And(j / per * size + size <= length, start + length <= bytes_of(columns, bits))
        yield name, assumed, z3.And(same, inside)


row, at, length, place = z3.Ints("row at length place")


@lemma(BLOCKS, CONVERT)
def blocks_of_a_row(twin):
    """A row has its bytes in `blocks` blocks, none of which is empty; twin: one block less."""
    for log2 in range(63):
        size = 1 << log2
        blocks = (row - 1) / size + (0 if twin else 1)
        assumed = [1 <= row, 0 <= at, at < row]
        none_empty = z3.And(blocks == ceil(row, size), (blocks - 1) * size < row)
        yield f"2^{log2} bytes", assumed, z3.And(at / size < blocks, none_empty)


@lemma(CONVERT, BLOCK_OF, NEXT_BLOCK)
def pieces_of_blocks(twin):
    """Bytes of a piece belong to the block whose scale they have, and the next piece begins one; twin: a byte more."""
    for log2 in range(63):
        size = 1 << log2
        block = at / size
        # A piece ends with its block, or with what is left of the row.
        taken = least(size - at % size + (1 if twin else 0), length)
        assumed = [1 <= row, 0 <= at, at < row, 1 <= length, length <= row - at, 0 <= place, place < taken]
        next_begins = z3.Implies(taken < length, at + taken == (block + 1) * size)
        inside = z3.And((at + place) / size == block, 1 <= taken)
        yield f"2^{log2} bytes", assumed, z3.And(inside, next_begins)


@lemma(ZERO_POINT)
def packed_zero_points(twin):
    """Zero points of rows lie in bytes for all places, each in its own; twin: room for them is rounded down."""
    block, of_row, rows, other = z3.Ints("block of_row rows other")
    for per in PER_BYTE[1:]:
        here = row * of_row + block
        held = (rows * of_row) / per if twin else ceil(rows * of_row, per)
        assumed = [0 <= row, row < rows, 0 <= block, block < of_row, 0 <= other]
        alone = z3.Implies(z3.And(here / per == other / per, here % per == other % per), here == other)
        yield f"{per} in a byte", assumed, z3.And(here / per < held, alone)
