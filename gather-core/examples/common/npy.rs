//! `.npy` files.

use std::fs::File;
use std::io::Write;

use gather_core::{DType, DynTensor};

use super::{Array, in_native_order, refuse_other_files, shown};

/// The longest header that is read, as NumPy has it.
const MAX_HEADER: usize = 10_000;

/// The data types that are read.
const SUPPORTED: &str = "bool, integers of 8 to 64 bits, floats of 16 to 64 bits, and with the feature `num-complex` \
    complex numbers of these from 32 on";

/// The names of types, without their byte order.
const TYPES: [&str; 14] = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"];

/// Reads an array, in place where the byte order is the machine's.
pub(crate) fn parse(file: &[u8]) -> Result<Array<'_>, String> {
    let (header, data) = split(file)?;
    let Header { descr, is_plain, fortran, shape } =
        Header::parse(header).ok_or("not a .npy file: its header is not that of an array")?;
    let descr = shown(descr);
    if !is_plain {
        return Err(format!("the structured data type {descr} is not supported; {SUPPORTED} are"));
    }
    // The byte order is dealt with below.
    let native = match descr.split_at_checked(1) {
        Some((order, name)) if "<>=|".contains(order) => format!("={name}"),
        _ => String::new(),
    };
    let dtype =
        DType::from_numpy(&native).ok_or_else(|| format!("the data type {descr} is not supported; {SUPPORTED} are"))?;
    let dims = shape.iter().map(|dim| dim.parse::<usize>());
    let shape: Vec<usize> = dims.collect::<Result<_, _>>().map_err(|_| "a dimension exceeds the address space")?;
    let bytes = shape.iter().try_fold(dtype.size(), |bytes, &dim| bytes.checked_mul(dim));
    match bytes {
        Some(bytes) if bytes == data.len() => {}
        Some(bytes) => {
            return Err(format!("shape {shape:?} of {dtype} takes {bytes} bytes; the file has {}", data.len()));
        }
        None => {
            return Err(format!("shape {shape:?} of {dtype} exceeds the address space"));
        }
    }
    // `=` and `|` are the machine's.
    let is_big_endian = descr.starts_with('>') || !descr.starts_with('<') && cfg!(target_endian = "big");
    let bytes = in_native_order(dtype, data, is_big_endian)?;
    Ok(Array { dtype, shape, fortran, bytes })
}

/// The header of a file, and what is behind it.
fn split(file: &[u8]) -> Result<(&str, &[u8]), String> {
    refuse_other_files(file)?;
    let Some(rest) = file.strip_prefix(b"\x93NUMPY") else {
        return Err("not a .npy file: it does not begin with \\x93NUMPY".into());
    };
    let (len, rest) = match *rest {
        [1, _, a, b, ref rest @ ..] => (u32::from_le_bytes([a, b, 0, 0]), rest),
        [2 | 3, _, a, b, c, d, ref rest @ ..] => (u32::from_le_bytes([a, b, c, d]), rest),
        [] | [1..=3, ..] => return Err("not a .npy file: it ends within its header".into()),
        [version, ..] => return Err(format!("version {version} of .npy files is not supported; 1 to 3 are")),
    };
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    if len > MAX_HEADER {
        return Err(format!("not a .npy file: a header of {len} bytes"));
    }
    let (header, data) = rest.split_at_checked(len).ok_or("not a .npy file: it ends within its header")?;
    Ok((std::str::from_utf8(header).map_err(|error| format!("not a .npy file: its header is no text: {error}"))?, data))
}

/// The dictionary of a header: `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`, with its keys in any order.
struct Header<'a> {
    descr: &'a str,
    /// Whether `descr` is a name, not a list of fields.
    is_plain: bool,
    fortran: bool,
    /// Digits.
    shape: Vec<&'a str>,
}

impl<'a> Header<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut text = Text(text);
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        text.eat("{")?;
        while text.eat("}").is_none() {
            let key = text.string()?;
            text.eat(":")?;
            let is_repeated = match key {
                "descr" => {
                    let value = text.string().map(|name| (name, true)).or_else(|| Some((text.list()?, false)))?;
                    descr.replace(value).is_some()
                }
                "fortran_order" => {
                    let value = text.eat("True").map(|()| true).or_else(|| text.eat("False").map(|()| false))?;
                    fortran.replace(value).is_some()
                }
                "shape" => shape.replace(text.shape()?).is_some(),
                _ => return None,
            };
            if is_repeated || text.eat(",").is_none() && !text.0.trim_ascii_start().starts_with('}') {
                return None;
            }
        }
        let (descr, is_plain) = descr?;
        text.0.trim_ascii().is_empty().then_some(Header { descr, is_plain, fortran: fortran?, shape: shape? })
    }
}

/// The rest of a header. Its methods take what they are named after, and spaces before it.
struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    fn eat(&mut self, token: &str) -> Option<()> {
        self.0 = self.0.trim_ascii_start().strip_prefix(token)?;
        Some(())
    }

    fn string(&mut self) -> Option<&'a str> {
        let quote = ["'", "\""].into_iter().find(|quote| self.eat(quote).is_some())?;
        let (string, rest) = self.0.split_once(quote)?;
        self.0 = rest;
        Some(string)
    }

    /// All up to the bracket that closes the list, which is to be shown, not understood.
    fn list(&mut self) -> Option<&'a str> {
        let text = self.0.trim_ascii_start();
        if !text.starts_with('[') {
            return None;
        }
        let mut open = 0;
        let end = text.find(|c| {
            open += i32::from(c == '[') - i32::from(c == ']');
            open == 0
        });
        let (list, rest) = text.split_at(end? + 1);
        self.0 = rest;
        Some(list)
    }

    fn shape(&mut self) -> Option<Vec<&'a str>> {
        self.eat("(")?;
        let mut dims = Vec::new();
        while self.eat(")").is_none() {
            let text = self.0.trim_ascii_start();
            let (dim, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
            self.0 = rest;
            if dim.is_empty() || self.eat(",").is_none() && !rest.trim_ascii_start().starts_with(')') {
                return None;
            }
            dims.push(dim);
        }
        Some(dims)
    }
}

/// Writes a tensor.
pub(crate) fn write(file: &mut File, tensor: &DynTensor) -> std::io::Result<()> {
    let dtype = tensor.dtype();
    let name =
        TYPES.into_iter().find(|name| DType::from_numpy(&format!("={name}")) == Some(dtype)).ok_or_else(|| {
            std::io::Error::new(std::io::ErrorKind::InvalidInput, format!("{dtype} cannot be stored in a .npy file"))
        })?;
    let order = match dtype.size() {
        1 => '|',
        _ if cfg!(target_endian = "big") => '>',
        _ => '<',
    };
    let shape: String = tensor.shape().iter().map(|dim| format!("{dim},")).collect();
    let header = format!("{{'descr': '{order}{name}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Data begin at a multiple of 64 bytes. A header of 8 dimensions has fewer than 256.
    let len = (10 + header.len() + 1).next_multiple_of(64) - 10;
    file.write_all(b"\x93NUMPY\x01\x00")?;
    file.write_all(&u16::try_from(len).map_err(std::io::Error::other)?.to_le_bytes())?;
    writeln!(file, "{header:<0$}", len - 1)?;
    file.write_all(tensor.as_bytes())
}
