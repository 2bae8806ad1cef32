// The first gaps are listed, and how many more there are, and how many bytes in all.

use gather_core::Element;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Record {
    a_flag_that_has_a_long_name: u8,
    a: u32,
    b_flag_that_has_a_long_name: u8,
    b: u32,
    c_flag_that_has_a_long_name: u8,
    c: u32,
    d_flag_that_has_a_long_name: u8,
    d: u32,
    e_flag_that_has_a_long_name: u8,
    e: u32,
    f_flag_that_has_a_long_name: u8,
    f: u32,
    g_flag_that_has_a_long_name: u8,
    g: u32,
    h_flag_that_has_a_long_name: u8,
    h: u32,
    i_flag_that_has_a_long_name: u8,
    i: u32,
    j: u32,
    r#type: u8,
}

fn main() {}
