//! The same rows as sums of bags of one row.

use gather_core::{Bags, EmbeddingBag, Reduction, View};

fn rows(table: &[f32], ids: &[u32]) -> Vec<f32> {
    let (table, ids) = (View::new(table, &[64, 16]).unwrap(), View::new(ids, &[ids.len(), 1]).unwrap());
    EmbeddingBag::new(Reduction::Add).run(&table, &Bags::packed(&ids)).unwrap().as_slice().to_vec()
}

fn main() {
    let ids: Vec<u32> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let table: Vec<f32> = (0..1024u16).map(f32::from).collect();
    println!("{:?}", rows(&table, &ids));
}
