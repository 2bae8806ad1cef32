//! ScatterElements and ScatterNd of random shapes, with every reduction.

use std::rc::Rc;

use bytemuck::Pod;
use gather_core::{
    Element, Par, Reduction, ScatterAttributes, ScatterElements, ScatterNd, ScatterOperator, Spec, View, ViewMut,
};
use half::{bf16, f16};
use num_complex::Complex;

use super::draw::{Draw, FEWEST, Place};
use super::gathers::{Op, Shapes, bad};
use super::nest::{self, Nest};
use super::policy::{Fails, Fills, Id, Policy, Rules};
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

/// A plain loop, and the policy that it is for.
type Plain<T, I> = (Rules, fn(&Nest, bool, &[T], &[I], &mut [T]) -> Option<()>);

fn plain<T: Number, I: Id, R: Reduce<T>>(tuple: usize, drops: bool) -> Plain<T, I> {
    match (tuple, drops) {
        (1, false) => (Fails::RULES, nest::scatter::<T, I, Fails, R, 1>),
        (1, true) => (Fills::RULES, nest::scatter::<T, I, Fills, R, 1>),
        (_, false) => (Fails::RULES, nest::scatter::<T, I, Fails, R, 2>),
        (_, true) => (Fills::RULES, nest::scatter::<T, I, Fills, R, 2>),
    }
}

fn with_reduction<T: Element<Number: Number> + Pod, I: Id>(name: &str, draw: &mut Draw, shapes: &Shapes) -> Found {
    let ordered = <T::Number as Number>::ORDERED;
    let reductions = Reduction::ALL.iter().copied();
    let reductions: Vec<_> =
        reductions.filter(|reduction| ordered || !matches!(reduction, Reduction::Min | Reduction::Max)).collect();
    let (reduction, tuple, drops) = (draw.pick(&reductions), shapes.axes().len(), !draw.percent(60));
    let loops = match reduction {
        Reduction::Add => plain::<T::Number, I, Add>(tuple, drops),
        Reduction::Sub => plain::<T::Number, I, Sub>(tuple, drops),
        Reduction::Mul => plain::<T::Number, I, Mul>(tuple, drops),
        Reduction::Min => plain::<T::Number, I, Min>(tuple, drops),
        Reduction::Max => plain::<T::Number, I, Max>(tuple, drops),
        Reduction::Mean => plain::<T::Number, I, Mean>(tuple, drops),
        Reduction::None => plain::<T::Number, I, Last>(tuple, drops),
        other => unreachable!("{other} has no loop"),
    };
    let include_self = reduction == Reduction::None || draw.percent(70);
    let alone = if include_self { "" } else { " without self" };
    match shapes.op {
        Op::Nd { batch, .. } => {
            let op = ScatterNd::new().batch_dims(batch as i64).reduction(reduction).include_self(include_self);
            let name = format!("ScatterNd {reduction}{alone} {name} batch {batch}");
            make::<T, I, _>(&name, draw, shapes, op, loops)
        }
        Op::Elements { axis } | Op::Gather { axis, .. } => {
            let op = ScatterElements::new(axis as i64).reduction(reduction).include_self(include_self);
            let name = format!("ScatterElements {reduction}{alone} {name} axis {axis}");
            make::<T, I, _>(&name, draw, shapes, op, loops)
        }
    }
}

fn make<T: Element<Number: Number> + Pod, I: Id, A: ScatterAttributes + Clone + 'static>(
    name: &str,
    draw: &mut Draw,
    shapes: &Shapes,
    op: ScatterOperator<A>,
    (rules, loops): Plain<T::Number, I>,
) -> Found {
    let op = op.negative_index(rules.negative).out_of_bounds(rules.drops).par(Par::Seq).level(draw.level);
    let (updates_at, ids_at) = (draw.place(&shapes.out), draw.place(&shapes.indices));
    let face = draw.pick(&Face::ALL);
    let bad = bad::<I>(draw, rules);
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
    let plan = op
        .plan(
            &Spec::<T>::from_layout(&data_at.layout()),
            &Spec::<I>::from_layout(&ids_at.layout()),
            &Spec::from_layout(&updates_at.layout()),
        )
        .expect("a valid call");
    let name = format!(
        "{name}, {:?} by {} {order}, updates {}, {:?}, {}% bad, {}",
        shapes.data,
        ids_at.name(),
        updates_at.name(),
        rules.drops,
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
            loops(&nest, include_self, updates, &their_ids, out).expect("indices in range");
        };
        if face == Face::Fresh {
            let mut fresh = kept.to_vec();
            run(&mut fresh);
            checked_once(&mut once[1], &fresh, out);
        } else {
            run(out);
        }
    };
    Found { name, bytes, thin: false, fresh, explained, row: Row::new(&begin, ours, plain) }
}
