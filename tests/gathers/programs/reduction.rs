//! A reduction without the features `scatter` and `bags`.
gather_core::reduce_kernels! {
    static UNION = |kept: u8, new: u8| -> u8 { kept | new };
}

fn main() {}
