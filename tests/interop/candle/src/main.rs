//! Checks the bridge against candle's own operators, and prints the times of both on the same tensors.

use std::time::Instant;

use candle_core::{DType, Device, Result, Tensor, Var};

/// Medians of milliseconds, ours and theirs in turn.
fn compare(name: &str, ours: impl Fn() -> Result<Tensor>, theirs: impl Fn() -> Result<Tensor>) -> Result<()> {
    same(name, &ours()?, &theirs()?)?;
    let time = |run: &dyn Fn() -> Result<Tensor>| {
        let start = Instant::now();
        run().map(|_| start.elapsed().as_secs_f64() * 1e3)
    };
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..15 {
        times[0].push(time(&ours)?);
        times[1].push(time(&theirs)?);
    }
    let [ours, theirs] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    println!("{name:<34} ours {ours:>8.3} ms   candle {theirs:>8.3} ms   candle / ours {:.2}", theirs / ours);
    Ok(())
}

/// Compares all elements, to the bit except for zeros and NaN, of which there are none.
fn same(name: &str, ours: &Tensor, theirs: &Tensor) -> Result<()> {
    assert_eq!((ours.dims(), ours.dtype()), (theirs.dims(), theirs.dtype()), "{name}");
    let values = |tensor: &Tensor| tensor.to_dtype(DType::F64)?.flatten_all()?.to_vec1::<f64>();
    let (ours, theirs) = (values(ours)?, values(theirs)?);
    assert!(ours.iter().all(|value| value.is_finite()), "{name}");
    assert_eq!(ours, theirs, "{name}");
    Ok(())
}

fn main() -> Result<()> {
    let cpu = Device::Cpu;
    let random = |below: u32, len: u32| (0..len).map(|at| at.wrapping_mul(2_654_435_761) % below).collect::<Vec<_>>();
    let table = Tensor::arange(0f32, 50_257.0 * 64.0, &cpu)?.affine(1.0 / 1024.0, 0.0)?.reshape((50_257, 64))?;
    let ids = Tensor::new(random(50_257, 8192), &cpu)?;
    let columns = Tensor::new(random(64, 8192 * 64), &cpu)?.reshape((8192, 64))?;
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::F64] {
        let (table, rows) = (table.to_dtype(dtype)?, table.narrow(0, 5, 8192)?.to_dtype(dtype)?);
        let name = |what: &str| format!("{what} of {}", dtype.as_str());
        let (of, ids) = (&table, &ids);
        compare(&name("index_select"), || gather_candle::index_select(of, ids, 0), || of.index_select(ids, 0))?;
        compare(&name("embedding"), || gather_candle::embedding(of, ids), || of.embedding(ids))?;
        compare(&name("gather"), || gather_candle::gather(&rows, &columns, 1), || rows.gather(&columns, 1))?;
        // Views with strides and an offset: every row from the third on, transposed.
        let (turned, few) = (of.narrow(0, 3, 100)?.t()?, Tensor::new(random(100, 40), &cpu)?);
        let theirs = turned.contiguous()?.index_select(&few, 1)?;
        same(&name("a transposed table"), &gather_candle::index_select(&turned, &few, 1)?, &theirs)?;
    }

    // Sums whose order candle and this library share: one after the other.
    let (zeros, rows) = (Tensor::zeros((50_257, 64), DType::F32, &cpu)?, table.narrow(0, 9, 8192)?);
    let added = || {
        let sums = zeros.copy()?;
        gather_candle::index_add(&sums, &ids, &rows, 0).map(|()| sums)
    };
    compare("index_add of f32", added, || zeros.index_add(&ids, &rows, 0))?;
    let (zeros, rows) = (Tensor::zeros((8192, 64), DType::F32, &cpu)?, table.narrow(0, 9, 8192)?);
    let added = || {
        let sums = zeros.copy()?;
        gather_candle::scatter_add(&sums, &columns, &rows, 1).map(|()| sums)
    };
    compare("scatter_add of f32", added, || zeros.scatter_add(&columns, &rows, 1))?;

    // Gradients.
    let weights = Var::from_tensor(&table)?;
    let gradient = |rows: Tensor| Ok(rows.sqr()?.sum_all()?.backward()?.get(&weights).expect("a gradient").clone());
    let ours = gradient(gather_candle::embedding(&weights, &ids)?)?;
    let theirs: Result<Tensor> = gradient(weights.embedding(&ids)?);
    same("the gradient of embedding", &ours, &theirs?)?;
    println!("gradients, strided and offset views: equal");
    let last = gather_candle::embedding(&table, &Tensor::new(&[-1i64], &cpu)?);
    assert!(last.is_err() && table.embedding(&Tensor::new(&[-1i64], &cpu)?).is_err(), "candle has no negative ids");

    let refused = gather_candle::embedding(&table, &Tensor::new(&[1u32, 50_257], &cpu)?).map(drop);
    let refused = refused.expect_err("there are 50257 rows").to_string();
    println!("an id out of range: {}", refused.lines().next().unwrap_or_default());
    Ok(())
}
