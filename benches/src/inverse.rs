//! Scatters, operators that rearrange space, and bags: what is not among the fixed workloads of gathers, called in the
//! same ways as those.

use gather_core::{Par, Tensor, ViewMut};

use crate::buffer::Buffer;
use crate::peers::{NotRun, Ready, into_fresh, into_warm};
use crate::spaces::{SPACES, Space};
use crate::workloads::WORKLOADS;
use crate::{bags, scatters};

/// A workload.
#[derive(Clone, Copy)]
pub enum Inverse {
    /// A scatter, or an adjoint.
    Scatter(&'static scatters::Workload),
    /// An operator that rearranges space.
    Space(&'static Space),
    /// An EmbeddingBag.
    Bag(&'static bags::Workload),
}

/// A call that writes into an output.
pub type IntoOutput<'a> = Box<dyn Fn(&mut [f32]) + 'a>;

/// A workload with its tensors: the ways to call it. Outputs are row-major.
pub trait Ways: Sync {
    /// The shape of the output.
    fn output_shape(&self) -> Vec<usize>;

    /// The loop that one would write, whatever the output holds.
    fn looped(&self, out: &mut [f32]);

    /// A call that was planned ahead, for a number of threads.
    fn planned(&self, threads: usize) -> IntoOutput<'_>;

    /// The operator, unplanned.
    fn unplanned(&self, threads: usize, out: &mut [f32]);

    /// The operator, unplanned, into a fresh tensor.
    fn fresh(&self, threads: usize) -> Tensor<f32>;
}

/// The threads of a call.
#[must_use]
pub fn par(threads: usize) -> Par {
    if threads == 1 { Par::Seq } else { Par::Threads(threads) }
}

impl Inverse {
    /// Every workload that is not a fixed one of the gathers.
    pub fn all() -> impl Iterator<Item = Inverse> {
        let scatters = scatters::WORKLOADS.iter().map(Inverse::Scatter);
        let others = SPACES.iter().map(Inverse::Space).chain(bags::WORKLOADS.iter().map(Inverse::Bag));
        scatters.chain(others).filter(|inverse| WORKLOADS.iter().all(|gather| gather.name != inverse.name()))
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Inverse::Scatter(workload) => workload.name,
            Inverse::Space(space) => space.name,
            Inverse::Bag(workload) => workload.name,
        }
    }

    /// Its tensors: the same every time.
    #[must_use]
    pub fn ways(&self) -> Box<dyn Ways> {
        match *self {
            Inverse::Scatter(workload) => Box::new(scatters::Tensors::new(workload)),
            Inverse::Space(space) => Box::new(Spaced::new(space)),
            Inverse::Bag(workload) => Box::new(bags::Tensors::new(workload)),
        }
    }

    /// Numbers of data, indices and updates that are read, and of results.
    #[must_use]
    pub fn lens(&self) -> [usize; 4] {
        let len = |shape: &[usize]| shape.iter().product::<usize>();
        match *self {
            Inverse::Scatter(work) => [len(work.data), len(work.indices), len(&work.updates()), len(work.data)],
            Inverse::Space(space) => [len(&space.shape), 0, 0, len(&space.planned(1).1)],
            Inverse::Bag(work) => [len(&work.table), len(&work.bags), 0, work.bags[0] * work.table[1]],
        }
    }

    /// Operator, attributes and shapes in words.
    #[must_use]
    pub fn what(&self) -> String {
        match *self {
            Inverse::Scatter(work) => {
                let reduction = if work.adds { "sums" } else { "replacements" };
                let (updates, spread) = (work.updates(), work.spread);
                format!("{reduction}: f32 {:?}, i64 {:?} ({spread:?}), updates {updates:?}", work.data, work.indices)
            }
            Inverse::Space(space) => format!("f32 {:?}", space.shape),
            Inverse::Bag(work) => {
                let weights = if work.weighted { ", weighted" } else { "" };
                format!("{:?}{weights}: f32 {:?}, i64 {:?}", work.reduction, work.table, work.bags)
            }
        }
    }
}

/// Data of an operator that rearranges space.
struct Spaced {
    space: &'static Space,
    data: Buffer<f32>,
}

impl Spaced {
    fn new(space: &'static Space) -> Self {
        let mut data = Buffer::zeroed(&space.shape);
        data.as_mut_slice().iter_mut().enumerate().for_each(|(at, value)| *value = at as f32 + 0.5);
        Spaced { space, data }
    }
}

impl Ways for Spaced {
    fn output_shape(&self) -> Vec<usize> {
        self.space.planned(1).1
    }

    fn looped(&self, out: &mut [f32]) {
        (self.space.plain)(self.data.as_slice(), self.space.shape, out);
    }

    fn planned(&self, threads: usize) -> IntoOutput<'_> {
        let (plan, _) = self.space.planned(threads);
        Box::new(move |out| plan.run_slices(self.data.as_slice(), out).expect("data and an output of these shapes"))
    }

    fn unplanned(&self, threads: usize, out: &mut [f32]) {
        let mut out = ViewMut::new(out, &self.output_shape()).expect("an output of this shape");
        (self.space.op)(par(threads)).run_into(&self.data.view(), &mut out);
    }

    fn fresh(&self, threads: usize) -> Tensor<f32> {
        (self.space.op)(par(threads)).run(&self.data.view())
    }
}

/// A call of a peer's name, ready to be timed. Besides gather-core there are the loop and the copy.
///
/// # Errors
/// The peer is another one, or runs on one thread.
pub fn ready<'a>(ways: &'a dyn Ways, peer: &str, threads: usize) -> Result<Ready<'a>, NotRun> {
    let shape = ways.output_shape();
    let into = |run: IntoOutput<'a>| into_warm(&shape, move |out: &mut Buffer<f32>| run(out.as_mut_slice()));
    match peer {
        "gather-core" => Ok(into(ways.planned(threads))),
        "gather-core-unplanned" => Ok(into(Box::new(move |out| ways.unplanned(threads, out)))),
        "gather-core-fresh" => {
            Ok(into_fresh(move || ways.fresh(threads), |out| Ok(bytemuck::cast_slice(out.as_slice()).to_vec())))
        }
        "loop" | "copy" if threads > 1 => Err(NotRun::one_thread()),
        "loop" => Ok(into(Box::new(|out| ways.looped(out)))),
        "copy" => {
            let mut from = Buffer::zeroed(&shape);
            ways.looped(from.as_mut_slice());
            Ok(into(Box::new(move |out| out.copy_from_slice(from.as_slice()))))
        }
        _ => Err(NotRun::Unsupported("measured on gathers only".into())),
    }
}
