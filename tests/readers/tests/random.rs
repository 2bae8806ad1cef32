//! Reads random files for a few seconds. `GATHER_FUZZ_SECONDS` sets another time.

use std::time::Duration;

use arbtest::arbtest;
use gather_tests_readers::{Outcome, read};

#[test]
fn any_bytes_are_an_array_or_an_error() {
    let seconds = std::env::var("GATHER_FUZZ_SECONDS").ok();
    let seconds = seconds.map(|seconds| seconds.parse().expect("GATHER_FUZZ_SECONDS is a number of seconds"));
    let (mut arrays, mut refused) = (0u64, 0u64);
    let test = arbtest(|u| {
        match read(u)? {
            Outcome::Array => arrays += 1,
            Outcome::Refused => refused += 1,
        }
        Ok(())
    });
    test.size_min(16).size_max(1024).budget(Duration::from_secs(seconds.unwrap_or(2))).run();
    println!("readers: {arrays} files were arrays, {refused} were refused");
    assert!(arrays > 0 && refused > 0);
}
