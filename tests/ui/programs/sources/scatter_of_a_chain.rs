// A scatter is to write what a row function makes of decoded rows.
use gather_core::{Error, Given, ScatterNd, View, maps, rows};

fn main() -> Result<(), Error> {
    let table = View::new(&[1u8, 2], &[2, 1])?;
    let numbers = table.map(&maps::dequantize(), (Given::All(0.5), Given::All(0)));
    let dots = numbers.rows(&rows::dot(), (Given::All(&[1.0]),));
    let ids = View::new(&[1u32, 0], &[2, 1])?;
    ScatterNd::new().run(&dots, &ids, &dots)?;
    Ok(())
}
