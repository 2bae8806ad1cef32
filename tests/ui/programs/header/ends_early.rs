// The call ends before the name.
gather_core::kernels! {
    pub static
}

fn main() {}
