//! The program that the others are compared with: it copies rows in a loop.

fn rows(table: &[f32], ids: &[u32]) -> Vec<f32> {
    ids.iter().flat_map(|&id| table[id as usize * 16..][..16].to_vec()).collect()
}

fn main() {
    let ids: Vec<u32> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let table: Vec<f32> = (0..1024u16).map(f32::from).collect();
    println!("{:?}", rows(&table, &ids));
}
