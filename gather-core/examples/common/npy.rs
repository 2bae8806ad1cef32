//! `.npy` files.

use std::fs::File;
use std::io::{BufWriter, Write};

use gather_core::{DType, DynTensor, Element, Tensor};
use half::f16;
use npyz::{AutoSerialize, NpyHeader, Order, WriterBuilder};
use num_complex::Complex;

use super::{Array, in_native_order, refuse_other_files, shown};

/// The longest header that is read, as NumPy has it.
const MAX_HEADER: usize = 10_000;
/// The most brackets that are opened in a header. NumPy writes two for plain types. The time of the parser grows
/// exponentially with brackets inside brackets.
const MAX_BRACKETS: usize = 8;

/// The data types that are read.
const SUPPORTED: &str =
    "bool, integers of 8 to 64 bits, floats of 16 to 64 bits, and complex numbers of these from 32 on";

/// Reads an array, in place where the byte order is the machine's.
pub(crate) fn parse(file: &[u8]) -> Result<Array<'_>, String> {
    check_header(file)?;
    let mut rest = file;
    let header = NpyHeader::from_reader(&mut rest).map_err(|error| format!("not a .npy file: {error}"))?;
    let descr = match header.dtype() {
        npyz::DType::Plain(descr) => descr.to_string(),
        other => {
            let descr = shown(&other.descr());
            return Err(format!("the structured data type {descr} is not supported; {SUPPORTED} are"));
        }
    };
    // The byte order is dealt with below.
    let native = format!("={}", descr.get(1..).unwrap_or_default());
    let dtype = DType::from_numpy(&native)
        .ok_or_else(|| format!("the data type {} is not supported; {SUPPORTED} are", shown(&descr)))?;
    let dims = header.shape().iter().map(|&dim| usize::try_from(dim));
    let shape: Vec<usize> = dims.collect::<Result<_, _>>().map_err(|_| "a dimension exceeds the address space")?;
    let bytes = shape.iter().try_fold(dtype.size(), |bytes, &dim| bytes.checked_mul(dim));
    match bytes {
        Some(bytes) if bytes == rest.len() => {}
        Some(bytes) => {
            return Err(format!("shape {shape:?} of {dtype} takes {bytes} bytes; the file has {}", rest.len()));
        }
        None => {
            return Err(format!("shape {shape:?} of {dtype} exceeds the address space"));
        }
    }
    // `=` and `|` are the machine's.
    let is_big_endian = descr.starts_with('>') || !descr.starts_with('<') && cfg!(target_endian = "big");
    let bytes = in_native_order(dtype, rest, is_big_endian)?;
    Ok(Array { dtype, shape, fortran: header.order() == Order::Fortran, bytes })
}

/// Refuses headers that would take more memory, stack or time to parse than any real one does.
fn check_header(file: &[u8]) -> Result<(), String> {
    refuse_other_files(file)?;
    let size = |at: std::ops::Range<usize>| {
        let bytes = file.get(at).ok_or("not a .npy file: it ends within its header")?;
        Ok::<usize, String>(bytes.iter().rev().fold(0, |size, &byte| size << 8 | usize::from(byte)))
    };
    if !file.starts_with(b"\x93NUMPY") {
        return Err("not a .npy file: it does not begin with \\x93NUMPY".into());
    }
    let (start, len) = match file.get(6) {
        Some(1) => (10, size(8..10)?),
        Some(_) => (12, size(8..12)?),
        None => return Err("not a .npy file: it ends within its header".into()),
    };
    if len > MAX_HEADER {
        return Err(format!("not a .npy file: a header of {len} bytes"));
    }
    let text = file.get(start..start + len).ok_or("not a .npy file: it ends within its header")?;
    if text.iter().filter(|byte| b"([{".contains(byte)).count() > MAX_BRACKETS {
        return Err("not a .npy file: a header of too many brackets".into());
    }
    Ok(())
}

/// Writes a tensor.
pub(crate) fn write(file: &mut File, tensor: DynTensor) -> std::io::Result<()> {
    macro_rules! as_types {
        ($($ty:ty)*) => {
            $(if tensor.dtype() == <$ty as Element>::DTYPE {
                return write_typed(file, tensor.downcast::<$ty>().map_err(std::io::Error::other)?);
            })*
        };
    }
    as_types!(bool i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 Complex<f32> Complex<f64>);
    let message = format!("{} cannot be stored in a .npy file", tensor.dtype());
    Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message))
}

/// Writes a tensor whose type is known.
pub(crate) fn write_typed<T: Element + AutoSerialize>(file: &mut File, tensor: Tensor<T>) -> std::io::Result<()> {
    let shape: Vec<u64> = tensor.shape().iter().map(|&dim| dim as u64).collect();
    let mut out = BufWriter::new(file);
    let mut writer = npyz::WriteOptions::new().default_dtype().shape(&shape).writer(&mut out).begin_nd()?;
    writer.extend(tensor.into_vec())?;
    writer.finish()?;
    out.flush()
}
