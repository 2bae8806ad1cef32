//! EmbeddingBag of random tables and bags.

use std::rc::Rc;

use gather_core::{Bags, BagsOf, EmbeddingBag, Par, Reduction, Spec, View, ViewMut};
use half::{bf16, f16};

use super::draw::{Bad, Draw, FEWEST, Place};
use super::policy::Id;
use super::{Face, Found, checked_once};
use crate::cliffs::Row;
use crate::naive::from_end;
use crate::number::{Add, Max, Mean, Number, Reduce};

/// A random bag.
pub(super) fn draw(draw: &mut Draw) -> Option<Found> {
    Some(match draw.between(0, 6) {
        0 => indexed::<u8>("u8", draw)?,
        1 => indexed::<i64>("i64", draw)?,
        2 => indexed::<f16>("f16", draw)?,
        3 => indexed::<bf16>("bf16", draw)?,
        4 => indexed::<f64>("f64", draw)?,
        _ => indexed::<f32>("f32", draw)?,
    })
}

fn indexed<T: Number>(name: &str, draw: &mut Draw) -> Option<Found> {
    if draw.percent(50) {
        reduced::<T, i32>(&format!("{name}/i32"), draw)
    } else {
        reduced::<T, i64>(&format!("{name}/i64"), draw)
    }
}

fn reduced<T: Number, I: Id>(name: &str, draw: &mut Draw) -> Option<Found> {
    match draw.between(0, 3) {
        0 => make::<T, I, Add>(name, draw, Reduction::Add, false),
        1 => make::<T, I, Add>(name, draw, Reduction::Add, true),
        2 => make::<T, I, Mean>(name, draw, Reduction::Mean, false),
        _ => make::<T, I, Max>(name, draw, Reduction::Max, false),
    }
}

fn make<T: Number, I: Id, R: Reduce<T> + 'static>(
    name: &str,
    draw: &mut Draw,
    reduction: Reduction,
    weighted: bool,
) -> Option<Found> {
    let read = draw.size(FEWEST, 2 * draw.limits.out);
    let columns = if draw.percent(20) { 1 } else { draw.size(1, 2048.min(read / 2)) };
    let count = read / columns;
    let packed = draw.percent(40);
    let mean_len = draw.size(1, count);
    let bags = count.div_ceil(mean_len);
    let count = if packed { bags * mean_len } else { count };
    if bags * columns < FEWEST {
        return None;
    }
    let rows = draw.size(1, draw.limits.data / columns);
    let mut offsets: Vec<i64> = match draw.between(0, 1) {
        _ if packed => (0..bags).map(|bag| (bag * mean_len) as i64).collect(),
        0 => (0..bags).map(|bag| (bag * count / bags) as i64).collect(),
        _ => (0..bags).map(|_| draw.between(0, count) as i64).collect(),
    };
    offsets[0] = 0;
    offsets.sort_unstable();
    let table_at = draw.place(&[rows, columns]);
    let padding = draw.percent(15).then(|| draw.between(0, rows - 1));
    let (ids, order) = draw.indices::<I>(count, &[rows], Bad { percent: 0, negative: true });
    let (table, ids) = (Rc::new(draw.numbers::<T>(table_at.len)), Rc::new(ids));
    let weights = Rc::new(if weighted { draw.numbers::<T>(count) } else { Vec::new() });
    let op = EmbeddingBag::new(reduction).padding_index(padding.map(|row| row as i64)).par(Par::Seq).level(draw.level);
    let face = draw.pick(&Face::ALL);
    let name = format!(
        "EmbeddingBag {reduction}{} {name}, {} by {count} {order} in {bags} bags{}{}, {}",
        if weighted { " weighted" } else { "" },
        table_at.name(),
        if packed { ", packed" } else { "" },
        if padding.is_some() { ", padding" } else { "" },
        face.name(&Place::contiguous(&[bags, columns])),
    );
    let offsets = Rc::new(offsets);
    let at = if packed { vec![bags, mean_len] } else { vec![count] };
    let view = View::new(&ids, &at).expect("indices of their shape");
    let starts = View::new(&offsets, &[bags]).expect("an offset for each bag");
    let data = Spec::<T>::from_layout(&table_at.layout());
    let plan = match packed {
        true => op.plan(&data, &Bags::packed(&view)),
        false => op.plan(&data, &Bags::new(&view, &starts)),
    };
    let plan = plan.expect("valid bags");
    let explained = plan.explain().to_string();
    let bytes = size_of::<T>() * (table.len() + weights.len() + bags * columns)
        + size_of_val(&ids[..])
        + size_of_val(&offsets[..]);
    let plain = Plain {
        table: table.clone(),
        at: table_at.clone(),
        ids: ids.clone(),
        offsets: offsets.clone(),
        weights: weights.clone(),
        padding,
    };
    let mut once = [true; 2];
    let ours = move |out: &mut [T]| {
        let (table, ids) = (table_at.view(&table), View::new(&ids, &at).expect("indices of their shape"));
        let starts = View::new(&offsets, &[bags]).expect("an offset for each bag");
        let listed = View::new(&weights, &[weights.len()]).expect("weights");
        let shaped = weighted.then(|| View::new(&weights, &at).expect("a weight for each index"));
        if face == Face::Planned {
            let mut out = ViewMut::new(out, &[bags, columns]).expect("a row for each bag");
            return plan
                .run_into(&table, &Bags::planned(&ids).weights(shaped.as_ref()), &mut out)
                .expect("indices in range");
        }
        // Offsets of packed bags are no part of the call.
        if packed {
            let bags_of = Bags::packed(&ids).weights(shaped.as_ref());
            return with_bags(&op, &table, &bags_of, [bags, columns], face, &mut once[0], out);
        }
        let bags_of = Bags::new(&ids, &starts).weights(weighted.then_some(&listed));
        with_bags(&op, &table, &bags_of, [bags, columns], face, &mut once[0], out);
    };
    let len = bags * columns;
    let loops = move |out: &mut [T]| {
        if face == Face::Fresh {
            let mut fresh = std::hint::black_box(vec![T::ZERO; len]);
            plain.run::<R>(columns, &mut fresh);
            checked_once(&mut once[1], &fresh, out);
        } else {
            plain.run::<R>(columns, out);
        }
    };
    let begin = vec![T::unit(true); len];
    Some(Found {
        name,
        bytes,
        thin: false,
        fresh: face.fresh_bytes::<T>(len),
        explained,
        row: Row::new(&begin, ours, loops),
    })
}

/// The unplanned call.
fn with_bags<T: Number>(
    op: &EmbeddingBag,
    table: &View<'_, T>,
    bags: &impl BagsOf<T::Number>,
    shape: [usize; 2],
    face: Face,
    once: &mut bool,
    out: &mut [T],
) {
    match face {
        Face::Fresh => op.run(table, bags).map(|fresh| checked_once(once, fresh.as_slice(), out)),
        _ => op.run_into(table, bags, &mut ViewMut::new(out, &shape).expect("a row for each bag")),
    }
    .expect("indices in range");
}

/// The tensors of the plain loop.
struct Plain<T, I> {
    table: Rc<Vec<T>>,
    at: Place,
    ids: Rc<Vec<I>>,
    offsets: Rc<Vec<i64>>,
    weights: Rc<Vec<T>>,
    padding: Option<usize>,
}

impl<T: Number, I: Id> Plain<T, I> {
    /// The plain loop: rows are added up in the output where that holds the sum, else in a row of sums.
    fn run<R: Reduce<T>>(&self, columns: usize, out: &mut [T]) {
        let mut kept: Vec<R::Kept> = Vec::new();
        let rows = self.at.shape[0];
        let [row_stride, column_stride] = [self.at.strides[0], self.at.strides[1]];
        for (bag, out) in out.chunks_exact_mut(columns).enumerate() {
            let start = self.offsets[bag] as usize;
            let end = self.offsets.get(bag + 1).map_or(self.ids.len(), |&end| end as usize);
            let positions = self.ids[start..end].iter().zip(start..).filter_map(|(id, at)| {
                let position = from_end(id.long(), rows).expect("indices in range");
                (Some(position) != self.padding).then_some((position, at))
            });
            let first = |position: usize, column: usize| {
                self.table[(self.at.start + position as isize * row_stride + column as isize * column_stride) as usize]
            };
            let weigh = |at: usize, x: T| match self.weights.get(at) {
                // Only sums have weights, which are of the same type as they.
                Some(weight) => R::weighed(x, *weight),
                None => R::first(x),
            };
            if columns == 1 {
                let (mut sum, mut count) = (R::BEGIN, 0);
                for (position, at) in positions {
                    let new = weigh(at, first(position, 0));
                    sum = Some(sum.map_or(new, |sum| R::combine(sum, new)));
                    count += 1;
                }
                out[0] = if count == 0 { T::ZERO } else { R::end(sum.expect("a row at least"), count) };
                continue;
            }
            if column_stride == 1 && R::IN_PLACE && R::BEGIN.is_some() {
                out.fill(T::ZERO);
            }
            let mut count = 0;
            for (position, at) in positions {
                if column_stride != 1 {
                    let row = (0..columns).map(|column| weigh(at, first(position, column)));
                    combine::<T, R>(&mut kept, count, row);
                } else {
                    let from = (self.at.start + position as isize * row_stride) as usize;
                    let row = &self.table[from..from + columns];
                    match self.weights.get(at) {
                        None if R::IN_PLACE && count == 0 && R::BEGIN.is_none() => out.copy_from_slice(row),
                        None if R::IN_PLACE => {
                            let one = |kept: T, new: T| R::end(R::combine(R::first(kept), R::first(new)), 0);
                            out.iter_mut().zip(row).for_each(|(out, &new)| *out = one(*out, new));
                        }
                        Some(&weight) if R::IN_PLACE => {
                            let one = |kept: T, new| R::end(R::combine(R::first(kept), R::weighed(new, weight)), 0);
                            out.iter_mut().zip(row).for_each(|(out, &new)| *out = one(*out, new));
                        }
                        None => combine::<T, R>(&mut kept, count, row.iter().map(|&x| R::first(x))),
                        Some(&weight) => {
                            combine::<T, R>(&mut kept, count, row.iter().map(|&x| R::weighed(x, weight)));
                        }
                    }
                }
                count += 1;
            }
            if count == 0 {
                out.fill(T::ZERO);
            } else if column_stride != 1 || !R::IN_PLACE {
                out.iter_mut().zip(&kept).for_each(|(out, &kept)| *out = R::end(kept, count));
            }
        }
    }
}

/// Combines a row with those so far; the first one begins.
#[inline(always)]
fn combine<T: Number, R: Reduce<T>>(kept: &mut Vec<R::Kept>, count: u32, row: impl Iterator<Item = R::Kept>) {
    if count == 0 {
        kept.clear();
        kept.extend(row.map(|new| R::BEGIN.map_or(new, |begin| R::combine(begin, new))));
    } else {
        kept.iter_mut().zip(row).for_each(|(kept, new)| *kept = R::combine(*kept, new));
    }
}
