//! Checks each function against a plain loop over ndarray's elements, and prints the times of ndarray's `select` and
//! ours.

use std::time::Instant;

use gather_ndarray::{add_at, at, bincount, mosaic, take, take_along_axis};
use ndarray::{Array, Array1, Array2, Array4, Axis, array, s};

fn main() -> Result<(), gather_core::Error> {
    let table = Array2::from_shape_fn((50_257, 64), |(row, column)| (row * 64 + column) as f32);
    let ids = Array1::from_shape_fn(8192, |at| (at * 7919) % 50_257);

    let ours = take(&table, &ids, 0)?;
    assert_eq!(ours, table.select(Axis(0), ids.as_slice().expect("a list")).into_dyn());
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
    let ours = median(&|| drop(std::hint::black_box(take(&table, &ids, 0))));
    let theirs = median(&|| drop(std::hint::black_box(table.select(Axis(0), ids.as_slice().expect("a list")))));
    println!("take 8192 rows of 64: ours {ours:.3} ms   ndarray's select {theirs:.3} ms   ratio {:.2}", theirs / ours);

    // A view with steps and a reversed axis.
    let turned = table.slice(s![100..300;2, ..;-1]);
    let few = array![[-1i64, 3], [7, -100]];
    let rows = take(&turned, &few, 0)?;
    let expected =
        Array::from_shape_fn((2, 2, 64), |(a, b, column)| turned[[few[[a, b]].rem_euclid(100) as usize, column]]);
    assert_eq!(rows, expected.into_dyn());

    let order = Array2::from_shape_fn((100, 64), |(row, column)| ((row + 3 * column) % 64) as u8);
    let sorted = take_along_axis(&turned, &order, 1)?;
    let expected = Array2::from_shape_fn((100, 64), |(row, column)| turned[[row, order[[row, column]] as usize]]);
    assert_eq!(sorted, expected.into_dyn());

    let (down, across) = (array![0, -1, 5], array![63, 0, 7]);
    assert_eq!(at(&turned, &[&down, &across])?, array![turned[[0, 63]], turned[[99, 0]], turned[[5, 7]]].into_dyn());

    let mut sums = Array2::<f64>::zeros((3, 2));
    add_at(&mut sums.slice_mut(s![..;-1, ..]), &array![0u32, 2, 0], &array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
    assert_eq!(sums, array![[3.0, 4.0], [0.0, 0.0], [6.0, 8.0]]);

    let counts = bincount(&ids.mapv(|id| (id % 7) as u16), 7)?;
    assert_eq!(counts.sum(), 8192);
    assert!((0..7).all(|bin| counts[bin] as usize == ids.iter().filter(|&&id| id % 7 == bin).count()));
    assert!(bincount(&array![0i64, -1], 7).is_err(), "NumPy has no negative ids there");
    println!("an id beyond the bins: {}", bincount(&array![0u8, 7], 7).expect_err("there are 7 bins"));

    let tiles = Array4::from_shape_fn((2, 3, 4, 5), |(row, column, y, x)| (row, column, y, x));
    let codes = tiles.mapv(|(row, column, y, x)| (row * 1000 + column * 100 + y * 10 + x) as u32);
    let image = mosaic(&codes)?;
    assert_eq!(image.dim(), (8, 15));
    assert!(image.indexed_iter().all(|((y, x), &code)| code == codes[[y / 4, x / 5, y % 4, x % 5]]));
    println!("take, take_along_axis, a[i0, i1], add.at, bincount and a mosaic: equal to plain loops");
    Ok(())
}
