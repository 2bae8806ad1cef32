//! The workloads of the bench `peers` and of the report: the fixed ones, and series that change one quantity at a time.

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::inverse::{self, Inverse, Ways};
use crate::peers::{NotRun, Peer, Ready, checked, peer, prepare_checked};
use crate::report::criterion::LIMITS;
use crate::workloads::{Data, Distribution, Indices, Kind, WORKLOADS, Workload};

/// What a workload is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// The fixed workloads.
    Workloads,
    /// Scatters, operators that rearrange space, and bags.
    Inverses,
    /// Rows of 1 to 4096 bytes.
    RowBytes,
    /// Tables from the first-level cache to memory.
    TableBytes,
    /// Calls on a few bytes.
    Latency,
}

impl Section {
    /// All of them: each with what is in it, and the name of its files.
    pub const ALL: [(Section, &str, &str); 5] = [
        (Section::Workloads, "gathers", "gathers"),
        (Section::Inverses, "scatters, rearrangements and bags", "inverses"),
        (Section::RowBytes, "4 MiB of rows of 1 to 4096 bytes", "row-bytes"),
        (Section::TableBytes, "2^20 elements out of 4 KiB to 256 MiB", "table-bytes"),
        (Section::Latency, "calls on a few bytes", "latency"),
    ];

    /// Whether a peer is timed with a number of threads.
    #[must_use]
    pub fn takes(self, peer: &str, threads: usize) -> bool {
        let (ours, reference) = (peer.starts_with("gather-core"), ["loop", "copy"].contains(&peer));
        match self {
            Section::Workloads => threads == 1 || !reference,
            Section::Inverses => ours || threads == 1 && reference,
            Section::RowBytes | Section::TableBytes => threads == 1 && SWEPT.contains(&peer),
            Section::Latency => threads == 1 && peer != "copy",
        }
    }
}

/// Whether the bench `peers` has benchmarks of a name: those of a peer, or of what limits a workload.
#[must_use]
pub fn is_timed(engine: &str) -> bool {
    LIMITS.contains(&engine) || peer(engine).is_some()
}

/// Peers that are timed over the size of rows and tables.
const SWEPT: [&str; 4] = ["gather-core", "loop", "ndarray", "arrow"];

/// What a report says of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadInfo {
    /// `operator/what`.
    pub name: String,
    /// What its benchmarks are called, without the peer.
    pub id: String,
    /// What it is for.
    pub section: Section,
    /// Operator, attributes and shapes in words.
    pub what: String,
    /// Bytes of data.
    pub data_bytes: usize,
    /// Bytes of the output.
    pub output_bytes: usize,
}

/// Bytes of a row.
const ROW_BYTES: [usize; 13] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
/// Bytes of the table whose rows are gathered: it fits in a second-level cache.
const ROWS_TABLE: usize = 256 << 10;
/// Bytes of rows that are gathered.
const ROWS_OUTPUT: usize = 4 << 20;

/// Bytes of a table of `f32`, from what a first-level cache holds to what no cache holds.
const TABLE_BYTES: [usize; 9] =
    [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20];
/// Elements that are gathered from it.
const TABLE_LANES: usize = 1 << 20;

/// A workload of a report.
#[derive(Clone, Copy)]
pub enum Work {
    /// A gather, or BatchToSpace.
    Gather(Workload),
    /// Another operator.
    Inverse(Inverse),
}

/// A workload with its tensors and what must come out.
pub enum Held {
    /// A gather, or BatchToSpace.
    Gather(Box<Case>),
    /// Another operator.
    Inverse(Box<dyn Ways>, Vec<u8>),
}

impl Work {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Work::Gather(workload) => workload.name,
            Work::Inverse(inverse) => inverse.name(),
        }
    }

    /// Makes the tensors.
    #[must_use]
    pub fn hold(&self) -> Held {
        match self {
            Work::Gather(workload) => Held::Gather(Box::new(Case::new(workload))),
            Work::Inverse(inverse) => {
                let ways = inverse.ways();
                let mut out = vec![f32::NAN; ways.output_shape().iter().product()];
                ways.looped(&mut out);
                Held::Inverse(ways, bytemuck::cast_slice(&out).to_vec())
            }
        }
    }

    /// What a report says of it.
    #[must_use]
    pub fn info(&self, section: Section) -> WorkloadInfo {
        let (id, what, [data_bytes, output_bytes]) = match self {
            Work::Gather(workload) => {
                let bytes = |shape: &[usize]| shape.iter().product::<usize>() * element_bytes(workload);
                // The others differ from each other, and from these, by their names only.
                let id = if section == Section::Workloads { workload.id() } else { workload.name.into() };
                (id, what(workload), [bytes(workload.shape), bytes(&workload.output_shape())])
            }
            Work::Inverse(inverse) => {
                let [data, _, _, output] = inverse.lens();
                (inverse.name().into(), inverse.what(), [data * 4, output * 4])
            }
        };
        WorkloadInfo { name: self.name().into(), id, section, what, data_bytes, output_bytes }
    }
}

impl Held {
    /// A peer's call, checked.
    ///
    /// # Errors
    /// Why the peer does not run it.
    pub fn prepare<'a>(&'a self, peer: &dyn Peer, threads: usize) -> Result<Ready<'a>, NotRun> {
        match self {
            Held::Gather(case) => prepare_checked(peer, case, threads),
            Held::Inverse(ways, expected) => {
                checked(|| inverse::ready(&**ways, peer.name(), threads), expected, size_of::<f32>())
            }
        }
    }
}

/// Every workload with what it is for.
#[must_use]
pub fn all() -> Vec<(Section, Work)> {
    let gathers = |section| move |workload| (section, Work::Gather(workload));
    let fixed = WORKLOADS.into_iter().map(gathers(Section::Workloads));
    let inverses = Inverse::all().map(|inverse| (Section::Inverses, Work::Inverse(inverse)));
    let rows = ROW_BYTES.map(rows).into_iter().map(gathers(Section::RowBytes));
    let tables = TABLE_BYTES.map(table).into_iter().map(gathers(Section::TableBytes));
    let latency = latency().into_iter().map(gathers(Section::Latency));
    fixed.chain(inverses).chain(rows).chain(tables).chain(latency).collect()
}

/// The workload of a name.
#[must_use]
pub fn find(name: &str) -> Option<Work> {
    all().into_iter().map(|(_, work)| work).find(|work| work.name() == name)
}

/// A workload of a name and shapes that live as long as the program. A list of them leaks a few hundred bytes.
fn gather(name: String, data: Data, shape: Vec<usize>, index_shape: Vec<usize>) -> Workload {
    Workload {
        name: name.leak(),
        kind: Kind::Gather { axis: 0, batch_dims: 0 },
        data,
        shape: shape.leak(),
        indices: Indices::I64,
        index_shape: index_shape.leak(),
        distribution: Distribution::Uniform,
    }
}

fn rows(bytes: usize) -> Workload {
    let shape = vec![ROWS_TABLE / bytes, bytes];
    gather(format!("row_bytes/{bytes}"), Data::U8, shape, vec![ROWS_OUTPUT / bytes])
}

fn table(bytes: usize) -> Workload {
    gather(format!("table_bytes/{bytes}"), Data::F32, vec![bytes / size_of::<f32>()], vec![TABLE_LANES])
}

fn latency() -> [Workload; 3] {
    let rows = gather("latency/gather_8_rows_of_64B".into(), Data::F32, vec![32, 16], vec![8]);
    let elements = gather("latency/gather_elements_64".into(), Data::F32, vec![8, 8], vec![8, 8]);
    let space = gather("latency/batch_to_space_256".into(), Data::F32, vec![4, 8, 8, 1], vec![]);
    let kind = Kind::BatchToSpace { block: [1, 2, 2, 1], begin: [0; 4], end: [0; 4] };
    [rows, Workload { kind: Kind::GatherElements { axis: 1 }, ..elements }, Workload { kind, ..space }]
}

fn element_bytes(workload: &Workload) -> usize {
    match workload.data {
        Data::F32 => 4,
        Data::F16 => 2,
        Data::U8 => 1,
    }
}

/// Operator, attributes and shapes in words.
fn what(workload: &Workload) -> String {
    let Workload { kind, data, shape, indices, index_shape, .. } = workload;
    let [data, indices] = [format!("{data:?}"), format!("{indices:?}")].map(|name| name.to_lowercase());
    let operands = format!("{data} {shape:?}, {indices} {index_shape:?}");
    match kind {
        Kind::Gather { axis, batch_dims: 0 } => format!("Gather, axis {axis}: {operands}"),
        Kind::Gather { axis, batch_dims } => format!("Gather, axis {axis}, batch_dims {batch_dims}: {operands}"),
        Kind::GatherElements { axis } => format!("GatherElements, axis {axis}: {operands}"),
        Kind::GatherNd { batch_dims } => format!("GatherNd, batch_dims {batch_dims}: {operands}"),
        Kind::BatchToSpace { block, begin, end } => {
            format!("BatchToSpace, block {block:?}, crops {begin:?} and {end:?}: {data} {shape:?}")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::peers::peers;

    #[test]
    fn names_are_unique_and_found() {
        let all = all();
        let infos = || all.iter().map(|(section, work)| work.info(*section));
        let names: HashSet<_> = infos().map(|info| info.name).collect();
        let ids: HashSet<_> = infos().map(|info| info.id).collect();
        assert_eq!([names.len(), ids.len()], [all.len(); 2]);
        assert!(matches!(find("row_bytes/4096"), Some(Work::Gather(Workload { shape: &[64, 4096], .. }))));
        assert!(find("row_bytes/5").is_none());
    }

    #[test]
    fn other_operators_run_in_every_way_and_are_checked() {
        for name in
            ["scatter_elements/add_1d_1M_into_64K", "space_to_depth/4x4x128x128_b4", "embedding_bag/sum_32x16_1x8"]
        {
            let held = find(name).expect("a workload").hold();
            for peer in peers() {
                let runs = peer.name().starts_with("gather-core") || matches!(peer.name(), "loop" | "copy");
                let outcome = held.prepare(&*peer, 1).map(drop);
                assert_eq!(outcome.is_ok(), runs, "{name}, {}: {outcome:?}", peer.name());
            }
            let Held::Inverse(ways, mut expected) = held else { panic!("{name} is a gather") };
            expected[9] ^= 1;
            let wrong =
                Held::Inverse(ways, expected).prepare(&*peer("gather-core").expect("always there"), 2).map(drop);
            assert_eq!(wrong, Err(NotRun::Wrong("element 2 differs".into())), "{name}");
        }
    }

    #[test]
    fn bytes_are_counted() {
        let bytes = |name: &str| {
            let info = find(name).expect("a workload").info(Section::Workloads);
            (info.data_bytes, info.output_bytes)
        };
        assert_eq!(bytes("row_bytes/64"), (ROWS_TABLE, ROWS_OUTPUT));
        assert_eq!(bytes("gather_nd/k2_elems_2048x2048_1M"), (16 << 20, 4 << 20));
        assert_eq!(bytes("latency/batch_to_space_256"), (1024, 1024));
        assert_eq!(bytes("embedding_bag/sum_1000x100_16Kx4"), (400_000, 400 << 14));
        assert_eq!(bytes("space_to_batch/nhwc_16x128x128x32_b2_pad2"), (32 << 20, 4 * 16 * 66 * 66 * 32 * 4));
    }

    #[test]
    fn every_workload_is_run_by_every_peer() {
        for peer in peers() {
            let takes = |section: Section, threads| section.takes(peer.name(), threads);
            assert!(takes(Section::Workloads, 1) && !takes(Section::RowBytes, 2), "{}", peer.name());
            assert_eq!(takes(Section::Latency, 1), peer.name() != "copy", "{}", peer.name());
        }
        assert!(SWEPT.iter().all(|name| peer(name).is_some()), "a swept peer has another name");
    }
}
