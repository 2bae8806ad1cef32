//! The file readers of gather-core's examples as a library, and random files for them. Whatever its bytes, a file gives
//! an array or an error.

#[path = "../../../gather-core/examples/common/mod.rs"]
mod common;
mod files;
mod gguf;

use arbitrary::{Result, Unstructured};
use gather_core::{DType, DynView, Gather, Tensor, View};

use common::Array;
use common::table::{Scales, Table};

/// The outcome of reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It gave an array.
    Array,
    /// It was refused.
    Refused,
}

/// Reads one drawn file as `.npy`, `.safetensors` or `.gguf`.
///
/// # Errors
/// When there are not enough bytes for a file.
pub fn read(u: &mut Unstructured<'_>) -> Result<Outcome> {
    Ok(match u.int_in_range(0..=3)? {
        0 => used(common::npy::parse(&files::npy(u)?)),
        1 => used(common::safetensors::parse(&files::safetensors(u)?, files::TENSOR)),
        2 => {
            let file = files::safetensors(u)?;
            // Codes of four bits are bytes of any shape.
            if let Ok((shape, bytes)) = common::safetensors::packed(&file, files::TENSOR) {
                let _ = View::new(bytes, &shape);
            }
            looked_up(common::safetensors::table(&file, files::TENSOR))
        }
        _ => looked_up(common::gguf::parse(&gguf::gguf(u)?, files::TENSOR)),
    })
}

/// The rows of a tensor in a `.gguf` file as numbers.
///
/// # Errors
/// What is wrong with the file or with the ids.
pub fn gguf_rows(file: &[u8], tensor: &str, ids: &[i64]) -> std::result::Result<Tensor<f32>, String> {
    let ids = View::new(ids, &[ids.len()]).map_err(|error| error.to_string())?;
    common::gguf::parse(file, tensor)?.rows(&ids, Scales::None)
}

/// The rows of a tensor in a `.safetensors` file as numbers.
///
/// # Errors
/// What is wrong with the file or with the ids.
pub fn safetensors_rows(file: &[u8], tensor: &str, ids: &[i64]) -> std::result::Result<Tensor<f32>, String> {
    let ids = View::new(ids, &[ids.len()]).map_err(|error| error.to_string())?;
    common::safetensors::table(file, tensor)?.rows(&ids, Scales::None)
}

/// The data type and the shape of a tensor in a `.safetensors` file.
///
/// # Errors
/// What is wrong with the file, or why its data type is not supported.
pub fn safetensors_array(file: &[u8], tensor: &str) -> std::result::Result<(DType, Vec<usize>), String> {
    common::safetensors::parse(file, tensor).map(|array| (array.dtype, array.shape))
}

/// The whole numbers of a `.npy` file as ids.
///
/// # Errors
/// What is wrong with the file, or why its numbers are no ids.
pub fn npy_ids(file: &[u8]) -> std::result::Result<Vec<i64>, String> {
    common::npy::parse(file).and_then(|array| common::ids(&array))
}

/// Checks that rows can be read of a table, by reading the first and the last.
fn looked_up(table: std::result::Result<Table<'_>, String>) -> Outcome {
    let Ok(table) = table else { return Outcome::Refused };
    assert_eq!(table.format.bytes(&table.shape), Ok(table.bytes.len()), "{:?} {:?}", table.format, table.shape);
    let rows = table.rows(&View::new(&[0i64, -1], &[2]).expect("two ids"), Scales::None);
    let of_blocks = table.format.block().0 > 1;
    match &table.shape[..] {
        [_] | [] if of_blocks => assert!(rows.is_err(), "a table of blocks without rows"),
        [1..=usize::MAX, row @ ..] if !table.bytes.is_empty() => {
            let rows = rows.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(rows.shape(), [&[2], row].concat());
        }
        // Without elements, a dimension may be anything.
        _ => assert!(rows.is_err() || table.shape.contains(&0)),
    }
    Outcome::Array
}

/// Checks that an operator can run on an array that was read, by taking its first row.
fn used(array: std::result::Result<Array<'_>, String>) -> Outcome {
    let Ok(array) = array else { return Outcome::Refused };
    let Ok(data) = array.view() else { return Outcome::Refused };
    let bytes = data.shape().iter().product::<usize>() * data.dtype().size();
    assert_eq!(bytes, array.bytes.len(), "{} {:?}", data.dtype(), data.shape());
    // Without rows, a row of zeros could be as large as the other dimensions claim.
    if data.shape().first().is_some_and(|&rows| rows > 0) {
        let zero = View::scalar(&0u8);
        let row = Gather::new(0).run(&data, &DynView::from(&zero));
        assert!(row.is_ok(), "{:?}", row.err());
    }
    Outcome::Array
}
