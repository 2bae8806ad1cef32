// What the compiler finds: rows of what is no element, parameters that are not shared, a slice that is no query.
use std::cell::Cell;

use gather_core::{Gather, Given, View, rows};

gather_core::row_kernels! {
    static NAMES = |row: &[&'static str]| -> usize { row.len() };
    static CELLS = |row: &[u8], cell: Cell<u8>| -> u8 { cell.get() };
}

fn main() {
    let table = [1.0f32, 2.0];
    let (table, ids) = (View::new(&table, &[1, 2]).unwrap(), View::new(&[0u8], &[1]).unwrap());
    let _ = Gather::new(0).run(&table.rows(&rows::dot(), (Given::All(1.0f32),)), &ids);
    let _ = Gather::new(0).run(&table.rows(&rows::dot(), (Given::All(&[1u8, 2]),)), &ids);
    let _ = NAMES.name();
    let _ = CELLS.name();
}
