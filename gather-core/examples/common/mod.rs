//! Arrays from files, shared by the examples. Every claim of a header is checked before it is used.

#![allow(dead_code, reason = "each example uses its part")]

pub(crate) mod gguf;
pub(crate) mod npy;
pub(crate) mod safetensors;
pub(crate) mod table;

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use gather_core::{DType, DynView, GatherNd, View};

/// An array as it lies in a file.
pub(crate) struct Array<'a> {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    /// Whether elements along the first dimension, not the last, are neighbours.
    pub(crate) fortran: bool,
    pub(crate) bytes: Cow<'a, [u8]>,
}

impl Array<'_> {
    /// The array as a tensor, in place.
    pub(crate) fn view(&self) -> Result<DynView<'_>, String> {
        let text = |error: gather_core::Error| error.to_string();
        if !self.fortran {
            return DynView::from_bytes(self.dtype, &self.bytes, &self.shape).map_err(text);
        }
        let reversed: Vec<usize> = self.shape.iter().rev().copied().collect();
        let view = DynView::from_bytes(self.dtype, &self.bytes, &reversed).map_err(text)?;
        view.permuted(&(0..reversed.len()).rev().collect::<Vec<_>>()).map_err(text)
    }
}

/// An array of whole numbers as ids, in the order of its shape, whichever way they lie in the file.
pub(crate) fn ids(array: &Array<'_>) -> Result<Vec<i64>, String> {
    let text = |error: gather_core::Error| error.to_string();
    // A tuple of no coordinates names the whole array, which the operator writes in row-major order.
    let whole = View::new(&[0i64; 0], &[0]).map_err(text)?;
    let in_order = GatherNd::new().run(&array.view()?, &DynView::from(&whole));
    let in_order = in_order.map_err(text)?;
    macro_rules! of {
        ($($ty:ty)*) => {
            $(if in_order.dtype() == <$ty as gather_core::Element>::DTYPE {
                let ids = in_order.downcast::<$ty>().map_err(text)?.into_vec();
                let mut wide = empty(ids.len())?;
                for id in ids {
                    wide.push(i64::try_from(id).map_err(|_| format!("the id {id} is out of range"))?);
                }
                return Ok(wide);
            })*
        };
    }
    of!(i8 i16 i32 i64 u8 u16 u32 u64);
    Err(format!("{} is no type of ids; integers of 8 to 64 bits are", in_order.dtype()))
}

/// An empty vector for `len` values, or an error where there is no memory for them.
fn empty<T>(len: usize) -> Result<Vec<T>, String> {
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|_| format!("no memory for {len} values of {} bytes", size_of::<T>()))?;
    Ok(values)
}

/// A name out of a file without characters that a terminal would obey, cut where it is long.
fn shown(name: &str) -> String {
    let plain = |c: char| if matches!(c, '\'' | '"') { vec![c] } else { c.escape_debug().collect() };
    name.chars().take(80).flat_map(plain).collect()
}

/// Refuses files that are often taken for tables by mistake, by their first bytes.
fn refuse_other_files(file: &[u8]) -> Result<(), String> {
    let start: Vec<u8> = file.iter().take(256).map(u8::to_ascii_lowercase).collect();
    let text = start.trim_ascii_start();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let what = if file.is_empty() {
        "the file is empty"
    } else if start.starts_with(b"version https://git-lfs") {
        "this is a pointer of Git LFS, not the file itself; `git lfs pull` fetches it"
    } else if [&b"<!doctype"[..], b"<html", b"<?xml", b"<head"].iter().any(|tag| text.starts_with(tag)) {
        "this is a web page, not a table; a download may have saved the page of the file"
    } else if start.starts_with(b"pk\x03\x04") {
        "this is a zip archive, such as .npz or a PyTorch checkpoint; extract an array of it"
    } else {
        return Ok(());
    };
    Err(what.into())
}

/// Bytes of numbers in the machine's order, out of a file that has them in this order.
///
/// # Errors
/// Where there is no memory for a copy.
pub(crate) fn in_native_order(dtype: DType, bytes: &[u8], is_big_endian: bool) -> Result<Cow<'_, [u8]>, String> {
    if is_big_endian == cfg!(target_endian = "big") || dtype.size() == 1 {
        return Ok(Cow::Borrowed(bytes));
    }
    let number = if dtype.name().starts_with("complex") { dtype.size() / 2 } else { dtype.size() };
    let mut swapped = empty(bytes.len())?;
    swapped.extend_from_slice(bytes);
    swapped.chunks_exact_mut(number).for_each(<[u8]>::reverse);
    Ok(Cow::Owned(swapped))
}

/// A file mapped into memory.
pub(crate) fn map(path: &Path) -> Result<memmap2::Mmap, String> {
    let text = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(text)?;
    let metadata = file.metadata().map_err(text)?;
    if metadata.is_dir() {
        return Err(format!("{}: a folder, not a file", path.display()));
    }
    if !metadata.is_file() {
        return Err(format!("{}: a device or a pipe, which cannot be mapped; save it to a file", path.display()));
    }
    // SAFETY: the map is only read. Whoever runs the example sees to it that no other process writes to the file
    // meanwhile; one that shortens it ends this process with a signal.
    unsafe { memmap2::Mmap::map(&file) }.map_err(text)
}

/// Writes an output. A regular file has its contents only once they are whole: `write` fills a temporary file beside
/// it, which takes its place and its mode. Links are followed. What is no regular file, such as a device or a pipe, is
/// written straight into.
pub(crate) fn write_whole(path: &Path, write: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<(), String> {
    let text = |error: std::io::Error| format!("{}: {error}", path.display());
    let (path, old) = followed(path).map_err(text)?;
    match &old {
        Some(old) if old.is_dir() => return Err(format!("{}: a folder, not a file", path.display())),
        Some(old) if !old.is_file() => {
            let mut file = File::options().write(true).open(&path).map_err(text)?;
            return write(&mut file).map_err(text);
        }
        _ => {}
    }
    let name = path.file_name().ok_or_else(|| format!("{}: not a file name", path.display()))?;
    let mut temporary = name.to_owned();
    temporary.push(format!(".{}.part", std::process::id()));
    let temporary = path.with_file_name(temporary);
    let mut file = File::create_new(&temporary).map_err(text)?;
    let written = write(&mut file).and_then(|()| {
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()
    });
    let renamed = written.and_then(|()| std::fs::rename(&temporary, &path));
    if renamed.is_err() {
        // The first error is the one to report, whether or not the leftover can be removed.
        let _ = std::fs::remove_file(&temporary);
    }
    renamed.map_err(text)
}

/// The path behind symbolic links, and the metadata of what is there; links to what is not there yet are followed too.
fn followed(path: &Path) -> std::io::Result<(PathBuf, Option<Metadata>)> {
    /// More links than systems follow.
    const MOST: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST {
        match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {
                let target = std::fs::read_link(&path)?;
                // Joining an absolute path gives that path.
                path = path.parent().unwrap_or(Path::new("")).join(target);
            }
            Ok(found) => return Ok((path, Some(found))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((path, None)),
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::other("too many symbolic links"))
}
