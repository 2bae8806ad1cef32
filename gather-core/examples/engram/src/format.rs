//! The encoding of a row, and a plain loop that decodes it.

use std::fmt;

use gather_core::maps::{e4m3_to_f32, e8m0_to_f32};

/// The formats that `--make` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Fp8,
    Mxfp8,
    Q4,
}

impl Kind {
    pub(crate) fn from_name(name: &str) -> Result<Self, String> {
        match name {
            "fp8" => Ok(Kind::Fp8),
            "mxfp8" => Ok(Kind::Mxfp8),
            "q4" => Ok(Kind::Q4),
            _ => Err(format!("{name} is not fp8, mxfp8 or q4")),
        }
    }

    /// The format of rows of `columns` numbers.
    pub(crate) fn format(self, columns: usize) -> Format {
        let (codes, scales, block) = match self {
            Kind::Fp8 => (Codes::E4M3, Scales::F32, columns),
            Kind::Mxfp8 => (Codes::E4M3, Scales::E8M0, 32),
            Kind::Q4 => (Codes::Bits4, Scales::F32, 32),
        };
        Format { codes, scales, columns, block }
    }
}

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
