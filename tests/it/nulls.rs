//! Indices and data some of which are null: values and bitmaps beside a plain program, at every level, for any number
//! of threads, by views of any strides and bitmaps at any offset.

use gather_core::{
    Bitmap, DynView, DynViewMut, Error, Gather, GatherElements, GatherNd, GatherOperator, Index, IndexAttributes,
    Layout, Nullable, Nulls, Par, Spec, View, ViewMut,
};
use gather_tests::oracle::{self, Dense, IndexKind, Rule, Rules};
use proptest::prelude::*;

use crate::support::{RULES, Spread, available_levels, data, mixed, narrow, same, view};

/// Some bits, in bytes with others around them.
struct Bits {
    bytes: Vec<u8>,
    offset: usize,
    valid: Vec<bool>,
}

impl Bits {
    /// `len` bits from `offset` on, of which one in `nulls` is 0, or none where that is 0.
    fn new(len: usize, offset: usize, nulls: u64, seed: u64) -> Self {
        let valid: Vec<bool> = (0..len).map(|at| nulls == 0 || !mixed(seed, at).is_multiple_of(nulls)).collect();
        let mut bytes: Vec<u8> = (0..(offset + len).div_ceil(8)).map(|at| mixed(!seed, at) as u8).collect();
        for (at, &valid) in valid.iter().enumerate() {
            let (byte, bit) = ((offset + at) / 8, 1 << ((offset + at) % 8));
            bytes[byte] = if valid { bytes[byte] | bit } else { bytes[byte] & !bit };
        }
        Bits { bytes, offset, valid }
    }

    fn bitmap(&self) -> Bitmap<'_> {
        Bitmap::new(&self.bytes, self.offset, self.valid.len()).unwrap()
    }
}

/// A case: tensors, their bits, and which bits are given.
struct Case<'a> {
    kind: IndexKind,
    data: &'a Dense<u32>,
    indices: &'a Dense<i128>,
    valid_indices: Option<Bits>,
    valid_data: Option<Bits>,
    /// Whether data has a bit for each element.
    by_element: bool,
}

impl Case<'_> {
    /// Compares what an operator does through every door with the plain program.
    fn check<A: IndexAttributes + Clone, I: Index + TryFrom<i128>>(&self, op: &GatherOperator<A>, rules: Rules) {
        let Case { kind, data, indices, .. } = self;
        let count = kind.numbers(&indices.shape).iter().product();
        let all = vec![true; count];
        let valid = self.valid_indices.as_ref().map_or(&all[..], |bits| &bits.valid);
        let values = oracle::with_nulls(*kind, data, indices, valid, rules, (&0, &0));
        let lead = if self.by_element { data.shape.len() } else { kind.lead(&data.shape, &indices.shape) };
        let rows = Dense::from_fn(&data.shape[..lead], |at| self.valid_data.as_ref().is_none_or(|bits| bits.valid[at]));
        let bits = |rules| oracle::with_nulls(*kind, &rows, indices, valid, rules, (&true, &false));
        // An axis without elements has no row to name, which is no error where the result has no elements.
        let zero = Rules { out_of_range: Rule::Zero, ..rules };
        let bits = if values.is_ok() { bits(rules).or_else(|_| bits(zero)) } else { bits(rules) };

        let indices = narrow::<I>(indices);
        let (spread_data, spread_indices) = (Spread::new(data), Spread::new(&indices));
        let op = &op.clone().nullable();
        let nulls = Nulls {
            indices: self.valid_indices.as_ref().map(Bits::bitmap),
            data: self.valid_data.as_ref().map(Bits::bitmap),
        };
        for (data, indices) in [(view(data), view(&indices)), (spread_data.view(), spread_indices.view())] {
            let what = || format!("{kind:?} of {:?} by {:?}, {rules:?}", data.shape(), indices.shape());
            let null_count = bits.as_ref().map(|bits| bits.values.iter().filter(|&&valid| !valid).count());
            let planned = op.plan(&data, &indices).unwrap();
            let mut doors = vec![op.run(&data, &indices, nulls), planned.run(&data, &indices, nulls)];
            // A plan that was made for three.
            let three: Vec<usize> = [3].into_iter().chain(indices.shape().iter().copied().skip(1)).collect();
            let three = Layout::strided(&three[..indices.shape().len()], indices.strides()).unwrap();
            match op.plan_any_count(&data, &Spec::<I>::from_layout(&three)) {
                Ok(any) => doors.push(any.run(&data, &indices, nulls)),
                Err(error) => {
                    assert!(matches!(error, Error::AnyCountUnavailable { .. }) || three.shape() != indices.shape())
                }
            }
            for ran in doors {
                let (tensor, validity) = match ran {
                    Ok((tensor, validity)) => (Ok(tensor), validity),
                    Err(error) => (Err(error), None),
                };
                same(&values, tensor, what);
                if let (Ok(bits), Ok(null_count)) = (&bits, &null_count) {
                    assert_eq!(validity.is_some(), *null_count > 0, "{}", what());
                    if let Some(validity) = &validity {
                        assert_eq!((validity.len(), validity.null_count()), (bits.values.len(), *null_count));
                        let got: Vec<bool> = (0..bits.values.len()).map_while(|at| validity.bitmap().get(at)).collect();
                        assert_eq!(got, bits.values, "{}", what());
                    }
                }
            }
            self.check_into(op, (&data, &indices), nulls, (&values, &bits));
        }
    }

    /// The same for outputs that are given.
    fn check_into<A: IndexAttributes, I: Index>(
        &self,
        op: &Nullable<A>,
        (data, indices): (&View<'_, u32>, &View<'_, I>),
        nulls: Nulls<'_>,
        (values, bits): (&Expected<u32>, &Expected<bool>),
    ) {
        let shape = op.plan(data, indices).unwrap().output_shape().to_vec();
        let (len, room) = (shape.iter().product(), bits.as_ref().map_or(1 << 14, |bits| bits.values.len()));
        for door in 0..4 {
            let (mut out, mut bytes) = (vec![7u32; len], vec![0x5a; room.div_ceil(8) + 1]);
            let mut out_view = ViewMut::new(&mut out, &shape).unwrap();
            let (erased, list) = (DynView::from(data), DynView::from(indices));
            let ran = match door {
                0 => op.run_into(data, indices, nulls, &mut out_view, &mut bytes),
                1 => {
                    let out = &mut DynViewMut::from(&mut out_view);
                    op.run_into(&erased, &list, nulls, out, &mut bytes)
                }
                2 => {
                    let plan = op.plan(data, indices).unwrap();
                    plan.run_into(data, indices, nulls, &mut out_view, &mut bytes)
                }
                _ => {
                    let plan = op.plan(&erased, &list).unwrap();
                    plan.run_into(&erased, &list, nulls, &mut DynViewMut::from(&mut out_view), &mut bytes)
                }
            };
            match (values, bits) {
                (Ok(values), Ok(bits)) => {
                    assert_eq!(out, values.values);
                    assert_eq!(ran, Ok(bits.values.iter().filter(|&&valid| !valid).count()));
                    let written = Bitmap::new(&bytes, 0, room).unwrap();
                    assert!((0..room).all(|at| written.get(at) == Some(bits.values[at])));
                    assert_eq!(bytes[room.div_ceil(8)], 0x5a, "bytes behind the last bit");
                    assert!(room % 8 == 0 || bytes[room / 8] >> (room % 8) == 0, "bits behind the last one");
                }
                _ => {
                    assert!(matches!(ran, Err(Error::IndexOutOfRange { .. })), "{ran:?}");
                    assert!(bytes.iter().all(|&byte| byte == 0x5a));
                }
            }
        }
    }
}

/// What the plain program gives.
type Expected<T> = Result<Dense<T>, oracle::BadIndex>;

/// Indices from beyond one end of an axis of `dim(last coordinate)` elements to beyond the other where `wild`, else
/// those that are in range.
fn indices(shape: &[usize], seed: u64, wild: bool, dim: impl Fn(usize) -> usize) -> Dense<i128> {
    let last = shape.last().copied().unwrap_or(1).max(1);
    Dense::from_fn(shape, |at| {
        let (dim, bits) = (dim(at % last) as u64, mixed(seed, at));
        let beyond = if wild && bits % 16 == 0 { dim + 3 } else { dim };
        if beyond == 0 { 0 } else { ((bits >> 8) % (2 * beyond)) as i128 - i128::from(beyond) }
    })
}

/// What is drawn of a case beside its shapes.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    offsets: [usize; 2],
    nulls: [u64; 2],
    given: [bool; 2],
    by_element: bool,
    policy: usize,
    wild: bool,
    seed: u64,
}

prop_compose! {
    fn drawn()(
        offsets in [0usize..70, 0usize..70], nulls in [0u64..5, 0u64..5], given in [any::<bool>(), any::<bool>()],
        by_element: bool, policy in 0usize..8, wild: bool, seed: u64,
    ) -> Drawn {
        Drawn { offsets, nulls, given, by_element, policy, wild, seed }
    }
}

/// Runs a case with every level and with some threads.
fn run<A: IndexAttributes + Clone>(op: GatherOperator<A>, kind: IndexKind, shapes: [&[usize]; 2], drawn: Drawn) {
    let Drawn { offsets, nulls, given, by_element, policy, wild, seed } = drawn;
    let [shape, index_shape] = shapes;
    let (data, (negative, out_of_bounds, rules)) = (data(shape, seed), RULES[policy]);
    let first = match kind {
        IndexKind::Gather { axis, .. } | IndexKind::Elements { axis } => axis,
        IndexKind::Nd { batch } => batch,
    };
    let tuples = matches!(kind, IndexKind::Nd { .. });
    let indices = indices(index_shape, seed ^ 1, wild, |last| shape[if tuples { first + last } else { first }]);
    let count = kind.numbers(index_shape).iter().product();
    let (rows, elements) = (kind.lead(shape, index_shape), shape.len());
    let len = |lead: usize| shape[..lead].iter().product::<usize>();
    // As many bits as there are rows are those of rows; so they are without a bitmap of data.
    let by_element = by_element && given[1] && len(rows) != len(elements);
    let lead = if by_element { elements } else { rows };
    let bits = |given: bool, len, at: usize| given.then(|| Bits::new(len, offsets[at], nulls[at], seed ^ at as u64));
    let (valid_indices, valid_data) = (bits(given[0], count, 0), bits(given[1], len(lead), 1));
    let case = Case { kind, data: &data, indices: &indices, valid_indices, valid_data, by_element };
    let op = op.negative_index(negative).out_of_bounds(out_of_bounds);
    for level in available_levels() {
        for threads in [1, 3] {
            let op = op.clone().level(level).par(Par::Threads(threads));
            case.check::<A, i32>(&op, rules);
            case.check::<A, i64>(&op, rules);
        }
    }
    case.check::<A, i16>(&op, rules);
}

#[test]
fn words_of_bits_at_every_offset() {
    for (at, count) in (0..64).zip([1, 63, 64, 65, 7, 130].into_iter().cycle()) {
        // Nothing is null, all is, or a third.
        for nulls in [[0, 1], [1, 0], [3, 3]] {
            let (offsets, policy, wild) = ([at, 63 - at], at % RULES.len(), at % 3 == 0);
            let drawn = Drawn { offsets, nulls, given: [true; 2], by_element: false, policy, wild, seed: at as u64 };
            run(Gather::new(0), IndexKind::Gather { axis: 0, batch: 0 }, [&[count + at], &[count]], drawn);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lists_of_values(n in 0usize..300, count in 0usize..300, drawn in drawn()) {
        let op = Gather::new(0);
        run(op, IndexKind::Gather { axis: 0, batch: 0 }, [&[n], &[count]], drawn);
    }

    #[test]
    fn rows_along_any_axis(
        outer in 1usize..4, n in 0usize..40, inner in 0usize..5, count in [0usize..9, 0usize..30], axis in 0usize..3,
        batch in 0usize..2, drawn in drawn(),
    ) {
        let shape = match axis { 0 => [n, outer, inner], 1 => [outer, n, inner], _ => [outer, inner, n] };
        let batch = batch.min(axis);
        let indices = [if batch == 1 { shape[0] } else { count[0] }, count[1]];
        let op = Gather::new(axis as i64).batch_dims(batch as i64);
        run(op, IndexKind::Gather { axis, batch }, [&shape, &indices], drawn);
    }

    #[test]
    fn elements_along_any_axis(
        shape in [0usize..8, 0usize..30, 0usize..6], axis in 0usize..3, less in [0usize..3, 0usize..3, 0usize..3],
        along in 0usize..70, drawn in drawn(),
    ) {
        let mut indices = [0, 1, 2].map(|dim| shape[dim].saturating_sub(less[dim]));
        indices[axis] = along;
        run(GatherElements::new(axis as i64), IndexKind::Elements { axis }, [&shape, &indices], drawn);
    }

    #[test]
    fn tuples_of_any_length(
        shape in [0usize..6, 0usize..9, 0usize..5], batch in 0usize..2, len in 0usize..4, count in 0usize..100,
        drawn in drawn(),
    ) {
        let len = len.min(3 - batch);
        let outer = if batch == 1 { shape[0] } else { 2 };
        let op = GatherNd::new().batch_dims(batch as i64);
        run(op, IndexKind::Nd { batch }, [&shape, &[outer, count, len]], drawn);
    }
}
