//! Short calls: what is counted is the call itself more than the moves.

use gather_core::{
    BatchToSpace, Bitmap, Gather, GatherElements, Given, Index, Layout, Level, Nulls, Par, Plan, RowFunction, Spec,
    Tensor, View, ViewMut, rows,
};
use half::f16;

use super::kernels::{gather_counted_call, levels};
use crate::inputs::Position;
use crate::naive;
use crate::random::Random;

/// Why no call can fail.
pub(super) const LEGAL: &str = "a legal call";

/// A table of rows of 64 bytes.
pub(super) const TABLE: [usize; 2] = [256, 16];
/// Data and indices of GatherElements.
pub(super) const SQUARE: [usize; 2] = [8, 8];
/// Data of BatchToSpace, in blocks of 2 by 2.
const IMAGES: [usize; 4] = [4, 8, 8, 1];
const BLOCK: [i64; 4] = [1, 2, 2, 1];

/// Makes every call, level by level, and then those that have no level: prints its name, and runs it in
/// [`gather_counted_call`].
///
/// # Panics
/// When a call fails or its output is wrong.
pub fn run() {
    for level in levels() {
        for count in [1, 8, 64] {
            Rows::<u32>::new(count).planned(level);
        }
        Rows::<i64>::new(8).planned(level);
        Rows::<u64>::new(8).planned(level);
        Rows::<u16>::new(8).planned(level);
        Rows::<u8>::new(8).planned(level);
        Rows::<u32>::new(8).unplanned(level);
        Rows::<u32>::new(8).planned_with_views(level);
        elements(level);
        blocks(level);
        nulls(level);
        dots(level, &rows::dot(), numbers(&TABLE));
        dots(level, &rows::dot(), numbers(&TABLE).into_iter().map(f16::from_f32).collect());
    }
    let rows = Rows::<u32>::new(8);
    let mut rank = 0;
    counted("view_new", || rank = View::new(&rows.table, &TABLE).expect(LEGAL).rank());
    assert_eq!(rank, TABLE.len());
}

/// Calls once, so that whatever is detected once is known, and then counts.
pub(super) fn counted(name: &str, mut call: impl FnMut()) {
    println!("short/{name}");
    call();
    gather_counted_call(&mut call);
}

pub(super) fn layout(shape: &[usize]) -> Layout {
    Layout::contiguous(shape).expect(LEGAL)
}

pub(super) fn numbers(shape: &[usize]) -> Vec<f32> {
    (0..shape.iter().product()).map(|at: usize| at as f32).collect()
}

pub(super) fn ids<I: Position>(count: usize, below: usize) -> Vec<I> {
    let mut random = Random::new(1);
    (0..count).map(|_| I::new(random.below(below))).collect()
}

/// Rows of a table.
struct Rows<I> {
    table: Vec<f32>,
    ids: Vec<I>,
    out: Vec<f32>,
}

impl<I: Index + Position> Rows<I> {
    fn new(count: usize) -> Self {
        Rows { table: numbers(&TABLE), ids: ids(count, TABLE[0]), out: vec![f32::NAN; count * TABLE[1]] }
    }

    fn name(&self, how: &str, level: Level) -> String {
        format!("gather_{}x64B{how}/{}/{level}", self.ids.len(), std::any::type_name::<I>())
    }

    fn plan(&self, level: Level) -> Plan<f32, I> {
        op(level)
            .plan(&Spec::from_layout(&layout(&TABLE)), &Spec::from_layout(&layout(&[self.ids.len()])))
            .expect(LEGAL)
    }

    fn planned(mut self, level: Level) {
        let (name, plan) = (self.name("", level), self.plan(level));
        self.with_views(|data, ids, out| counted(&name, || plan.run_into(data, ids, out).expect(LEGAL)));
    }

    fn unplanned(mut self, level: Level) {
        let (name, op) = (self.name("_unplanned", level), op(level));
        self.with_views(|data, ids, out| counted(&name, || op.run_into(data, ids, out).expect(LEGAL)));
    }

    /// The views are made within the count.
    fn planned_with_views(mut self, level: Level) {
        let (name, plan) = (self.name("_with_views", level), self.plan(level));
        counted(&name, || self.call(|data, ids, out| plan.run_into(data, ids, out).expect(LEGAL)));
        self.check();
    }

    fn with_views(&mut self, calls: impl FnOnce(&View<'_, f32>, &View<'_, I>, &mut ViewMut<'_, f32>)) {
        self.call(calls);
        self.check();
    }

    fn call(&mut self, call: impl FnOnce(&View<'_, f32>, &View<'_, I>, &mut ViewMut<'_, f32>)) {
        let Rows { table, ids, out } = self;
        let (data, indices) = (View::new(table, &TABLE).expect(LEGAL), View::new(ids, &[ids.len()]).expect(LEGAL));
        let mut out = ViewMut::new(out, &[ids.len(), TABLE[1]]).expect(LEGAL);
        call(&data, &indices, &mut out);
    }

    fn check(&self) {
        let mut expected = vec![0.0; self.out.len()];
        naive::gather(&self.table, &TABLE, &self.ids, &[self.ids.len()], 0, 0, &mut expected);
        assert_eq!(self.out, expected, "wrong rows");
    }
}

fn op(level: Level) -> Gather {
    Gather::new(0).par(Par::Seq).level(level)
}

fn elements(level: Level) {
    let (values, picks) = (numbers(&SQUARE), ids::<u32>(SQUARE.iter().product(), SQUARE[1]));
    let op = GatherElements::new(1).par(Par::Seq).level(level);
    let plan =
        op.plan(&Spec::<f32>::from_layout(&layout(&SQUARE)), &Spec::<u32>::from_layout(&layout(&SQUARE))).expect(LEGAL);
    let (data, indices) = (View::new(&values, &SQUARE).expect(LEGAL), View::new(&picks, &SQUARE).expect(LEGAL));
    let mut memory = vec![f32::NAN; values.len()];
    let mut out = ViewMut::new(&mut memory, &SQUARE).expect(LEGAL);
    counted(&format!("gather_elements_64/u32/{level}"), || plan.run_into(&data, &indices, &mut out).expect(LEGAL));
    let mut expected = vec![0.0; values.len()];
    naive::gather_elements(&values, &SQUARE, &picks, 1, &mut expected);
    assert_eq!(memory, expected, "wrong elements");
}

fn blocks(level: Level) {
    let values = numbers(&IMAGES);
    let op = BatchToSpace::new(&BLOCK, &[0; 4], &[0; 4]).par(Par::Seq).level(level);
    let plan = op.plan(&Spec::<f32>::from_layout(&layout(&IMAGES))).expect(LEGAL);
    let data = View::new(&values, &IMAGES).expect(LEGAL);
    let mut memory = vec![f32::NAN; values.len()];
    let mut out = ViewMut::new(&mut memory, plan.output_shape()).expect(LEGAL);
    counted(&format!("batch_to_space_256/{level}"), || plan.run_into(&data, &mut out).expect(LEGAL));
    let mut expected = vec![0.0; values.len()];
    naive::batch_to_space(&values, &IMAGES, BLOCK, [0; 4], [0; 4], &mut expected);
    assert_eq!(memory, expected, "wrong blocks");
}

/// A list of values by as many ids, of which some are null, in the shape of arrow-select's benchmark.
fn nulls(level: Level) {
    const LEN: usize = 1024;
    let (values, ids) = (numbers(&[LEN]), ids::<u32>(LEN, LEN));
    let bits: Vec<u8> = (0..LEN / 8).map(|at| (at * 151) as u8).collect();
    let valid = Some(Bitmap::new(&bits, 0, LEN).expect(LEGAL));
    let (data, indices) = (View::new(&values, &[LEN]).expect(LEGAL), View::new(&ids, &[LEN]).expect(LEGAL));
    for (name, nulls) in [
        ("null_ids", Nulls { indices: valid, data: None }),
        ("null_values", Nulls { indices: None, data: valid }),
        ("null_ids_and_values", Nulls { indices: valid, data: valid }),
    ] {
        let (mut out, mut bytes, mut found) = (Tensor::default(), [0; LEN / 8], 0);
        counted(&format!("take_1024x4B_{name}/u32/{level}"), || {
            found = op(level).nullable().run_into(&data, &indices, nulls, &mut out, &mut bytes).expect(LEGAL);
        });
        let expected = |at: usize| {
            let is_valid = |bits: Option<Bitmap<'_>>, at: usize| bits.is_none_or(|bits| bits.get(at) == Some(true));
            is_valid(nulls.indices, at) && is_valid(nulls.data, ids[at] as usize)
        };
        assert_eq!(found, (0..LEN).filter(|&at| !expected(at)).count(), "wrong nulls");
    }
}

/// Dot products of eight rows of a table with a query.
fn dots<T: gather_core::Element>(level: Level, dot: &RowFunction<T, f32, (rows::Slice<f32>,)>, table: Vec<T>) {
    let (ids, query) = (ids::<u32>(8, TABLE[0]), vec![1.0; TABLE[1]]);
    let spec = Spec::<T>::from_layout(&layout(&TABLE)).rows(dot);
    let plan = op(level).plan(&spec, &Spec::<u32>::from_layout(&layout(&[8]))).expect(LEGAL);
    let (data, indices) = (View::new(&table, &TABLE).expect(LEGAL), View::new(&ids, &[8]).expect(LEGAL));
    let mut out = Tensor::default();
    let params = (Given::All(&query[..]),);
    counted(&format!("dot_8x16/{}/{level}", T::DTYPE), || {
        plan.run_into(&data.rows(dot, params), &indices, &mut out).expect(LEGAL)
    });
    let row = |id: u32| (0..TABLE[1]).map(|at| (id as usize * TABLE[1] + at) as f32).sum::<f32>();
    let close = out.as_slice().iter().zip(&ids).all(|(&dot, &id)| (dot - row(id)).abs() <= 16.0);
    assert!(close, "wrong products");
}
