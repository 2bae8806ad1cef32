// There is no row function in the call.
gather_core::row_kernels! {}

fn main() {}
