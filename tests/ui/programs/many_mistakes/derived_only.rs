// A derive fails; the set that uses the type, and the calls on it, do not report it again.
use gather_core::{Gather, Registry, View};

#[derive(Clone, Copy, gather_core::Element)]
pub struct Colour {
    rgba: [u8; 4],
}

gather_core::kernels! {
    pub static MY;
    elements: [Colour, f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = Registry::builtin().with(&MY);
    let colours = [Colour { rgba: [0; 4] }];
    let _ = Gather::new(0).run(&View::new(&colours, &[1]).unwrap(), &View::new(&[0i32], &[1]).unwrap());
}
