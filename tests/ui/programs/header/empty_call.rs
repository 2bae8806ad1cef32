// The call says nothing at all.
gather_core::kernels! {}

fn main() {}
