//! The same rows by a gather whose types are known at run time.

use gather_core::{DynView, Gather, View};

fn rows(table: &[f32], ids: &[u32]) -> Vec<f32> {
    let (table, ids) = (View::new(table, &[64, 16]).unwrap(), View::new(ids, &[ids.len()]).unwrap());
    let (table, ids) = (DynView::from(&table), DynView::from(&ids));
    Gather::new(0).run(&table, &ids).unwrap().downcast::<f32>().unwrap().as_slice().to_vec()
}

fn main() {
    let ids: Vec<u32> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let table: Vec<f32> = (0..1024u16).map(f32::from).collect();
    println!("{:?}", rows(&table, &ids));
}
