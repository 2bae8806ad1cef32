//! `.safetensors` files.

use gather_core::DType;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use super::table::{Format, Table};
use super::{Array, in_native_order, refuse_other_files, shown};

/// Reads one tensor of a file, in place.
pub(crate) fn parse<'a>(file: &'a [u8], tensor: &str) -> Result<Array<'a>, String> {
    let view = find(file, tensor)?;
    let name = view.dtype().to_string();
    let dtype = DType::from_safetensors(&name).ok_or_else(|| {
        let numbers = "; numbers of 8 to 64 bits are. --ids prints rows of FP8 and four bits";
        format!("the data type {name} is not supported{numbers}")
    })?;
    let bytes = in_native_order(dtype, view.data(), false)?;
    Ok(Array { dtype, shape: view.shape().to_vec(), fortran: false, bytes })
}

/// Finds one tensor of a file whose rows can be read as numbers, in place.
pub(crate) fn table<'a>(file: &'a [u8], tensor: &str) -> Result<Table<'a>, String> {
    let view = find(file, tensor)?;
    let name = view.dtype().to_string();
    let format = Format::from_safetensors(&name)?;
    let (shape, bytes) = (view.shape().to_vec(), view.data());
    match format.bytes(&shape)? {
        expected if expected == bytes.len() => Ok(Table { format, shape, bytes }),
        expected => Err(format!("shape {shape:?} of {name} takes {expected} bytes, not {}", bytes.len())),
    }
}

/// Finds one tensor of a file that holds codes of four bits in bytes, or in words of 32 bits. Returns its shape in
/// bytes, and the bytes.
pub(crate) fn packed<'a>(file: &'a [u8], tensor: &str) -> Result<(Vec<usize>, &'a [u8]), String> {
    let view = find(file, tensor)?;
    let size = match view.dtype() {
        Dtype::U8 | Dtype::I8 => 1,
        Dtype::I32 | Dtype::U32 => 4,
        other => return Err(format!("the data type {other} holds no codes of four bits; U8, I8, U32 and I32 do")),
    };
    let mut shape = view.shape().to_vec();
    let last = shape.last_mut().ok_or("a table of rank 0")?;
    *last = last.checked_mul(size).ok_or("a dimension exceeds the address space")?;
    Ok((shape, view.data()))
}

fn find<'a>(file: &'a [u8], tensor: &str) -> Result<TensorView<'a>, String> {
    refuse_other_files(file)?;
    let tensors = SafeTensors::deserialize(file).map_err(|error| format!("not a .safetensors file: {error}"))?;
    tensors.tensor(tensor).map_err(|_| {
        // In one order from run to run, and without characters that a terminal would obey.
        let mut names = tensors.names();
        names.sort_unstable();
        let first = names.iter().take(8).map(|name| shown(name)).collect::<Vec<_>>().join(", ");
        let more = if names.len() > 8 { ", ..." } else { "" };
        format!("no tensor `{}` among {}: {first}{more}", shown(tensor), names.len())
    })
}
