// There is no map in the call.
gather_core::map_kernels! {}

fn main() {}
