// A row function is for blocks, and not for the numbers that are in them.
use gather_core::maps::{self, Block, Q8_0};
use gather_core::{Error, Gather, View, row_kernels};

row_kernels! {
    static FIRST = |row: &[[f32; 32]]| -> f32 { row[0][0] };
}

fn main() -> Result<(), Error> {
    let table = View::new(Q8_0::from_bytes(&[0; 34]).0, &[1, 1])?;
    let numbers = table.map(&maps::convert::<_, f32>(), ());
    Gather::new(0).run(&numbers.rows(&FIRST, ()), &[0u32])?;
    Ok(())
}
