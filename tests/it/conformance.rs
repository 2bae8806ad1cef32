//! Every case of `tests/data` on both faces.

use std::path::Path;

use gather_tests::cases;
use gather_tests::faces::{self, Outcome};

#[test]
fn every_case_of_the_four_operators_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let (mut passed, mut failures) = (0, Vec::new());
    for (file, cases) in cases::read_folder(&folder).expect("the cases can be read") {
        for case in cases {
            match faces::run(&case) {
                Outcome::Passed => passed += 1,
                Outcome::Failed(message) => failures.push(format!("{file} {}: {message}", case.id)),
                Outcome::Skipped(_) => {}
            }
        }
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(passed, 2518, "cases of the four operators that are not strict");
}
