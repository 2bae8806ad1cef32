//! Bags of rows that a map converts first, and other ways to the same sums.

use bytemuck::Pod;
use gather_core::maps::{self, Q8_0};
use gather_core::{
    BagPlan, Bags, Element, EmbeddingBag, Gather, Given, Map, Mapped, Par, Params, Reducible, Reduction, Spec, Tensor,
    View,
};
use half::f16;

use crate::random::Random;

/// Sums of one workload, in several ways, all into warm memory.
pub struct Ways<'a> {
    /// The name.
    pub name: &'static str,
    /// Bags that convert their rows: on one thread, and on two.
    pub mapped: [Box<dyn FnMut() + Send + 'a>; 2],
    /// Rows that are gathered and converted, then bags of these.
    pub gathered: Box<dyn FnMut() + Send + 'a>,
    /// Bags of a table that was converted beforehand.
    pub converted: Box<dyn FnMut() + Send + 'a>,
}

/// A table, and the sizes of bags.
struct Input<T> {
    table: Tensor<T>,
    ids: Tensor<i64>,
}

impl<T: Copy> Input<T> {
    fn new(name: &str, table: [usize; 2], bags: [usize; 2], mut element: impl FnMut(&mut Random) -> T) -> Self {
        let mut random = Random::named(name);
        let first = element(&mut random);
        let mut table = Tensor::full(&table, first).expect("a table that fits");
        table.as_mut_slice().fill_with(|| element(&mut random));
        let mut ids = Tensor::full(&bags, 0).expect("indices that fit");
        ids.as_mut_slice().fill_with(|| random.below(table.shape()[0]) as i64);
        Input { table, ids }
    }
}

/// Calls `each` with every workload: sums of rows in `f16`, in bytes with a scale for each row, and in blocks `Q8_0`.
pub fn each(filter: &str, mut each: impl FnMut(Ways<'_>)) {
    let halves = |random: &mut Random| f16::from_f32(random.fraction() as f32 - 0.5);
    let all: [(&'static str, [usize; 2], [usize; 2]); 5] = [
        ("f16_1Mx64_16Kx32", [1 << 20, 64], [16384, 32]),
        ("f16_1Mx16_64Kx8", [1 << 20, 16], [65536, 8]),
        ("f16_4096x64_16Kx32", [4096, 64], [16384, 32]),
        ("f16_50257x768_256x128", [50257, 768], [256, 128]),
        ("f16_1000x100_16Kx4", [1000, 100], [16384, 4]),
    ];
    for (name, table, bags) in all.into_iter().filter(|(name, ..)| name.contains(filter)) {
        run(name, &maps::convert::<_, f32>(), &Input::new(name, table, bags, halves), (), &mut each);
    }
    let name = "u8_scaled_1Mx64_16Kx32";
    if name.contains(filter) {
        let input = Input::new(name, [1 << 20, 64], [16384, 32], |random| random.bits() as u8);
        let scales: Vec<f32> = (0..1 << 20).map(|row| (row % 100) as f32 * 0.01).collect();
        run(name, &maps::dequantize(), &input, (Given::PerRow(&scales), Given::All(128)), &mut each);
    }
    let name = "q8_0_50257x768_256x128";
    if name.contains(filter) {
        let input = Input::new(name, [50257, 24], [256, 128], |random| {
            let mut bytes = [0; 34];
            bytes.fill_with(|| random.bits() as u8);
            bytes[..2].copy_from_slice(&f16::from_f32(0.01).to_le_bytes());
            Q8_0::from(bytes)
        });
        run(name, &maps::convert::<_, f32>(), &input, (), &mut each);
    }
}

/// Checks that all ways give the same bits, and hands them over.
fn run<'a, T: Element, U: Reducible<Number = f32> + Pod, P: Params<Given<'a>: Send + Sync>>(
    name: &'static str,
    map: &Map<T, U, P>,
    input: &Input<T>,
    given: P::Given<'a>,
    each: &mut impl FnMut(Ways<'_>),
) {
    let (table, ids) = (input.table.view(), input.ids.view());
    let (&[rows, elements], &[bags, len]) = (table.shape(), ids.shape()) else {
        unreachable!("tables and packed bags")
    };
    let columns = elements * size_of::<U>() / size_of::<f32>();
    let op = |threads| EmbeddingBag::torch(Reduction::Add).par(if threads == 1 { Par::Seq } else { Par::Threads(2) });
    let plan = |threads| -> BagPlan<Mapped<T, U>, i64> {
        op(threads).plan(&table.map(map, given), &Bags::packed(&ids)).expect("a workload of the list")
    };
    let (one, two) = (plan(1), plan(2));
    let gather = Gather::new(0).par(Par::Seq).plan(&table.map(map, given), &ids).expect("a workload of the list");
    let order: Vec<i64> = (0..bags * len).map(|at| at as i64).collect();
    let order = View::new(&order, &[bags, len]).expect("as many indices");
    let zero = U::ZERO;
    let mut between = Tensor::full(&[bags, len, elements], zero).expect("rows that fit");
    let flat = |rows: usize, values: &[U], run: &mut dyn FnMut(&View<'_, f32>)| {
        run(&View::new(bytemuck::cast_slice(values), &[rows, columns]).expect("rows of numbers"));
    };
    let mut whole = Tensor::full(&[rows, elements], zero).expect("a table that fits");
    let every: Vec<i64> = (0..rows as i64).collect();
    let every = View::new(&every, &[rows]).expect("as many indices");
    Gather::new(0).run_into(&table.map(map, given), &every, &mut whole.view_mut()).expect("a workload of the list");
    let bag = |rows: usize, ids: &View<'_, i64>| -> BagPlan<f32, i64> {
        let table = Spec::<f32>::new(&[rows, columns]).expect("a table in memory");
        op(1).plan(&table, &Bags::packed(ids)).expect("a workload of the list")
    };
    let (after, beforehand) = (bag(bags * len, &order), bag(rows, &ids));
    let expected = {
        let mut expected = vec![0.0f32; bags * columns];
        let values: &[f32] = bytemuck::cast_slice(whole.as_slice());
        for (sums, bag) in expected.chunks_mut(columns).zip(input.ids.as_slice().chunks(len)) {
            for &id in bag {
                sums.iter_mut().zip(&values[id as usize * columns..]).for_each(|(sum, x)| *sum += x);
            }
        }
        expected
    };
    let [mut a, mut b] = [(); 2].map(|()| Tensor::full(&[bags, elements], zero).expect("sums that fit"));
    let [mut c, mut d] = [(); 2].map(|()| Tensor::full(&[bags, columns], f32::NAN).expect("sums that fit"));
    {
        let into = |plan: &BagPlan<Mapped<T, U>, i64>, out: &mut Tensor<U>| {
            plan.run_into(&table.map(map, given), &Bags::planned(&ids), &mut out.view_mut()).expect("indices in range");
        };
        let mut ways = Ways {
            name,
            mapped: [Box::new(|| into(&one, &mut a)), Box::new(|| into(&two, &mut b))],
            gathered: Box::new(|| {
                gather.run_into(&table.map(map, given), &ids, &mut between.view_mut()).expect("indices in range");
                flat(bags * len, between.as_slice(), &mut |rows| {
                    after.run_into(rows, &Bags::planned(&order), &mut c.view_mut()).expect("indices in range");
                });
            }),
            converted: Box::new(|| {
                flat(rows, whole.as_slice(), &mut |rows| {
                    beforehand.run_into(rows, &Bags::planned(&ids), &mut d.view_mut()).expect("indices in range");
                });
            }),
        };
        ways.mapped.iter_mut().for_each(|run| run());
        (ways.gathered)();
        (ways.converted)();
        each(ways);
    }
    for got in [bytemuck::cast_slice(a.as_slice()), bytemuck::cast_slice(b.as_slice()), c.as_slice(), d.as_slice()] {
        assert!(got.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()), "{name}");
    }
}
