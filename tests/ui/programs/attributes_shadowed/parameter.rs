// An attribute macro on a type parameter, which the derive repeats: the compiler takes none there.
#![forbid(unsafe_code)]

#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
pub struct Metres<#[gather_tests_rewrite::becomes(T)] T>(T);

fn main() {}
