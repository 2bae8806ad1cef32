// Fused rows are gathered without a type to read them as.
use gather_core::{Error, FusedFormat, FusedRows, Gather, View};

fn main() -> Result<(), Error> {
    let table = FusedRows::new(View::new(&[0u8; 12], &[1, 12])?, FusedFormat::Torch8, 4)?;
    Gather::new(0).run(&table, &[0u32])?;
    Ok(())
}
