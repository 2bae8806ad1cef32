// Closures take and give values on the stack, and a thread may have less of it than these.
type Big = [u8; 16 << 20];

gather_core::map_kernels! {
    static TAKES = |value: Big| -> u8 { value[1] };
    static GIVES = |value: u8| -> Big { [value; 16 << 20] };
    static IS_GIVEN = |value: u8, table: Big| -> u8 { table[value as usize] };
}

gather_core::reduce_kernels! {
    static KEEPS = |kept: Big, _new: Big| -> Big { kept };
}

fn main() {}
