//! `.gguf` files, versions 2 and 3, little-endian.
//!
//! ```text
//! header     "GGUF", version u32, tensors u64, keys u64
//! keys       name, type u32, value            a value is a number, a string, or an array of values
//! tensors    name, rank u32, dimensions u64 each, type u32, offset u64
//! padding    to a multiple of the key `general.alignment`, or of 32
//! data       each tensor at its offset
//! ```
//!
//! A string is its length as u64 and its bytes. An array is a type u32, a length u64 and its values. Of the keys the
//! alignment alone is kept; all others are stepped over. Each claim of a length is compared with what is left of the
//! file before it is believed, so that the time is proportional to the header.

use std::collections::HashSet;

use super::table::{Format, Table};
use super::{refuse_other_files, shown};

/// The alignment of data in files that do not say.
const ALIGNMENT: u64 = 32;
/// Arrays inside arrays. Files have one or two.
const MAX_DEPTH: u32 = 4;
/// The type of a value that is a `u32`.
const U32: u32 = 4;
/// Dimensions of a tensor in ggml.
const MAX_RANK: u32 = 4;
/// Bytes of a tensor's name, as the format has it.
const MAX_NAME: usize = 64;

/// Finds one tensor of a file, in place.
pub(crate) fn parse<'a>(file: &'a [u8], tensor: &str) -> Result<Table<'a>, String> {
    let mut rest = Reader { file, at: 0 };
    refuse_other_files(file)?;
    if rest.take(4) != Ok(b"GGUF") {
        return Err("not a .gguf file: it does not begin with GGUF".into());
    }
    match rest.u32()? {
        2 | 3 => {}
        version => return Err(format!("version {version} of .gguf, or a file in big-endian order, is not supported")),
    }
    let (tensors, keys) = (rest.u64()?, rest.u64()?);
    let mut alignment = ALIGNMENT;
    let mut seen = HashSet::new();
    for _ in 0..keys {
        let name = rest.string()?;
        if !is_new(&mut seen, name)? {
            return Err(format!("the key `{}` stands twice", shown(&String::from_utf8_lossy(name))));
        }
        let kind = rest.u32()?;
        if name != b"general.alignment" {
            rest.skip_value(kind, MAX_DEPTH)?;
        } else if kind == U32 {
            alignment = rest.u32()?.into();
        } else {
            return Err(format!("general.alignment is a value of type {kind}, not of type {U32} (u32)"));
        }
    }
    if !alignment.is_power_of_two() {
        return Err(format!("an alignment of {alignment}, which is no power of two"));
    }
    let (mut found, mut names) = (None, Vec::new());
    seen.clear();
    for _ in 0..tensors {
        let info = rest.info()?;
        if !is_new(&mut seen, info.name)? {
            return Err(format!("two tensors are named `{}`", shown(&String::from_utf8_lossy(info.name))));
        }
        if info.name == tensor.as_bytes() {
            found = Some(info);
        } else if names.len() < 8 {
            names.push(shown(&String::from_utf8_lossy(info.name)));
        }
    }
    let data = (rest.at as u64).checked_next_multiple_of(alignment).ok_or("a header that overflows")?;
    match found {
        Some(info) => info.table(file, data),
        None => {
            let more = if tensors > names.len() as u64 { ", ..." } else { "" };
            Err(format!("no tensor `{}` among {tensors}: {}{more}", shown(tensor), names.join(", ")))
        }
    }
}

/// Adds a name, and says whether it was not there.
fn is_new<'a>(seen: &mut HashSet<&'a [u8]>, name: &'a [u8]) -> Result<bool, String> {
    seen.try_reserve(1)
        .map_err(|_| format!("no memory for the names of a header, of which there are {}", seen.len()))?;
    Ok(seen.insert(name))
}

/// The description of a tensor in a header.
struct Info<'a> {
    name: &'a [u8],
    /// The dimension whose elements are neighbours comes first.
    dims: Vec<u64>,
    kind: u32,
    offset: u64,
}

impl Info<'_> {
    /// The tensor's bytes as rows. The shape is reversed: the neighbours come last.
    fn table<'a>(&self, file: &'a [u8], data: u64) -> Result<Table<'a>, String> {
        let format = Format::from_ggml(self.kind)?;
        let size = |&dim: &u64| usize::try_from(dim).map_err(|_| "a dimension exceeds the address space");
        let shape: Vec<usize> = self.dims.iter().rev().map(size).collect::<Result<_, _>>()?;
        let bytes = format.bytes(&shape)?;
        let begin = data.checked_add(self.offset).and_then(|at| usize::try_from(at).ok());
        let end = begin.and_then(|at| at.checked_add(bytes));
        let range = begin.zip(end).and_then(|(begin, end)| file.get(begin..end));
        let bytes = range.ok_or_else(|| {
            let (len, offset) = (file.len(), self.offset);
            format!("{bytes} bytes from {offset} of the data on, which begins at {data}; the file has {len}")
        })?;
        Ok(Table { format, shape, bytes })
    }
}

/// A header, read from its start.
struct Reader<'a> {
    file: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: u64) -> Result<&'a [u8], String> {
        let left = &self.file[self.at..];
        let bytes = usize::try_from(len).ok().and_then(|len| left.get(..len));
        let bytes =
            bytes.ok_or_else(|| format!("{len} bytes at {}, where the file has {} left", self.at, left.len()))?;
        self.at += bytes.len();
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let bytes = self.take(N as u64)?;
        bytes.try_into().map_err(|_| "another length than was asked for".into())
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }

    fn string(&mut self) -> Result<&'a [u8], String> {
        let len = self.u64()?;
        self.take(len)
    }

    /// Steps over a value. Arrays in arrays go `depth` deep.
    fn skip_value(&mut self, kind: u32, depth: u32) -> Result<(), String> {
        if let Some(size) = size_of_value(kind) {
            return self.take(size).map(drop);
        }
        match kind {
            8 => self.string().map(drop),
            9 if depth == 0 => Err(format!("arrays in arrays at {}", self.at)),
            9 => {
                let (kind, len) = (self.u32()?, self.u64()?);
                if let Some(size) = size_of_value(kind) {
                    let bytes = len.checked_mul(size).ok_or("an array that exceeds the address space")?;
                    return self.take(bytes).map(drop);
                }
                // Every string and every array takes some bytes, so that the file ends before the count can hurt.
                (0..len).try_for_each(|_| self.skip_value(kind, depth - 1))
            }
            other => Err(format!("a value of type {other} at {}", self.at)),
        }
    }

    fn info(&mut self) -> Result<Info<'a>, String> {
        let name = self.string()?;
        if name.len() > MAX_NAME {
            return Err(format!("the name of a tensor has {} bytes; there are at most {MAX_NAME}", name.len()));
        }
        let rank = self.u32()?;
        if rank > MAX_RANK {
            return Err(format!("a tensor of {rank} dimensions; there are at most {MAX_RANK}"));
        }
        let dims = (0..rank).map(|_| self.u64()).collect::<Result<_, _>>()?;
        Ok(Info { name, dims, kind: self.u32()?, offset: self.u64()? })
    }
}

/// The bytes of a value that is a number.
fn size_of_value(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}
