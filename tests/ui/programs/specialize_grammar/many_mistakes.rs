// Every mistake of a declaration is reported at once.
gather_core::specialize! {
    pub fn all = gather::openvino8(axis = 5, out_of_bounds = fail) (char[2, 0], f64[-1]);
}

fn main() {}
