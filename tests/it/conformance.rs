//! Every case of `tests/data`, by the typed and by the type-erased door.

use std::collections::BTreeMap;
use std::path::Path;

use gather_tests::cases;
use gather_tests::faces;
use gather_tests::support::skipped;
use gather_tests::tally::Tally;

/// Cases that pass, by source: 1,204 from outside and 2,513 of our own. `tests/data/README.md` has them by operator.
const PASSED: [(&str, usize); 7] = [
    ("onnx-node", 32),
    ("onnxruntime", 57),
    ("openvino-ref", 807),
    ("oracle", 2513),
    ("seed", 40),
    ("tf", 125),
    ("torch", 143),
];

/// Cases that are left out, by operator: those that break only a type constraint of one specification.
const SKIPPED: [&[(&str, usize)]; 1] = [&[
    ("batch_to_space", 2),
    ("gather", 7),
    ("gather_elements", 4),
    ("gather_nd", 3),
    ("scatter_elements", 2),
    ("space_to_batch", 3),
]];

/// Cases of Gather along axis 0, whose data is also divided into chunks.
const DIVIDED: usize = 327;

#[test]
fn every_case_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let (mut tally, mut divided) = (Tally::default(), 0);
    for (_, cases) in cases::read_folder(&folder).expect("the cases can be read") {
        cases.iter().for_each(|case| tally.count(case, faces::run(case)));
        divided += cases.iter().filter(|case| faces::is_divided(case)).count();
    }
    for (reason, ops) in &tally.skipped {
        skipped(&format!("{} conformance cases: {reason}", ops.values().sum::<usize>()));
    }
    let failed = &tally.failed;
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
    let named = |counts: &[(&str, usize)]| -> BTreeMap<String, usize> {
        counts.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
    };
    assert_eq!(tally.passed, named(&PASSED));
    assert_eq!((tally.from_outside(), tally.from_oracle(), divided), (1204, 2513, DIVIDED));
    let left_out: Vec<BTreeMap<String, usize>> = tally.skipped.into_values().collect();
    assert_eq!(left_out, SKIPPED.map(named));
}
