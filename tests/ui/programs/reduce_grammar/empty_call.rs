// There is no reduction in the call.
gather_core::reduce_kernels! {}

fn main() {}
