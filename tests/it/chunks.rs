//! Chunks: a table that is divided at random, beside the same table in one tensor, to the bit.

use std::fmt::Debug;

use gather_core::{
    Bags, Bitmap, Codes, DynView, Element, EmbeddingBag, Error, FusedFormat, FusedRows, Gather, Given, Layout, Method,
    Nulls, OutOfBounds, Par, Reduction, Spec, TableOf, Tensor, View, ViewMut, chunks, maps, row_kernels, rows,
};

use crate::support::{levels, mixed};

row_kernels! {
    static SHIFTED = |row: &[f32], out: &mut [f32], by: f32, more: &[f32]| {
        for (at, out) in out.iter_mut().enumerate() {
            *out = row[at] * 3.0 + by + more[at];
        }
    };
}

/// Row counts of chunks that sum to `rows`, some of them 0.
fn divisions(rows: usize) -> Vec<Vec<usize>> {
    let random = |seed: u64, most: u64| {
        let (mut left, mut lengths) = (rows, Vec::new());
        for at in 0.. {
            if left == 0 {
                break;
            }
            let n = (mixed(seed, at) % most) as usize;
            lengths.push(n.min(left));
            left -= n.min(left);
        }
        lengths
    };
    let equal = |n: usize| (0..rows).step_by(n).map(|at| n.min(rows - at)).collect::<Vec<_>>();
    let of_one = [vec![0, rows, 0, 0], vec![rows]];
    let of_two = [vec![1, rows - 1], vec![rows - 1, 0, 1], vec![0, rows / 2, rows - rows / 2, 0]];
    of_one.into_iter().chain(of_two).chain([equal(1), equal(16), equal(37), random(1, 5), random(2, 60)]).collect()
}

/// Calls `run` with the rows of each chunk: from, to.
fn each_chunk(lengths: &[usize]) -> impl Iterator<Item = std::ops::Range<usize>> {
    lengths.iter().scan(0, |end, &n| {
        *end += n;
        Some(*end - n..*end)
    })
}

const ROWS: usize = 150;

fn ids() -> Vec<i64> {
    (0..700).map(|at| (mixed(7, at) % ROWS as u64) as i64 - if at % 5 == 0 { ROWS as i64 } else { 0 }).collect()
}

fn results<T: Element + PartialEq + Debug>(got: Result<Tensor<T>, Error>) -> Result<(Vec<usize>, Vec<T>), String> {
    got.map(|tensor| (tensor.shape().to_vec(), tensor.as_slice().to_vec())).map_err(|error| error.to_string())
}

/// Compares calls on chunks with calls on the whole table: policies, methods, plans, outputs, nulls.
fn same<U: Element + PartialEq + Debug, S, T>(divided: &S, whole: &T)
where
    S: TableOf<Gather, U>,
    T: TableOf<Gather, U>,
{
    let within = ids();
    let beyond: Vec<i64> = within.iter().enumerate().map(|(at, &id)| if at % 7 == 3 { id + 999 } else { id }).collect();
    let square = View::new(&within[..60], &[5, 4, 3]).unwrap();
    for (at, level) in levels().enumerate() {
        for &policy in OutOfBounds::ALL {
            let par = if at % 2 == 1 { Par::Threads(3) } else { Par::Seq };
            let op = Gather::new(0).level(level).par(par).out_of_bounds(policy);
            for ids in [&within, &beyond] {
                let expected = results(op.run(whole, ids));
                for op in [op, op.method(Method::Direct), op.method(Method::Blocks)] {
                    assert_eq!(results(op.run(divided, ids)), expected, "{op:?}");
                }
                let plan = op.plan(divided, ids).unwrap();
                assert_eq!(results(plan.run(divided, ids)), expected, "{op:?}, planned");
                assert_eq!(plan.output_shape(), op.plan(whole, ids).unwrap().output_shape(), "{op:?}");
                let plan = op.plan_any_count(divided, &Spec::<i64>::new(&[20]).unwrap()).unwrap();
                assert_eq!(results(plan.run(divided, ids)), expected, "{op:?}, for any count");
                for few in [0, 1, 5] {
                    let few = &ids[..few];
                    assert_eq!(results(plan.run(divided, few)), results(op.run(whole, few)), "{op:?}, few");
                    assert_eq!(results(op.run(divided, few)), results(op.run(whole, few)), "{op:?}, few");
                }
                if let Ok((shape, values)) = &expected {
                    let mut out = vec![U::ZERO; values.len()];
                    op.run_into(divided, ids, &mut ViewMut::new(&mut out, shape).unwrap()).unwrap();
                    assert_eq!(&out, values, "{op:?}, into a view");
                }
            }
            assert_eq!(results(op.run(divided, &square)), results(op.run(whole, &square)), "{op:?}, 3-D indices");
            let (bits, of_rows) = ([0b1011_0111u8; 100], [0b1110_1101u8; 20]);
            for data in [None, Some(Bitmap::new(&of_rows, 3, ROWS).unwrap())] {
                let nulls = Nulls { indices: Some(Bitmap::new(&bits, 1, within.len()).unwrap()), data };
                let [got, expected] = [
                    op.nullable().run(divided, &within, nulls).map(|(rows, valid)| (results(Ok(rows)), valid)),
                    op.nullable().run(whole, &within, nulls).map(|(rows, valid)| (results(Ok(rows)), valid)),
                ];
                let (got, expected) = (got.unwrap(), expected.unwrap());
                assert_eq!(got.0, expected.0, "{op:?}, nulls");
                let bytes = |valid: Option<gather_core::Validity>| valid.map(|valid| valid.as_bytes().to_vec());
                assert_eq!(bytes(got.1), bytes(expected.1), "{op:?}, nulls");
            }
        }
    }
}

fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|at| (mixed(5, at) % 1000) as f32 / 8.0).collect()
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| mixed(6, at) as u8).collect()
}

/// Compares divided rows of elements `T` with the whole table: in views, in views whose rows are apart, at run time.
fn plain<T: Element + PartialEq + Debug>(row: &[usize], value: impl Fn(usize) -> T) {
    let width: usize = row.iter().product();
    let values: Vec<T> = (0..ROWS * width).map(value).collect();
    let shape = |rows: usize| [&[rows], row].concat();
    let whole = View::new(&values, &shape(ROWS)).unwrap();
    for lengths in divisions(ROWS) {
        let parts: Vec<View<'_, T>> = each_chunk(&lengths)
            .map(|rows| View::new(&values[rows.start * width..rows.end * width], &shape(rows.len())).unwrap())
            .collect();
        let divided = chunks(&parts).unwrap();
        assert_eq!(divided.shape(), whole.shape());
        same(&divided, &whole);
        // An array of numbers has no kernels of its own in the registry.
        if T::DTYPE.size() > 8 {
            continue;
        }
        let parts: Vec<DynView<'_>> = parts.iter().map(DynView::from).collect();
        let (divided, ids) = (chunks(&parts).unwrap(), ids());
        let got = Gather::new(0).run(&divided, &ids).unwrap();
        assert_eq!(got.downcast::<T>().unwrap().as_slice(), Gather::new(0).run(&whole, &ids).unwrap().as_slice());
    }
}

#[test]
fn elements_of_any_width() {
    plain(&[], |at| mixed(1, at) as u8);
    plain(&[3], |at| mixed(1, at) as u8);
    plain(&[40], |at| mixed(1, at) as f32);
    plain(&[2, 5, 3], |at| mixed(1, at) as u16);
    plain(&[4], |at| [mixed(1, at), at as u64]);
    plain(&[77], |at| mixed(1, at));
}

#[test]
fn rows_without_elements() {
    let parts = [View::<f32>::new(&[], &[2, 0]).unwrap(), View::new(&[], &[3, 0]).unwrap()];
    let rows = Gather::new(0).run(&chunks(&parts).unwrap(), &[4u8, 0]).unwrap();
    assert_eq!(rows.shape(), [2, 0]);
    assert!(Gather::new(0).run(&chunks(&parts).unwrap(), &[5u8]).is_err());
}

#[test]
fn rows_that_are_apart() {
    let values = numbers(ROWS * 12 + 2);
    let part = |rows: std::ops::Range<usize>| View::strided(&values, &[rows.len(), 7], &[12, 1], rows.start * 12 + 2);
    for lengths in divisions(ROWS) {
        let parts: Vec<_> = each_chunk(&lengths).map(|rows| part(rows).unwrap()).collect();
        same(&chunks(&parts).unwrap(), &part(0..ROWS).unwrap());
    }
}

#[test]
fn maps_with_values_per_row_and_per_element() {
    let (codes, scales, each) = (bytes(ROWS * 21), numbers(ROWS), numbers(ROWS * 21));
    let whole = View::new(&codes, &[ROWS, 7, 3]).unwrap();
    let map = maps::dequantize::<u8>();
    for lengths in divisions(ROWS) {
        let parts: Vec<_> = each_chunk(&lengths)
            .map(|rows| (View::new(&codes[rows.start * 21..rows.end * 21], &[rows.len(), 7, 3]).unwrap(), rows))
            .collect();
        let divided: Vec<_> = parts
            .iter()
            .map(|(part, rows)| part.map(&map, (Given::PerRow(&scales[rows.clone()]), Given::All(9))))
            .collect();
        same(&chunks(&divided).unwrap(), &whole.map(&map, (Given::PerRow(&scales), Given::All(9))));
        let divided: Vec<_> = parts
            .iter()
            .map(|(part, rows)| {
                part.map(&map, (Given::PerElement(&each[rows.start * 21..rows.end * 21]), Given::All(9)))
            })
            .collect();
        same(&chunks(&divided).unwrap(), &whole.map(&map, (Given::PerElement(&each), Given::All(9))));
    }
}

#[test]
fn arrays_that_a_map_makes_and_their_numbers() {
    use gather_core::maps::{Block, Q8_0};
    let blocks: Vec<u8> = (0..ROWS * 2 * size_of::<Q8_0>()).map(|at| (mixed(8, at) % 120) as u8).collect();
    let blocks = Q8_0::from_bytes(&blocks).0;
    let whole = View::new(blocks, &[ROWS, 2]).unwrap();
    let map = maps::convert::<Q8_0, f32>();
    for lengths in divisions(ROWS) {
        let parts: Vec<_> = each_chunk(&lengths)
            .map(|rows| View::new(&blocks[rows.start * 2..rows.end * 2], &[rows.len(), 2]).unwrap())
            .collect();
        let parts: Vec<_> = parts.iter().map(|part| part.map(&map, ())).collect();
        same(&chunks(&parts).unwrap(), &whole.map(&map, ()));
        let query = numbers(64);
        let of = (Given::All(&query[..]),);
        let [divided, whole] = [
            results(Gather::new(0).run(&chunks(&parts).unwrap().rows(&rows::dot(), of), &ids())),
            results(Gather::new(0).run(&whole.map(&map, ()).rows(&rows::dot(), of), &ids())),
        ];
        assert_eq!(divided, whole);
    }
}

#[test]
fn blocks_with_scales_and_zero_points() {
    for (codes, size, width, has_zeros) in [
        (Codes::Bits4, 16, 24, true),
        (Codes::E4M3, 0, 40, false),
        (Codes::E4M3, 32, 40, false),
        (Codes::I4, 16, 16, false),
    ] {
        // No NaNs, which are not equal to themselves.
        let data: Vec<u8> = bytes(ROWS * width).iter().map(|code| code & 0xf7).collect();
        let blocks = if size == 0 { 1 } else { (width * codes.per_byte()).div_ceil(size) };
        let (scales, packed) = (numbers(ROWS * blocks), blocks.div_ceil(codes.per_byte()));
        let zeros = bytes(ROWS * packed);
        let part = |rows: std::ops::Range<usize>| {
            let n = rows.len();
            let scales = View::new(&scales[rows.start * blocks..rows.end * blocks], &[n, blocks]).unwrap();
            let zeros = View::new(&zeros[rows.start * packed..rows.end * packed], &[n, packed]).unwrap();
            (View::new(&data[rows.start * width..rows.end * width], &[n, width]).unwrap(), scales, zeros)
        };
        let all = part(0..ROWS);
        fn read<'a>(
            (data, scales, zeros): &'a (View<'_, u8>, View<'_, f32>, View<'_, u8>),
            (codes, size, has_zeros): (Codes, usize, bool),
        ) -> gather_core::BlocksView<'a, f32> {
            let blocks = data.blocks(codes, size, scales);
            if has_zeros { blocks.zero_points(zeros) } else { blocks }
        }
        let how = (codes, size, has_zeros);
        for lengths in divisions(ROWS) {
            let parts: Vec<_> = each_chunk(&lengths).map(part).collect();
            let parts: Vec<_> = parts.iter().map(|part| read(part, how)).collect();
            same(&chunks(&parts).unwrap(), &read(&all, how));
        }
    }
}

#[test]
fn fused_rows_of_every_format() {
    let values = numbers(ROWS * 10);
    let values = View::new(&values, &[ROWS, 10]).unwrap();
    for format in [FusedFormat::Torch8, FusedFormat::Fbgemm4, FusedFormat::Torch2] {
        let data = FusedRows::quantize(format, &values).unwrap();
        let row = data.shape()[1];
        let table = |rows: std::ops::Range<usize>| {
            let bytes = View::new(&data.as_slice()[rows.start * row..rows.end * row], &[rows.len(), row]).unwrap();
            FusedRows::new(bytes, format, 10).unwrap()
        };
        let whole = table(0..ROWS);
        for lengths in divisions(ROWS) {
            let parts: Vec<_> = each_chunk(&lengths).map(table).collect();
            let floats: Vec<_> = parts.iter().map(|part| part.to::<f32>()).collect();
            same(&chunks(&floats).unwrap(), &whole.to::<f32>());
            let halves: Vec<_> = parts.iter().map(|part| part.to_dyn(half::f16::DTYPE)).collect();
            let (divided, whole) = (chunks(&halves).unwrap(), whole.to::<half::f16>());
            let got = Gather::new(0).run(&divided, &ids()).unwrap();
            let expected = Gather::new(0).run(&whole, &ids()).unwrap();
            assert_eq!(got.downcast::<half::f16>().unwrap().as_slice(), expected.as_slice());
        }
    }
}

#[test]
fn row_functions() {
    let (values, codes, query, gains) = (numbers(ROWS * 24), bytes(ROWS * 24), numbers(24), numbers(ROWS * 24));
    let (whole, coded) = (View::new(&values, &[ROWS, 24]).unwrap(), View::new(&codes, &[ROWS, 24]).unwrap());
    let (dot, of) = (rows::dot::<f32>(), (Given::All(&query[..]),));
    let write = (Given::All(2.5), Given::PerRow(&gains[..]));
    let (map, params) = (maps::dequantize::<u8>(), (Given::All(0.5), Given::All(3)));
    for lengths in divisions(ROWS) {
        let range = |rows: std::ops::Range<usize>| (rows.start * 24..rows.end * 24, [rows.len(), 24]);
        let parts: Vec<_> =
            each_chunk(&lengths).map(range).map(|(at, shape)| View::new(&values[at], &shape).unwrap()).collect();
        same(&chunks(&parts).unwrap().rows(&dot, of), &whole.rows(&dot, of));
        same(&chunks(&parts).unwrap().rows(&SHIFTED, write), &whole.rows(&SHIFTED, write));
        let parts: Vec<_> =
            each_chunk(&lengths).map(range).map(|(at, shape)| View::new(&codes[at], &shape).unwrap()).collect();
        let parts: Vec<_> = parts.iter().map(|part| part.map(&map, params)).collect();
        same(&chunks(&parts).unwrap().rows(&dot, of), &coded.map(&map, params).rows(&dot, of));
    }
}

#[test]
fn bags_of_elements_and_of_maps() {
    let (values, codes, scales) = (numbers(ROWS * 21), bytes(ROWS * 21), numbers(ROWS));
    let (whole, coded) = (View::new(&values, &[ROWS, 7, 3]).unwrap(), View::new(&codes, &[ROWS, 7, 3]).unwrap());
    let (ids, weights) = (ids(), numbers(700));
    let offsets: Vec<i64> = (0..300).map(|at| (at * 7 / 3) / 4 * 4).collect();
    let map = maps::dequantize::<u8>();
    let params = |rows: std::ops::Range<usize>| (Given::PerRow(&scales[rows]), Given::All(9));
    for lengths in divisions(ROWS) {
        let shape = |rows: &std::ops::Range<usize>| (rows.start * 21..rows.end * 21, [rows.len(), 7, 3]);
        let (parts, of_codes): (Vec<_>, Vec<_>) = each_chunk(&lengths)
            .map(|rows| {
                let (at, shape) = shape(&rows);
                let codes = (View::new(&codes[at.clone()], &shape).unwrap(), rows);
                (View::new(&values[at], &shape).unwrap(), codes)
            })
            .unzip();
        let mapped: Vec<_> = of_codes.iter().map(|(part, rows)| part.map(&map, params(rows.clone()))).collect();
        let (divided, mapped) = (chunks(&parts).unwrap(), chunks(&mapped).unwrap());
        let mapped_whole = coded.map(&map, params(0..ROWS));
        for (at, level) in levels().enumerate() {
            for reduction in [Reduction::Add, Reduction::Mean, Reduction::Max] {
                let par = if at == 1 { Par::Threads(3) } else { Par::Seq };
                let op = EmbeddingBag::new(reduction).level(level).par(par).padding_index(Some(3));
                for op in [op, op.default_index(Some(149)).out_of_bounds(OutOfBounds::Zero)] {
                    let bags = Bags::new(&ids, &offsets);
                    let expected = results(op.run(&whole, &bags));
                    assert_eq!(results(op.run(&divided, &bags)), expected, "{op:?}");
                    let plan = op.plan(&divided, &bags).unwrap();
                    assert_eq!(results(plan.run(&divided, &bags)), expected, "{op:?}, planned");
                    let expected = results(op.run(&mapped_whole, &bags));
                    assert_eq!(results(op.run(&mapped, &bags)), expected, "{op:?}, by a map");
                    let plan = op.plan(&mapped, &bags).unwrap();
                    assert_eq!(results(plan.run(&mapped, &bags)), expected, "{op:?}, by a map, planned");
                    if reduction == Reduction::Add {
                        let bags = bags.weights(&weights);
                        assert_eq!(
                            results(op.run(&divided, &bags)),
                            results(op.run(&whole, &bags)),
                            "{op:?}, weighted"
                        );
                    }
                }
            }
        }
        let parts: Vec<DynView<'_>> = parts.iter().map(DynView::from).collect();
        let ids = View::new(&ids, &[35, 20]).unwrap();
        let ids = DynView::from(&ids);
        let op = EmbeddingBag::new(Reduction::Add);
        let got = op.run(&chunks(&parts).unwrap(), &Bags::packed(&ids)).unwrap();
        let expected = op.run(&DynView::from(&whole), &Bags::packed(&ids)).unwrap();
        assert_eq!(got.downcast::<f32>().unwrap().as_slice(), expected.downcast::<f32>().unwrap().as_slice());
    }
}

#[test]
fn plans_ahead_and_for_other_lengths() {
    let values = numbers(ROWS * 4);
    let part =
        |rows: std::ops::Range<usize>| View::new(&values[rows.start * 4..rows.end * 4], &[rows.len(), 4]).unwrap();
    let (two, three, one) = ([part(0..50), part(50..ROWS)], [part(0..7), part(7..9), part(9..ROWS)], [part(0..ROWS)]);
    let ids = ids();
    let expected = Gather::new(0).run(&one[0], &ids).unwrap();
    let plan = Gather::new(0).plan(&Spec::<f32>::new(&[ROWS, 4]).unwrap().chunks(2), &ids).unwrap();
    assert_eq!(plan.run(&chunks(&two).unwrap(), &ids).unwrap(), expected);
    assert_eq!(plan.run(&chunks(&three).unwrap(), &ids).unwrap(), expected);
    let error = plan.run(&chunks(&one).unwrap(), &ids).unwrap_err();
    assert!(matches!(error, Error::PlanChunksMismatch { expected: 2, got: 1, .. }), "{error}");
    let plan = Gather::new(0).plan(&Spec::<f32>::new(&[ROWS, 4]).unwrap().chunks(1), &ids).unwrap();
    assert_eq!(plan.run(&chunks(&one).unwrap(), &ids).unwrap(), expected);
    let error = plan.run(&chunks(&three).unwrap(), &ids).unwrap_err();
    assert!(matches!(error, Error::PlanChunksMismatch { expected: 1, got: 3, .. }), "{error}");
}

/// The message of the error of `chunks`.
fn refused<'a, S>(parts: &'a [S]) -> String
where
    S: gather_core::Source<Kind: gather_core::ChunkKind, Held<'a> = &'a Layout>,
{
    chunks(parts).map(drop).unwrap_err().to_string()
}

#[test]
fn what_is_refused() {
    let values = numbers(24);
    let view = |shape: &[usize]| View::new(&values[..shape.iter().product()], shape).unwrap();
    let none: [View<'_, f32>; 0] = [];
    assert_eq!(refused(&none), "chunks: there are 0 chunks; a table has 1 or more");
    assert!(refused(&[view(&[2, 3]), view(&[2, 4])]).starts_with("chunk 1: "));
    assert!(refused(&[view(&[2, 3]), view(&[6])]).starts_with("chunk 1: "));
    assert!(refused(&[view(&[])]).starts_with("chunk 0: "));
    let across = view(&[4, 6]).permuted(&[1, 0]).unwrap();
    assert!(refused(&[across]).starts_with("chunk 0: "));
    let (floats, others) = (view(&[2, 3]), View::new(&[1u32; 6], &[2, 3]).unwrap());
    let mixed = [DynView::from(&floats), DynView::from(&others)];
    assert!(refused(&mixed).starts_with("chunk 1: "), "{}", refused(&mixed));

    let codes = View::new(&[1u8; 12], &[4, 3]).unwrap();
    let scaled = |scales: &'static [f32]| codes.map(&maps::dequantize(), (Given::PerRow(scales), Given::All(0)));
    assert!(refused(&[scaled(&[1.0; 4]), scaled(&[1.0; 5])]).starts_with("chunk 1: "));

    // A stride of 0: rows of a number that four times overflows `isize`.
    let many = View::strided(&values, &[1 << (usize::BITS - 3), 1], &[0, 0], 0).unwrap();
    let error = chunks(&[many.clone(), many.clone(), many.clone(), many]).map(drop).unwrap_err();
    assert!(matches!(error, Error::TooManyElements { .. }), "{error}");

    let parts = [view(&[2, 3]), view(&[1, 3])];
    let divided = chunks(&parts).unwrap();
    let error = Gather::new(1).run(&divided, &[0u8]).unwrap_err();
    assert!(matches!(error, Error::ChunkedAxis { axis: 1, .. }), "{error}");
    let error = Gather::new(0).run(&divided, &[0i64, 3]).unwrap_err();
    assert!(error.to_string().contains('3'), "{error}");
    let mut out = [7.0f32; 3];
    assert!(Gather::new(0).run_into(&divided, &[0i64, 1], &mut ViewMut::new(&mut out, &[1, 3]).unwrap()).is_err());
    assert_eq!(out, [7.0; 3]);
}

/// An element aligned beyond a cache line.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C, align(128))]
struct Lines([u16; 64]);

row_kernels! {
    static FIRST_OF_LINES = |row: &[Lines]| -> u32 {
        assert!(row.as_ptr().is_aligned());
        row.iter().map(|lines| u32::from(lines.0[0])).sum()
    };
}

#[test]
fn rows_aligned_beyond_a_line_are_aligned_in_the_scratch() {
    let lines = [3u16, 5, 7, 9, 11, 13].map(|first| Lines([first; 64]));
    let parts = [View::new(&lines[..2], &[1, 2]).unwrap(), View::new(&lines[2..], &[2, 2]).unwrap()];
    for par in [Par::Seq, Par::Threads(3)] {
        let table = chunks(&parts).unwrap().rows(&FIRST_OF_LINES, ());
        assert_eq!(Gather::new(0).par(par).run(&table, &[2u8, 0, 1]).unwrap().as_slice(), [24, 8, 16]);
    }
}

#[test]
fn specs_of_chunks_are_checked_as_chunks_are() {
    let spec = |size| Spec::<u8>::new(&[4, 8]).unwrap().blocks::<f32>(Codes::Bits4, size).chunks(2);
    for size in [0, 1, 24] {
        let error = Gather::new(0).plan(&spec(size), &[0u8]).map(drop).unwrap_err();
        assert!(matches!(error, Error::BlockSizeOutOfRange { .. }), "{error}");
    }
    let shape = [1, 0, 1 << (usize::BITS - 4)];
    let wide = View::<f64>::new(&[], &shape).unwrap();
    assert_eq!(Gather::new(0).run(&chunks(&[wide.clone(), wide]).unwrap(), &[1u8]).unwrap().shape(), shape);
}
