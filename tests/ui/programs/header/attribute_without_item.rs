// The call ends behind an attribute.
gather_core::kernels! {
    /// My kernels.
}

fn main() {}
