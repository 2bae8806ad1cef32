// Hidden functions that trust their arguments are unsafe to call.
#![forbid(unsafe_code)]

use gather_core::{IndexKind, IndexType, Level, Method, Params};

pub fn values() {
    let _ = <(f32,) as Params>::at(&<(f32,) as Params>::lookups(panic!()), panic!());
}

pub fn kernels() {
    let kernel = <i32 as IndexKind>::converts(IndexType::I32).unwrap()(Level::Scalar, Method::Direct);
    let _ = kernel(panic!());
}

fn main() {}
