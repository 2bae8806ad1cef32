//! Tables of numbers in any format, whose rows are read as `f32`.

use gather_core::maps::{self, Block, Convertible};
use gather_core::{Element, Error, Gather, Given, Index, IndexKind, Map, Source, Tensor, View};

gather_core::map_kernels! {
    /// Numbers that are little-endian in the file, whatever the machine is.
    static F32_BYTES = |bytes: [u8; 4]| -> f32 { f32::from_le_bytes(bytes) };
    /// The same for halves.
    static F16_BYTES = |bytes: [u8; 2]| -> f32 { maps::f16_to_f32(u16::from_le_bytes(bytes)) };
    /// The same for `bf16`.
    static BF16_BYTES = |bytes: [u8; 2]| -> f32 { maps::bf16_to_f32(u16::from_le_bytes(bytes)) };
}

/// The types of ggml: numbers, names, and the format of those that are read.
const GGML: [(u32, &str, Option<Format>); 36] = [
    (0, "F32", Some(Format::F32)),
    (1, "F16", Some(Format::F16)),
    (2, "Q4_0", Some(Format::Q4_0)),
    (3, "Q4_1", Some(Format::Q4_1)),
    (6, "Q5_0", Some(Format::Q5_0)),
    (7, "Q5_1", Some(Format::Q5_1)),
    (8, "Q8_0", Some(Format::Q8_0)),
    (9, "Q8_1", None),
    (10, "Q2_K", Some(Format::Q2K)),
    (11, "Q3_K", Some(Format::Q3K)),
    (12, "Q4_K", Some(Format::Q4K)),
    (13, "Q5_K", Some(Format::Q5K)),
    (14, "Q6_K", Some(Format::Q6K)),
    (15, "Q8_K", None),
    (16, "IQ2_XXS", None),
    (17, "IQ2_XS", None),
    (18, "IQ3_XXS", None),
    (19, "IQ1_S", None),
    (20, "IQ4_NL", Some(Format::IQ4NL)),
    (21, "IQ3_S", None),
    (22, "IQ2_S", None),
    (23, "IQ4_XS", Some(Format::IQ4XS)),
    (24, "I8", None),
    (25, "I16", None),
    (26, "I32", None),
    (27, "I64", None),
    (28, "F64", None),
    (29, "IQ1_M", None),
    (30, "BF16", Some(Format::BF16)),
    (34, "TQ1_0", None),
    (35, "TQ2_0", None),
    (36, "IQ4_NL_4_4", None),
    (37, "IQ4_NL_4_8", None),
    (38, "IQ4_NL_8_8", None),
    (39, "MXFP4", Some(Format::MXFP4)),
    (40, "NVFP4", Some(Format::NVFP4)),
];

/// The data types of `.safetensors` files that [`Format::from_safetensors`] knows.
const SAFETENSORS: [&str; 5] = ["F32", "F16", "BF16", "F8_E4M3", "F8_E5M2"];

/// How the numbers of a table are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    F32,
    F16,
    BF16,
    E4M3,
    E5M2,
    Q8_0,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q2K,
    Q3K,
    Q4K,
    Q5K,
    Q6K,
    IQ4NL,
    IQ4XS,
    MXFP4,
    NVFP4,
}

impl Format {
    /// The format of a number of ggml's `ggml_type`.
    pub(crate) fn from_ggml(kind: u32) -> Result<Self, String> {
        let found = GGML.iter().find(|&&(number, ..)| number == kind);
        found.and_then(|&(.., format)| format).ok_or_else(|| {
            let name = found.map_or("unknown", |&(_, name, _)| name);
            let known: Vec<&str> =
                GGML.iter().filter(|(.., format)| format.is_some()).map(|&(_, name, _)| name).collect();
            format!("ggml's type {kind} ({name}) is not supported; {} are", known.join(", "))
        })
    }

    /// The format of a data type of `.safetensors` files.
    pub(crate) fn from_safetensors(name: &str) -> Result<Self, String> {
        Ok(match name {
            "F32" => Format::F32,
            "F16" => Format::F16,
            "BF16" => Format::BF16,
            "F8_E4M3" => Format::E4M3,
            "F8_E5M2" => Format::E5M2,
            other => {
                let known = SAFETENSORS.join(", ");
                return Err(format!(
                    "the data type {other} is not supported; {known} are, and with --scales U8 and I32"
                ));
            }
        })
    }

    /// Numbers in a block, and bytes of it.
    pub(crate) fn block(self) -> (usize, usize) {
        fn of<B: Block>() -> (usize, usize) {
            (B::LEN, size_of::<B>())
        }
        match self {
            Format::F32 => (1, 4),
            Format::F16 | Format::BF16 => (1, 2),
            Format::E4M3 | Format::E5M2 => (1, 1),
            Format::Q8_0 => of::<maps::Q8_0>(),
            Format::Q4_0 => of::<maps::Q4_0>(),
            Format::Q4_1 => of::<maps::Q4_1>(),
            Format::Q4K => of::<maps::Q4_K>(),
            Format::Q6K => of::<maps::Q6_K>(),
            Format::Q5_0 => of::<maps::Q5_0>(),
            Format::Q5_1 => of::<maps::Q5_1>(),
            Format::Q2K => of::<maps::Q2_K>(),
            Format::Q3K => of::<maps::Q3_K>(),
            Format::Q5K => of::<maps::Q5_K>(),
            Format::IQ4XS => of::<maps::IQ4_XS>(),
            Format::IQ4NL => of::<maps::IQ4_NL>(),
            Format::MXFP4 => of::<maps::MXFP4>(),
            Format::NVFP4 => of::<maps::NVFP4>(),
        }
    }

    /// The bytes that a shape takes.
    pub(crate) fn bytes(self, shape: &[usize]) -> Result<usize, String> {
        let (numbers, bytes) = self.block();
        let row = shape.last().copied().unwrap_or(1);
        if row % numbers != 0 {
            return Err(format!("rows of {row} numbers, which blocks of {numbers} do not divide ({self:?})"));
        }
        let rest = &shape[..shape.len().saturating_sub(1)];
        let factors = [row / numbers, bytes].into_iter().chain(rest.iter().copied());
        let bytes = factors.into_iter().try_fold(1, usize::checked_mul);
        bytes.ok_or_else(|| format!("shape {shape:?} of {self:?} exceeds the address space"))
    }
}

/// A table as it lies in a file: rows along the first dimension.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    pub(crate) format: Format,
    pub(crate) shape: Vec<usize>,
    /// As many as format and shape take.
    pub(crate) bytes: &'a [u8],
}

/// A scale for each number of a table, or none.
#[derive(Clone, Copy)]
pub(crate) enum Scales<'a> {
    None,
    Table(f32),
    Rows(&'a [f32]),
}

impl Table<'_> {
    /// Rows by their ids. Negative ids count from the end.
    pub(crate) fn rows<I: Index>(&self, ids: &View<'_, I>, scales: Scales<'_>) -> Result<Tensor<f32>, String> {
        let found = match self.format {
            Format::E4M3 | Format::E5M2 => self.scaled(ids, scales),
            _ if self.shape.len() < 2 && self.format.block().0 > 1 => {
                return Err(format!("{:?} of shape {:?} has no rows of whole blocks", self.format, self.shape));
            }
            _ if !matches!(scales, Scales::None) => return Err(format!("{:?} takes no scales", self.format)),
            Format::F32 => self.plain(&F32_BYTES, ids),
            Format::F16 => self.plain(&F16_BYTES, ids),
            Format::BF16 => self.plain(&BF16_BYTES, ids),
            Format::Q8_0 => self.blocks::<maps::Q8_0, _>(ids),
            Format::Q4_0 => self.blocks::<maps::Q4_0, _>(ids),
            Format::Q4_1 => self.blocks::<maps::Q4_1, _>(ids),
            Format::Q4K => self.blocks::<maps::Q4_K, _>(ids),
            Format::Q6K => self.blocks::<maps::Q6_K, _>(ids),
            Format::Q5_0 => self.blocks::<maps::Q5_0, _>(ids),
            Format::Q5_1 => self.blocks::<maps::Q5_1, _>(ids),
            Format::Q2K => self.blocks::<maps::Q2_K, _>(ids),
            Format::Q3K => self.blocks::<maps::Q3_K, _>(ids),
            Format::Q5K => self.blocks::<maps::Q5_K, _>(ids),
            Format::IQ4XS => self.blocks::<maps::IQ4_XS, _>(ids),
            Format::IQ4NL => self.blocks::<maps::IQ4_NL, _>(ids),
            Format::MXFP4 => self.blocks::<maps::MXFP4, _>(ids),
            Format::NVFP4 => self.blocks::<maps::NVFP4, _>(ids),
        };
        found.map_err(|error| error.to_string())
    }

    /// All numbers of a table of plain types.
    pub(crate) fn numbers(&self) -> Result<Vec<f32>, String> {
        if !matches!(self.format, Format::F32 | Format::F16 | Format::BF16) {
            return Err(format!("{:?} where plain numbers are needed", self.format));
        }
        // One row that is the whole table.
        let bytes = self.bytes.len();
        let list = Table { format: self.format, shape: vec![1, bytes / self.format.block().1], bytes: self.bytes };
        Ok(list.rows(&View::scalar(&0u8), Scales::None)?.into_vec())
    }

    /// The shape of the table in blocks.
    fn in_blocks(&self) -> Vec<usize> {
        let mut shape = self.shape.clone();
        if let Some(last) = shape.last_mut() {
            *last /= self.format.block().0;
        }
        shape
    }

    fn blocks<B, const N: usize>(&self, ids: &impl Source<Kind: IndexKind>) -> Result<Tensor<f32>, Error>
    where
        B: Block + Convertible<f32, Floats = [f32; N]>,
    {
        let data = View::new(B::from_bytes(self.bytes).0, &self.in_blocks())?;
        let rows = Gather::new(0).run(&data.map(&maps::convert::<B, f32>(), ()), ids)?;
        let mut shape = rows.shape().to_vec();
        if let Some(last) = shape.last_mut() {
            *last *= N;
        }
        Tensor::new(rows.into_vec().into_flattened(), &shape)
    }

    fn scaled<I: Index>(&self, ids: &View<'_, I>, scales: Scales<'_>) -> Result<Tensor<f32>, Error> {
        let data = View::new(self.bytes, &self.shape)?;
        let map = if self.format == Format::E4M3 { &maps::e4m3_scaled::<f32>() } else { &maps::e5m2_scaled::<f32>() };
        let scale = match scales {
            Scales::None => Given::All(1.0),
            Scales::Table(scale) => Given::All(scale),
            Scales::Rows(scales) => Given::PerRow(scales),
        };
        Gather::new(0).run(&data.map(map, (scale,)), ids)
    }

    /// Rows of numbers of `N` bytes each.
    fn plain<const N: usize, I: Index>(&self, map: &Map<[u8; N], f32>, ids: &View<'_, I>) -> Result<Tensor<f32>, Error>
    where
        [u8; N]: Element,
    {
        Gather::new(0).run(&View::new(self.bytes.as_chunks::<N>().0, &self.shape)?.map(map, ()), ids)
    }
}
