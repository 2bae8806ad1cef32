//! Bags: reductions of halves.

use bytemuck::Pod;
use gather_core::{BagPlan, Bags, Element, EmbeddingBag, Layout, Level, Par, Reduction, View, ViewMut};
use half::{bf16, f16};

use super::{Case, Row};
use crate::random::Random;

/// A cached table.
const TABLE: [usize; 2] = [4096, 64];
/// Bags, and rows of each.
const BAGS: [usize; 2] = [16384, 32];
/// How many times the time of `f32` halves may take.
const TIMES: f64 = 3.0;

pub(super) fn cases() -> Vec<Case> {
    let ways = [
        ("sum", Reduction::Add, false),
        ("weighted", Reduction::Add, true),
        ("mean", Reduction::Mean, false),
        ("max", Reduction::Max, false),
        ("min", Reduction::Min, false),
    ];
    ways.into_iter()
        .flat_map(|(name, reduction, weighted)| {
            [halves::<f16>("f16", name, reduction, weighted), halves::<bf16>("bf16", name, reduction, weighted)]
        })
        .collect()
}

/// A half.
trait Half: Element + Pod {
    fn of(value: f32) -> Self;
    fn single(self) -> f32;
}

macro_rules! halves {
    ($($ty:ty)*) => {$(
        impl Half for $ty {
            fn of(value: f32) -> Self {
                Self::from_f32(value)
            }

            fn single(self) -> f32 {
                self.to_f32()
            }
        }
    )*};
}
halves!(f16 bf16);

/// Sums of halves beside the same sums of `f32`.
fn halves<T: Half>(dtype: &str, name: &str, reduction: Reduction, weighted: bool) -> Case {
    Case::new(format!("bag/{name} of {dtype} 4096x64 16Kx32"), move |level| {
        let ours = Tensors::<T>::new(reduction, weighted, level, T::of);
        let plain = Tensors::<T>::new(reduction, weighted, level, T::of);
        let single = Tensors::<f32>::new(reduction, weighted, level, |value| value);
        let mut out = vec![0.0f32; BAGS[0] * TABLE[1]];
        Row::new(&vec![T::ZERO; BAGS[0] * TABLE[1]], move |out| ours.run(out), move |out| plain.loops(out)).beside(
            "f32",
            TIMES,
            move || single.run(&mut out),
        )
    })
}

struct Tensors<T> {
    table: Vec<T>,
    ids: Vec<i64>,
    weights: Option<Vec<T>>,
    reduction: Reduction,
    plan: BagPlan<T, i64>,
}

impl<T: Element> Tensors<T> {
    fn new(reduction: Reduction, weighted: bool, level: Level, of: impl Fn(f32) -> T) -> Self {
        let mut random = Random::new(7);
        let mut numbers = |len: usize| (0..len).map(|_| of(random.fraction() as f32 - 0.5)).collect();
        let (table, weights): (Vec<T>, Vec<T>) = (numbers(TABLE[0] * TABLE[1]), numbers(BAGS[0] * BAGS[1]));
        let ids: Vec<i64> = (0..BAGS[0] * BAGS[1]).map(|_| random.below(TABLE[0]) as i64).collect();
        let view = View::new(&ids, &BAGS).expect("indices of bags");
        let op = EmbeddingBag::torch(reduction).par(Par::Seq).level(level);
        let layout = Layout::contiguous(&TABLE).expect("a table");
        let plan = op.plan(&layout, &Bags::packed(&view)).expect("a level of this machine");
        Tensors { table, ids, weights: weighted.then_some(weights), reduction, plan }
    }

    fn run(&self, out: &mut [T]) {
        let table = View::new(&self.table, &TABLE).expect("a table");
        let ids = View::new(&self.ids, &BAGS).expect("indices of bags");
        let weights = self.weights.as_ref().map(|weights| View::new(weights, &BAGS).expect("weights of bags"));
        let mut out = ViewMut::new(out, &[BAGS[0], TABLE[1]]).expect("a row for each bag");
        self.plan.run_into(&table, &ids, weights.as_ref(), &mut out).expect("indices in range");
    }
}

impl<T: Half> Tensors<T> {
    /// The plain loop, in single precision, rounded once.
    fn loops(&self, out: &mut [T]) {
        let mut sums = [0.0f32; TABLE[1]];
        for ((bag, ids), out) in self.ids.chunks(BAGS[1]).enumerate().zip(out.chunks_mut(TABLE[1])) {
            for (k, &id) in ids.iter().enumerate() {
                let row = &self.table[id as usize * TABLE[1]..][..TABLE[1]];
                let weight = self.weights.as_ref().map_or(1.0, |weights| weights[bag * BAGS[1] + k].single());
                for (sum, x) in sums.iter_mut().zip(row) {
                    let x = x.single() * weight;
                    *sum = match self.reduction {
                        _ if k == 0 => x,
                        Reduction::Max => sum.max(x),
                        Reduction::Min => sum.min(x),
                        _ => *sum + x,
                    };
                }
            }
            let count = if self.reduction == Reduction::Mean { BAGS[1] as f32 } else { 1.0 };
            out.iter_mut().zip(&sums).for_each(|(out, sum)| *out = T::of(sum / count));
        }
    }
}
