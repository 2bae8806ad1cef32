use super::call::on_state;
use super::*;
use crate::workloads::{Data, Distribution, Indices, WORKLOADS, Workload};

const fn small(name: &'static str, kind: Kind, shape: &'static [usize], index_shape: &'static [usize]) -> Workload {
    Workload {
        name,
        kind,
        data: Data::F32,
        shape,
        indices: Indices::I64,
        index_shape,
        distribution: Distribution::Uniform,
    }
}

/// Every operator, with and without batch_dims, crops, and a first or last axis. No index is the largest number of its
/// type, which means something else to candle.
const SMALL: [Workload; 10] = [
    small("numbers", Kind::Gather { axis: 0, batch_dims: 0 }, &[37], &[50]),
    small("rows", Kind::Gather { axis: 0, batch_dims: 0 }, &[7, 2, 3], &[2, 5]),
    small("axis", Kind::Gather { axis: 1, batch_dims: 0 }, &[3, 5, 4], &[6]),
    small("batch", Kind::Gather { axis: 1, batch_dims: 1 }, &[3, 5, 4], &[3, 2]),
    small("elements", Kind::GatherElements { axis: 0 }, &[4, 3, 5], &[4, 3, 5]),
    small("last", Kind::GatherElements { axis: 1 }, &[4, 6], &[4, 6]),
    small("tuples", Kind::GatherNd { batch_dims: 0 }, &[4, 3, 5], &[7, 2]),
    small("batches", Kind::GatherNd { batch_dims: 1 }, &[2, 4, 3, 5], &[2, 7, 2]),
    small("blocks", Kind::BatchToSpace { block: [1, 2, 3, 1], begin: [0; 4], end: [0; 4] }, &[12, 2, 3, 2], &[]),
    small(
        "crops",
        Kind::BatchToSpace { block: [1, 1, 2, 2], begin: [0, 1, 1, 0], end: [0, 0, 1, 2] },
        &[8, 3, 3, 3],
        &[],
    ),
];

fn cases() -> impl Iterator<Item = Case> {
    let types = [Data::F32, Data::F16, Data::U8];
    let indices = [Indices::I64, Indices::I32, Indices::U8];
    let types = types.into_iter().flat_map(move |data| indices.map(|indices| (data, indices)));
    let workloads = types.flat_map(|(data, indices)| SMALL.map(|workload| Workload { data, indices, ..workload }));
    workloads.map(|workload| Case::new(&workload))
}

/// With one thread gather-core, the loop and the copy run everything, and nobody gives a wrong answer.
#[test]
fn peers_agree_with_the_loop() {
    let mut compared = 0;
    let mut faults = Vec::new();
    for case in cases() {
        for peer in peers() {
            let id = format!("{}/{}", case.workload.id(), peer.name());
            let ours = peer.name().starts_with("gather-core") || matches!(peer.name(), "loop" | "copy");
            match prepare_checked(&*peer, &case, 1) {
                Ok(_) => compared += usize::from(!ours),
                Err(NotRun::Unsupported(_) | NotRun::NotSet(_)) if !ours => {}
                Err(why) => faults.push(format!("{id}: {why}")),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // The crates that are there must have been compared: only a fault in an adapter could leave them out.
    assert!(compared >= COMPARED, "{compared}");
}

/// Nine pairs of types; of ten cases ndarray runs 5, candle 7, arrow 2 and rten 9.
const COMPARED: usize =
    9 * (5 + 2 + if cfg!(feature = "candle") { 7 } else { 0 } + if cfg!(feature = "rten") { 9 } else { 0 });

struct Bad(fn(&mut Vec<u8>));

impl Peer for Bad {
    fn name(&self) -> &'static str {
        "bad"
    }

    fn version(&self) -> String {
        "0".into()
    }

    fn unequal(&self) -> &'static str {
        "everything"
    }

    fn prepare<'a>(&self, case: &'a Case, _: usize) -> Result<Ready<'a>, NotRun> {
        Ok(on_state(case.expected.clone(), self.0, |out| Ok(out.clone())))
    }
}

#[test]
fn wrong_outputs_and_panics_are_told() {
    let case = Case::new(&SMALL[1]);
    let outcome = |change| prepare_checked(&Bad(change), &case, 1).map(drop);
    assert_eq!(outcome(|_| {}), Ok(()));
    assert_eq!(outcome(|out| out[9] ^= 1), Err(NotRun::Wrong("element 2 differs".into())));
    assert_eq!(outcome(|out| out.truncate(8)), Err(NotRun::Wrong("8 bytes instead of 240".into())));
    assert_eq!(outcome(|_| panic!("no {}", "luck")), Err(NotRun::Failed("panic: no luck".into())));
}

#[test]
fn names_and_ids_differ() {
    let differ = |mut names: Vec<String>| {
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        names.len() == count
    };
    assert!(differ(peers().iter().map(|peer| peer.name().into()).collect()));
    assert!(differ(WORKLOADS.iter().map(Workload::id).collect()));
}

#[test]
fn one_thread_is_not_sold_as_two() {
    let case = Case::new(&SMALL[0]);
    for name in ["loop", "copy", "ndarray", "candle", "arrow", "rten"] {
        let peer = peer(name).expect("listed, even without its feature");
        if peer.missing().is_some() {
            continue;
        }
        let outcome = prepare_checked(&*peer, &case, 2).map(drop);
        assert_eq!(outcome, Err(NotRun::Unsupported("runs on one thread".into())), "{name}");
    }
    assert_eq!(prepare_checked(&*peer("gather-core").expect("always there"), &case, 2).map(drop), Ok(()));
}
