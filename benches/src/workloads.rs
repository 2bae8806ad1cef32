//! The fixed workloads: data types, shapes and seeds are the same everywhere.

/// What a workload runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Gather.
    Gather {
        /// The axis.
        axis: usize,
        /// Shared leading dimensions.
        batch_dims: usize,
    },
    /// GatherElements.
    GatherElements {
        /// The axis.
        axis: usize,
    },
    /// GatherNd.
    GatherNd {
        /// Shared leading dimensions.
        batch_dims: usize,
    },
    /// BatchToSpace on four dimensions.
    BatchToSpace {
        /// Blocks.
        block: [i64; 4],
        /// Cropped at the start.
        begin: [i64; 4],
        /// Cropped at the end.
        end: [i64; 4],
    },
}

impl Kind {
    /// What a library that has a plain Gather may lack for it.
    #[must_use]
    pub fn lack(&self) -> &'static str {
        match self {
            Kind::Gather { .. } => "batch_dims",
            Kind::GatherElements { .. } => "GatherElements",
            Kind::GatherNd { batch_dims: 0 } => "GatherNd",
            Kind::GatherNd { .. } => "GatherNd with batch_dims",
            Kind::BatchToSpace { .. } => "BatchToSpace",
        }
    }
}

/// The type of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// `f32`
    F32,
    /// `f16`
    F16,
    /// `u8`
    U8,
}

/// The type of indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indices {
    /// `i64`
    I64,
    /// `i32`
    I32,
    /// `u8`
    U8,
}

/// How indices are distributed over the places that they can name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// Each place as likely as any other, in no order.
    #[default]
    Uniform,
    /// The same, in ascending row-major order.
    Sorted,
    /// The n-th place in proportion to 1/n, like the words of a text.
    Zipf,
    /// Always the same place.
    Constant,
    /// Every place once in no order, and then again in the same order.
    Permutation,
}

impl Indices {
    /// The type's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Indices::I64 => "i64",
            Indices::I32 => "i32",
            Indices::U8 => "u8",
        }
    }
}

/// Numbers with an `x` between them.
fn joined(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
}

/// A workload with seeded inputs.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// `operator/what`.
    pub name: &'static str,
    /// The operator and its attributes.
    pub kind: Kind,
    /// The type of data.
    pub data: Data,
    /// The shape of data.
    pub shape: &'static [usize],
    /// The type of indices.
    pub indices: Indices,
    /// The shape of indices; empty for BatchToSpace.
    pub index_shape: &'static [usize],
    /// How indices are distributed.
    pub distribution: Distribution,
}

/// A workload on `f32` with uniform `i64` indices, like most.
const fn uniform(name: &'static str, kind: Kind, shape: &'static [usize], index_shape: &'static [usize]) -> Workload {
    let (data, indices, distribution) = (Data::F32, Indices::I64, Distribution::Uniform);
    Workload { name, kind, data, shape, indices, index_shape, distribution }
}

const fn gather(name: &'static str, axis: usize, shape: &'static [usize], index_shape: &'static [usize]) -> Workload {
    let kind = Kind::Gather { axis, batch_dims: 0 };
    uniform(name, kind, shape, index_shape)
}

const fn elements(name: &'static str, axis: usize, shape: &'static [usize]) -> Workload {
    let kind = Kind::GatherElements { axis };
    uniform(name, kind, shape, shape)
}

const fn nd(name: &'static str, batch_dims: usize, shape: &'static [usize], index_shape: &'static [usize]) -> Workload {
    let kind = Kind::GatherNd { batch_dims };
    uniform(name, kind, shape, index_shape)
}

const fn space(
    name: &'static str,
    shape: &'static [usize],
    block: [i64; 4],
    begin: [i64; 4],
    end: [i64; 4],
) -> Workload {
    let kind = Kind::BatchToSpace { block, begin, end };
    uniform(name, kind, shape, &[])
}

impl Workload {
    const fn indices(self, indices: Indices) -> Self {
        Workload { indices, ..self }
    }

    const fn data(self, data: Data) -> Self {
        Workload { data, ..self }
    }

    /// The parts of the workload as one name: `operator/width/index/rank-axis/size/distribution`.
    #[must_use]
    pub fn id(&self) -> String {
        let Workload { shape, index_shape, .. } = *self;
        let (operator, place) = match self.kind {
            Kind::Gather { axis, batch_dims: 0 } => ("gather", format!("axis{axis}")),
            Kind::Gather { axis, batch_dims } => ("gather", format!("axis{axis}-batch{batch_dims}")),
            Kind::GatherElements { axis } => ("gather_elements", format!("axis{axis}")),
            Kind::GatherNd { batch_dims: 0 } => ("gather_nd", format!("tuple{}", self.reach().len())),
            Kind::GatherNd { batch_dims } => ("gather_nd", format!("tuple{}-batch{batch_dims}", self.reach().len())),
            Kind::BatchToSpace { block, .. } => ("batch_to_space", format!("block{}", joined(&block))),
        };
        let width = match self.data {
            Data::F32 => "x32",
            Data::F16 => "x16",
            Data::U8 => "x8",
        };
        let (index, size) = match index_shape {
            [] => ("none", joined(shape)),
            _ if index_shape == shape => (self.indices.name(), joined(shape)),
            _ => (self.indices.name(), format!("{}_{}", joined(shape), joined(index_shape))),
        };
        let distribution = format!("{:?}", self.distribution).to_lowercase();
        format!("{operator}/{width}/{index}/r{}-{place}/{size}/{distribution}", shape.len())
    }

    /// The shape of the output.
    #[must_use]
    pub fn output_shape(&self) -> Vec<usize> {
        let Workload { shape, index_shape, .. } = *self;
        match self.kind {
            Kind::Gather { axis, batch_dims } => {
                [&shape[..axis], &index_shape[batch_dims..], &shape[axis + 1..]].concat()
            }
            Kind::GatherElements { .. } => index_shape.to_vec(),
            Kind::GatherNd { batch_dims } => {
                let (tuple, places) = index_shape.split_last().expect("indices of GatherNd have tuples");
                [places, &shape[batch_dims + tuple..]].concat()
            }
            Kind::BatchToSpace { block, begin, end } => {
                let grown = (0..4).map(|k| shape[k] * block[k] as usize - (begin[k] + end[k]) as usize);
                let batch = shape[0] / block.iter().product::<i64>() as usize;
                std::iter::once(batch).chain(grown.skip(1)).collect()
            }
        }
    }

    /// The dimensions that the components of one index name places in: one, K for GatherNd, none for BatchToSpace.
    #[must_use]
    pub fn reach(&self) -> &'static [usize] {
        match self.kind {
            Kind::Gather { axis, .. } | Kind::GatherElements { axis } => &self.shape[axis..=axis],
            Kind::GatherNd { batch_dims } => &self.shape[batch_dims..][..self.index_shape[self.index_shape.len() - 1]],
            Kind::BatchToSpace { .. } => &[],
        }
    }
}

/// All of them.
pub const WORKLOADS: [Workload; 23] = [
    gather("gather/embedding_50257x768_8k", 0, &[50257, 768], &[16, 512]),
    gather("gather/rows64B_1Mx16_1M", 0, &[1 << 20, 16], &[1 << 20]),
    gather("gather/rows12B_1Mx3_1M", 0, &[1 << 20, 3], &[1 << 20]),
    gather("gather/take_16M_4M", 0, &[1 << 24], &[1 << 22]),
    gather("gather/take_64K_4M_i32", 0, &[1 << 16], &[1 << 22]).indices(Indices::I32),
    gather("gather/lut256_u8_16M_u8", 0, &[256], &[1 << 24]).indices(Indices::U8).data(Data::U8),
    gather("gather/lut16_f32_4M_i32", 0, &[16], &[1 << 22]).indices(Indices::I32),
    gather("gather/lastaxis_4096x1024_512", 1, &[4096, 1024], &[512]),
    gather("gather/midaxis_64x128x256_64", 1, &[64, 128, 256], &[64]),
    gather("gather/midaxis_f16_64x512x7_256", 1, &[256, 512, 7], &[256]).data(Data::F16),
    uniform("gather/batch_64x4096x64_1024", Kind::Gather { axis: 1, batch_dims: 1 }, &[64, 4096, 64], &[64, 1024]),
    elements("gather_elements/last_4096x1024", 1, &[4096, 1024]),
    elements("gather_elements/axis0_4096x4096", 0, &[4096, 4096]),
    elements("gather_elements/axis0_8192x64_i32", 0, &[8192, 64]).indices(Indices::I32),
    elements("gather_elements/axis1_8x256x64x64", 1, &[8, 256, 64, 64]),
    nd("gather_nd/k2_elems_2048x2048_1M", 0, &[2048, 2048], &[1 << 20, 2]),
    nd("gather_nd/k3_elems_128x128x128_1M", 0, &[128, 128, 128], &[1 << 20, 3]),
    nd("gather_nd/k2_slices_128x128x256_16k", 0, &[128, 128, 256], &[16384, 2]),
    nd("gather_nd/batch_32x64x64x64_1024", 1, &[32, 64, 64, 64], &[32, 1024, 2]),
    space("batch_to_space/nhwc_64x64x64x32_b2", &[64, 64, 64, 32], [1, 2, 2, 1], [0; 4], [0; 4]),
    space("batch_to_space/nchw_16x3x256x256_b2", &[16, 3, 256, 256], [1, 1, 2, 2], [0, 0, 1, 1], [0, 0, 2, 2]),
    space("batch_to_space/nchw_u8_64x3x128x128_b4", &[64, 3, 128, 128], [1, 1, 4, 4], [0; 4], [0; 4]).data(Data::U8),
    gather("gather/small_32x16_8", 0, &[32, 16], &[8]),
];
