//! What the examples share: arrays from files. Every claim of a header is checked before it is believed.

#![allow(dead_code, reason = "each example uses its part")]

pub(crate) mod gguf;
pub(crate) mod npy;
pub(crate) mod safetensors;
pub(crate) mod table;

use std::borrow::Cow;
use std::path::Path;

use gather_core::{DType, DynView, GatherNd, Registry, View};

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
    let in_order = GatherNd::new().run_dyn(&Registry::builtin(), &array.view()?, &DynView::from(&whole));
    let in_order = in_order.map_err(text)?;
    macro_rules! of {
        ($($ty:ty)*) => {
            $(if in_order.dtype() == <$ty as gather_core::Element>::DTYPE {
                let ids = in_order.downcast::<$ty>().map_err(text)?.into_vec();
                let wide = |id: $ty| i64::try_from(id).map_err(|_| format!("the id {id} is out of range"));
                return ids.into_iter().map(wide).collect();
            })*
        };
    }
    of!(i8 i16 i32 i64 u8 u16 u32 u64);
    Err(format!("{} is no type of ids", in_order.dtype()))
}

/// Bytes of numbers in the machine's order, out of a file that has them in this order.
pub(crate) fn in_native_order(dtype: DType, bytes: &[u8], is_big_endian: bool) -> Cow<'_, [u8]> {
    if is_big_endian == cfg!(target_endian = "big") || dtype.size() == 1 {
        return Cow::Borrowed(bytes);
    }
    let number = if dtype.name().starts_with("complex") { dtype.size() / 2 } else { dtype.size() };
    let mut swapped = bytes.to_vec();
    swapped.chunks_exact_mut(number).for_each(<[u8]>::reverse);
    Cow::Owned(swapped)
}

/// A file mapped into memory.
pub(crate) fn map(path: &Path) -> Result<memmap2::Mmap, String> {
    let file = std::fs::File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    // SAFETY: the map is only read. Whoever runs the example sees to it that no other process writes to the file
    // meanwhile; one that shortens it ends this process with a signal.
    unsafe { memmap2::Mmap::map(&file) }.map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file that has its name only once it is whole: `write` fills a temporary one beside it.
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
        // The first error is the one to report, whether or not the leftover can be removed.
        let _ = std::fs::remove_file(&temporary);
    }
    renamed.map_err(text)
}
