//! The same rows, added to zeros by a scatter whose types are known at run time.

use gather_core::{DynView, Reduction, ScatterNd, View};

fn rows(table: &[f32], ids: &[u32]) -> Vec<f32> {
    let updates: Vec<f32> = ids.iter().flat_map(|&id| table[id as usize * 16..][..16].to_vec()).collect();
    let (zeros, places) = (vec![0.0f32; updates.len()], (0..ids.len() as u32).collect::<Vec<u32>>());
    let zeros = View::new(&zeros, &[ids.len(), 16]).unwrap();
    let (places, updates) =
        (View::new(&places, &[ids.len(), 1]).unwrap(), View::new(&updates, &[ids.len(), 16]).unwrap());
    let (zeros, places, updates) = (DynView::from(&zeros), DynView::from(&places), DynView::from(&updates));
    let add = ScatterNd::new().reduction(Reduction::Add);
    let sums = add.run(&zeros, &places, &updates).unwrap();
    sums.downcast::<f32>().unwrap().as_slice().to_vec()
}

fn main() {
    let ids: Vec<u32> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let table: Vec<f32> = (0..1024u16).map(f32::from).collect();
    println!("{:?}", rows(&table, &ids));
}
