//! Gathers rows of arrays of `ndarray` that come through DLPack, turned and reversed ones too, and gives the results
//! back the same way; checks them against ndarray's `select`, and prints the times of both.

use std::error::Error;
use std::time::Instant;

use dlpark::allocation::dynamic::Initialized;
use dlpark::ffi::DLManagedTensorVersioned;
use dlpark::{TryFromDlpack, versioned};
use gather_core::{DynView, Gather, View};
use gather_dlpack::{export, view};
use ndarray::{Array2, ArrayViewD, Axis, s};

/// An array as another library hands it over.
#[allow(unsafe_code)]
fn produced(array: Array2<f32>) -> Result<versioned::Dlpack, Box<dyn Error>> {
    let initialized: Initialized<DLManagedTensorVersioned> = Box::new(array).try_into()?;
    // SAFETY: dlpark has described an owned array, which the tensor keeps.
    Ok(unsafe { initialized.finish() })
}

/// Rows of a tensor, handed on.
#[allow(unsafe_code)]
fn rows(table: &versioned::Dlpack, ids: &[i32], axis: i64) -> Result<versioned::Dlpack, Box<dyn Error>> {
    let tensor = table.validate()?;
    // SAFETY: `produced` made the tensor, whose array lives as long as it, and which nobody writes to.
    let table = unsafe { view(&tensor) }?;
    let ids = View::new(ids, &[ids.len()])?;
    let rows = Gather::new(axis).run(&table, &DynView::from(&ids))?;
    Ok(export(rows.downcast::<f32>()?)?)
}

/// The elements of a result, as another library sees them.
#[allow(unsafe_code)]
fn seen(rows: &versioned::Dlpack) -> Result<ArrayViewD<'_, f32>, Box<dyn Error>> {
    // SAFETY: `export` made the tensor, which owns its memory.
    Ok(unsafe { ArrayViewD::try_from_dlpack(rows, ()) }?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let table = Array2::from_shape_fn((50_257, 64), |(row, column)| (row * 64 + column) as f32);
    let places: Vec<usize> = (0..8192).map(|at| at * 7919 % 50_257).collect();
    let ids: Vec<i32> = places.iter().map(|&at| at as i32).collect();
    let shared = produced(table.clone())?;
    assert_eq!(seen(&rows(&shared, &ids, 0)?)?, table.select(Axis(0), &places).into_dyn());

    // Every second row from the end, columns first: negative strides and an offset.
    let turned = table.clone().slice_move(s![..;-2, ..]).reversed_axes();
    let expected = turned.select(Axis(1), &places[..100].iter().map(|at| at / 2).collect::<Vec<_>>());
    let halves: Vec<i32> = ids[..100].iter().map(|id| id / 2).collect();
    let gathered = rows(&produced(turned)?, &halves, 1)?;
    assert_eq!(seen(&gathered)?, expected.into_dyn());
    let none = rows(&produced(Array2::zeros((3, 0)))?, &[2, 0], 0)?;
    assert_eq!(seen(&none)?.shape(), [2, 0]);

    let median = |run: &dyn Fn()| {
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
    let ours = median(&|| drop(std::hint::black_box(rows(&shared, &ids, 0))));
    let theirs = median(&|| drop(std::hint::black_box(table.select(Axis(0), &places))));
    println!("8192 rows of 64, in and out: ours {ours:.3} ms   ndarray's select {theirs:.3} ms   {:.2}", theirs / ours);
    let refused = rows(&shared, &[0, 50_257], 0).err().ok_or("there are fewer rows")?;
    println!("an id out of range: {refused}");
    Ok(())
}
