//! Checks the bridge against `arrow_select::take`, on sliced arrays too, and prints the times of both on the same
//! arrays: the shapes of that crate's own benchmark first.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::types::{Float32Type, Int32Type, Int64Type, UInt8Type, UInt32Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, FixedSizeListArray, PrimitiveArray, UInt32Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Field};
use arrow_select::take::take;
use gather_arrow::take_lists;

/// Numbers that look random.
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}

/// Half of `len` values are null, or none is.
fn nulls(len: usize, some: bool, seed: u64) -> Option<NullBuffer> {
    let mut next = random(seed);
    some.then(|| (0..len).map(|_| next().is_multiple_of(2)).collect())
}

/// An array that is a slice of a longer one.
fn array<T: ArrowPrimitiveType>(
    len: usize,
    some: bool,
    seed: u64,
    value: impl Fn(u64) -> T::Native,
) -> PrimitiveArray<T> {
    let mut next = random(seed);
    let all: Vec<T::Native> = (0..len + 9).map(|_| value(next())).collect();
    PrimitiveArray::new(all.into(), nulls(len + 9, some, seed ^ 1)).slice(5, len)
}

/// Indices below `dim`; those that are null name anything.
fn ids(len: usize, some: bool, dim: usize) -> UInt32Array {
    let valid = array::<UInt32Type>(len, some, 7, |bits| (bits % dim as u64) as u32);
    let wild = |at: usize| if valid.is_null(at) && at.is_multiple_of(3) { u32::MAX } else { valid.value(at) };
    UInt32Array::new((0..len).map(wild).collect(), valid.nulls().cloned())
}

/// Medians of nanoseconds, ours and arrow's in turn.
fn compare(name: &str, ours: impl Fn() -> ArrayRef, theirs: impl Fn() -> ArrayRef) {
    assert_eq!(&ours(), &theirs(), "{name}");
    let calls = (1 << 20) / ours().len().max(64);
    let time = |run: &dyn Fn() -> ArrayRef| {
        let start = Instant::now();
        (0..calls).for_each(|_| drop(black_box(run())));
        start.elapsed().as_nanos() as f64 / calls as f64
    };
    let mut times: Vec<[f64; 2]> = (0..15).map(|_| [time(&ours), time(&theirs)]).collect();
    let [ours, theirs] = [0, 1].map(|at| {
        times.sort_by(|a, b| a[at].total_cmp(&b[at]));
        times[7][at]
    });
    println!("{name:<48} ours {ours:>9.0} ns   arrow {theirs:>9.0} ns   arrow / ours {:.2}", theirs / ours);
}

/// Compares arrays of a type, whose values and indices may be null.
fn values<T: ArrowPrimitiveType>(of: &str, len: usize, dim: usize, value: impl Fn(u64) -> T::Native)
where
    T::Native: gather_core::Element,
{
    for (null_values, null_ids) in [(false, false), (false, true), (true, false), (true, true)] {
        let (values, ids) = (array::<T>(dim, null_values, 3, &value), ids(len, null_ids, dim));
        let with = |what, some| if some { what } else { "" };
        let name = format!("{len} of {dim} {of}{}{}", with(", null values", null_values), with(", null ids", null_ids));
        let ours = || Arc::new(gather_arrow::take(&values, &ids).expect("ids in range")) as ArrayRef;
        compare(&name, ours, || take(&values, &ids, None).expect("ids in range"));
    }
}

fn main() -> Result<(), ArrowError> {
    for len in [64, 512, 1024] {
        values::<Int32Type>("i32", len, len, |bits| bits as i32);
    }
    values::<Float32Type>("f32", 65_536, 1 << 20, |bits| bits as f32);
    values::<Int64Type>("i64", 8192, 8192, |bits| bits as i64);
    values::<UInt8Type>("u8", 8192, 8192, |bits| bits as u8);

    // Lists that are null, and lists with nulls inside.
    for (size, null_lists, null_values) in [(16, true, false), (64, true, false), (3, true, true), (5, false, true)] {
        let field = Arc::new(Field::new_list_field(DataType::Float32, true));
        let child = array::<Float32Type>(10_009 * size, null_values, 5, |bits| bits as f32);
        let lists = FixedSizeListArray::new(field, size as i32, Arc::new(child), nulls(10_009, null_lists, 11));
        let (lists, ids) = (lists.slice(3, 10_000), ids(4096, true, 10_000));
        let inside = if null_values { " with nulls inside" } else { "" };
        let ours = || Arc::new(take_lists::<Float32Type, _>(&lists, &ids).expect("ids in range")) as ArrayRef;
        compare(&format!("4096 of 10000 lists of {size} f32{inside}"), ours, || {
            take(&lists, &ids, None).expect("ids in range")
        });
    }

    let (few, beyond) = (array::<Int32Type>(5, true, 1, |bits| bits as i32), UInt32Array::from(vec![1, 5]));
    let refused = gather_arrow::take(&few, &beyond).expect_err("there are five values");
    println!("an id out of range: {refused}");
    let none = gather_arrow::take(&few, &UInt32Array::from(vec![None, Some(2)]))?;
    assert!(none.is_null(0) && none.len() == 2);
    Ok(())
}
