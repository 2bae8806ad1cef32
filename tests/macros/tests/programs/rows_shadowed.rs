// Names that a row function could mean are other things around it: types mean what they mean there, and nothing else
// matters.
use gather_core::{Gather, Given, View};

#[allow(dead_code, non_camel_case_types)]
mod around {
    pub struct RowFunction;
    pub struct Slice;
    pub struct RowParams;
    pub struct Rowwise;
    pub struct str;
    pub struct bool;
    pub mod core {}
    pub mod rows {}
    pub type f32 = u8;

    gather_core::row_kernels! {
        pub static LENGTH = |row: &[f32], out: &mut [usize], query: &[f32], #[any_len] more: &[u16], by: f32| {
            out[0] = row.len() + query.len() + more.len() + usize::from(by);
        };
        pub static FIRST = |row: &[f32]| -> f32 {
            let [first, ..] = row else { return 7 };
            *first
        };
    }
}

#[test]
fn builds_and_runs() -> Result<(), gather_core::Error> {
    let table = [1u8, 2, 3, 4];
    let (table, ids) = (View::new(&table, &[2, 2])?, View::new(&[1u8], &[1])?);
    let params = (Given::All(&[1, 2][..]), Given::All(&[9u16][..]), Given::All(10));
    let lengths = Gather::new(0).run(&table.rows(&around::LENGTH, params), &ids)?;
    assert_eq!(lengths.as_slice(), [15, 0]);
    assert_eq!(Gather::new(0).run(&table.rows(&around::FIRST, ()), &ids)?.as_slice(), [3]);
    Ok(())
}
