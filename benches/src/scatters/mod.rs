//! The workloads of the scatters: their tensors, and the plain loop that says what must come out.

mod tensors;

pub use tensors::Tensors;

/// Where updates go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Anywhere, with repeats.
    Uniform,
    /// Each place of the axis once, in any order: as many indices as places.
    Permutation,
    /// To places that are all different.
    Distinct,
    /// Mostly to a few: Zipf's law with the exponent 1.2.
    Zipf,
}

/// Which operator runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// ScatterElements along an axis.
    Elements(usize),
    /// ScatterNd.
    Nd,
    /// The adjoint of a Gather along axis 0: `index_add`.
    Adjoint,
}

/// A workload: `f32` data and updates, `i64` indices.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// The name.
    pub name: &'static str,
    /// The operator.
    pub kind: Kind,
    /// Whether updates are added, or replace.
    pub adds: bool,
    /// The shape of data.
    pub data: &'static [usize],
    /// The shape of indices.
    pub indices: &'static [usize],
    /// Where updates go.
    pub spread: Spread,
}

const fn workload(
    name: &'static str,
    kind: Kind,
    adds: bool,
    data: &'static [usize],
    indices: &'static [usize],
    spread: Spread,
) -> Workload {
    Workload { name, kind, adds, data, indices, spread }
}

/// Every workload.
pub const WORKLOADS: [Workload; 10] = [
    workload(
        "scatter_elements/none_axis0_4096x4096",
        Kind::Elements(0),
        false,
        &[4096, 4096],
        &[4096, 4096],
        Spread::Permutation,
    ),
    workload("scatter_elements/add_axis0_8192x64", Kind::Elements(0), true, &[8192, 64], &[8192, 64], Spread::Uniform),
    workload(
        "scatter_elements/add_last_4096x1024",
        Kind::Elements(1),
        true,
        &[4096, 1024],
        &[4096, 1024],
        Spread::Uniform,
    ),
    workload("scatter_elements/add_1d_1M_into_64K", Kind::Elements(0), true, &[65536], &[65536], Spread::Uniform),
    workload("scatter_nd/none_rows64B_512K_into_1M", Kind::Nd, false, &[1 << 20, 16], &[1 << 19, 1], Spread::Distinct),
    workload(
        "scatter_nd/add_k2_slices_16k_128x128x256",
        Kind::Nd,
        true,
        &[128, 128, 256],
        &[16384, 2],
        Spread::Uniform,
    ),
    workload("scatter_nd/add_k2_elems_1M_2048x2048", Kind::Nd, true, &[2048, 2048], &[1 << 20, 2], Spread::Uniform),
    workload("index_add/512Kx64_into_16K", Kind::Adjoint, true, &[16384, 64], &[1 << 19], Spread::Uniform),
    workload("index_add/512Kx64_into_16K_zipf", Kind::Adjoint, true, &[16384, 64], &[1 << 19], Spread::Zipf),
    workload("index_add/4M_into_64K_scalars", Kind::Adjoint, true, &[65536], &[1 << 22], Spread::Uniform),
];

impl Workload {
    /// The shape of updates.
    #[must_use]
    pub fn updates(&self) -> Vec<usize> {
        match self.kind {
            Kind::Elements(_) => self.indices.to_vec(),
            Kind::Nd => {
                let (outer, tuple) = self.indices.split_at(self.indices.len() - 1);
                [outer, &self.data[tuple[0]..]].concat()
            }
            Kind::Adjoint => [self.indices, &self.data[1..]].concat(),
        }
    }
}
