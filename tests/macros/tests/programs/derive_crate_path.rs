// `crate` names gather-core where it goes under another path: a re-export, a module, a nested one.
mod vendored {
    pub mod tensors {
        pub use gather_core;
    }
}

mod renamed {
    pub use gather_core as kernels;
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
#[element(crate = vendored::tensors::gather_core)]
struct Pair(u16, u16);

#[derive(Clone, Copy, gather_core::Element)]
#[repr(u8)]
#[element(crate = crate::derive_crate_path::renamed::kernels)]
#[element(zero = Off)]
enum Switch {
    Off,
    On,
}

mod inner {
    #[derive(Clone, Copy, gather_core::Element)]
    #[repr(transparent)]
    #[element(crate = super::renamed::kernels)]
    pub struct Wrap<T>(T);
}

#[test]
fn builds_and_runs() {
    use gather_core::Element;
    let _ = Switch::On;
    assert_eq!([Pair::DTYPE.size(), Switch::DTYPE.size(), inner::Wrap::<f64>::DTYPE.size()], [4, 1, 8]);
}
