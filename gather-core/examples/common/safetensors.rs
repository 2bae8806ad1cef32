//! `.safetensors` files.

use std::borrow::Cow;

use safetensors::{Dtype, SafeTensors};

use super::{Array, dtype};

/// Reads one tensor of a file, in place.
pub(crate) fn parse<'a>(file: &'a [u8], tensor: &str) -> Result<Array<'a>, String> {
    let tensors = SafeTensors::deserialize(file).map_err(|error| format!("not a .safetensors file: {error}"))?;
    let view = tensors.tensor(tensor).map_err(|_| {
        let names = tensors.names();
        let shown = names.iter().take(8).copied().collect::<Vec<_>>().join(", ");
        let more = if names.len() > 8 { ", ..." } else { "" };
        format!("no tensor `{tensor}` among {}: {shown}{more}", names.len())
    })?;
    let name = match view.dtype() {
        Dtype::BOOL => "bool",
        Dtype::I8 => "i8",
        Dtype::I16 => "i16",
        Dtype::I32 => "i32",
        Dtype::I64 => "i64",
        Dtype::U8 => "u8",
        Dtype::U16 => "u16",
        Dtype::U32 => "u32",
        Dtype::U64 => "u64",
        Dtype::F16 => "f16",
        Dtype::BF16 => "bf16",
        Dtype::F32 => "f32",
        Dtype::F64 => "f64",
        Dtype::C64 => "complex64",
        other => return Err(format!("the data type {other:?} is not supported")),
    };
    let dtype = dtype(name).ok_or_else(|| format!("the data type {name} is not supported"))?;
    Ok(Array { dtype, shape: view.shape().to_vec(), fortran: false, bytes: Cow::Borrowed(view.data()) })
}
