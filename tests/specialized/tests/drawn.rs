//! Every declaration that the build has drawn, at every level.

use std::process::Command;

use gather_core::Level;
use gather_tests::support::available_levels;
use gather_tests_specialized::{Check, declarations};

/// Tells the process that it is started by the test.
const STARTED: &str = "GATHER_TESTS_SPECIALIZED";

#[test]
fn declarations_do_what_the_oracle_and_the_operators_do() {
    let mut check = Check::default();
    declarations::gather(&mut check);
    declarations::gather_elements(&mut check);
    declarations::gather_nd(&mut check);
    declarations::batch_to_space(&mut check);
    let Check { declarations, calls, refused, dispatched, picked, .. } = check;
    println!("specialize: {declarations} declarations, {calls} calls, of which {refused} were refused for an index");
    println!("specialize: {dispatched} calls of the dispatcher, which took the declared kernel for {picked}");
    assert!(declarations >= 400 && calls > 8 * declarations && refused > declarations, "{calls} calls, {refused}");
    assert!(picked > dispatched / 2, "{picked} of {dispatched}");
}

/// The level is chosen once per process.
#[test]
fn the_same_holds_at_every_level() {
    if std::env::var_os(STARTED).is_some() {
        return;
    }
    for level in available_levels() {
        let mut process = Command::new(std::env::current_exe().expect("this test"));
        process.args(["--exact", "declarations_do_what_the_oracle_and_the_operators_do"]);
        let output = process.env("GATHER_LEVEL", level.name()).env(STARTED, "1").output().expect("a process");
        assert!(output.status.success(), "{level}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(available_levels().contains(&Level::Scalar));
}
