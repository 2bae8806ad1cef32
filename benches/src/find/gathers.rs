//! Gather, GatherElements and GatherNd of random shapes.

use std::hint::black_box;
use std::rc::Rc;

use bytemuck::Pod;
use gather_core::{
    Element, Gather, GatherElements, GatherNd, GatherOperator, IndexAttributes, NegativeIndex, OutOfBounds, Par, Spec,
};
use half::f16;
use num_complex::Complex;

use super::draw::{Bad, Draw, FEWEST, Place};
use super::nest::{self, Axis, Loop, Nest};
use super::policy::{Clamps, Fails, Fills, Id, Policy, Rejects, Rules, Wraps};
use super::{Face, Found, checked_once};
use crate::cliffs::Row;

/// Shapes of a gather, or of a scatter that writes where it reads.
pub(super) struct Shapes {
    pub(super) op: Op,
    /// The tensor that is indexed.
    pub(super) data: Vec<usize>,
    pub(super) indices: Vec<usize>,
    pub(super) out: Vec<usize>,
}

/// An operator and its attributes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Gather { axis: usize, batch: usize },
    Elements { axis: usize },
    Nd { batch: usize, tuple: usize },
}

impl Shapes {
    pub(super) fn gather(draw: &mut Draw) -> Self {
        let counts = [draw.pick(&[0, 0, 0, 1, 2]), draw.pick(&[0, 0, 1, 1, 2, 3]), draw.pick(&[0, 1, 1, 1, 2, 3])];
        let inner = draw.between(0, 9 - counts[0] - counts[1]).min(draw.pick(&[0, 1, 1, 2, 3, 9]));
        let total = draw.size(FEWEST, draw.limits.out);
        let out = draw.shape(counts.iter().sum::<usize>() + inner, total);
        let (batch, rest) = out.split_at(counts[0]);
        let (outer, rest) = rest.split_at(counts[1]);
        let (ids, inner) = rest.split_at(counts[2]);
        let others: usize = [batch, outer, inner].concat().iter().product();
        let size = draw.size(1, draw.limits.data / others);
        let op = Op::Gather { axis: batch.len() + outer.len(), batch: batch.len() };
        Shapes { op, data: [batch, outer, &[size], inner].concat(), indices: [batch, ids].concat(), out: out.clone() }
    }

    pub(super) fn elements(draw: &mut Draw) -> Self {
        let (rank, total) = (draw.pick(&[1, 2, 2, 3, 3, 4, 6, 10]), draw.size(FEWEST, draw.limits.out));
        let out = draw.shape(rank, total);
        let axis = draw.between(0, rank - 1);
        let mut data = out.clone();
        if draw.percent(20) {
            let dim = draw.between(0, rank - 1);
            data[dim] += draw.between(1, 3);
        }
        data[axis] = 1;
        data[axis] = draw.size(1, draw.limits.data / data.iter().product::<usize>());
        Shapes { op: Op::Elements { axis }, data, indices: out.clone(), out }
    }

    pub(super) fn nd(draw: &mut Draw) -> Self {
        let (batch, lists, tuple) = (draw.pick(&[0, 0, 0, 1, 2]), draw.pick(&[0, 1, 1, 2, 3]), draw.pick(&[1, 1, 2]));
        let inner = draw.between(0, 10 - batch - tuple).min(draw.pick(&[0, 1, 1, 2, 3, 9]));
        let total = draw.size(FEWEST, draw.limits.out);
        let out = draw.shape(batch + lists + inner, total);
        let rows = &out[batch + lists..];
        let others = out[..batch].iter().chain(rows).product::<usize>();
        let places = draw.size(1, draw.limits.data / others);
        let axes = draw.shape(tuple, places);
        let data = [&out[..batch], &axes, rows].concat();
        let indices = [&out[..batch + lists], &[tuple]].concat();
        Shapes { op: Op::Nd { batch, tuple }, data, indices, out }
    }

    /// Sizes that components of indices are for, in turn.
    pub(super) fn axes(&self) -> &[usize] {
        match self.op {
            Op::Gather { axis, .. } | Op::Elements { axis } => &self.data[axis..=axis],
            Op::Nd { batch, tuple } => &self.data[batch..batch + tuple],
        }
    }

    /// The loops over output, data and indices that lie so.
    pub(super) fn nest(&self, out: &Place, data: &Place, indices: &Place, numbers: usize) -> Nest {
        let starts = [out.start, data.start, indices.start].map(|start| start as usize);
        let axis = |dim: usize, component| Axis { size: self.data[dim], stride: data.strides[dim], component };
        let mut loops = Vec::new();
        let mut add = |size, strides| loops.push(Loop { size, strides });
        let axes = match self.op {
            Op::Gather { axis: along, batch } => {
                let lists = self.indices.len() - batch;
                for (dim, (&size, &to)) in self.out.iter().zip(&out.strides).enumerate() {
                    if dim < batch {
                        add(size, [to, data.strides[dim], indices.strides[dim]]);
                    } else if dim < along {
                        add(size, [to, data.strides[dim], 0]);
                    } else if dim < along + lists {
                        add(size, [to, 0, indices.strides[batch + dim - along]]);
                    } else {
                        add(size, [to, data.strides[dim - lists + 1], 0]);
                    }
                }
                vec![axis(along, 0)]
            }
            Op::Elements { axis: along } => {
                for (dim, (&size, &to)) in self.out.iter().zip(&out.strides).enumerate() {
                    let from = if dim == along { 0 } else { data.strides[dim] };
                    add(size, [to, from, indices.strides[dim]]);
                }
                vec![axis(along, 0)]
            }
            Op::Nd { batch, tuple } => {
                let last = self.indices.len() - 1;
                for (dim, (&size, &to)) in self.out.iter().zip(&out.strides).enumerate() {
                    if dim < batch {
                        add(size, [to, data.strides[dim], indices.strides[dim]]);
                    } else if dim < last {
                        add(size, [to, 0, indices.strides[dim]]);
                    } else {
                        add(size, [to, data.strides[dim - last + batch + tuple], 0]);
                    }
                }
                (0..tuple).map(|k| axis(batch + k, k as isize * indices.strides[last])).collect()
            }
        };
        if numbers > 1 {
            add(numbers, [1, 1, 0]);
        }
        Nest::new(&loops, axes, starts)
    }
}

/// A random gather.
pub(super) fn draw(draw: &mut Draw) -> Option<Found> {
    let shapes = match draw.between(0, 9) {
        0..4 => Shapes::gather(draw),
        4..7 => Shapes::elements(draw),
        _ => Shapes::nd(draw),
    };
    if shapes.out.iter().product::<usize>() < FEWEST {
        return None;
    }
    Some(match draw.between(0, 5) {
        0 => indexed::<u8>("u8", draw, &shapes, 0),
        1 => indexed::<f16>("f16", draw, &shapes, f16::ZERO),
        2 => indexed::<f32>("f32", draw, &shapes, 0.0),
        3 => indexed::<i64>("i64", draw, &shapes, 0),
        4 => indexed::<[f32; 3]>("[f32; 3]", draw, &shapes, [0.0; 3]),
        _ => indexed::<Complex<f64>>("Complex<f64>", draw, &shapes, Complex::ZERO),
    })
}

fn indexed<T: Element + Pod>(name: &str, draw: &mut Draw, shapes: &Shapes, zero: T) -> Found {
    match draw.between(0, 3) {
        0 => with_op::<T, u8>(&format!("{name}/u8"), draw, shapes, zero),
        1 => with_op::<T, i32>(&format!("{name}/i32"), draw, shapes, zero),
        2 => with_op::<T, u32>(&format!("{name}/u32"), draw, shapes, zero),
        _ => with_op::<T, i64>(&format!("{name}/i64"), draw, shapes, zero),
    }
}

/// A plain loop, and the policy that it is for.
type Plain<T, I> = (Rules, fn(&Nest, T, &[T], &[I], &mut [T]) -> Option<()>);

fn plain<T: Copy, I: Id, P: Policy, const K: usize>() -> Plain<T, I> {
    (P::RULES, nest::gather::<T, I, P, K>)
}

fn any_policy<T: Copy, I: Id, const K: usize>(draw: &mut Draw) -> Plain<T, I> {
    match draw.between(0, 8) {
        0..3 => plain::<T, I, Fails, K>(),
        3 => plain::<T, I, Rejects, K>(),
        4 | 5 => plain::<T, I, Fills, K>(),
        6 => plain::<T, I, Clamps, K>(),
        _ => plain::<T, I, Wraps, K>(),
    }
}

fn with_op<T: Element + Pod, I: Id>(name: &str, draw: &mut Draw, shapes: &Shapes, zero: T) -> Found {
    let loops = match shapes.axes().len() {
        1 => any_policy::<T, I, 1>(draw),
        _ => any_policy::<T, I, 2>(draw),
    };
    match shapes.op {
        Op::Gather { axis, batch } => {
            let op = Gather::new(axis as i64).batch_dims(batch as i64);
            make(&format!("Gather {name} axis {axis} batch {batch}"), draw, shapes, op, zero, loops)
        }
        Op::Elements { axis } => {
            let op = GatherElements::new(axis as i64);
            make(&format!("GatherElements {name} axis {axis}"), draw, shapes, op, zero, loops)
        }
        Op::Nd { batch, .. } => {
            let op = GatherNd::new().batch_dims(batch as i64);
            make(&format!("GatherNd {name} batch {batch}"), draw, shapes, op, zero, loops)
        }
    }
}

/// The share of bad indices of a policy.
pub(super) fn bad<I: Id>(draw: &mut Draw, rules: Rules) -> Bad {
    let fails = rules.out_of_bounds == OutOfBounds::Error;
    let percent = if fails { 0 } else { draw.pick(&[0, 0, 1, 1, 100]) };
    Bad { percent, negative: rules.negative != NegativeIndex::Reject && I::of(-1).long() < 0 }
}

fn make<T: Element + Pod, I: Id, A: IndexAttributes + Clone + 'static>(
    name: &str,
    draw: &mut Draw,
    shapes: &Shapes,
    op: GatherOperator<A>,
    zero: T,
    (rules, loops): Plain<T, I>,
) -> Found {
    let op = op.negative_index(rules.negative).out_of_bounds(rules.out_of_bounds).par(Par::Seq).level(draw.level);
    let (data_at, ids_at) = (draw.place(&shapes.data), draw.place(&shapes.indices));
    let face = draw.pick(&Face::ALL);
    let out_at = if face == Face::Into && draw.percent(20) {
        draw.permuted(&shapes.out)
    } else {
        Place::contiguous(&shapes.out)
    };
    let bad = bad::<I>(draw, rules);
    let data = Rc::new(draw.values::<T>(data_at.len));
    // Components of a tuple are neighbours where indices are row-major; elsewhere all are below the least size.
    let least = *shapes.axes().iter().min().expect("an axis");
    let sizes = if ids_at.is_contiguous() { shapes.axes().to_vec() } else { vec![least] };
    let (ids, order) = draw.indices::<I>(ids_at.len, &sizes, bad);
    let ids = Rc::new(ids);
    let nest = shapes.nest(&out_at, &data_at, &ids_at, 1);
    let plan = op
        .plan_into(
            &Spec::<T>::from_layout(&data_at.layout()),
            &Spec::<I>::from_layout(&ids_at.layout()),
            &out_at.layout(),
        )
        .expect("a valid call");
    let name = format!(
        "{name}, {} by {} {order}, {:?}, {}% bad, {}",
        data_at.name(),
        ids_at.name(),
        rules.out_of_bounds,
        bad.percent,
        face.name(&out_at)
    );
    let explained = plan.explain().to_string();
    let bytes = size_of::<T>() * (data.len() + out_at.len) + size_of_val(&ids[..]);
    let (theirs, their_ids, len) = (data.clone(), ids.clone(), out_at.len);
    let slices = data_at.is_contiguous() && ids_at.is_contiguous() && out_at.is_contiguous();
    let mut once = [true; 2];
    let ours = move |out: &mut [T]| {
        let (data_view, ids_view) = (data_at.view(&data), ids_at.view(&ids));
        match face {
            Face::Planned if slices => plan.run_slices(&data, &ids, out),
            Face::Planned => plan.run_into(&data_view, &ids_view, &mut out_at.view_mut(out)),
            Face::Into => op.run_into(&data_view, &ids_view, &mut out_at.view_mut(out)),
            Face::Fresh => op.run(&data_view, &ids_view).map(|fresh| checked_once(&mut once[0], fresh.as_slice(), out)),
        }
        .expect("indices in range");
    };
    let plain = move |out: &mut [T]| {
        let run = |out: &mut [T]| {
            loops(&nest, zero, &theirs, &their_ids, out).expect("indices in range");
        };
        if face == Face::Fresh {
            let mut fresh = black_box(vec![zero; len]);
            run(&mut fresh);
            checked_once(&mut once[1], &fresh, out);
        } else {
            run(out);
        }
    };
    // What no call writes differs from what a call could give.
    Found {
        name,
        bytes,
        fresh: face.fresh_bytes::<T>(len),
        thin: false,
        explained,
        row: Row::new(&draw.values::<T>(len), ours, plain),
    }
}
