//! The shards of a table, each a mapped file.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::{Dtype, SafeTensors};

use crate::format::{Codes, Format, MOST_COLUMNS, Scales};
use crate::{content, make};

/// Bytes of the longest header that the crate `safetensors` reads.
const MOST_HEADER: u64 = 100_000_000;

/// The reason why a file is no shard of a table.
#[derive(Debug)]
pub(crate) enum Fault {
    Io(std::io::Error),
    NoShards,
    /// The number of a shard that is missing, the number of shards by the names, and of files.
    Missing(u32, u32, usize),
    NotRegular,
    /// Bytes of a file that ends before its header begins.
    NoHeader(u64),
    Header(safetensors::SafeTensorError),
    /// Bytes that the header names, and bytes of the file.
    Truncated(u64, u64),
    NoTensor(Vec<String>),
    /// A tensor, its data type, and the types that are read.
    DType(String, Dtype, &'static str),
    /// A tensor, its shape, and the expected one.
    Shape(String, Vec<usize>, String),
    /// Bytes of an address that are no multiple of 4.
    Misaligned(String, usize),
    /// Columns and format of the first shard, and of this one.
    OtherRows(Format, Format),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Io(error) => write!(f, "{error}"),
            Fault::NoShards => write!(f, "0 files end in .safetensors; a table has 1 or more"),
            Fault::Missing(number, shards, files) => {
                write!(f, "the shard numbered {number} is missing: {files} of {shards} files are there")
            }
            Fault::NotRegular => write!(f, "not a regular file"),
            Fault::NoHeader(bytes) => write!(f, "{bytes} bytes; the length of the header takes 8"),
            Fault::Header(error) => write!(f, "the header cannot be read: {error}"),
            Fault::Truncated(needed, bytes) => write!(f, "{bytes} bytes, where the header names {needed}: truncated"),
            Fault::NoTensor(names) => write!(f, "0 tensors are named {}", names.join(" or ")),
            Fault::DType(tensor, got, expected) => write!(f, "{tensor} has the type {got}; {expected} can be read"),
            Fault::Shape(tensor, got, expected) => write!(f, "{tensor} has the shape {got:?}, not {expected}"),
            Fault::Misaligned(tensor, bytes) => write!(f, "{tensor} begins {bytes} bytes after a multiple of 4"),
            Fault::OtherRows(first, got) => {
                write!(f, "rows of {} numbers in {got}, ", got.columns)?;
                write!(f, "where the first shard has {} in {first}", first.columns)
            }
        }
    }
}

/// A fault of a file or folder.
#[derive(Debug)]
pub(crate) struct InFile {
    path: PathBuf,
    fault: Fault,
}

impl fmt::Display for InFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.fault)
    }
}

impl Error for InFile {}

/// A file that has rows of the table.
pub(crate) struct Shard {
    #[allow(dead_code, reason = "read on Linux of 64 bits")]
    pub(crate) file: File,
    #[allow(dead_code, reason = "read on Linux of 64 bits")]
    pub(crate) path: PathBuf,
    pub(crate) map: Mmap,
    pub(crate) rows: usize,
    /// Bytes of the file that hold codes, and scales.
    pub(crate) codes: Range<usize>,
    pub(crate) scales: Range<usize>,
    /// The number of the first row, if `--make` wrote the file.
    made_from: Option<u64>,
}

/// A table of one format.
pub(crate) struct Shards {
    pub(crate) shards: Vec<Shard>,
    pub(crate) format: Format,
    /// The number of rows up to the end of each shard.
    ends: Vec<usize>,
}

impl Shards {
    /// Opens the shards of a folder, in the order of their names.
    pub(crate) fn open(folder: &Path, tensor: &str) -> Result<Self, InFile> {
        let at = |path: &Path, fault| InFile { path: path.to_owned(), fault };
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let entries = entries.map_err(|error| at(folder, Fault::Io(error)))?;
        let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
        paths.retain(|path| path.extension().is_some_and(|end| end == "safetensors"));
        paths.sort();
        if let Some(fault) = missing(&paths) {
            return Err(at(folder, fault));
        }
        let (mut shards, mut ends, mut first) = (Vec::new(), Vec::new(), None);
        for path in paths {
            let (shard, format) = Shard::open(&path, tensor).map_err(|fault| at(&path, fault))?;
            let expected = *first.get_or_insert(format);
            if expected != format {
                return Err(at(&path, Fault::OtherRows(expected, format)));
            }
            ends.push(ends.last().unwrap_or(&0) + shard.rows);
            shards.push(shard);
        }
        let format = first.ok_or_else(|| at(folder, Fault::NoShards))?;
        Ok(Shards { shards, format, ends })
    }

    pub(crate) fn rows(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The shard of a row of the table, and the row's number in the shard.
    #[allow(dead_code, reason = "read on Linux of 64 bits")]
    pub(crate) fn locate(&self, row: u64) -> (usize, usize) {
        let row = row as usize;
        let shard = self.ends.partition_point(|&end| end <= row);
        (shard, row + self.shards[shard].rows - self.ends[shard])
    }

    /// Compares rows with the values that the table was made of. Returns whether `--make` made it.
    pub(crate) fn check(&self, ids: &[u64], out: &[f32]) -> Result<bool, String> {
        let begins = std::iter::once(0).chain(self.ends.iter().map(|&end| end as u64));
        if !self.shards.iter().zip(begins).all(|(shard, begin)| shard.made_from == Some(begin)) {
            return Ok(false);
        }
        let format = &self.format;
        let (mut codes, mut scales) = (vec![0; format.code_bytes()], vec![0; format.scale_bytes()]);
        let mut expected = vec![0.0f32; format.columns];
        for (&id, row) in ids.iter().zip(out.chunks_exact(format.columns)) {
            content::codes(format, id, &mut codes);
            content::scales(format, id, &mut scales);
            format.decode(&codes, &scales, &mut expected);
            let differs = (0..row.len()).find(|&at| row[at].to_bits() != expected[at].to_bits());
            if let Some(at) = differs {
                return Err(format!("row {id} has {} in column {at}, and was made of {}", row[at], expected[at]));
            }
        }
        Ok(true)
    }
}

impl Shard {
    fn open(path: &Path, tensor: &str) -> Result<(Self, Format), Fault> {
        // A pipe would be waited for.
        if !fs::metadata(path).map_err(Fault::Io)?.is_file() {
            return Err(Fault::NotRegular);
        }
        let file = File::open(path).map_err(Fault::Io)?;
        // Before the file is mapped: an empty one has no mapping.
        if let bytes @ 0..8 = file.metadata().map_err(Fault::Io)?.len() {
            return Err(Fault::NoHeader(bytes));
        }
        // SAFETY: the map is only read. Whoever runs the example sees to it that no other process writes to the file
        // meanwhile; a process that shortens it ends this one with a signal.
        let map = unsafe { Mmap::map(&file) }.map_err(Fault::Io)?;
        #[cfg(unix)]
        map.advise(memmap2::Advice::Random).map_err(Fault::Io)?;
        let (begin, metadata) = header(&map)?;
        let names = ["_scale_inv", "_scale"].map(|end| format!("{tensor}{end}"));
        let [scale_inv, scale] = &names;
        let codes = find(&metadata, &[tensor])?;
        let scales = find(&metadata, &[scale_inv, scale, "scale"])?;
        let format = format(codes, scales)?;
        let bytes = |(_, info): (&str, &TensorInfo)| begin + info.data_offsets.0..begin + info.data_offsets.1;
        let misaligned = map[bytes(scales)].as_ptr().addr() % 4;
        if format.scales == Scales::F32 && misaligned > 0 {
            return Err(Fault::Misaligned(scales.0.into(), misaligned));
        }
        let made_from = metadata.metadata().as_ref().and_then(|of| of.get(make::FIRST_ROW)?.parse().ok());
        let (rows, codes, scales) = (codes.1.shape[0], bytes(codes), bytes(scales));
        Ok((Shard { file, path: path.to_owned(), map, rows, codes, scales, made_from }, format))
    }
}

/// The first shard that is missing, where names end in `-NNNNN-of-MMMMM`: a number from 0 or 1 on, of `MMMMM`.
fn missing(paths: &[PathBuf]) -> Option<Fault> {
    let mut tables: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    let parts = |path| {
        let (rest, shards) = Path::file_stem(path)?.to_str()?.rsplit_once("-of-")?;
        let (name, number) = rest.rsplit_once('-')?;
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_form = number.len() == shards.len() && is_number(number) && is_number(shards);
        is_form.then_some(((name, shards.parse::<u32>().ok()?), number.parse::<u32>().ok()?))
    };
    for (table, number) in paths.iter().filter_map(|path| parts(path)) {
        tables.entry(table).or_default().push(number);
    }
    tables.into_iter().find_map(|((_, shards), mut numbers)| {
        numbers.sort_unstable();
        let first = numbers[0].min(1);
        let mut expected = (first..).zip(0..shards as usize);
        let missing = expected.find(|&(number, at)| numbers.get(at) != Some(&number));
        missing.map(|(number, _)| Fault::Missing(number, shards, numbers.len()))
    })
}

/// The header of a file, and the byte after it.
fn header(file: &[u8]) -> Result<(usize, Metadata), Fault> {
    let error = match SafeTensors::read_metadata(file) {
        Ok((len, metadata)) => return Ok((len + 8, metadata)),
        Err(error) => error,
    };
    let bytes = file.len() as u64;
    let len = file.first_chunk().map_or(0, |&len| u64::from_le_bytes(len));
    if len > MOST_HEADER {
        return Err(Fault::Header(error));
    }
    let len = len + 8;
    if bytes < len {
        return Err(Fault::Truncated(len, bytes));
    }
    let text = usize::try_from(len).ok().and_then(|len| file.get(8..len));
    let needed = text.and_then(|text| serde_json::from_slice::<Metadata>(text).ok());
    match needed.map(|metadata| len.saturating_add(metadata.data_len() as u64)) {
        Some(needed) if bytes < needed => Err(Fault::Truncated(needed, bytes)),
        _ => Err(Fault::Header(error)),
    }
}

/// The first of these tensors that a file has.
fn find<'a>(metadata: &'a Metadata, names: &[&'a str]) -> Result<(&'a str, &'a TensorInfo), Fault> {
    let found = names.iter().find_map(|&name| metadata.info(name).map(|info| (name, info)));
    found.ok_or_else(|| Fault::NoTensor(names.iter().map(|&name| name.to_owned()).collect()))
}

/// The format of two tensors.
fn format(codes: (&str, &TensorInfo), scales: (&str, &TensorInfo)) -> Result<Format, Fault> {
    let of_shape = |(name, info): (&str, &TensorInfo), expected: String| {
        Err(Fault::Shape(name.to_owned(), info.shape.clone(), expected))
    };
    let &[rows, bytes @ 1..=MOST_COLUMNS] = &codes.1.shape[..] else {
        return of_shape(codes, format!("[rows, n] with n of 1 to {MOST_COLUMNS}"));
    };
    let (of_codes, columns) = match codes.1.dtype {
        Dtype::F8_E4M3 => (Codes::E4M3, bytes),
        Dtype::U8 => (Codes::Bits4, bytes * 2),
        other => return Err(Fault::DType(codes.0.into(), other, "F8_E4M3 and U8")),
    };
    let of_scales = match (scales.1.dtype, of_codes) {
        (Dtype::F32, _) => Scales::F32,
        (Dtype::F8_E8M0, Codes::E4M3) => Scales::E8M0,
        (other, Codes::E4M3) => return Err(Fault::DType(scales.0.into(), other, "F32 and F8_E8M0")),
        (other, Codes::Bits4) => return Err(Fault::DType(scales.0.into(), other, "F32")),
    };
    let [by_32, by_128] = [32, 128].map(|block| columns.div_ceil(block));
    let is_whole = |block| of_scales == Scales::F32 || columns.is_multiple_of(block);
    let block = match scales.1.shape[..] {
        [n] | [n, 1] if n == rows => columns,
        [n, blocks] if n == rows && blocks == by_32 && is_whole(32) => 32,
        [n, blocks] if n == rows && blocks == by_128 && is_whole(128) => 128,
        _ => return of_shape(scales, format!("[{rows}, n] with n of 1, {by_32} or {by_128}, in whole blocks of E8M0")),
    };
    Ok(Format { codes: of_codes, scales: of_scales, columns, block })
}
