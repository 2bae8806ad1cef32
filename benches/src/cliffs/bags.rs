//! Bags: reductions of halves, of narrow rows, of one huge bag, and means of integers.

use bytemuck::Pod;
use gather_core::{BagPlan, Bags, Element, EmbeddingBag, Level, Par, Reduction, Spec, View, ViewMut};
use half::{bf16, f16};

use super::{Case, Row};
use crate::random::Random;

/// A table, and bags and rows of each.
#[derive(Clone, Copy)]
struct Shape {
    table: [usize; 2],
    bags: [usize; 2],
}

/// Of a cached table.
const SHAPE: Shape = Shape { table: [4096, 64], bags: [16384, 32] };

impl Shape {
    fn name(self) -> String {
        let Shape { table: [rows, columns], bags: [bags, len] } = self;
        format!("{rows}x{columns} {bags}x{len}")
    }

    fn out(self) -> usize {
        self.bags[0] * self.table[1]
    }
}

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
    let halves = ways.into_iter().flat_map(|(name, reduction, weighted)| {
        [halves::<f16>("f16", name, reduction, weighted), halves::<bf16>("bf16", name, reduction, weighted)]
    });
    let narrow = [1, 2, 3, 4, 5, 7, 8, 16].map(|columns| Shape { table: [4096, columns], bags: [16384, 32] });
    let huge = [16, 64, 256].map(|columns| Shape { table: [4096, columns], bags: [1, 1 << 19] });
    let sums = narrow.into_iter().chain(huge);
    let sums = sums.flat_map(|shape| [plain::<f32>("f32", shape, false), plain::<i64>("i64", shape, false)]);
    let means = [4, 64].map(|columns| Shape { table: [4096, columns], ..SHAPE });
    let means = means.into_iter().flat_map(|shape| {
        [plain::<i32>("i32", shape, true), plain::<i64>("i64", shape, true), plain::<u8>("u8", shape, true)]
    });
    halves.chain(sums).chain(means).collect()
}

/// A number of which a plain loop makes sums and means.
trait Number: Element<Number = Self> + Pod {
    type Sum: Copy;
    const ZERO_SUM: Self::Sum;
    fn of_small(value: f32) -> Self;
    fn plus(sum: Self::Sum, value: Self) -> Self::Sum;
    fn end(sum: Self::Sum, count: Option<usize>) -> Self;
}

macro_rules! numbers {
    ($($ty:ty, $sum:ty: |$value:ident| $of:expr, |$total:ident, $count:ident| $mean:expr;)*) => {$(
        impl Number for $ty {
            type Sum = $sum;
            const ZERO_SUM: $sum = 0 as $sum;

            fn of_small($value: f32) -> Self {
                $of
            }

            #[inline(always)]
            fn plus(sum: $sum, value: Self) -> $sum {
                sum + value as $sum
            }

            #[inline(always)]
            fn end($total: $sum, count: Option<usize>) -> Self {
                match count {
                    None => $total as Self,
                    Some($count) => $mean,
                }
            }
        }
    )*};
}
numbers! {
    f32, f32: |value| value, |total, count| total / count as f32;
    i32, i64: |value| (value * 2e6) as i32, |total, count| total.div_euclid(count as i64) as i32;
    i64, i64: |value| (value * 2e6) as i64, |total, count| total.div_euclid(count as i64);
    u8, u64: |value| (value * 100.0 + 100.0) as u8, |total, count| (total / count as u64) as u8;
}

/// Sums, or means, beside a loop that keeps its sums in a row of the least type that holds them.
fn plain<T: Number>(dtype: &str, shape: Shape, mean: bool) -> Case {
    let (name, reduction) = if mean { ("mean", Reduction::Mean) } else { ("sum", Reduction::Add) };
    Case::new(format!("bag/{name} of {dtype} {}", shape.name()), move |level| {
        let ours = Tensors::<T>::new(shape, reduction, false, level, T::of_small);
        let theirs = Tensors::<T>::new(shape, reduction, false, level, T::of_small);
        let columns = shape.table[1];
        let mut sums = vec![T::ZERO_SUM; columns];
        let loops = move |out: &mut [T]| {
            for (ids, out) in theirs.ids.chunks(shape.bags[1]).zip(out.chunks_mut(columns)) {
                sums.fill(T::ZERO_SUM);
                for &id in ids {
                    let row = &theirs.table[id as usize * columns..][..columns];
                    sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum = T::plus(*sum, value));
                }
                let count = mean.then_some(ids.len());
                out.iter_mut().zip(&sums).for_each(|(out, &sum)| *out = T::end(sum, count));
            }
        };
        Row::new(&vec![T::ZERO; shape.out()], move |out| ours.run(out), loops)
    })
}

/// A half.
trait Half: Element<Number = Self> + Pod {
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
        let ours = Tensors::<T>::new(SHAPE, reduction, weighted, level, T::of);
        let plain = Tensors::<T>::new(SHAPE, reduction, weighted, level, T::of);
        let single = Tensors::<f32>::new(SHAPE, reduction, weighted, level, |value| value);
        let mut out = vec![0.0f32; SHAPE.out()];
        Row::new(&vec![T::ZERO; SHAPE.out()], move |out| ours.run(out), move |out| plain.loops(out)).beside(
            "f32",
            TIMES,
            move || single.run(&mut out),
        )
    })
}

struct Tensors<T> {
    shape: Shape,
    table: Vec<T>,
    ids: Vec<i64>,
    weights: Option<Vec<T>>,
    reduction: Reduction,
    plan: BagPlan<T, i64>,
}

impl<T: Element<Number = T>> Tensors<T> {
    fn new(shape: Shape, reduction: Reduction, weighted: bool, level: Level, of: impl Fn(f32) -> T) -> Self {
        let Shape { table: shape_of_table, bags } = shape;
        let mut random = Random::new(7);
        let mut numbers = |len: usize| (0..len).map(|_| of(random.fraction() as f32 - 0.5)).collect();
        let (table, weights): (Vec<T>, Vec<T>) =
            (numbers(shape_of_table.iter().product()), numbers(bags.iter().product()));
        let ids: Vec<i64> = (0..bags.iter().product()).map(|_| random.below(shape_of_table[0]) as i64).collect();
        let view = View::new(&ids, &bags).expect("indices of bags");
        let op = EmbeddingBag::torch(reduction).par(Par::Seq).level(level);
        let plan = op
            .plan(&Spec::<T>::new(&shape_of_table).expect("a table"), &Bags::packed(&view))
            .expect("a level of this machine");
        Tensors { shape, table, ids, weights: weighted.then_some(weights), reduction, plan }
    }

    fn run(&self, out: &mut [T]) {
        let Shape { table, bags } = self.shape;
        let columns = table[1];
        let table = View::new(&self.table, &table).expect("a table");
        let ids = View::new(&self.ids, &bags).expect("indices of bags");
        let weights = self.weights.as_ref().map(|weights| View::new(weights, &bags).expect("weights of bags"));
        let mut out = ViewMut::new(out, &[bags[0], columns]).expect("a row for each bag");
        self.plan.run_into(&table, &Bags::planned(&ids).weights(weights.as_ref()), &mut out).expect("indices in range");
    }
}

impl<T: Half> Tensors<T> {
    /// The plain loop, in single precision, rounded once.
    fn loops(&self, out: &mut [T]) {
        let Shape { table: [_, columns], bags: [_, len] } = self.shape;
        let mut sums = vec![0.0f32; columns];
        for ((bag, ids), out) in self.ids.chunks(len).enumerate().zip(out.chunks_mut(columns)) {
            for (k, &id) in ids.iter().enumerate() {
                let row = &self.table[id as usize * columns..][..columns];
                let weight = self.weights.as_ref().map_or(1.0, |weights| weights[bag * len + k].single());
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
            let count = if self.reduction == Reduction::Mean { len as f32 } else { 1.0 };
            out.iter_mut().zip(&sums).for_each(|(out, sum)| *out = T::of(sum / count));
        }
    }
}
