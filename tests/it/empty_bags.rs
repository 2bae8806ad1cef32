//! Bags without rows among others, and offsets of every type, against plain loops to the bit.

use gather_core::{Bags, EmbeddingBag, Error, FusedFormat, FusedRows, Index, Par, Reduction, View, ViewMut, tables};

/// Lengths of bags: none, one, empty ones in front, between and behind, few and many of them.
fn lengths() -> Vec<Vec<usize>> {
    let mixed = (0..90).map(|bag| if bag % 7 < 3 { 0 } else { bag % 5 }).collect();
    let [few, many] = [3, 20].map(|n| [vec![0; n], vec![2, 1], vec![0; n], vec![4], vec![0; n]].concat());
    vec![
        vec![],
        vec![0],
        vec![3],
        vec![0; 5],
        vec![0; 40],
        vec![0, 1],
        vec![1, 0],
        few,
        many,
        mixed,
        vec![0, 700, 0, 9, 0],
    ]
}

const ROWS: usize = 11;
const PADDING: i32 = 2;

struct Case {
    width: usize,
    lengths: Vec<usize>,
    ids: Vec<i32>,
    reduction: Reduction,
    padding: bool,
    default: Option<i64>,
    weights: Option<Vec<f32>>,
}

impl Case {
    fn expected(&self, table: &[f32]) -> Vec<f32> {
        let Case { width, ids, reduction, padding, default, .. } = self;
        let (mut out, mut at) = (Vec::new(), 0);
        for len in &self.lengths {
            let rows = || (at..at + len).filter(|&at| !(*padding && ids[at] == PADDING));
            for column in 0..*width {
                let weight = |at: usize| self.weights.as_ref().map_or(1.0, |weights| weights[at]);
                let values = || rows().map(|at| table[ids[at] as usize * width + column] * weight(at));
                out.push(match (rows().count(), default) {
                    (0, Some(row)) => table[*row as usize * width + column],
                    (0, None) => 0.0,
                    _ if *reduction == Reduction::Max => values().fold(f32::NEG_INFINITY, f32::max),
                    (_, _) if *reduction == Reduction::Add => values().fold(0.0, |sum, value| sum + value),
                    (count, _) => values().fold(0.0, |sum, value| sum + value) / count as f32,
                });
            }
            at += len;
        }
        out
    }

    fn check<O: Index + TryFrom<usize>>(&self, table: &[f32], par: Par) -> Result<(), Error> {
        let (bags, width) = (self.lengths.len(), self.width);
        let offset = |bag: usize| O::try_from(self.lengths[..bag].iter().sum()).ok().expect("few indices");
        let offsets: Vec<O> = (0..bags).map(offset).collect();
        let (data, expected) = (View::new(table, &[ROWS, width])?, self.expected(table));
        let op = EmbeddingBag::new(self.reduction).par(par).default_index(self.default);
        let op = op.padding_index(self.padding.then_some(i64::from(PADDING)));
        let listed = Bags::new(&self.ids, &offsets).weights(self.weights.as_ref());
        let planned = Bags::planned(&self.ids).weights(self.weights.as_ref());
        let what = || format!("{width} {:?} {:?} {} {:?}", self.lengths, self.reduction, self.padding, self.default);
        assert_eq!(op.run(&data, &listed)?.as_slice(), expected, "{}", what());
        let plan = op.plan(&data, &listed)?;
        assert_eq!(plan.run(&data, &planned)?.as_slice(), expected, "planned {}", what());
        // Rows of the output with a gap behind each, which stays.
        let mut memory = vec![7.5; bags * (width + 1)];
        let mut out = ViewMut::strided(&mut memory, &[bags, width], &[width as isize + 1, 1], 0)?;
        op.run_into(&data, &listed, &mut out)?;
        let spread = expected.chunks(width).flat_map(|row| row.iter().copied().chain([7.5]));
        assert!(spread.eq(memory), "strided {}", what());
        Ok(())
    }
}

#[test]
fn bags_without_rows_are_zeros_or_the_default_row() -> Result<(), Error> {
    for (number, width) in [1, 3, 4, 7, 8, 9, 16, 17, 32, 33, 113, 130].into_iter().enumerate() {
        let table: Vec<f32> = (0..ROWS * width).map(|at| (at * 37 % 101) as f32 / 8.0 - 5.0).collect();
        for lengths in lengths() {
            let count = lengths.iter().sum::<usize>();
            let ids: Vec<i32> = (0..count).map(|at| ((at * at + 3 * at) % ROWS) as i32).collect();
            for reduction in [Reduction::Add, Reduction::Mean, Reduction::Max] {
                for (padding, default) in [(false, None), (true, None), (true, Some(4))] {
                    let weights = (reduction == Reduction::Add && number % 2 == 0)
                        .then(|| (0..count).map(|at| (at % 9) as f32 / 4.0 - 1.0).collect());
                    let (lengths, ids) = (lengths.clone(), ids.clone());
                    let case = Case { width, lengths, ids, reduction, padding, default, weights };
                    case.check::<i64>(&table, Par::Seq)?;
                    case.check::<u32>(&table, Par::Threads(2))?;
                }
            }
        }
    }
    Ok(())
}

#[test]
fn offsets_are_read_alike_whatever_their_type_and_step() -> Result<(), Error> {
    fn offsets<O: Index + TryFrom<i128>>(data: &View<'_, f32>) -> Result<(), Error> {
        let ids = [1i32; 10];
        let sums = |list: &[i128], step: usize| {
            let list = list.iter().flat_map(|&at| vec![O::try_from(at).ok().expect("fits"); step]);
            let list: Vec<O> = list.collect();
            let offsets = View::strided(&list, &[list.len() / step], &[step as isize], 0)?;
            let out = EmbeddingBag::new(Reduction::Add).run(data, &Bags::new(&ids, &offsets))?;
            Ok::<_, Error>(out.as_slice().to_vec())
        };
        for step in [1, 2] {
            assert_eq!(sums(&[0, 0, 3, 10], step)?, [0.0, 6.0, 14.0, 0.0]);
            assert_eq!(sums(&[0, 5], step)?, [10.0, 10.0]);
            for (list, position, min, max) in
                [(&[1, 2][..], 0, 0, 0), (&[0, 5, 4, 11], 2, 5, 10), (&[0, 11, 12], 1, 0, 10), (&[0, 11, 3], 1, 0, 10)]
            {
                let offset = list[position];
                assert_eq!(sums(list, step), Err(Error::BagOffsetOutOfRange { position, offset, min, max }));
            }
            let (least, most) = (i128::from(O::try_from(-1).is_ok()), O::try_from(i128::from(u64::MAX)).is_ok());
            for offset in [-least, if most { i128::from(u64::MAX) } else { 100 }] {
                let expected = Error::BagOffsetOutOfRange { position: 1, offset, min: 0, max: 10 };
                let got = sums(&[0, offset, 2], step);
                assert!(if offset == 0 { got.is_ok() } else { got == Err(expected) }, "{offset}");
            }
        }
        Ok(())
    }
    let table = [1.0f32, 2.0];
    let data = View::new(&table, &[2])?;
    offsets::<i8>(&data)?;
    offsets::<u16>(&data)?;
    offsets::<i32>(&data)?;
    offsets::<u32>(&data)?;
    offsets::<i64>(&data)?;
    offsets::<u64>(&data)?;
    offsets::<usize>(&data)
}

#[test]
fn tables_have_bags_without_rows_too() -> Result<(), Error> {
    for columns in [1, 8, 40, 600] {
        let values: Vec<f32> = (0..ROWS * columns).map(|at| (at % 13) as f32).collect();
        for lengths in lengths() {
            let ids: Vec<i32> = (0..lengths.iter().sum::<usize>()).map(|at| (at % ROWS) as i32).collect();
            let offsets: Vec<usize> = (0..lengths.len()).map(|bag| lengths[..bag].iter().sum()).collect();
            let rows = FusedRows::plain(View::new(&values, &[ROWS, columns])?)?;
            assert_eq!(rows.format(), FusedFormat::F32);
            for reduction in [Reduction::Add, Reduction::Mean, Reduction::Max] {
                let (op, bags) = (EmbeddingBag::new(reduction), Bags::new(&ids, &offsets));
                let of_one = op.run(&View::new(&values, &[ROWS, columns])?, &bags)?;
                let fused = op.run(&rows.to::<f32>(), &bags)?;
                assert_eq!(fused.as_slice(), of_one.as_slice(), "{columns} {lengths:?} {reduction}");
                let source = tables::<f32>([&rows, &rows])?;
                let plan = op.plan(&source, &[bags, bags])?;
                let all = plan.run(&source, &[Bags::planned(&ids), Bags::planned(&ids)])?;
                let twice: Vec<f32> = of_one.as_slice().chunks(columns).flat_map(|row| [row, row].concat()).collect();
                assert_eq!(all.as_slice(), twice, "{columns} {lengths:?} {reduction}");
            }
        }
    }
    Ok(())
}

#[test]
fn offsets_whose_differences_wrap_are_refused() -> Result<(), Error> {
    let (table, id, most) = ([1.0f32, 2.0], [0u32], isize::MAX as usize);
    // As many indices as a layout can have, all of them one number in memory.
    let ids = View::strided(&id, &[most], &[0], 0)?;
    let offsets = [0, most as u64, usize::MAX as u64 - 1, 1];
    let sum = EmbeddingBag::new(Reduction::Add).include_last_offset(true);
    let (offset, max) = (i128::from(offsets[2]), most);
    let expected = Error::BagOffsetOutOfRange { position: 2, offset, min: max, max };
    assert_eq!(sum.run(&table, &Bags::new(&ids, &offsets)).err(), Some(expected.clone()));
    let plan = sum.plan(&table, &Bags::new(&[0u32; 0], &[0u64]))?;
    assert_eq!(plan.run(&table, &Bags::new(&ids, &offsets)).err(), Some(expected));
    Ok(())
}
