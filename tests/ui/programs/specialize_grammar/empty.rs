// There is no function in the call.
gather_core::specialize! {}

fn main() {}
