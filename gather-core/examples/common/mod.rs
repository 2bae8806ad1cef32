//! What the examples share: arrays from files, with every claim of a header checked before it is believed.

#![allow(dead_code, reason = "each example uses its part")]

pub(crate) mod npy;
pub(crate) mod safetensors;

use std::borrow::Cow;
use std::path::Path;

use gather_core::{DType, DynView, Element};
use half::{bf16, f16};
use num_complex::Complex;

/// An array as it lies in a file.
pub(crate) struct Array<'a> {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    /// Whether the first dimension, not the last, lies closest together.
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

/// The data type of a name, as NumPy and safetensors know it after normalisation.
pub(crate) fn dtype(name: &str) -> Option<DType> {
    Some(match name {
        "bool" => bool::DTYPE,
        "i8" => i8::DTYPE,
        "i16" => i16::DTYPE,
        "i32" => i32::DTYPE,
        "i64" => i64::DTYPE,
        "u8" => u8::DTYPE,
        "u16" => u16::DTYPE,
        "u32" => u32::DTYPE,
        "u64" => u64::DTYPE,
        "f16" => f16::DTYPE,
        "bf16" => bf16::DTYPE,
        "f32" => f32::DTYPE,
        "f64" => f64::DTYPE,
        "complex64" => Complex::<f32>::DTYPE,
        "complex128" => Complex::<f64>::DTYPE,
        _ => return None,
    })
}

/// A file mapped into memory.
pub(crate) fn map(path: &Path) -> Result<memmap2::Mmap, String> {
    let file = std::fs::File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    // SAFETY: the map is only read; a file that another process shortens meanwhile ends this one with a signal, which
    // is what reading files of any size in place costs.
    unsafe { memmap2::Mmap::map(&file) }.map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file under its name only once it is whole: `write` fills a temporary one beside it.
pub(crate) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>,
) -> Result<(), String> {
    let text = |error: std::io::Error| format!("{}: {error}", path.display());
    let name = path.file_name().ok_or_else(|| format!("{}: not a file name", path.display()))?;
    let mut temporary = name.to_owned();
    temporary.push(format!(".{}.part", std::process::id()));
    let temporary = path.with_file_name(temporary);
    let written = std::fs::File::create(&temporary).and_then(|mut file| {
        write(&mut file)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| std::fs::rename(&temporary, path));
    if renamed.is_err() {
        // The error that is reported is the first one; a leftover that cannot be removed changes nothing about it.
        let _ = std::fs::remove_file(&temporary);
    }
    renamed.map_err(text)
}
