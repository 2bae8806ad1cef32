//! The workloads of a report: the fixed ones, and series that change one quantity at a time.

use super::model::{Section, WorkloadInfo};
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

/// Every workload with what it is for.
#[must_use]
pub fn all() -> Vec<(Section, Workload)> {
    let fixed = WORKLOADS.into_iter().map(|workload| (Section::Workloads, workload));
    let rows = ROW_BYTES.into_iter().map(|bytes| (Section::RowBytes, rows(bytes)));
    let tables = TABLE_BYTES.into_iter().map(|bytes| (Section::TableBytes, table(bytes)));
    fixed.chain(rows).chain(tables).chain(latency().map(|workload| (Section::Latency, workload))).collect()
}

/// The workload of a name.
#[must_use]
pub fn find(name: &str) -> Option<Workload> {
    all().into_iter().map(|(_, workload)| workload).find(|workload| workload.name == name)
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

/// What pages and charts need of a workload.
#[must_use]
pub fn info(section: Section, workload: &Workload) -> WorkloadInfo {
    let element = element_bytes(workload);
    let places = workload.index_shape.iter().product::<usize>();
    let lanes = match workload.kind {
        Kind::GatherNd { .. } => places / workload.reach().len(),
        Kind::BatchToSpace { .. } => workload.shape.iter().product(),
        Kind::Gather { .. } | Kind::GatherElements { .. } => places,
    };
    WorkloadInfo {
        name: workload.name.into(),
        section,
        what: what(workload),
        data_bytes: workload.shape.iter().product::<usize>() * element,
        output_bytes: workload.output_shape().iter().product::<usize>() * element,
        lanes,
    }
}

/// Bytes that a peer may hold for a workload: inputs and output, both twice, since some peers keep copies; and the
/// expected output.
#[must_use]
pub fn memory(workload: &Workload) -> usize {
    let output = workload.output_shape().iter().product::<usize>() * element_bytes(workload);
    let data = workload.shape.iter().product::<usize>() * element_bytes(workload);
    let indices = workload.index_shape.iter().product::<usize>() * index_bytes(workload.indices);
    2 * (data + indices + output) + output
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

    #[test]
    fn names_are_unique_and_found() {
        let all = all();
        let names: HashSet<_> = all.iter().map(|(_, workload)| workload.name).collect();
        assert_eq!(names.len(), all.len());
        assert_eq!(find("row_bytes/4096").map(|workload| workload.shape), Some(&[64, 4096][..]));
        assert!(find("row_bytes/5").is_none());
    }

    #[test]
    fn bytes_and_lanes_are_counted() {
        let of = |name: &str| info(Section::Workloads, &find(name).expect("a workload"));
        let rows = of("row_bytes/64");
        assert_eq!((rows.data_bytes, rows.output_bytes, rows.lanes), (ROWS_TABLE, ROWS_OUTPUT, ROWS_OUTPUT / 64));
        let nd = of("gather_nd/k2_elems_2048x2048_1M");
        assert_eq!((nd.data_bytes, nd.output_bytes, nd.lanes), (16 << 20, 4 << 20, 1 << 20));
        let space = of("latency/batch_to_space_256");
        assert_eq!((space.data_bytes, space.output_bytes, space.lanes), (1024, 1024, 256));
        assert_eq!(
            memory(&find("table_bytes/4096").expect("a workload")),
            2 * (4096 + (8 << 20) + (4 << 20)) + (4 << 20)
        );
    }
}
