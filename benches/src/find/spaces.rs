//! BatchToSpace, SpaceToBatch, DepthToSpace and SpaceToDepth of random shapes.

use std::hint::black_box;
use std::rc::Rc;

use bytemuck::Pod;
use gather_core::{
    BatchToSpace, DepthMode, DepthToSpace, Element, Par, SpaceAttributes, SpaceOperator, SpaceToBatch, SpaceToDepth,
    Spec,
};
use half::f16;

use super::draw::{Draw, FEWEST, Place};
use super::{Face, Found, checked_once};
use crate::cliffs::Row;

/// The plain loop of an operator: each dimension of the output adds an offset in data, which tables hold. The first
/// dimension also chooses the tables of the others. No offset means a zero.
struct Tables {
    /// For each coordinate of the first dimension, its offset and the table of each other dimension.
    first: Vec<(isize, Vec<usize>)>,
    /// Of each other dimension.
    others: Vec<Vec<Vec<Option<isize>>>>,
}

/// A random call.
pub(super) fn draw(draw: &mut Draw) -> Option<Found> {
    Some(match draw.between(0, 4) {
        0 => of_type::<u8>("u8", draw, 0)?,
        1 => of_type::<f16>("f16", draw, f16::ZERO)?,
        2 => of_type::<f32>("f32", draw, 0.0)?,
        3 => of_type::<i64>("i64", draw, 0)?,
        _ => of_type::<[f32; 3]>("[f32; 3]", draw, [0.0; 3])?,
    })
}

fn of_type<T: Element + Pod>(name: &str, draw: &mut Draw, zero: T) -> Option<Found> {
    let (rank, total) = (draw.between(2, 6), draw.size(FEWEST, draw.limits.out));
    let mut shape = draw.shape(rank, total);
    let kind = draw.between(0, 3);
    if kind < 2 {
        let mut block = vec![1i64; rank];
        block.iter_mut().skip(1).for_each(|block| *block = draw.pick(&[1, 1, 2, 2, 3, 4, 8]));
        let product = block.iter().product::<i64>() as usize;
        let [begin, end] = [(); 2].map(|()| -> Vec<i64> {
            (0..rank).map(|dim| if dim > 0 && draw.percent(30) { draw.between(0, 2) as i64 } else { 0 }).collect()
        });
        if product > total {
            return None;
        }
        if kind == 0 {
            shape[0] = shape[0].div_ceil(product) * product;
            return to_space(name, draw, &shape, [&block, &begin, &end], zero);
        }
        for dim in 1..rank {
            let padded = shape[dim] + (begin[dim] + end[dim]) as usize;
            shape[dim] += padded.next_multiple_of(block[dim] as usize) - padded;
        }
        return to_batch(name, draw, &shape, [&block, &begin, &end], zero);
    }
    let rank = rank.max(3);
    shape.resize(rank, draw.between(1, 8));
    let block = draw.between(1, 4);
    let places = block.pow(rank as u32 - 2);
    let mode = draw.pick(&[DepthMode::Dcr, DepthMode::Crd]);
    if shape.iter().product::<usize>() * places > 4 * draw.limits.out {
        return None;
    }
    if kind == 2 {
        shape[1] *= places;
        let op = DepthToSpace::new(block as i64, mode);
        return depth(&format!("DepthToSpace {name} block {block} {mode:?}"), draw, &shape, &op, (block, mode), zero);
    }
    shape.iter_mut().skip(2).for_each(|size| *size *= block);
    let op = SpaceToDepth::new(block as i64, mode);
    depth(&format!("SpaceToDepth {name} block {block} {mode:?}"), draw, &shape, &op, (block, mode), zero)
}

/// The phase of each dimension for a number of all of them: the last one changes first.
fn phases(mut number: usize, block: &[i64]) -> Vec<usize> {
    let mut phases = vec![0; block.len()];
    for (phase, &block) in phases.iter_mut().zip(block).rev() {
        (*phase, number) = (number % block as usize, number / block as usize);
    }
    phases
}

fn to_space<T: Element + Pod>(
    name: &str,
    draw: &mut Draw,
    shape: &[usize],
    lists: [&[i64]; 3],
    zero: T,
) -> Option<Found> {
    let [block, begin, end] = lists;
    let op = BatchToSpace::new(block, begin, end);
    let out = op.output_shape(shape).ok()?.to_vec();
    let at = draw.place(shape);
    let images = out[0];
    let mut steps = vec![images; block.len()];
    for dim in (1..block.len()).rev() {
        steps[dim - 1] = steps[dim] * block[dim] as usize;
    }
    let others = (1..shape.len()).map(|dim| {
        let (block, begin) = (block[dim] as usize, begin[dim] as usize);
        let offset =
            |y: usize| (y % block * steps[dim]) as isize * at.strides[0] + (y / block) as isize * at.strides[dim];
        vec![(begin..begin + out[dim]).map(|y| Some(offset(y))).collect()]
    });
    let tables = Tables {
        others: others.collect(),
        first: (0..images).map(|n| (at.start + n as isize * at.strides[0], vec![0; shape.len() - 1])).collect(),
    };
    make(&format!("BatchToSpace {name} {block:?} crops {begin:?} {end:?}"), draw, &op, at, &out, tables, zero)
}

fn to_batch<T: Element + Pod>(
    name: &str,
    draw: &mut Draw,
    shape: &[usize],
    lists: [&[i64]; 3],
    zero: T,
) -> Option<Found> {
    let [block, begin, end] = lists;
    let op = SpaceToBatch::new(block, begin, end);
    let out = op.output_shape(shape).ok()?.to_vec();
    let at = draw.place(shape);
    let others = (1..shape.len()).map(|dim| {
        let offset = |phase: i64, y: usize| {
            let from = y as i64 * block[dim] + phase - begin[dim];
            (0..shape[dim] as i64).contains(&from).then(|| from as isize * at.strides[dim])
        };
        (0..block[dim]).map(|phase| (0..out[dim]).map(|y| offset(phase, y)).collect()).collect()
    });
    let first = (0..out[0]).map(|b| {
        let (phase, n) = (b / shape[0], b % shape[0]);
        (at.start + n as isize * at.strides[0], phases(phase, block)[1..].to_vec())
    });
    let tables = Tables { others: others.collect(), first: first.collect() };
    make(&format!("SpaceToBatch {name} {block:?} pads {begin:?} {end:?}"), draw, &op, at, &out, tables, zero)
}

fn depth<T: Element + Pod, A: SpaceAttributes + Clone + 'static>(
    name: &str,
    draw: &mut Draw,
    shape: &[usize],
    op: &SpaceOperator<A>,
    (block, mode): (usize, DepthMode),
    zero: T,
) -> Option<Found> {
    let out = op.output_shape(shape).ok()?.to_vec();
    let at = draw.place(shape);
    let places = block.pow(shape.len() as u32 - 2);
    let blocks = vec![block as i64; shape.len() - 2];
    let channels = out[1].min(shape[1]);
    let to_space = out[1] < shape[1];
    // The channel of the deep tensor for one of the other and a place in its block.
    let deep = |channel: usize, place: usize| match mode {
        DepthMode::Dcr => place * channels + channel,
        DepthMode::Crd => channel * places + place,
    };
    let mut others: Vec<Vec<Vec<Option<isize>>>> = Vec::new();
    if to_space {
        let step = |k: usize| block.pow((blocks.len() - 1 - k) as u32);
        others.push(vec![(0..channels).map(|c| Some(deep(c, 0) as isize * at.strides[1])).collect()]);
        for (k, dim) in (2..shape.len()).enumerate() {
            let place = |y: usize| deep(0, y % block * step(k)) as isize * at.strides[1];
            let offset = |y: usize| place(y) + (y / block) as isize * at.strides[dim];
            others.push(vec![(0..out[dim]).map(|y| Some(offset(y))).collect()]);
        }
    } else {
        let mut table = vec![None; out[1]];
        for place in 0..places {
            let phases = phases(place, &blocks);
            let place_at: isize =
                phases.iter().zip(&at.strides[2..]).map(|(&phase, stride)| phase as isize * stride).sum();
            (0..channels).for_each(|c| table[deep(c, place)] = Some(place_at + c as isize * at.strides[1]));
        }
        others.push(vec![table]);
        for (&size, stride) in out.iter().zip(&at.strides).skip(2) {
            others.push(vec![(0..size).map(|y| Some((y * block) as isize * stride)).collect()]);
        }
    }
    let first = (0..out[0]).map(|n| (at.start + n as isize * at.strides[0], vec![0; shape.len() - 1])).collect();
    make(name, draw, op, at, &out, Tables { others, first }, zero)
}

fn make<T: Element + Pod, A: SpaceAttributes + Clone + 'static>(
    name: &str,
    draw: &mut Draw,
    op: &SpaceOperator<A>,
    at: Place,
    out: &[usize],
    tables: Tables,
    zero: T,
) -> Option<Found> {
    let len = out.iter().product::<usize>();
    if len < FEWEST {
        return None;
    }
    let op = op.clone().par(Par::Seq).level(draw.level);
    let data = Rc::new(draw.values::<T>(at.len));
    let face = draw.pick(&Face::ALL);
    let plan = op.plan(&Spec::from_layout(&at.layout())).expect("a valid call");
    let out_at = Place::contiguous(out);
    let name = format!("{name}, {}, {}", at.name(), face.name(&out_at));
    let explained = plan.explain().to_string();
    let bytes = size_of::<T>() * (data.len() + len);
    let theirs = data.clone();
    let mut once = [true; 2];
    let ours = move |out: &mut [T]| {
        let data = at.view(&data);
        match face {
            Face::Planned => plan.run_into(&data, &mut out_at.view_mut(out)),
            Face::Into => op.run_into(&data, &mut out_at.view_mut(out)),
            Face::Fresh => op.run(&data).map(|fresh| checked_once(&mut once[0], fresh.as_slice(), out)),
        }
        .expect("a valid call");
    };
    let plain = move |out: &mut [T]| {
        if face == Face::Fresh {
            let mut fresh = black_box(vec![zero; len]);
            tables.run(&theirs, zero, &mut fresh);
            checked_once(&mut once[1], &fresh, out);
        } else {
            tables.run(&theirs, zero, out);
        }
    };
    Some(Found {
        name,
        bytes,
        fresh: face.fresh_bytes::<T>(len),
        thin: false,
        explained,
        row: Row::new(&draw.values::<T>(len), ours, plain),
    })
}

impl Tables {
    fn run<T: Copy>(&self, data: &[T], zero: T, out: &mut [T]) {
        let row = self.others.last().expect("two dimensions at least")[0].len();
        let mut rows = out.chunks_exact_mut(row);
        for (offset, chosen) in &self.first {
            let tables: Vec<&[Option<isize>]> =
                self.others.iter().zip(chosen).map(|(tables, &chosen)| &tables[chosen][..]).collect();
            let (last, outer) = tables.split_last().expect("two dimensions at least");
            // A last dimension that is contiguous in data is copied as a slice.
            let start = last[0];
            let whole = start.filter(|start| last.iter().zip(*start..).all(|(at, next)| *at == Some(next)));
            Self::each(outer, Some(*offset), &mut |offset| {
                let Some(out) = rows.next() else { return };
                match (offset, whole) {
                    (None, _) => out.fill(zero),
                    (Some(offset), Some(start)) => out.copy_from_slice(&data[(offset + start) as usize..][..row]),
                    (Some(offset), None) => {
                        for (out, at) in out.iter_mut().zip(*last) {
                            *out = at.map_or(zero, |at| data[(offset + at) as usize]);
                        }
                    }
                }
            });
        }
    }

    /// Calls a function with the offset of each row.
    fn each(tables: &[&[Option<isize>]], offset: Option<isize>, row: &mut impl FnMut(Option<isize>)) {
        match tables.split_first() {
            None => row(offset),
            Some((first, others)) => {
                for at in *first {
                    Self::each(others, offset.zip(*at).map(|(offset, at)| offset + at), row);
                }
            }
        }
    }
}
