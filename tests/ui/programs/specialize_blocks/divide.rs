// Blocks that do not divide the batch.
gather_core::specialize! {
    pub fn tiles = batch_to_space(block = [1, 2, 3, 1]) (u8[8, 64, 64, 3]);
    pub fn more = batch_to_space(block = [1, 4]) (u8[2, 64]);
}

fn main() {}
