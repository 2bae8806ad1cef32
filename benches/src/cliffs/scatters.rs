//! Scatters: histograms.

use gather_core::{Index, Layout, Level, Par, Reduction, ScatterElements, Spec, View, ViewMut};

use super::{Case, Row};
use crate::inputs::Position;
use crate::random::Random;

/// Numbers of bins.
const FEW: usize = 256;
const MANY: usize = 1 << 20;
/// Indices.
const COUNT: usize = 4 << 20;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for stretched in [true, false] {
        cases.push(histogram::<u8>("u8", FEW, stretched, |random| random.bits() as u8));
        cases.push(histogram::<i64>("i64", FEW, stretched, |random| random.below(FEW) as i64));
        cases.push(histogram::<i64>("i64", MANY, stretched, |random| random.below(MANY) as i64));
        cases.push(histogram::<i32>("i32", MANY, stretched, |random| random.below(MANY) as i32));
    }
    cases
}

/// Ones that are added to `u32` bins: a vector of them, or one that is stretched.
fn histogram<I: Index + Position + 'static>(
    name: &str,
    bins: usize,
    stretched: bool,
    draw: impl Fn(&mut Random) -> I + 'static,
) -> Case {
    let ones = if stretched { "stride 0" } else { "a vector" };
    Case::new(format!("histogram/{name} into {bins} u32, ones {ones}"), move |level| {
        let mut random = Random::new(bins as u64);
        let indices: Vec<I> = (0..COUNT).map(|_| draw(&mut random)).collect();
        let ones = vec![1u32; if stretched { 1 } else { COUNT }];
        let step = isize::from(!stretched);
        let plan = plan(level, bins, step);
        let (ours, theirs) = ((indices.clone(), ones.clone()), (indices, ones));
        Row::new(
            &vec![0u32; bins],
            move |out| {
                let indices = View::new(&ours.0, &[COUNT]).expect("as many indices");
                let updates = View::strided(&ours.1, &[COUNT], &[step], 0).expect("ones");
                let mut out = ViewMut::new(out, &[bins]).expect("as many bins");
                plan.run_on(&mut out, &indices, &updates).expect("indices in range");
            },
            move |out| {
                let (indices, ones) = &theirs;
                if stretched {
                    indices.iter().for_each(|index| out[index.position()] += ones[0]);
                } else {
                    indices.iter().zip(ones).for_each(|(index, one)| out[index.position()] += one);
                }
            },
        )
    })
}

fn plan<I: Index>(level: Level, bins: usize, step: isize) -> gather_core::ScatterPlan<u32, I> {
    let (indices, updates) = (Layout::contiguous(&[COUNT]), Layout::strided(&[COUNT], &[step]));
    ScatterElements::onnx18(0, Reduction::Add)
        .par(Par::Seq)
        .level(level)
        .plan(
            &Spec::new(&[bins]).expect("a layout"),
            &Spec::from_layout(&indices.expect("a layout")),
            &Spec::from_layout(&updates.expect("a layout")),
        )
        .expect("a level of this machine")
}
