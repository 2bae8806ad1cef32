//! Cases of Gather along axis 0, on data that is divided into chunks at random.

use std::hash::{DefaultHasher, Hash, Hasher};

use gather_core::{ChunksView, DynView, Element, Error, Gather, Index, OutOfBounds, Tensor, View, chunks};

use super::{Operator, WithIndices, compare, downcast, erased, same};
use crate::cases::Case;
use crate::support::lengths_of_chunks;
use crate::values::{TensorData, Values};

/// The number of divisions that each case runs on.
const DIVISIONS: u64 = 3;

/// The operator of a case that gathers along axis 0, if its data can be divided.
pub(super) fn along_rows<'a>(case: &Case, operator: &'a Operator) -> Option<&'a Gather> {
    let Operator::Gather(gather) = operator else { return None };
    let data = case.input("data").ok()?;
    case.input("indices").ok()?.values.as_ref()?;
    let is_plain = data.values.as_ref().is_some_and(|values| !matches!(values, Values::Str(_)));
    let (axis, rank) = (gather.get_axis(), data.shape.len() as i64);
    (is_plain && rank > 0 && (axis == 0 || axis == -rank)).then_some(gather)
}

/// Runs a case on divided data, typed and type-erased. Under each policy, results and errors are those of the whole
/// table; under the policy of the case, they are those of the case.
pub(super) fn check(case: &Case, gather: &Gather, data: &TensorData, indices: &TensorData) -> Result<(), String> {
    let mut hasher = DefaultHasher::new();
    case.id.hash(&mut hasher);
    let seed = hasher.finish();
    let row = data.shape[1..].iter().product::<usize>();
    for division in 0..DIVISIONS {
        let lengths = lengths_of_chunks(data.shape[0], seed.wrapping_add(division));
        let values = data.values.as_ref().ok_or("no data")?;
        with_values!(values,
            values => {
                let mut first = 0;
                let parts = lengths.iter().map(|&rows| {
                    let shape = [&[rows], &data.shape[1..]].concat();
                    first += rows * row;
                    View::new(&values[first - rows * row..first], &shape)
                });
                let parts = parts.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
                by_both(case, gather, (data, values, &parts), indices)?;
            },
            _strings => return Err("strings are not divided into chunks".into())
        );
    }
    Ok(())
}

/// Runs a case on these chunks.
fn by_both<T: Element>(
    case: &Case,
    gather: &Gather,
    (data, values, parts): (&TensorData, &[T], &[View<'_, T>]),
    indices: &TensorData,
) -> Result<(), String>
where
    Values: From<Vec<T>>,
{
    let parts_dyn: Vec<DynView<'_>> = parts.iter().map(DynView::from).collect();
    let (typed, by_dyn) = (chunks(parts), chunks(&parts_dyn));
    let typed = typed.map_err(|error| error.to_string())?;
    let by_dyn = by_dyn.map_err(|error| error.to_string())?;
    let indices_dyn = erased(indices)?.ok_or("indices that are strings")?;
    let made = |shape, values| TensorData { dtype: data.dtype.clone(), shape, values: Some(values) };
    for &policy in OutOfBounds::ALL {
        let of_case = policy == gather.get_out_of_bounds();
        let gather = &gather.out_of_bounds(policy);
        let whole = Operator::Gather(*gather).run_typed(data, Some(indices))?;
        let got = Divided { gather, data: &typed }.with_indices(Some(indices))?;
        let got = got.map(|out| made(out.shape().to_vec(), Values::from(out.into_vec())));
        agree("chunks", policy, &whole, &got)?;
        if of_case {
            compare("chunks", &case.expected, got)?;
        }
        let got = gather.run(&by_dyn, &indices_dyn);
        let got = got.map(|out| made(out.shape().to_vec(), downcast(out, values)));
        agree("dyn chunks", policy, &whole, &got)?;
        if of_case {
            compare("dyn chunks", &case.expected, got)?;
        }
    }
    Ok(())
}

/// Compares with the whole table, errors too.
fn agree(
    door: &str,
    policy: OutOfBounds,
    whole: &Result<TensorData, Error>,
    got: &Result<TensorData, Error>,
) -> Result<(), String> {
    let is_same = match (whole, got) {
        (Ok(whole), Ok(got)) => whole.shape == got.shape && same(whole, got),
        (whole, got) => whole.as_ref().err() == got.as_ref().err(),
    };
    if is_same { Ok(()) } else { Err(format!("{door}, {policy:?}: got {got:?}, and {whole:?} of the whole table")) }
}

/// A gather of divided rows.
struct Divided<'a, T> {
    gather: &'a Gather,
    data: &'a ChunksView<'a, T>,
}

impl<T: Element> WithIndices for Divided<'_, T> {
    type Item = T;

    fn run<I: Index>(&self, indices: &View<'_, I>) -> Result<Tensor<T>, Error> {
        self.gather.run(self.data, indices)
    }

    fn run_alone(&self) -> Result<Tensor<T>, Error> {
        self.run::<i64>(&View::scalar(&0))
    }
}
