// Attributes with too few entries, entries that are none, and ones for the batch.
gather_core::specialize! {
    pub fn few = batch_to_space(block = [2, 2], crops_end = [0, 1, 1, 0, 0]) (u8[4, 8, 8, 3]);
    pub fn zero = batch_to_space(block = [1, 0, 2, 1]) (u8[4, 8, 8, 3]);
    pub fn negative = batch_to_space(block = [1, 2, 2, 1], crops_begin = [0, -1, 0, 0]) (u8[4, 8, 8, 3]);
    pub fn batch = batch_to_space(block = [2, 2, 1, 1], crops_end = [1, 0, 0, 0]) (u8[4, 8, 8, 3]);
    pub fn list = batch_to_space(block = 2) (u8[4, 8, 8, 3]);
    pub fn scalar = batch_to_space(block = []) (u8[]);
}

fn main() {}
