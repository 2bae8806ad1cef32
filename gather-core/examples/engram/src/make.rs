//! Writes a table of random values in shards.

use std::collections::HashMap;
use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use safetensors::Dtype;
use safetensors::tensor::{TensorView, serialize_to_file};

use crate::content;
use crate::format::{Codes, Format, Scales};

/// The key of a header's metadata: the number of a shard's first row in the table.
pub(crate) const FIRST_ROW: &str = "engram.first_row";

/// The most shards: a comparison opens each file three times, and 1024 files can be open by default on Linux.
pub(crate) const MOST_SHARDS: usize = 300;

/// The shape of a table to write.
pub(crate) struct Table {
    format: Format,
    shards: usize,
    /// Rows of a shard.
    rows: usize,
}

impl Table {
    pub(crate) fn new(gib: f64, format: Format, shards: usize) -> Result<Self, String> {
        if !(0.0..=65_536.0).contains(&gib) {
            return Err(format!("--gib {gib}: not 0 to 65536"));
        }
        let row = format.code_bytes() + format.scale_bytes();
        let rows = (gib * f64::from(1 << 30)) as u64 / shards as u64 / row as u64;
        let rows = usize::try_from(rows.max(1)).ok().filter(|rows| rows.checked_mul(row).is_some());
        let rows = rows.ok_or_else(|| format!("--gib {gib}: a shard exceeds the address space; use more --shards"))?;
        Ok(Table { format, shards, rows })
    }

    /// Writes the files into a folder without shards. After an error, the files written so far are removed.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), Box<dyn Error>> {
        let is_shard = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|end| end == "safetensors");
        let entries = fs::create_dir_all(folder).and_then(|()| fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>());
        let entries = entries.map_err(|error| format!("{}: {error}", folder.display()))?;
        if let Some(entry) = entries.iter().find(|entry| is_shard(entry)) {
            let shard = entry.path();
            return Err(format!("{} exists: its rows would be rows of this table too", shard.display()).into());
        }
        let bytes = (self.rows * (self.format.code_bytes() + self.format.scale_bytes())) as u64;
        let progress = ProgressBar::new(bytes * self.shards as u64);
        progress.set_style(ProgressStyle::with_template("writing [{bar:40}] {bytes} of {total_bytes}, {eta} left")?);
        let mut made: Vec<PathBuf> = Vec::new();
        for shard in 0..self.shards {
            let path = folder.join(format!("model-{:05}-of-{:05}.safetensors", shard + 1, self.shards));
            let written = self.write_shard(&path, shard).and_then(|()| {
                made.push(path.clone());
                Ok(settle(&path)?)
            });
            if let Err(error) = written {
                for path in &made {
                    // The first error is the one to report.
                    let _ = fs::remove_file(path);
                }
                return Err(format!("{}: {error}", path.display()).into());
            }
            progress.inc(bytes);
        }
        progress.finish_and_clear();
        let (rows, columns) = (self.rows * self.shards, self.format.columns);
        say!("made   [{rows}, {columns}] of {}: {} shards of {} rows", self.format, self.shards, self.rows);
        Ok(())
    }

    fn write_shard(&self, path: &Path, shard: usize) -> Result<(), Box<dyn Error>> {
        // Also a link to no file: writing would replace it.
        if fs::symlink_metadata(path).is_ok() {
            return Err("the file exists".into());
        }
        let Table { format, rows, .. } = *self;
        let first = shard as u64 * rows as u64;
        let (mut codes, mut scales) = (Vec::new(), Vec::new());
        codes.try_reserve_exact(rows * format.code_bytes())?;
        scales.try_reserve_exact(rows * format.scale_bytes())?;
        codes.resize(rows * format.code_bytes(), 0);
        scales.resize(rows * format.scale_bytes(), 0);
        let of_rows = codes.chunks_exact_mut(format.code_bytes()).zip(scales.chunks_exact_mut(format.scale_bytes()));
        for (row, (codes, scales)) in (first..).zip(of_rows) {
            content::codes(&format, row, codes);
            content::scales(&format, row, scales);
        }
        let dtype = if format.codes == Codes::E4M3 { Dtype::F8_E4M3 } else { Dtype::U8 };
        let (scale_dtype, name) = match format.scales {
            Scales::F32 => (Dtype::F32, "weight_scale_inv"),
            Scales::E8M0 => (Dtype::F8_E8M0, "weight_scale"),
        };
        let tensors = [
            ("weight", TensorView::new(dtype, vec![rows, format.code_bytes()], &codes)?),
            (name, TensorView::new(scale_dtype, vec![rows, format.blocks()], &scales)?),
        ];
        let metadata = HashMap::from([(FIRST_ROW.to_owned(), first.to_string())]);
        Ok(serialize_to_file(tensors, Some(metadata), path)?)
    }
}

/// Lets others read a file, and waits until it is on the disk: pages cannot be dropped from memory before.
fn settle(path: &Path) -> std::io::Result<()> {
    let file = File::open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    file.sync_all()
}
