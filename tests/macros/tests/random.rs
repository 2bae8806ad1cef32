//! Random calls on the stable toolchain, for some seconds: `GATHER_FUZZ_SECONDS` sets another time.

use std::time::Duration;

use arbtest::arbtest;
use gather_tests_macros::{Outcome, expand};

#[test]
fn any_tokens_expand_to_items_or_errors() {
    let seconds = std::env::var("GATHER_FUZZ_SECONDS").ok();
    let seconds = seconds.map(|seconds| seconds.parse().expect("GATHER_FUZZ_SECONDS is a number of seconds"));
    let mut seen = [0u64; 3];
    let test = arbtest(|u| {
        seen[expand(u)? as usize] += 1;
        Ok(())
    });
    test.size_min(16).size_max(1024).budget(Duration::from_secs(seconds.unwrap_or(2))).run();
    let [items, refused, no_tokens] =
        [Outcome::Items, Outcome::Refused, Outcome::NoTokens].map(|kind| seen[kind as usize]);
    println!("macros: {items} calls expanded, {refused} were refused, {no_tokens} were no tokens");
    assert!(items > 0 && refused > 0);
}
