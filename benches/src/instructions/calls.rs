//! One small call of each family, planned and unplanned: what stands between a call and its loop.
//!
//! A table of 1,000 rows of 16 `f32`, and 8 ids of `u32`, unless the name says otherwise.

use gather_core::{
    Bags, BatchToSpace, EmbeddingBag, Gather, GatherElements, GatherNd, Given, Level, Par, Reduction, ScatterNd, Spec,
    View, ViewMut, maps,
};

use super::kernels::levels;
use super::short::{LEGAL, counted, ids, numbers};

gather_core::row_kernels! {
    /// The row times a number.
    static SCALED = |row: &[f32], out: &mut [f32], factor: f32| {
        for (out, &value) in out.iter_mut().zip(row) {
            *out = value * factor;
        }
    };
}

/// Rows and columns of the table, and ids.
const ROWS: usize = 1000;
const COLUMNS: usize = 16;
const IDS: usize = 8;

/// Makes every call at every level.
///
/// # Panics
/// When a call fails or its output is wrong.
pub fn run() {
    for level in levels() {
        gathers(level);
        elements(level);
        tuples(level);
        blocks(level);
        bags(level);
        scatters(level);
        converted(level);
        row_functions(level);
    }
}

/// The rows of the table by ids.
fn rows_of(table: &[f32], ids: &[u32]) -> Vec<f32> {
    ids.iter().flat_map(|&id| &table[id as usize * COLUMNS..][..COLUMNS]).copied().collect()
}

fn gathers(level: Level) {
    let (table, ids) = (numbers(&[ROWS, COLUMNS]), ids::<u32>(IDS, ROWS));
    let (data, indices) = (View::new(&table, &[ROWS, COLUMNS]).expect(LEGAL), View::new(&ids, &[IDS]).expect(LEGAL));
    let op = Gather::new(0).par(Par::Seq).level(level);
    let mut rows = Vec::new();
    counted(&format!("gather/fresh/{level}"), || {
        rows = op.run(&data, &indices).expect(LEGAL).into_vec();
    });
    assert_eq!(rows, rows_of(&table, &ids), "wrong rows");
}

fn elements(level: Level) {
    let (table, picks) = (numbers(&[64]), ids::<u32>(IDS, 64));
    let (data, indices) = (View::new(&table, &[64]).expect(LEGAL), View::new(&picks, &[IDS]).expect(LEGAL));
    let op = GatherElements::new(0).par(Par::Seq).level(level);
    let plan = op.plan(&data, &indices).expect(LEGAL);
    let expected: Vec<f32> = picks.iter().map(|&id| table[id as usize]).collect();
    let mut memory = [f32::NAN; IDS];
    let mut out = ViewMut::new(&mut memory, &[IDS]).expect(LEGAL);
    counted(&format!("elements/planned/{level}"), || plan.run_into(&data, &indices, &mut out).expect(LEGAL));
    counted(&format!("elements/unplanned/{level}"), || op.run_into(&data, &indices, &mut out).expect(LEGAL));
    assert_eq!(memory, expected[..], "wrong elements");
}

fn tuples(level: Level) {
    let (table, pairs) = (numbers(&[ROWS, COLUMNS]), ids::<u32>(IDS, COLUMNS));
    let (data, indices) = (View::new(&table, &[ROWS, COLUMNS]).expect(LEGAL), View::new(&pairs, &[4, 2]).expect(LEGAL));
    let op = GatherNd::new().par(Par::Seq).level(level);
    let plan = op.plan(&data, &indices).expect(LEGAL);
    let expected: Vec<f32> = pairs.chunks(2).map(|pair| table[pair[0] as usize * COLUMNS + pair[1] as usize]).collect();
    let mut memory = [f32::NAN; 4];
    let mut out = ViewMut::new(&mut memory, &[4]).expect(LEGAL);
    counted(&format!("tuples/planned/{level}"), || plan.run_into(&data, &indices, &mut out).expect(LEGAL));
    counted(&format!("tuples/unplanned/{level}"), || op.run_into(&data, &indices, &mut out).expect(LEGAL));
    assert_eq!(memory, expected[..], "wrong elements");
}

fn blocks(level: Level) {
    const DATA: [usize; 4] = [4, 4, 2, 2];
    let values = numbers(&DATA);
    let data = View::new(&values, &DATA).expect(LEGAL);
    let op = BatchToSpace::new(&[1, 1, 2, 2], &[0; 4], &[0; 4]).par(Par::Seq).level(level);
    let plan = op.plan(&data).expect(LEGAL);
    let mut memory = [f32::NAN; 64];
    let mut out = ViewMut::new(&mut memory, &[1, 4, 4, 4]).expect(LEGAL);
    counted(&format!("blocks/planned/{level}"), || plan.run_into(&data, &mut out).expect(LEGAL));
    counted(&format!("blocks/unplanned/{level}"), || op.run_into(&data, &mut out).expect(LEGAL));
    let from = |at: usize| ((at / 4 % 2 * 2 + at % 2) * 4 + at / 16) * 4 + at / 8 % 2 * 2 + at / 2 % 2;
    let expected: Vec<f32> = (0..64).map(|at| values[from(at)]).collect();
    assert_eq!(memory, expected[..], "wrong blocks");
}

fn bags(level: Level) {
    let (table, ids) = (numbers(&[ROWS, COLUMNS]), ids::<u32>(IDS, ROWS));
    let (data, indices) = (View::new(&table, &[ROWS, COLUMNS]).expect(LEGAL), View::new(&ids, &[1, IDS]).expect(LEGAL));
    let bags = Bags::packed(&indices);
    let op = EmbeddingBag::new(Reduction::Add).par(Par::Seq).level(level);
    let plan = op.plan(&data, &bags).expect(LEGAL);
    let mut memory = [f32::NAN; COLUMNS];
    let mut out = ViewMut::new(&mut memory, &[1, COLUMNS]).expect(LEGAL);
    counted(&format!("bag/planned/{level}"), || plan.run_into(&data, &bags, &mut out).expect(LEGAL));
    counted(&format!("bag/unplanned/{level}"), || op.run_into(&data, &bags, &mut out).expect(LEGAL));
    let mut expected = [0.0; COLUMNS];
    counted(&format!("bag/loop/{level}"), || {
        expected = [0.0; COLUMNS];
        for &id in &ids {
            let row = &table[id as usize * COLUMNS..][..COLUMNS];
            expected.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
    });
    assert_eq!(memory, expected, "wrong sums");
}

fn scatters(level: Level) {
    let (updates, ids) = (numbers(&[IDS, COLUMNS]), ids::<u32>(IDS, ROWS));
    let indices = View::new(&ids, &[IDS, 1]).expect(LEGAL);
    let rows = View::new(&updates, &[IDS, COLUMNS]).expect(LEGAL);
    let mut memory = vec![0.0; ROWS * COLUMNS];
    let mut table = ViewMut::new(&mut memory, &[ROWS, COLUMNS]).expect(LEGAL);
    let op = ScatterNd::new().reduction(Reduction::Add).par(Par::Seq).level(level);
    let plan = op.plan(&Spec::<f32>::new(&[ROWS, COLUMNS]).expect(LEGAL), &indices, &rows).expect(LEGAL);
    // Each is called once before it is counted.
    counted(&format!("scatter/planned/{level}"), || plan.run_on(&mut table, &indices, &rows).expect(LEGAL));
    counted(&format!("scatter/unplanned/{level}"), || op.run_on(&mut table, &indices, &rows).expect(LEGAL));
    let mut expected = vec![0.0; ROWS * COLUMNS];
    for _ in 0..4 {
        for (&id, row) in ids.iter().zip(updates.chunks(COLUMNS)) {
            let kept = &mut expected[id as usize * COLUMNS..][..COLUMNS];
            kept.iter_mut().zip(row).for_each(|(kept, new)| *kept += new);
        }
    }
    assert_eq!(memory, expected, "wrong sums");
}

fn converted(level: Level) {
    let (codes, ids): (Vec<u8>, _) = ((0..ROWS * COLUMNS).map(|at| at as u8).collect(), ids::<u32>(IDS, ROWS));
    let (data, indices) = (View::new(&codes, &[ROWS, COLUMNS]).expect(LEGAL), View::new(&ids, &[IDS]).expect(LEGAL));
    let map = maps::dequantize::<u8>();
    let data = data.map(&map, (Given::All(0.5), Given::All(7)));
    let op = Gather::new(0).par(Par::Seq).level(level);
    let plan = op.plan(&data, &indices).expect(LEGAL);
    let mut memory = [f32::NAN; IDS * COLUMNS];
    let mut out = ViewMut::new(&mut memory, &[IDS, COLUMNS]).expect(LEGAL);
    counted(&format!("map/planned/{level}"), || plan.run_into(&data, &indices, &mut out).expect(LEGAL));
    counted(&format!("map/unplanned/{level}"), || op.run_into(&data, &indices, &mut out).expect(LEGAL));
    let codes = ids.iter().flat_map(|&id| &codes[id as usize * COLUMNS..][..COLUMNS]);
    let expected: Vec<f32> = codes.map(|&code| (f32::from(code) - 7.0) * 0.5).collect();
    assert_eq!(memory, expected[..], "wrong numbers");
}

/// A call of 1,000 rows: its count divided by 1,000 is what a row takes.
fn row_functions(level: Level) {
    let (table, ids) = (numbers(&[ROWS, COLUMNS]), ids::<u32>(ROWS, ROWS));
    let (data, indices) = (View::new(&table, &[ROWS, COLUMNS]).expect(LEGAL), View::new(&ids, &[ROWS]).expect(LEGAL));
    let data = data.rows(&SCALED, (Given::All(0.5),));
    let op = Gather::new(0).par(Par::Seq).level(level);
    let plan = op.plan(&data, &indices).expect(LEGAL);
    let mut memory = vec![f32::NAN; ROWS * COLUMNS];
    let mut out = ViewMut::new(&mut memory, &[ROWS, COLUMNS]).expect(LEGAL);
    counted(&format!("row_function_1000x16/planned/{level}"), || {
        plan.run_into(&data, &indices, &mut out).expect(LEGAL);
    });
    let expected: Vec<f32> = rows_of(&table, &ids).iter().map(|value| value * 0.5).collect();
    assert_eq!(memory, expected, "wrong rows");
}
