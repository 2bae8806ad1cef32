//! Specialised functions, beside planned calls of the same shapes: of those that have none in [`short`](super::short),
//! here.
//!
//! A function runs its loops at the level of the machine. So it has one count, under the name of the planned call with
//! the word `specialised` in place of a level.

use gather_core::{BatchToSpace, Element, Gather, GatherNd, Par, Spec, View, ViewMut};
use half::f16;

use super::kernels::levels;
use super::short::{LEGAL, SQUARE, TABLE, counted, ids, layout, numbers};
use crate::naive;

/// Rows of a vocabulary that lies beyond the caches, and the tokens of a text.
const VOCABULARY: [usize; 2] = [6000, 384];
const TOKENS: usize = 366;
/// Cells in lines, and the pairs of coordinates that name some.
const CELLS: [usize; 3] = [16, 16, 4];
const PAIRS: [usize; 2] = [8, 2];
/// Parts of an image, in blocks of 2 by 2.
const PARTS: [usize; 4] = [4, 4, 4, 3];
const BLOCK: [i64; 4] = [1, 2, 2, 1];

gather_core::specialize! {
    fn eight = gather(axis = 0) (f32[_, 16], u32[8]);
    fn rows = gather(axis = 0) (f32[256, 16], u32[8]);
    fn embed = gather(axis = 0) (f16[_, 384], u32[_]);
    fn elements = gather_elements(axis = 1) (f32[8, 8], u32[8, 8]);
    fn cells = gather_nd() (f32[16, 16, 4], u32[8, 2]);
    fn tile = batch_to_space(block = [1, 2, 2, 1]) (f32[4, 4, 4, 3]);
}

/// Makes every call: prints its name, and runs it in [`gather_counted_call`](super::kernels::gather_counted_call).
///
/// # Panics
/// When a call fails or its output is wrong.
pub fn run() {
    rows_of_a_table();
    tokens();
    neighbours();
    coordinates();
    image();
}

/// Counts a call that writes to an output of as many elements as `expected` has, and compares the two.
fn check<T: Element + PartialEq>(name: &str, expected: &[T], mut call: impl FnMut(&mut [T])) {
    let mut out = vec![T::ZERO; expected.len()];
    counted(name, || call(&mut out));
    assert!(out == expected, "{name}: the output is wrong");
}

/// As [`check`], for a planned call, which writes along a view that is made before.
fn check_planned<T: Element + PartialEq>(
    name: &str,
    (expected, shape): (&[T], &[usize]),
    mut call: impl FnMut(&mut ViewMut<'_, T>),
) {
    let mut out = vec![T::ZERO; expected.len()];
    let mut view = ViewMut::new(&mut out, shape).expect(LEGAL);
    counted(name, || call(&mut view));
    assert!(out == expected, "{name}: the output is wrong");
}

/// As [`check`], for a call on arrays; `flat` takes the elements out of the array.
fn check_array<A>(name: &str, expected: &[f32], mut call: impl FnMut() -> A, flat: impl Fn(&A) -> &[f32]) {
    let mut out = None;
    counted(name, || out = Some(call()));
    assert!(out.is_some_and(|out| flat(&out) == expected), "{name}: the output is wrong");
}

fn rows_of_a_table() {
    let (table, ids) = (numbers(&TABLE), ids::<u32>(8, TABLE[0]));
    let mut expected = vec![0.0; 8 * TABLE[1]];
    naive::gather(&table, &TABLE, &ids, &[8], 0, 0, &mut expected);
    let name = "gather_8x64B/u32/specialised";
    check(name, &expected, |out| eight(&table, &ids, out).expect(LEGAL));
    let table: &[[f32; 16]; 256] = table.as_chunks().0.try_into().expect("as many rows");
    let ids: &[u32; 8] = ids[..].try_into().expect("eight ids");
    let call = || rows_array(table, ids).expect(LEGAL);
    check_array(&format!("{name}_array"), &expected, call, |out| out.as_flattened());
}

fn tokens() {
    let [count, dim] = VOCABULARY;
    let table: Vec<f16> = (0..count * dim).map(|at| f16::from_bits((at % 31_000) as u16)).collect();
    let ids = ids::<u32>(TOKENS, count);
    let mut expected = vec![f16::ZERO; TOKENS * dim];
    naive::gather(&table, &VOCABULARY, &ids, &[TOKENS], 0, 0, &mut expected);
    let name = |how: &str| format!("gather_366x768B/u32/{how}");
    let (data, indices) = (View::new(&table, &VOCABULARY).expect(LEGAL), View::new(&ids, &[TOKENS]).expect(LEGAL));
    for level in levels() {
        let op = Gather::new(0).par(Par::Seq).level(level);
        let plan = op.plan(&data, &indices).expect(LEGAL);
        check_planned(&name(level.name()), (&expected, plan.output_shape()), |out| {
            plan.run_into(&data, &indices, out).expect(LEGAL);
        });
    }
    check(&name("specialised"), &expected, |out| embed(&table, &ids, out).expect(LEGAL));
}

fn neighbours() {
    let (values, picks) = (numbers(&SQUARE), ids::<u32>(SQUARE.iter().product(), SQUARE[1]));
    let mut expected = vec![0.0; values.len()];
    naive::gather_elements(&values, &SQUARE, &picks, 1, &mut expected);
    let name = "gather_elements_64/u32/specialised";
    check(name, &expected, |out| elements(&values, &picks, out).expect(LEGAL));
    let values: &[[f32; 8]; 8] = values.as_chunks().0.try_into().expect("eight lines");
    let picks: &[[u32; 8]; 8] = picks.as_chunks().0.try_into().expect("eight lines");
    let call = || elements_array(values, picks).expect(LEGAL);
    check_array(&format!("{name}_array"), &expected, call, |out| out.as_flattened());
}

fn coordinates() {
    let (values, pairs) = (numbers(&CELLS), ids::<u32>(PAIRS.iter().product(), CELLS[0]));
    let mut expected = vec![0.0; PAIRS[0] * CELLS[2]];
    naive::gather_nd(&values, &CELLS, &pairs, &PAIRS, 0, &mut expected);
    let name = |how: &str| format!("gather_nd_8x16B/u32/{how}");
    let (data, indices) = (View::new(&values, &CELLS).expect(LEGAL), View::new(&pairs, &PAIRS).expect(LEGAL));
    for level in levels() {
        let op = GatherNd::new().par(Par::Seq).level(level);
        let plan = op.plan(&data, &indices).expect(LEGAL);
        check_planned(&name(level.name()), (&expected, plan.output_shape()), |out| {
            plan.run_into(&data, &indices, out).expect(LEGAL);
        });
    }
    check(&name("specialised"), &expected, |out| cells(&values, &pairs, out).expect(LEGAL));
    let values: &[[[f32; 4]; 16]; 16] = values.as_chunks().0.as_chunks().0.try_into().expect("sixteen lines");
    let pairs: &[[u32; 2]; 8] = pairs.as_chunks().0.try_into().expect("eight pairs");
    let call = || cells_array(values, pairs).expect(LEGAL);
    check_array(&name("specialised_array"), &expected, call, |out| out.as_flattened());
}

fn image() {
    let values = numbers(&PARTS);
    let mut expected = vec![0.0; values.len()];
    naive::batch_to_space(&values, &PARTS, BLOCK, [0; 4], [0; 4], &mut expected);
    let name = |how: &str| format!("batch_to_space_4x4x4x3/{how}");
    let data = View::new(&values, &PARTS).expect(LEGAL);
    for level in levels() {
        let op = BatchToSpace::new(&BLOCK, &[0; 4], &[0; 4]).par(Par::Seq).level(level);
        let plan = op.plan(&Spec::<f32>::from_layout(&layout(&PARTS))).expect(LEGAL);
        check_planned(&name(level.name()), (&expected, plan.output_shape()), |out| {
            plan.run_into(&data, out).expect(LEGAL)
        });
    }
    check(&name("specialised"), &expected, |out| tile(&values, out).expect(LEGAL));
    let values: &[[[[f32; 3]; 4]; 4]; 4] =
        values.as_chunks().0.as_chunks().0.as_chunks().0.try_into().expect("four parts");
    let call = || tile_array(values);
    check_array(&name("specialised_array"), &expected, call, |out| out.as_flattened().as_flattened().as_flattened());
}
