//! ScatterElements and ScatterNd of random shapes, with every reduction.

use std::rc::Rc;

use bytemuck::Pod;
use gather_core::{
    Element, Par, Reduction, ScatterAttributes, ScatterElements, ScatterNd, ScatterOperator, View, ViewMut,
};
use half::{bf16, f16};
use num_complex::Complex;

use super::draw::{Draw, FEWEST, Place};
use super::gathers::{Op, Shapes, bad};
use super::nest;
use super::policy::{Fails, Fills, Id, Policy};
use super::{Face, Found, checked_once};
use crate::cliffs::Row;
use crate::number::{Add, Last, Max, Mean, Min, Mul, Number, Reduce, Sub};

/// A random scatter.
pub(super) fn draw(draw: &mut Draw) -> Option<Found> {
    let shapes = if draw.percent(50) { Shapes::elements(draw) } else { Shapes::nd(draw) };
    if shapes.out.iter().product::<usize>() < FEWEST {
        return None;
    }
    Some(match draw.between(0, 7) {
        0 => indexed::<u8>("u8", draw, &shapes),
        1 => indexed::<i64>("i64", draw, &shapes),
        2 => indexed::<f16>("f16", draw, &shapes),
        3 => indexed::<bf16>("bf16", draw, &shapes),
        4 => indexed::<f32>("f32", draw, &shapes),
        5 => indexed::<f64>("f64", draw, &shapes),
        6 => indexed::<[f32; 3]>("[f32; 3]", draw, &shapes),
        _ => indexed::<Complex<f32>>("Complex<f32>", draw, &shapes),
    })
}

fn indexed<T: Element<Number: Number> + Pod>(name: &str, draw: &mut Draw, shapes: &Shapes) -> Found {
    match draw.between(0, 1) {
        0 => with_reduction::<T, i32>(&format!("{name}/i32"), draw, shapes),
        _ => with_reduction::<T, i64>(&format!("{name}/i64"), draw, shapes),
    }
}

fn with_reduction<T: Element<Number: Number> + Pod, I: Id>(name: &str, draw: &mut Draw, shapes: &Shapes) -> Found {
    let ordered = <T::Number as Number>::ORDERED;
    let reductions = Reduction::ALL.iter().copied();
    let reductions: Vec<_> =
        reductions.filter(|reduction| ordered || !matches!(reduction, Reduction::Min | Reduction::Max)).collect();
    let reduction = draw.pick(&reductions);
    match reduction {
        Reduction::Add => with_policy::<T, I, Add>(name, draw, shapes, reduction),
        Reduction::Sub => with_policy::<T, I, Sub>(name, draw, shapes, reduction),
        Reduction::Mul => with_policy::<T, I, Mul>(name, draw, shapes, reduction),
        Reduction::Min => with_policy::<T, I, Min>(name, draw, shapes, reduction),
        Reduction::Max => with_policy::<T, I, Max>(name, draw, shapes, reduction),
        Reduction::Mean => with_policy::<T, I, Mean>(name, draw, shapes, reduction),
        _ => with_policy::<T, I, Last>(name, draw, shapes, reduction),
    }
}

fn with_policy<T: Element<Number: Number> + Pod, I: Id, R: Reduce<T::Number> + 'static>(
    name: &str,
    draw: &mut Draw,
    shapes: &Shapes,
    reduction: Reduction,
) -> Found {
    if draw.percent(60) {
        with_op::<T, I, Fails, R>(name, draw, shapes, reduction)
    } else {
        with_op::<T, I, Fills, R>(name, draw, shapes, reduction)
    }
}

fn with_op<T: Element<Number: Number> + Pod, I: Id, P: Policy, R: Reduce<T::Number> + 'static>(
    name: &str,
    draw: &mut Draw,
    shapes: &Shapes,
    reduction: Reduction,
) -> Found {
    let include_self = reduction == Reduction::None || draw.percent(70);
    let alone = if include_self { "" } else { " without self" };
    match shapes.op {
        Op::Nd { batch, tuple } => {
            let op = ScatterNd::new().batch_dims(batch as i64).reduction(reduction).include_self(include_self);
            let name = format!("ScatterNd {reduction}{alone} {name} batch {batch}");
            match tuple {
                1 => make::<T, I, P, R, 1, _>(&name, draw, shapes, &op),
                _ => make::<T, I, P, R, 2, _>(&name, draw, shapes, &op),
            }
        }
        Op::Elements { axis } | Op::Gather { axis, .. } => {
            let op = ScatterElements::new(axis as i64).reduction(reduction).include_self(include_self);
            make::<T, I, P, R, 1, _>(
                &format!("ScatterElements {reduction}{alone} {name} axis {axis}"),
                draw,
                shapes,
                &op,
            )
        }
    }
}

fn make<
    T: Element<Number: Number> + Pod,
    I: Id,
    P: Policy,
    R: Reduce<T::Number> + 'static,
    const K: usize,
    A: ScatterAttributes + Clone + 'static,
>(
    name: &str,
    draw: &mut Draw,
    shapes: &Shapes,
    op: &ScatterOperator<A>,
) -> Found {
    let op = op.clone().negative_index(P::NEGATIVE).out_of_bounds(P::DROPS).par(Par::Seq);
    let (updates_at, ids_at) = (draw.place(&shapes.out), draw.place(&shapes.indices));
    let face = draw.pick(&Face::ALL);
    let bad = bad::<I, P>(draw);
    let numbers = size_of::<T>() / size_of::<T::Number>();
    let data_at = Place::contiguous(&shapes.data);
    let mut values = |len: usize| -> Vec<T> {
        let len = len * numbers;
        let values = if op.get_reduction() == Reduction::Mul { draw.units(len) } else { draw.numbers(len) };
        bytemuck::cast_slice::<T::Number, T>(&values).to_vec()
    };
    let (data, updates) = (values(data_at.len), Rc::new(values(updates_at.len)));
    let least = *shapes.axes().iter().min().expect("an axis");
    let sizes = if ids_at.is_contiguous() { shapes.axes().to_vec() } else { vec![least] };
    let (ids, order) = draw.indices::<I>(ids_at.len, &sizes, bad);
    let ids = Rc::new(ids);
    let [updates_of, data_of] = [&updates_at, &data_at].map(|place| place.of_numbers(numbers));
    let nest = shapes.nest(&updates_of, &data_of, &ids_at, numbers);
    let include_self = op.get_include_self();
    let plan = op.plan::<T, I>(&shapes.data, &ids_at.layout(), &updates_at.layout()).expect("a valid call");
    let name = format!(
        "{name}, {:?} by {} {order}, updates {}, {:?}, {}% bad, {}",
        shapes.data,
        ids_at.name(),
        updates_at.name(),
        P::DROPS,
        bad.percent,
        ["planned in place", "in place", "copied"][face as usize],
    );
    let explained = plan.explain().to_string();
    let bytes = size_of::<T>() * (data.len() + updates.len()) + size_of_val(&ids[..]);
    let (begin, fresh) = (data.clone(), face.fresh_bytes::<T>(data.len()));
    let data = Rc::new(data);
    let (kept, their_updates, their_ids) = (data.clone(), updates.clone(), ids.clone());
    let shape = shapes.data.clone();
    let mut once = [true; 2];
    let ours = move |out: &mut [T]| {
        let (ids, updates) = (ids_at.view(&ids), updates_at.view(&updates));
        match face {
            Face::Planned => plan.run_on(&mut ViewMut::new(out, &shape).expect("a destination"), &ids, &updates),
            Face::Into => op.run_on(&mut ViewMut::new(out, &shape).expect("a destination"), &ids, &updates),
            Face::Fresh => op
                .run(&View::new(&data, &shape).expect("a destination"), &ids, &updates)
                .map(|fresh| checked_once(&mut once[0], fresh.as_slice(), out)),
        }
        .expect("indices in range");
    };
    let plain = move |out: &mut [T]| {
        let updates = bytemuck::cast_slice(&their_updates);
        let run = |out: &mut [T]| {
            let out = bytemuck::cast_slice_mut(out);
            nest::scatter::<T::Number, I, P, R, K>(&nest, include_self, updates, &their_ids, out)
                .expect("indices in range");
        };
        if face == Face::Fresh {
            let mut fresh = kept.to_vec();
            run(&mut fresh);
            checked_once(&mut once[1], &fresh, out);
        } else {
            run(out);
        }
    };
    Found { name, bytes, fresh, explained, row: Row::new(&begin, ours, plain) }
}
