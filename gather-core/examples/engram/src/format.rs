//! The encoding of a row, and a plain loop that decodes it.

use std::fmt;

use gather_core::maps::{e4m3_to_f32, e8m0_to_f32};

/// The formats by their names: codes, scales, and the numbers that share a scale, or 0 for a row.
const NAMED: [(&str, Codes, Scales, usize); 8] = [
    ("fp8", Codes::E4M3, Scales::F32, 0),
    ("fp8-32", Codes::E4M3, Scales::F32, 32),
    ("fp8-128", Codes::E4M3, Scales::F32, 128),
    ("mxfp8-row", Codes::E4M3, Scales::E8M0, 0),
    ("mxfp8", Codes::E4M3, Scales::E8M0, 32),
    ("mxfp8-128", Codes::E4M3, Scales::E8M0, 128),
    ("q4-row", Codes::Bits4, Scales::F32, 0),
    ("q4", Codes::Bits4, Scales::F32, 32),
];

/// The most numbers of a row that `--make` writes, and bytes of codes that are read.
pub(crate) const MOST_COLUMNS: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codes {
    E4M3,
    Bits4,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scales {
    F32,
    E8M0,
}

/// The encoding of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) codes: Codes,
    pub(crate) scales: Scales,
    /// Numbers of a row.
    pub(crate) columns: usize,
    /// Numbers that share a scale: `columns`, 32 or 128. The last block of a row may have fewer.
    pub(crate) block: usize,
}

impl Format {
    /// The format of a name, with rows of `columns` numbers.
    pub(crate) fn from_name(name: &str, columns: usize) -> Result<Self, String> {
        let found = NAMED.iter().find(|(known, ..)| *known == name);
        let &(_, codes, scales, block) =
            found.ok_or_else(|| format!("--format {name}: not {}", NAMED.map(|(name, ..)| name).join(", ")))?;
        let multiple = match (codes, scales) {
            (Codes::E4M3, Scales::E8M0) => block.max(1),
            (Codes::E4M3, Scales::F32) => 1,
            (Codes::Bits4, _) => 2,
        };
        if !(1..=MOST_COLUMNS).contains(&columns) || !columns.is_multiple_of(multiple) {
            return Err(format!("--columns {columns}: not a multiple of {multiple} from 1 to {MOST_COLUMNS}"));
        }
        Ok(Format { codes, scales, columns, block: if block == 0 { columns } else { block } })
    }

    /// Bytes of the codes of a row.
    pub(crate) fn code_bytes(&self) -> usize {
        match self.codes {
            Codes::E4M3 => self.columns,
            Codes::Bits4 => self.columns / 2,
        }
    }

    /// Scales of a row.
    pub(crate) fn blocks(&self) -> usize {
        self.columns.div_ceil(self.block.max(1))
    }

    /// Bytes of the scales of a row.
    pub(crate) fn scale_bytes(&self) -> usize {
        match self.scales {
            Scales::F32 => self.blocks() * 4,
            Scales::E8M0 => self.blocks(),
        }
    }

    /// Decodes a row of `columns` numbers.
    pub(crate) fn decode(&self, codes: &[u8], scales: &[u8], out: &mut [f32]) {
        let per_byte = if self.codes == Codes::Bits4 { 2 } else { 1 };
        let blocks = out.chunks_mut(self.block).zip(codes.chunks(self.block / per_byte));
        for (at, (out, codes)) in blocks.enumerate() {
            let scale = match self.scales {
                Scales::F32 => f32::from_le_bytes(std::array::from_fn(|byte| scales[at * 4 + byte])),
                Scales::E8M0 => e8m0_to_f32(scales[at]),
            };
            match self.codes {
                Codes::E4M3 => out.iter_mut().zip(codes).for_each(|(out, &code)| *out = e4m3_to_f32(code) * scale),
                Codes::Bits4 => {
                    for (pair, &code) in out.as_chunks_mut::<2>().0.iter_mut().zip(codes) {
                        *pair = [code & 15, code >> 4].map(|code| (f32::from(code) - 8.0) * scale);
                    }
                }
            }
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes = if self.codes == Codes::E4M3 { "FP8 (E4M3)" } else { "codes of four bits" };
        let scales = if self.scales == Scales::F32 { "an f32" } else { "a power of two" };
        write!(f, "{codes}, {scales} for each ")?;
        if self.block == self.columns { write!(f, "row") } else { write!(f, "{} numbers", self.block) }
    }
}
