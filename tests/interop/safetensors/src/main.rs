//! Writes a safetensors file, maps it, and checks gathered rows against those that the crate slices one by one; prints
//! the times of both.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use gather_core::{DynTensor, Element, Tensor};
use gather_safetensors::{map, rows, rows_into, view, will_need};
use half::{bf16, f16};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors, serialize_to_file};

const ROWS: usize = 50_257;
const COLUMNS: usize = 64;

/// Rows as the crate slices them.
fn sliced(table: &TensorView<'_>, ids: &[u32]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for &id in ids {
        let row = table.sliced_data(&[(id as usize..id as usize + 1).into(), (..).into()]);
        row.map_err(|error| error.to_string())?.for_each(|bytes| rows.extend_from_slice(bytes));
    }
    Ok(rows)
}

/// Checks and times a table of a type.
fn check<T: Element>(table: &TensorView<'_>, ids: &[u32]) -> Result<(), Box<dyn Error>> {
    let expected = sliced(table, ids)?;
    let gathered = rows(table, ids)?;
    assert_eq!((gathered.shape(), gathered.as_bytes()), (&[ids.len(), COLUMNS][..], &expected[..]));
    let (whole, mut again) = (view(table)?, Tensor::<T>::default());
    rows_into(&whole, ids, &mut again)?;
    let again_as_bytes = |rows: &Tensor<T>| DynTensor::from(rows.clone()).as_bytes() == expected;
    assert!(again_as_bytes(&again));

    let median = |run: &mut dyn FnMut()| {
        let mut times: Vec<f64> = (0..15)
            .map(|_| {
                let start = Instant::now();
                run();
                start.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[7]
    };
    let prefetched = median(&mut || {
        let _ = black_box(will_need::<T, _>(&whole, ids));
        drop(black_box(rows_into(&whole, ids, &mut again)));
    });
    let fresh = median(&mut || drop(black_box(rows(table, ids))));
    let reused = median(&mut || drop(black_box(rows_into(&whole, ids, &mut again))));
    let theirs = median(&mut || drop(black_box(sliced(table, ids))));
    println!(
        "{} of {ROWS} rows of {COLUMNS} {}: ours {fresh:.3} ms, into a tensor used again {reused:.3} ms (with \
         will_need first {prefetched:.3} ms: it is for rows on the disk), sliced one by one {theirs:.3} ms: {:.2} times",
        ids.len(),
        table.dtype(),
        theirs / fresh
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<f32> = (0..ROWS * COLUMNS).map(|at| (at % 4093) as f32 / 16.0).collect();
    let floats: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let halves: Vec<u8> = numbers.iter().flat_map(|&number| f16::from_f32(number).to_le_bytes()).collect();
    let brains: Vec<u8> = numbers.iter().flat_map(|&number| bf16::from_f32(number).to_le_bytes()).collect();
    let shape = || vec![ROWS, COLUMNS];
    let tensors = [
        ("f32", TensorView::new(Dtype::F32, shape(), &floats)?),
        ("f16", TensorView::new(Dtype::F16, shape(), &halves)?),
        ("bf16", TensorView::new(Dtype::BF16, shape(), &brains)?),
    ];
    let path = std::env::temp_dir().join(format!("gather-safetensors.{}.safetensors", std::process::id()));
    serialize_to_file(tensors, None, &path)?;
    let ran = check_file(&path);
    std::fs::remove_file(&path)?;
    ran
}

fn check_file(path: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let mapped = map(path)?;
    let file = SafeTensors::deserialize(&mapped)?;
    let ids: Vec<u32> = (0..8192u32).map(|at| at.wrapping_mul(2_654_435_761) % ROWS as u32).collect();
    check::<f32>(&file.tensor("f32")?, &ids)?;
    check::<f16>(&file.tensor("f16")?, &ids)?;
    check::<bf16>(&file.tensor("bf16")?, &ids)?;

    // A file whose tensors lie at odd addresses.
    let odd: Vec<u8> = std::iter::once(0).chain(mapped.iter().copied()).collect();
    let odd_file = SafeTensors::deserialize(&odd[1..])?;
    let (odd_rows, rows_there) = (rows(&odd_file.tensor("f32")?, &ids)?, rows(&file.tensor("f32")?, &ids)?);
    assert_eq!(odd_rows.as_bytes(), rows_there.as_bytes());
    println!(
        "an id out of range: {}",
        rows(&file.tensor("f16")?, &[0, ROWS as u32]).expect_err("there are fewer rows")
    );
    Ok(())
}
