//! Rows of quantised tables, as numbers: GGUF blocks, FP8, and packed codes of four bits.

use std::path::Path;
use std::time::Instant;

use gather_core::{Codes, Gather, Tensor, View};

use crate::common::table::{Scales, Table};
use crate::common::{self, gguf, safetensors};
use crate::files::is_gguf;

/// Numbers of a row that are shown.
const SHOWN: usize = 8;

/// Tensors of a file.
pub(crate) struct Names {
    pub(crate) tensor: String,
    pub(crate) scales: Option<String>,
    pub(crate) zero_points: Option<String>,
}

/// The ids of a `.npy` file.
pub(crate) fn ids_of(path: &Path) -> Result<Vec<i64>, String> {
    let file = common::map(path)?;
    let array = common::npy::parse(&file).and_then(|array| common::ids(&array));
    array.map_err(|error| format!("{}: {error}", path.display()))
}

/// Looks rows up, prints them, and writes them to a file if there is one.
pub(crate) fn print(path: &Path, names: &Names, ids: &[i64], out: Option<&Path>) -> Result<(), String> {
    let file = common::map(path)?;
    let at = |error: String| format!("{}: {error}", path.display());
    let start = Instant::now();
    let rows = rows(&file, is_gguf(path), names, ids).map_err(at)?;
    let time = start.elapsed();
    let row = rows.shape()[1..].iter().product::<usize>();
    for (id, at) in ids.iter().zip(0..) {
        let numbers = &rows.as_slice()[at * row..(at + 1) * row];
        let shown: Vec<String> = numbers.iter().take(SHOWN).map(|number| format!("{number:.6}")).collect();
        let more = if row > SHOWN { " .." } else { "" };
        say!("{id:>8}  {}{more}", shown.join(" "));
    }
    say!("out    f32 {:?} in {:.3} ms, the first touch of the file included", rows.shape(), time.as_secs_f64() * 1e3);
    if let Some(out) = out {
        common::write_whole(out, |file| common::npy::write(file, &rows.into()))?;
        say!("wrote  {}", out.display());
    }
    Ok(())
}

fn rows(file: &[u8], is_gguf: bool, names: &Names, ids: &[i64]) -> Result<Tensor<f32>, String> {
    let ids = View::new(ids, &[ids.len()]).map_err(|error| error.to_string())?;
    let unused = |what: &str| Err(format!("{what} mean nothing for this table"));
    if is_gguf {
        if names.scales.is_some() || names.zero_points.is_some() {
            return unused("--scales and --zero-points");
        }
        let table = gguf::parse(file, &names.tensor)?;
        say!("table  {:?} {:?}", table.format, table.shape);
        return table.rows(&ids, Scales::None);
    }
    let scales = names.scales.as_deref().map(|name| safetensors::table(file, name)).transpose()?;
    match (safetensors::table(file, &names.tensor), scales) {
        (Ok(_), _) if names.zero_points.is_some() => unused("--zero-points"),
        (Ok(table), None) => table.rows(&ids, Scales::None),
        (Ok(table), Some(scales)) => scaled(&table, &scales, &ids),
        (Err(_), Some(scales)) => packed(file, names, &scales, &ids),
        (Err(error), None) => Err(error),
    }
}

/// Rows of FP8 with a scale for the table, or for each row.
fn scaled(table: &Table<'_>, scales: &Table<'_>, ids: &View<'_, i64>) -> Result<Tensor<f32>, String> {
    say!("table  {:?} {:?}, scales {:?} {:?}", table.format, table.shape, scales.format, scales.shape);
    let rows = table.shape.first().copied().unwrap_or(1);
    match (&scales.numbers()?[..], &scales.shape[..]) {
        (&[scale], _) => table.rows(ids, Scales::Table(scale)),
        (each, [first, rest @ ..]) if *first == rows && rest.iter().all(|&dim| dim == 1) => {
            table.rows(ids, Scales::Rows(each))
        }
        _ => Err(format!("scales of shape {:?}, neither one nor one for each of {rows} rows", scales.shape)),
    }
}

/// Rows of packed codes of four bits with a scale for each block.
fn packed(file: &[u8], names: &Names, scales: &Table<'_>, ids: &View<'_, i64>) -> Result<Tensor<f32>, String> {
    let text = |error: gather_core::Error| error.to_string();
    let (shape, codes) = safetensors::packed(file, &names.tensor)?;
    let (Some(bytes), Some(&blocks)) = (shape.last(), scales.shape.last()) else {
        return Err("tables and scales have a dimension at least".into());
    };
    let values = bytes.checked_mul(2).ok_or("a dimension exceeds the address space")?;
    // The last block of a row may be short.
    let per_block = if blocks == 0 { 0 } else { values.div_ceil(blocks) };
    let block_size = per_block.checked_next_power_of_two().unwrap_or(0).max(16);
    say!("table  codes of four bits in bytes {shape:?}, {block_size} to a scale of {:?}", scales.format);
    let zero_points = names.zero_points.as_deref().map(|name| safetensors::packed(file, name)).transpose()?;
    let zero_points = zero_points.as_ref().map(|(shape, codes)| View::new(codes, shape)).transpose().map_err(text)?;
    let numbers = scales.numbers()?;
    let scales = View::new(&numbers, &scales.shape).map_err(text)?;
    let codes = View::new(codes, &shape).map_err(text)?;
    let blocks = codes.blocks(Codes::Bits4, block_size, &scales);
    let blocks = zero_points.iter().fold(blocks, |blocks, zero_points| blocks.zero_points(zero_points));
    Gather::new(0).run(&blocks, ids).map_err(text)
}
