#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = gather_tests::fuzz::masked(&mut arbitrary::Unstructured::new(bytes));
});
