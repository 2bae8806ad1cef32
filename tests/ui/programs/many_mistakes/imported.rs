// A set with a mistake is used from another module: its name is still there.
mod kernels {
    gather_core::kernels! {
        pub(crate) static MY;
        elements: [f32];
        indices: [i32];
        ranks: 1;
        ops: [gahter];
    }
}

use kernels::MY;

fn main() {
    let _ = gather_core::Registry::builtin().with(&MY);
}
