//! Rows of tensors in a safetensors file that is mapped into memory: only the pages of these rows are read.
//!
//! Copy this file. A tensor is viewed where it lies in the file, whatever its alignment there.

use std::fs::File;
use std::path::Path;

use gather_core::{AdviceStats, DType, DynTensor, DynView, Element, Error, Gather, Index, Tensor, View};
use memmap2::Mmap;
use safetensors::tensor::TensorView;

/// Maps a file.
///
/// # Errors
/// Those of the file.
#[allow(unsafe_code)]
pub fn map(path: &Path) -> std::io::Result<Mmap> {
    let file = File::open(path)?;
    // SAFETY: memmap2 asks that nobody shortens or changes the file while it is mapped, which no program can check: the
    // caller keeps files of weights as they are. If another process changes one all the same, rows hold a mix of both.
    unsafe { Mmap::map(&file) }
}

/// A tensor of a file, viewed where it lies.
///
/// # Errors
/// A data type that gather-core has not, such as numbers of 8 or fewer bits with an exponent.
pub fn view<'a>(tensor: &TensorView<'a>) -> Result<DynView<'a>, String> {
    let name = tensor.dtype().to_string();
    let dtype = DType::from_safetensors(&name).ok_or_else(|| format!("no data type {name}"))?;
    DynView::from_bytes(dtype, tensor.data(), tensor.shape()).map_err(|error| error.to_string())
}

/// Rows of a table by their ids, of the table's type.
///
/// # Errors
/// As for [`view`], a table without rows, an id out of range.
pub fn rows<I: Index>(table: &TensorView<'_>, ids: &[I]) -> Result<DynTensor, String> {
    let ids = View::new(ids, &[ids.len()]).map_err(|error| error.to_string())?;
    let rows = Gather::new(0).run(&view(table)?, &DynView::from(&ids));
    rows.map_err(|error| error.to_string())
}

/// Rows of a table by their ids, into a tensor that is used again, for tables whose type is known.
///
/// # Errors
/// Those of the operator, [`Error::DTypeMismatch`], and [`Error::Misaligned`] for a tensor that does not lie at the
/// alignment of `T` in its file: [`rows`] takes such a one, too.
pub fn rows_into<T: Element, I: Index>(table: &DynView<'_>, ids: &[I], out: &mut Tensor<T>) -> Result<(), Error> {
    Gather::new(0).run_into(&table.downcast::<T>()?, &View::new(ids, &[ids.len()])?, out)
}

/// Prefetches the pages of rows from the disk, all at once. Call it before [`rows_into`] where most of the rows are not
/// in memory; where they are, its time is lost.
///
/// # Errors
/// [`Error::DTypeMismatch`], and [`Error::Misaligned`] as for [`rows_into`].
pub fn will_need<T: Element, I: Index>(table: &DynView<'_>, ids: &[I]) -> Result<AdviceStats, Error> {
    Ok(Gather::new(0).will_need(&table.downcast::<T>()?, &View::new(ids, &[ids.len()])?))
}
