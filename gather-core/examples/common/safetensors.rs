//! `.safetensors` files.

use std::borrow::Cow;

use gather_core::DType;
use safetensors::SafeTensors;

use super::Array;

/// Reads one tensor of a file, in place.
pub(crate) fn parse<'a>(file: &'a [u8], tensor: &str) -> Result<Array<'a>, String> {
    let tensors = SafeTensors::deserialize(file).map_err(|error| format!("not a .safetensors file: {error}"))?;
    let view = tensors.tensor(tensor).map_err(|_| {
        let names = tensors.names();
        let shown = names.iter().take(8).copied().collect::<Vec<_>>().join(", ");
        let more = if names.len() > 8 { ", ..." } else { "" };
        format!("no tensor `{tensor}` among {}: {shown}{more}", names.len())
    })?;
    let name = view.dtype().to_string();
    let dtype = DType::from_safetensors(&name).ok_or_else(|| format!("the data type {name} is not supported"))?;
    Ok(Array { dtype, shape: view.shape().to_vec(), fortran: false, bytes: Cow::Borrowed(view.data()) })
}
