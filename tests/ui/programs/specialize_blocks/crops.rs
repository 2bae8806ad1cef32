// Crops that leave nothing.
gather_core::specialize! {
    pub fn both = batch_to_space(block = [1, 2], crops_begin = [0, 5], crops_end = [0, 3]) (u8[2, 4]);
    pub fn end = batch_to_space(block = [1, 2], crops_end = [0, 9]) (u8[2, 4]);
}

fn main() {}
