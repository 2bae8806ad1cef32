// Modules without the prelude, and names that only absolute paths reach.
#[no_implicit_prelude]
mod bare {
    #[derive(::std::clone::Clone, ::std::marker::Copy, ::gather_core::Element)]
    #[repr(C)]
    pub struct Point {
        pub x: f32,
        pub y: f32,
    }

    #[derive(::std::clone::Clone, ::std::marker::Copy, ::gather_core::Element)]
    #[repr(transparent)]
    pub struct Wrap<T>(pub T);

    #[derive(::std::clone::Clone, ::std::marker::Copy, ::gather_core::Element)]
    #[repr(u8)]
    #[element(zero = Off)]
    pub enum Switch {
        Off,
        On,
    }

    ::gather_core::kernels! {
        pub static MY;
        elements: [Point as x64, Wrap<Point>, Switch, f32];
        indices: [isize, u16];
        ranks: 1, any;
        ops: [gather, gather_elements, gather_nd, batch_to_space];
    }
}

#[test]
fn builds_and_runs() {
    let _ = (bare::Point { x: 0.0, y: 0.0 }, bare::Wrap(0), bare::Switch::Off, bare::Switch::On);
    assert_eq!(bare::MY.name(), "MY");
}
