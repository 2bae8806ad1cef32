//! Row functions, gathers of fused rows, row functions of these, sums of several tables of them, nulls, and rows that
//! are written by ids: of thin and empty shapes too.

use std::hint::black_box;
use std::rc::Rc;

use bytemuck::Pod;
use gather_core::{
    Bags, Bitmap, Element, EmbeddingBag, FusedFormat, FusedRows, Gather, Given, Nulls, OutOfBounds, Par, Reduction,
    RowFunction, Spec, View, ViewMut, rows,
};

use super::draw::{Bad, Draw, FEWEST};
use super::policy::{Clamps, Fails, Fills, Id, Policy};
use super::{Face, Found, checked_once};
use crate::cliffs::Row;
use crate::cliffs::rows::{PLUS, decoded};

/// A random case.
pub(super) fn draw(draw: &mut Draw) -> Found {
    match draw.between(0, 5) {
        0 => kinds::<i32, Fails>(draw),
        1 => kinds::<i64, Fails>(draw),
        2 => kinds::<i32, Fills>(draw),
        3 => kinds::<i64, Fills>(draw),
        4 => kinds::<i32, Clamps>(draw),
        _ => kinds::<i64, Clamps>(draw),
    }
}

fn kinds<I: Id, P: Policy>(draw: &mut Draw) -> Found {
    let sum = |row: &[f32], given: &[f32], out: &mut [f32]| {
        out[0] = row.iter().zip(given).fold(0.0, |sum, (a, b)| sum + a * b);
    };
    let bytes = |row: &[i8], given: &[i8], out: &mut [i32]| {
        out[0] = row.iter().zip(given).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
    };
    let plus = |row: &[f32], given: &[f32], out: &mut [f32]| {
        out.iter_mut().zip(row).zip(given).for_each(|((out, x), y)| *out = x + y);
    };
    // Of whole numbers as small sums are the same in any order.
    let whole = |draw: &mut Draw| draw.between(0, 14) as f32 - 7.0;
    match draw.between(0, 12) {
        0 | 1 => function::<f32, f32, I, P>(draw, rows::dot(), true, whole, sum),
        2 => function::<i8, i32, I, P>(draw, rows::dot(), true, |draw| draw.between(0, 255) as u8 as i8, bytes),
        3 | 4 => function::<f32, f32, I, P>(draw, PLUS, false, whole, plus),
        5 | 6 => fused::<I, P>(draw),
        7 => tables::<I>(draw),
        8 => chain::<I, P>(draw),
        9 | 10 => writer::<I>(draw),
        _ => nulls::<I, P>(draw),
    }
}

/// A table, and how many rows are read of it.
#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    columns: usize,
    ids: usize,
}

impl Shape {
    /// Of up to `limit` elements. There may be none of each; but no index names a row of none, except to be filled.
    fn new<P: Policy>(draw: &mut Draw, limit: usize) -> Self {
        let columns = match draw.between(0, 19) {
            0 => 0,
            1..8 => draw.size(1, 9),
            _ => draw.size(1, 2048.min(limit)),
        };
        let ids = if draw.percent(5) { 0 } else { draw.size(1, limit / columns.max(1)) };
        let none = (ids == 0 || P::RULES.out_of_bounds == OutOfBounds::Zero) && draw.percent(10);
        let rows = if none { 0 } else { draw.size(1, draw.limits.data / columns.max(1)) };
        Shape { rows, columns, ids }
    }

    fn ids<I: Id, P: Policy>(self, draw: &mut Draw) -> (Rc<Vec<I>>, &'static str) {
        let bad = super::gathers::bad::<I>(draw, P::RULES);
        let (ids, order) = draw.indices(self.ids, &[self.rows.max(1)], bad);
        (Rc::new(ids), order)
    }

    fn name(self, order: &str) -> String {
        format!("[{}, {}] by {} {order}", self.rows, self.columns, self.ids)
    }
}

fn operator<P: Policy>(draw: &Draw) -> Gather {
    Gather::new(0)
        .negative_index(P::RULES.negative)
        .out_of_bounds(P::RULES.out_of_bounds)
        .par(Par::Seq)
        .level(draw.level)
}

/// Views of ids, and of rows of an output.
fn id_view<I: Id>(ids: &[I]) -> View<'_, I> {
    View::new(ids, &[ids.len()]).expect("ids")
}

/// Rows by index, each made by `row`, or zeros.
fn each<U: Pod, I: Id, P: Policy>(
    (rows, width): (usize, usize),
    ids: &[I],
    out: &mut [U],
    row: impl Fn(usize, usize, &mut [U]),
) {
    for (at, &id) in ids.iter().enumerate() {
        let out = &mut out[at * width..][..width];
        match P::resolve(id, rows).expect("indices in range") {
            Some(position) => row(at, position, out),
            None => out.fill(U::zeroed()),
        }
    }
}

/// A case of a call that writes `len` elements in the way that a face says, and of a loop.
fn found<U: Element + Pod>(
    (name, explained, bytes): (String, String, usize),
    len: usize,
    face: Face,
    ours: impl FnMut(&mut [U], &mut bool) + 'static,
    plain: impl Fn(&mut [U]) + 'static,
) -> Found {
    let (mut ours, [mut first, mut second]) = (ours, [true; 2]);
    let ours = move |out: &mut [U]| ours(out, &mut first);
    let plain = move |out: &mut [U]| {
        if face == Face::Fresh {
            let mut fresh = black_box(vec![U::ZERO; len]);
            plain(&mut fresh);
            checked_once(&mut second, &fresh, out);
        } else {
            plain(out);
        }
    };
    let begin = vec![bytemuck::pod_read_unaligned(&vec![0x41; size_of::<U>()]); len];
    let bytes = bytes + len * size_of::<U>();
    let name = format!("{name}, {}", ["planned", "into", "fresh"][face as usize]);
    let row = Row::new(&begin, ours, plain);
    Found { name, bytes, thin: len < FEWEST, explained, fresh: face.fresh_bytes::<U>(len), row }
}

/// A row function with one slice, which gives a value or a row.
fn function<T: Element + Pod, U: Element + Pod, I: Id, P: Policy>(
    draw: &mut Draw,
    function: RowFunction<T, U, (rows::Slice<T>,)>,
    one: bool,
    value: impl Fn(&mut Draw) -> T,
    plain: impl Fn(&[T], &[T], &mut [U]) + 'static,
) -> Found {
    let shape = Shape::new::<P>(draw, draw.limits.out);
    let Shape { rows, columns, ids: n } = shape;
    let (per, face) = (draw.between(0, 2), draw.pick(&Face::ALL));
    let mut values = |len| Rc::new((0..len).map(|_| value(draw)).collect::<Vec<T>>());
    let (table, given) = (values(rows * columns), values([1, n, rows][per] * columns));
    let (ids, order) = shape.ids::<I, P>(draw);
    let op = operator::<P>(draw);
    let data = View::new(&table, &[rows, columns]).expect("a table");
    let plan = op.plan(&Spec::from_layout(data.layout()).rows(&function), &id_view(&ids)).expect("a valid call");
    let way = ["a slice", "slices per index", "slices per row"][per];
    let name = format!("{} {}, {way}, {:?}", function.name(), shape.name(order), P::RULES.out_of_bounds);
    let facts =
        (name, plan.explain().to_string(), size_of::<T>() * (table.len() + given.len()) + size_of_val(&ids[..]));
    let (theirs, their_given, their_ids) = (table.clone(), given.clone(), ids.clone());
    let width = if one { 1 } else { columns };
    let ours = move |out: &mut [U], first: &mut bool| {
        let data = View::new(&table, &[rows, columns]).expect("a table");
        let (ids, given) = (id_view(&ids), &given[..]);
        let given = [Given::All(given), Given::PerIndex(given), Given::PerRow(given)][per];
        let out_shape = &[n, columns][..if one { 1 } else { 2 }];
        if face == Face::Fresh {
            let fresh = op.run(&data.rows(&function, (given,)), &ids).expect("indices in range");
            return checked_once(first, fresh.as_slice(), out);
        }
        let mut out = ViewMut::new(out, out_shape).expect("a row for each");
        match face {
            Face::Planned => plan.run_into(&data.rows(&function, (given,)), &ids, &mut out),
            _ => op.run_into(&data.rows(&function, (given,)), &ids, &mut out),
        }
        .expect("indices in range");
    };
    found(facts, n * width, face, ours, move |out: &mut [U]| {
        each::<U, I, P>((rows, width), &their_ids, out, |at, position, out| {
            let given = &their_given[[0, at, position][per] * columns..][..columns];
            plain(&theirs[position * columns..][..columns], given, out);
        });
    })
}

/// The bytes of fused rows.
fn quantized(draw: &mut Draw, format: FusedFormat, shape: Shape) -> Rc<Vec<u8>> {
    let numbers = draw.numbers::<f32>(shape.rows * shape.columns);
    let numbers = View::new(&numbers, &[shape.rows, shape.columns]).expect("numbers");
    Rc::new(FusedRows::quantize(format, &numbers).expect("rows that fit").as_slice().to_vec())
}

fn fused_view(bytes: &[u8], format: FusedFormat, shape: Shape) -> FusedRows<'_> {
    let row = format.row_bytes(shape.columns).expect("rows that fit");
    let view = View::new(bytes, &[shape.rows, row]).expect("rows");
    FusedRows::new(view, format, shape.columns).expect("rows of the format")
}

/// Formats of codes with a scale and a bias.
const FORMATS: &[FusedFormat] = &[
    FusedFormat::Torch8,
    FusedFormat::Torch4,
    FusedFormat::Torch2,
    FusedFormat::Fbgemm8,
    FusedFormat::Fbgemm4,
    FusedFormat::Fbgemm2,
];

/// Fused rows as numbers.
fn fused<I: Id, P: Policy>(draw: &mut Draw) -> Found {
    let (shape, format) = (Shape::new::<P>(draw, draw.limits.out), draw.pick(FORMATS));
    let Shape { rows, columns, ids: n } = shape;
    let table = quantized(draw, format, shape);
    let ((ids, order), face) = (shape.ids::<I, P>(draw), draw.pick(&Face::ALL));
    let op = operator::<P>(draw);
    let plan = op.plan(&fused_view(&table, format, shape).to::<f32>(), &id_view(&ids));
    let plan = plan.expect("a valid call");
    let name = format!("Fused {format:?} {}, {:?}", shape.name(order), P::RULES.out_of_bounds);
    let facts = (name, plan.explain().to_string(), table.len() + size_of_val(&ids[..]));
    let (theirs, their_ids) = (table.clone(), ids.clone());
    let ours = move |out: &mut [f32], first: &mut bool| {
        let (table, ids) = (fused_view(&table, format, shape), id_view(&ids));
        if face == Face::Fresh {
            let fresh = op.run(&table.to::<f32>(), &ids).expect("indices in range");
            return checked_once(first, fresh.as_slice(), out);
        }
        let mut out = ViewMut::new(out, &[n, columns]).expect("a row for each");
        match face {
            Face::Planned => plan.run_into(&table.to(), &ids, &mut out),
            _ => op.run_into(&table.to::<f32>(), &ids, &mut out),
        }
        .expect("indices in range");
    };
    let row = format.row_bytes(columns).expect("rows that fit");
    found(facts, n * columns, face, ours, move |out| {
        each::<f32, I, P>((rows, columns), &their_ids, out, |_, position, out| {
            decoded(format, &theirs[position * row..][..row], out);
        });
    })
}

/// Fused rows as numbers, to each of which a row function adds a slice.
fn chain<I: Id, P: Policy>(draw: &mut Draw) -> Found {
    let (shape, format) = (Shape::new::<P>(draw, draw.limits.out), draw.pick(FORMATS));
    let Shape { rows, columns, ids: n } = shape;
    let (table, given) = (quantized(draw, format, shape), Rc::new(draw.numbers::<f32>(columns)));
    let ((ids, order), face) = (shape.ids::<I, P>(draw), draw.pick(&Face::ALL));
    let op = operator::<P>(draw);
    let fused = fused_view(&table, format, shape);
    let numbers = fused.to();
    let plan = op.plan(&numbers.rows(&PLUS, (Given::All(&given[..]),)), &id_view(&ids)).expect("a valid call");
    let name = format!("Fused {format:?} rows {}, {:?}", shape.name(order), P::RULES.out_of_bounds);
    let facts = (name, plan.explain().to_string(), table.len() + size_of_val(&given[..]) + size_of_val(&ids[..]));
    let (theirs, their_given, their_ids) = (table.clone(), given.clone(), ids.clone());
    let ours = move |out: &mut [f32], first: &mut bool| {
        let (fused, ids) = (fused_view(&table, format, shape), id_view(&ids));
        let numbers = fused.to();
        let source = numbers.rows(&PLUS, (Given::All(&given[..]),));
        if face == Face::Fresh {
            let fresh = op.run(&source, &ids).expect("indices in range");
            return checked_once(first, fresh.as_slice(), out);
        }
        let mut out = ViewMut::new(out, &[n, columns]).expect("a row for each");
        match face {
            Face::Planned => plan.run_into(&source, &ids, &mut out),
            _ => op.run_into(&source, &ids, &mut out),
        }
        .expect("indices in range");
    };
    let row = format.row_bytes(columns).expect("rows that fit");
    found(facts, n * columns, face, ours, move |out| {
        each::<f32, I, P>((rows, columns), &their_ids, out, |_, position, out| {
            decoded(format, &theirs[position * row..][..row], out);
            out.iter_mut().zip(&*their_given).for_each(|(out, given)| *out += given);
        });
    })
}

/// Rows that are written where ids say, into a table that keeps its others.
fn writer<I: Id>(draw: &mut Draw) -> Found {
    let shape = Shape::new::<Fails>(draw, draw.limits.out.min(draw.limits.data));
    let Shape { rows, columns, ids: n } = shape;
    let updates = Rc::new(draw.values::<u32>(n * columns));
    let ((ids, order), face) = (shape.ids::<I, Fails>(draw), draw.pick(&[Face::Planned, Face::Into]));
    let op = operator::<Fails>(draw).writer();
    let view = View::new(&updates, &[n, columns]).expect("rows");
    let plan = op.plan(&Spec::<u32>::new(&[rows, columns]).expect("a table"), &id_view(&ids), &view);
    let plan = plan.expect("a valid call");
    let name = format!("Writer {}", shape.name(order));
    let facts = (name, plan.explain().to_string(), size_of_val(&updates[..]) + size_of_val(&ids[..]));
    let (theirs, their_ids) = (updates.clone(), ids.clone());
    let ours = move |out: &mut [u32], _: &mut bool| {
        let (updates, ids) = (View::new(&updates, &[n, columns]).expect("rows"), id_view(&ids));
        let mut out = ViewMut::new(out, &[rows, columns]).expect("a table");
        match face {
            Face::Planned => plan.run_on(&mut out, &ids, &updates),
            _ => op.run_on(&mut out, &ids, &updates),
        }
        .expect("indices in range");
    };
    found(facts, rows * columns, face, ours, move |out: &mut [u32]| {
        for (at, &id) in their_ids.iter().enumerate() {
            let position = Fails::resolve(id, rows).flatten().expect("indices in range");
            out[position * columns..][..columns].copy_from_slice(&theirs[at * columns..][..columns]);
        }
    })
}

/// Sums of rows of several tables, in neighbouring columns.
fn tables<I: Id>(draw: &mut Draw) -> Found {
    let (count, len) = (draw.between(1, 5), draw.size(1, 32) - usize::from(draw.percent(10)));
    let limit = (draw.limits.out / (count * len.max(1))).max(1);
    let first = Shape::new::<Fails>(draw, limit);
    let bags = first.ids;
    let shapes = (0..count).map(|_| {
        let other = Shape::new::<Fails>(draw, (limit / bags.max(1)).max(1));
        Shape { rows: if bags * len == 0 { other.rows } else { other.rows.max(1) }, ids: bags * len, ..other }
    });
    let shapes: Vec<Shape> = shapes.collect();
    let all = shapes.iter().map(|&shape| {
        let format = draw.pick(FORMATS);
        let (ids, _) = draw.indices::<I>(shape.ids, &[shape.rows.max(1)], Bad { percent: 0, negative: true });
        (shape, format, quantized(draw, format, shape), Rc::new(ids))
    });
    let all: Rc<Vec<_>> = Rc::new(all.collect());
    let columns: usize = shapes.iter().map(|shape| shape.columns).sum();
    let face = draw.pick(&[Face::Into, Face::Fresh]);
    let op = EmbeddingBag::new(Reduction::Add).par(Par::Seq).level(draw.level);
    let name =
        format!("Tables {:?}, {bags} bags of {len}", shapes.iter().map(|s| [s.rows, s.columns]).collect::<Vec<_>>());
    let bytes = all.iter().map(|(.., table, ids)| table.len() + size_of_val(&ids[..])).sum();
    let theirs = all.clone();
    let ours = move |out: &mut [f32], first: &mut bool| {
        let tables = all.iter().map(|(shape, format, table, _)| fused_view(table, *format, *shape));
        let tables: Vec<_> = tables.collect();
        let ids = all.iter().map(|(.., ids)| View::new(ids, &[bags, len]).expect("ids"));
        let ids: Vec<_> = ids.collect();
        let list: Vec<_> = ids.iter().map(Bags::packed).collect();
        let tables = gather_core::tables::<f32>(&tables).expect("some tables");
        if face == Face::Fresh {
            let fresh = op.run(&tables, &list).expect("indices in range");
            return checked_once(first, fresh.as_slice(), out);
        }
        let mut out = ViewMut::new(out, &[bags, columns]).expect("a row for each bag");
        op.run_into(&tables, &list, &mut out).expect("indices in range");
    };
    found((name, String::new(), bytes), bags * columns, face, ours, move |out| {
        let (mut before, mut values) = (0, Vec::new());
        for (shape, format, table, ids) in &*theirs {
            let row = format.row_bytes(shape.columns).expect("rows that fit");
            values.resize(shape.columns, 0.0);
            for bag in 0..bags {
                let out = &mut out[bag * columns + before..][..shape.columns];
                out.fill(0.0);
                for &id in &ids[bag * len..][..len] {
                    let position = Fails::resolve(id, shape.rows).flatten().expect("indices in range");
                    decoded(*format, &table[position * row..][..row], &mut values);
                    out.iter_mut().zip(&values).for_each(|(sum, value)| *sum += value);
                }
            }
            before += shape.columns;
        }
    })
}

/// Rows some of which are null, by indices some of which are. Behind the values the output has the bitmap.
fn nulls<I: Id, P: Policy>(draw: &mut Draw) -> Found {
    let shape = Shape::new::<P>(draw, draw.limits.out);
    let Shape { rows, columns, ids: n } = shape;
    let share = draw.pick(&[0, 1, 50, 100]);
    let bits = |draw: &mut Draw, len: usize| {
        let mut bytes = vec![0u8; len.div_ceil(8)];
        (0..len).filter(|_| !draw.percent(share)).for_each(|at| bytes[at / 8] |= 1 << (at % 8));
        Rc::new(bytes)
    };
    // A bit for each row, or for each element.
    let each = if draw.percent(30) && rows * columns > 0 { columns } else { 1 };
    let (valid_ids, valid_data) = (bits(draw, n), bits(draw, rows * each));
    let table = Rc::new(draw.values::<u32>(rows * columns));
    let (ids, order) = shape.ids::<I, P>(draw);
    let face = draw.pick(&[Face::Planned, Face::Into]);
    let op = operator::<P>(draw);
    let data = View::new(&table, &[rows, columns]).expect("a table");
    let plan = op.nullable().plan(&data, &id_view(&ids)).expect("a valid call");
    let by = if each == 1 { "row" } else { "element" };
    let name = format!("Nulls by {by} {}, {share}% null, {:?}", shape.name(order), P::RULES.out_of_bounds);
    let bytes = 4 * table.len() + valid_ids.len() + valid_data.len() + size_of_val(&ids[..]);
    let facts = (name, plan.explain().to_string(), bytes);
    let theirs = (table.clone(), ids.clone(), valid_ids.clone(), valid_data.clone());
    let ours = move |out: &mut [u32], _: &mut bool| {
        let (data, ids) = (View::new(&table, &[rows, columns]).expect("a table"), id_view(&ids));
        let (out, words) = out.split_at_mut(n * columns);
        words.fill(0);
        let bitmap = |bytes, len| Some(Bitmap::new(bytes, 0, len).expect("as many bits"));
        // A table without rows has no bits: they could be of rows or of elements.
        let valid_data = if rows == 0 { None } else { bitmap(&valid_data, rows * each) };
        let nulls = Nulls { indices: bitmap(&valid_ids, n), data: valid_data };
        let mut out = ViewMut::new(out, &[n, columns]).expect("a row for each");
        let validity = bytemuck::cast_slice_mut(words);
        match face {
            Face::Planned => plan.run_into(&data, &ids, nulls, &mut out, validity),
            _ => op.nullable().run_into(&data, &ids, nulls, &mut out, validity),
        }
        .expect("indices in range");
    };
    found(facts, n * columns + (n * each).div_ceil(32), face, ours, move |out: &mut [u32]| {
        let (table, ids, valid_ids, valid_data) = &theirs;
        let (out, words) = out.split_at_mut(n * columns);
        words.fill(0);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
        let get = |bits: &[u8], at: usize| bits[at / 8] >> (at % 8) & 1;
        for (at, &id) in ids.iter().enumerate() {
            let out = &mut out[at * columns..][..columns];
            let is_valid = get(valid_ids, at) == 1;
            let position = if is_valid { P::resolve(id, rows).expect("indices in range") } else { None };
            match position {
                Some(position) => out.copy_from_slice(&table[position * columns..][..columns]),
                None => out.fill(0),
            }
            for k in 0..each {
                let bit = position.map_or(u8::from(is_valid), |position| get(valid_data, position * each + k));
                bytes[(at * each + k) / 8] |= bit << ((at * each + k) % 8);
            }
        }
    })
}
