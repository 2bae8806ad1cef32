//! Planned scatters in place: every index is checked, then rows are added one by one.

use gather_core::{
    Index, Level, Par, Reduction, ScatterAttributes, ScatterElements, ScatterNd, ScatterOperator, Spec, View, ViewMut,
};

use super::kernels::{gather_counted_call, levels};
use super::short::{LEGAL, ids, layout, numbers};
use crate::inputs::Position;

/// Rows of the destination, and updates.
const ROWS: usize = 1000;
const UPDATES: usize = 4096;

/// Makes every call at every level: prints its name, and runs it in [`gather_counted_call`].
///
/// # Panics
/// When a call fails or its output is wrong.
pub fn run() {
    for level in levels() {
        let elements = ScatterElements::new(0);
        // Indices of 4 and 8 bytes are positions as they lie; those of 2 are resolved.
        scatter::<i64, _>("elements", &elements, level, 1);
        scatter::<i32, _>("elements", &elements, level, 1);
        scatter::<u64, _>("elements", &elements, level, 1);
        scatter::<u32, _>("elements", &elements, level, 1);
        scatter::<u16, _>("elements", &elements, level, 1);
        scatter::<i64, _>("rows_of_16", &ScatterNd::new(), level, 16);
        scatter::<u16, _>("rows_of_16", &ScatterNd::new(), level, 16);
    }
}

fn scatter<I: Index + Position, A: ScatterAttributes + Clone>(
    name: &str,
    op: &ScatterOperator<A>,
    level: Level,
    row: usize,
) {
    println!("scatter/{name}/{}/{level}", std::any::type_name::<I>());
    let ids: Vec<I> = ids(UPDATES, ROWS);
    let updates = numbers(&[UPDATES, row]);
    let rank = if row == 1 { 1 } else { 2 };
    let (shape, index_shape, update_shape) = ([ROWS, row], [UPDATES, 1], [UPDATES, row]);
    let (shape, index_shape, update_shape) = (&shape[..rank], &index_shape[..rank], &update_shape[..rank]);
    let op = op.clone().reduction(Reduction::Add).level(level).par(Par::Seq);
    let plan = op
        .plan(
            &Spec::<f32>::new(shape).unwrap(),
            &Spec::<I>::from_layout(&layout(index_shape)),
            &Spec::<f32>::from_layout(&layout(update_shape)),
        )
        .expect(LEGAL);
    let (indices, views) =
        (View::new(&ids, index_shape).expect(LEGAL), View::new(&updates, update_shape).expect(LEGAL));
    let mut out = vec![0f32; ROWS * row];
    let mut view = ViewMut::new(&mut out, shape).expect(LEGAL);
    let mut call = || plan.run_on(&mut view, &indices, &views).expect(LEGAL);
    // The first call finds out about the machine.
    call();
    gather_counted_call(&mut call);
    let mut expected = vec![0f32; ROWS * row];
    for _ in 0..2 {
        for (id, updates) in ids.iter().zip(updates.chunks_exact(row)) {
            let kept = &mut expected[id.position() * row..][..row];
            kept.iter_mut().zip(updates).for_each(|(kept, new)| *kept += new);
        }
    }
    assert!(out == expected, "scatter/{name}/{level}: the output is wrong");
}
