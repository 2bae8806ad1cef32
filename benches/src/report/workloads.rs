//! The workloads of a report: the fixed ones, and series that change one quantity at a time.

use super::model::{Section, WorkloadInfo};
use crate::case::Case;
use crate::inverse::{self, Inverse, Ways};
use crate::peers::{NotRun, Peer, Ready, checked, prepare_checked};
use crate::workloads::{Data, Distribution, Indices, Kind, WORKLOADS, Workload};

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

    /// Whether a peer runs it on one thread, whatever it is told.
    #[must_use]
    pub fn one_thread(&self, peer: &dyn Peer) -> bool {
        matches!(self, Work::Gather(workload) if peer.one_thread(workload))
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

    /// Bytes of data, of indices, of updates, and of the output.
    fn bytes(&self) -> [usize; 4] {
        match self {
            Work::Gather(workload) => {
                let len = |shape: &[usize]| shape.iter().product::<usize>();
                let [data, output] = [len(workload.shape), len(&workload.output_shape())];
                let element = element_bytes(workload);
                [data * element, len(workload.index_shape) * index_bytes(workload.indices), 0, output * element]
            }
            Work::Inverse(inverse) => {
                let [data, indices, updates, output] = inverse.lens();
                [data * 4, indices * 8, updates * 4, output * 4]
            }
        }
    }

    /// Bytes that a peer may hold: inputs and output, both twice, since some peers keep copies; and the expected
    /// output.
    #[must_use]
    pub fn memory(&self) -> usize {
        let bytes = self.bytes();
        2 * bytes.iter().sum::<usize>() + bytes[3]
    }

    /// What pages and charts need of it.
    #[must_use]
    pub fn info(&self, section: Section) -> WorkloadInfo {
        let [data_bytes, indices, _, output_bytes] = self.bytes();
        let (what, lanes) = match self {
            Work::Gather(workload) => (what(workload), lanes(workload)),
            Work::Inverse(inverse) => (inverse.what(), if indices > 0 { indices / 8 } else { data_bytes / 4 }),
        };
        WorkloadInfo { name: self.name().into(), section, what, data_bytes, output_bytes, lanes }
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

/// Elements or rows that are gathered.
fn lanes(workload: &Workload) -> usize {
    let places = workload.index_shape.iter().product::<usize>();
    match workload.kind {
        Kind::GatherNd { .. } => places / workload.reach().len(),
        Kind::BatchToSpace { .. } => workload.shape.iter().product(),
        Kind::Gather { .. } | Kind::GatherElements { .. } => places,
    }
}

fn element_bytes(workload: &Workload) -> usize {
    match workload.data {
        Data::F32 => 4,
        Data::F16 => 2,
        Data::U8 => 1,
    }
}

fn index_bytes(indices: Indices) -> usize {
    match indices {
        Indices::I64 => 8,
        Indices::I32 => 4,
        Indices::U8 => 1,
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
    use crate::peers::{peer, peers};

    #[test]
    fn names_are_unique_and_found() {
        let all = all();
        let names: HashSet<_> = all.iter().map(|(_, work)| work.name()).collect();
        assert_eq!(names.len(), all.len());
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
    fn bytes_and_lanes_are_counted() {
        let of = |name: &str| find(name).expect("a workload").info(Section::Workloads);
        let rows = of("row_bytes/64");
        assert_eq!((rows.data_bytes, rows.output_bytes, rows.lanes), (ROWS_TABLE, ROWS_OUTPUT, ROWS_OUTPUT / 64));
        let nd = of("gather_nd/k2_elems_2048x2048_1M");
        assert_eq!((nd.data_bytes, nd.output_bytes, nd.lanes), (16 << 20, 4 << 20, 1 << 20));
        let space = of("latency/batch_to_space_256");
        assert_eq!((space.data_bytes, space.output_bytes, space.lanes), (1024, 1024, 256));
        let table = find("table_bytes/4096").expect("a workload");
        assert_eq!(table.memory(), 2 * (4096 + (8 << 20) + (4 << 20)) + (4 << 20));
        let bag = of("embedding_bag/sum_1000x100_16Kx4");
        assert_eq!((bag.data_bytes, bag.output_bytes, bag.lanes), (400_000, 400 << 14, 4 << 14));
        let space = of("space_to_batch/nhwc_16x128x128x32_b2_pad2");
        assert_eq!((space.data_bytes, space.output_bytes), (32 << 20, 4 * 16 * 66 * 66 * 32 * 4));
    }
}
