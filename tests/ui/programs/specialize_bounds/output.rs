// Outputs, and inputs, of more bytes than a tensor can have.
gather_core::specialize! {
    pub fn output = gather(axis = 0) (f32[_, 4294967296], u32[1073741824]);
    pub fn bytes = gather(axis = 0) (f64[_, 1152921504606846976], u32[1]);
    pub fn data = gather(axis = 0) (u8[4294967296, 4294967296], u32[1]);
}

fn main() {}
