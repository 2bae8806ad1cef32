//! Pages of mapped files: whether they are in memory, and how to drop them.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use memmap2::Mmap;

use crate::NotCold;
use crate::shards::{Shard, Shards};

/// The number of times that pages are dropped before they count as staying.
const TRIES: usize = 5;

/// The reason why pages cannot be counted.
pub(crate) const NOT_TOLD: &str = "Linux does not tell which pages are in memory: the files are neither owned nor \
                                   writable by this user";

/// Whether Linux tells which pages of the files are in memory: of files that the user owns or may write. It says of
/// others that all pages are.
pub(crate) fn are_told(of: &Shards) -> io::Result<bool> {
    let user = fs::metadata("/proc/self")?.uid();
    let is_told = |shard: &Shard| -> io::Result<bool> {
        let is_owned = user == 0 || shard.file.metadata()?.uid() == user;
        Ok(is_owned || File::options().write(true).open(&shard.path).is_ok())
    };
    of.shards.iter().try_fold(true, |told, shard| Ok(told && is_told(shard)?))
}

/// Drops all pages of the files from memory, and checks that they are gone.
pub(crate) fn drop_all(of: &Shards) -> Result<(), NotCold> {
    let told = are_told(of).map_err(|error| NotCold(error.to_string()))?;
    if !told {
        return Err(NotCold(NOT_TOLD.into()));
    }
    for shard in &of.shards {
        let mut left = Ok(1);
        for again in 0..TRIES {
            // Pages on their way to or from the disk stay for a moment.
            std::thread::sleep(Duration::from_millis(5 * again as u64));
            left = drop_pages(&shard.file, &shard.map).and_then(|()| in_memory(&shard.map));
            if matches!(left, Ok(0)) {
                break;
            }
        }
        match left {
            Ok(0) => {}
            Ok(pages) => return Err(NotCold(format!("{}: {pages} pages stay in memory", shard.path.display()))),
            Err(error) => return Err(NotCold(format!("{}: {error}", shard.path.display()))),
        }
    }
    Ok(())
}

/// Drops all pages of the files from memory that no other process has mapped.
pub(crate) fn drop_unchecked(of: &Shards) -> io::Result<()> {
    of.shards.iter().try_for_each(|shard| drop_pages(&shard.file, &shard.map))
}

fn drop_pages(file: &File, map: &Mmap) -> io::Result<()> {
    // SAFETY: the mapping has this length. It is of a file and never written, so dropped pages come back as they were.
    let unmapped = unsafe { libc::madvise(map.as_ptr().cast_mut().cast(), map.len(), libc::MADV_DONTNEED) };
    if unmapped != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the file is open; the advice changes no byte of it.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) } {
        0 => Ok(()),
        status => Err(io::Error::from_raw_os_error(status)),
    }
}

/// The number of pages of a mapping that are in memory, mapped by this process or not.
pub(crate) fn in_memory(map: &Mmap) -> io::Result<usize> {
    let mut pages = vec![0u8; map.len().div_ceil(page_size()?)];
    // SAFETY: the mapping has this length, and the list a byte for each of its pages.
    let status = unsafe { libc::mincore(map.as_ptr().cast_mut().cast(), map.len(), pages.as_mut_ptr()) };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(pages.iter().filter(|&&page| page & 1 == 1).count())
}

/// The number of pages of all files, and of those in memory.
pub(crate) fn in_memory_of_all(of: &Shards) -> io::Result<(usize, usize)> {
    let page = page_size()?;
    of.shards.iter().try_fold((0, 0), |(all, in_memory), shard| {
        Ok((all + shard.map.len().div_ceil(page), in_memory + self::in_memory(&shard.map)?))
    })
}

/// Bytes of a page.
pub(crate) fn page_size() -> io::Result<usize> {
    // SAFETY: the call only reads.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).map_err(io::Error::other)
}

/// Bytes of mapped files that are resident in this process, the program's own among them.
pub(crate) fn resident_files() -> io::Result<usize> {
    let pages = std::fs::read_to_string("/proc/self/statm")?;
    let pages = pages.split(' ').nth(2).and_then(|pages| pages.parse::<usize>().ok());
    Ok(pages.ok_or_else(|| io::Error::other("/proc/self/statm has no third number"))? * page_size()?)
}
