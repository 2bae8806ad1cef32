//! Runs the bodies of the fuzz tests on random bytes, for two seconds each: the fuzzers have longer ones.
//! `GATHER_FUZZ_SECONDS` sets another time.

use std::time::{Duration, Instant};

use arbtest::{arbitrary, arbtest};
use gather_tests::fuzz::{self, Outcome};

/// The time for each body.
fn budget() -> Duration {
    let seconds = std::env::var("GATHER_FUZZ_SECONDS").ok();
    let seconds = seconds.map(|seconds| seconds.parse().expect("GATHER_FUZZ_SECONDS is a number of seconds"));
    Duration::from_secs(seconds.unwrap_or(2))
}

/// Runs a body on random bytes. Some cases must end in values and some in errors.
fn tried(name: &str, body: impl Fn(&mut arbitrary::Unstructured<'_>) -> arbitrary::Result<Outcome>) {
    let (mut values, mut refused) = (0u64, 0u64);
    let start = Instant::now();
    // A case takes a few hundred bytes; more only cost time.
    let test = arbtest(|u| {
        match body(u)? {
            Outcome::Values => values += 1,
            Outcome::Refused => refused += 1,
        }
        Ok(())
    });
    test.size_min(16).size_max(2048).budget(budget()).run();
    let seconds = start.elapsed().as_secs_f64();
    println!("{name}: {} inputs in {seconds:.1} s; {values} gave values, {refused} their errors", values + refused);
    // Under an emulator or a sanitizer there may be a handful only, which may be of one kind.
    let few = values + refused < 50;
    assert!(values + refused > 0 && (few || (values > 0 && refused > 0)), "{name}: inputs of one kind only");
}

#[test]
fn gather_on_random_cases() {
    tried("gather", fuzz::gather);
}

#[test]
fn masked_on_random_cases() {
    tried("masked", fuzz::masked);
}

#[test]
fn gather_elements_on_random_cases() {
    tried("gather_elements", fuzz::gather_elements);
}

#[test]
fn gather_nd_on_random_cases() {
    tried("gather_nd", fuzz::gather_nd);
}

#[test]
fn batch_to_space_on_random_cases() {
    tried("batch_to_space", fuzz::batch_to_space);
}

#[test]
fn space_to_batch_on_random_cases() {
    tried("space_to_batch", fuzz::space_to_batch);
}

#[test]
fn depth_to_space_on_random_cases() {
    tried("depth_to_space", fuzz::depth_to_space);
}

#[test]
fn space_to_depth_on_random_cases() {
    tried("space_to_depth", fuzz::space_to_depth);
}

#[test]
fn scatter_elements_on_random_cases() {
    tried("scatter_elements", fuzz::scatter_elements);
}

#[test]
fn scatter_nd_on_random_cases() {
    tried("scatter_nd", fuzz::scatter_nd);
}

#[test]
fn embedding_bag_on_random_cases() {
    tried("embedding_bag", fuzz::embedding_bag);
}

#[test]
fn maps_on_random_cases() {
    tried("map", fuzz::map);
}

#[test]
fn block_quantized_data_on_random_cases() {
    tried("block_quantized", fuzz::block_quantized);
}

#[test]
fn fused_rows_on_random_cases() {
    tried("fused", fuzz::fused);
}

#[test]
fn chunks_on_random_cases() {
    tried("chunked", fuzz::chunked);
}
