//! Tables of numbers in any format, whose rows are read as `f32`.

use gather_core::maps::{self, Block};
use gather_core::{Element, Error, Gather, Index, Map, Param, Tensor, View};

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
    Q4K,
    Q6K,
    IQ4NL,
    MXFP4,
    NVFP4,
}

impl Format {
    /// The format of a number of ggml's `ggml_type`.
    pub(crate) fn from_ggml(kind: u32) -> Option<Self> {
        Some(match kind {
            0 => Format::F32,
            1 => Format::F16,
            2 => Format::Q4_0,
            3 => Format::Q4_1,
            8 => Format::Q8_0,
            12 => Format::Q4K,
            14 => Format::Q6K,
            20 => Format::IQ4NL,
            30 => Format::BF16,
            39 => Format::MXFP4,
            40 => Format::NVFP4,
            _ => return None,
        })
    }

    /// The format of a data type of `.safetensors` files.
    pub(crate) fn from_safetensors(name: &str) -> Option<Self> {
        Some(match name {
            "F32" => Format::F32,
            "F16" => Format::F16,
            "BF16" => Format::BF16,
            "F8_E4M3" => Format::E4M3,
            "F8_E5M2" => Format::E5M2,
            _ => return None,
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
            Format::F32 => self.plain(ids, f32::from_le_bytes),
            Format::F16 => self.plain(ids, |bytes| maps::f16_to_f32(u16::from_le_bytes(bytes))),
            Format::BF16 => self.plain(ids, |bytes| maps::bf16_to_f32(u16::from_le_bytes(bytes))),
            Format::Q8_0 => self.blocks(&maps::Q8_0_TO_F32, ids),
            Format::Q4_0 => self.blocks(&maps::Q4_0_TO_F32, ids),
            Format::Q4_1 => self.blocks(&maps::Q4_1_TO_F32, ids),
            Format::Q4K => self.blocks(&maps::Q4_K_TO_F32, ids),
            Format::Q6K => self.blocks(&maps::Q6_K_TO_F32, ids),
            Format::IQ4NL => self.blocks(&maps::IQ4_NL_TO_F32, ids),
            Format::MXFP4 => self.blocks(&maps::MXFP4_TO_F32, ids),
            Format::NVFP4 => self.blocks(&maps::NVFP4_TO_F32, ids),
        };
        found.map_err(|error| error.to_string())
    }

    /// All numbers of a table of plain types.
    pub(crate) fn numbers(&self) -> Result<Vec<f32>, String> {
        let halves = || self.bytes.as_chunks().0.iter().copied().map(u16::from_le_bytes);
        match self.format {
            Format::F32 => Ok(self.bytes.as_chunks().0.iter().copied().map(f32::from_le_bytes).collect()),
            Format::F16 => Ok(halves().map(maps::f16_to_f32).collect()),
            Format::BF16 => Ok(halves().map(maps::bf16_to_f32).collect()),
            other => Err(format!("{other:?} where plain numbers are needed")),
        }
    }

    /// The shape of the table in blocks.
    fn in_blocks(&self) -> Vec<usize> {
        let mut shape = self.shape.clone();
        if let Some(last) = shape.last_mut() {
            *last /= self.format.block().0;
        }
        shape
    }

    fn blocks<B, const N: usize, I: Index>(
        &self,
        map: &Map<B, [f32; N]>,
        ids: &View<'_, I>,
    ) -> Result<Tensor<f32>, Error>
    where
        B: Block<Values = [f32; N]>,
    {
        let data = View::new(B::from_bytes(self.bytes).0, &self.in_blocks())?;
        let rows = Gather::new(0).run_map(map, &data, ids, ())?;
        let mut shape = rows.shape().to_vec();
        if let Some(last) = shape.last_mut() {
            *last *= N;
        }
        Tensor::new(rows.as_slice().as_flattened().to_vec(), &shape)
    }

    fn scaled<I: Index>(&self, ids: &View<'_, I>, scales: Scales<'_>) -> Result<Tensor<f32>, Error> {
        let data = View::new(self.bytes, &self.shape)?;
        let map = if self.format == Format::E4M3 { &maps::E4M3_SCALED_TO_F32 } else { &maps::E5M2_SCALED_TO_F32 };
        let scale = match scales {
            Scales::None => Param::Value(1.0),
            Scales::Table(scale) => Param::Value(scale),
            Scales::Rows(scales) => Param::PerRow(scales),
        };
        Gather::new(0).run_map(map, &data, ids, (scale,))
    }

    /// Rows of numbers that are little-endian in the file, whatever the machine is.
    fn plain<const N: usize, I: Index>(
        &self,
        ids: &View<'_, I>,
        number: impl Fn([u8; N]) -> f32,
    ) -> Result<Tensor<f32>, Error>
    where
        [u8; N]: Element,
    {
        let rows = Gather::new(0).run(&View::new(self.bytes.as_chunks::<N>().0, &self.shape)?, ids)?;
        let shape = rows.shape().to_vec();
        Tensor::new(rows.into_vec().into_iter().map(number).collect(), &shape)
    }
}
