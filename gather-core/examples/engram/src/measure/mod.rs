//! Times and memory of reads, with pages of the files dropped before.

mod budget;
mod compare;
mod pages;
mod ring;
mod ways;

pub(crate) use compare::run as compare;

/// The median of values, or `None` for none: the mean of the two in the middle for an even count.
fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len().is_multiple_of(2) { (values[middle - 1] + upper) / 2.0 } else { upper })
}
