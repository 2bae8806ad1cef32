//! Ways to read rows without the library: loops over the mappings, `pread` on several threads, and io_uring.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::{RwLock, mpsc};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::ring::{Page, Read, Ring};
use crate::shards::Shards;

/// Reads rows by a loop over the mappings.
pub(crate) fn by_loop(of: &Shards, ids: &[u64], out: &mut [f32]) {
    let (codes, scales) = (of.format.code_bytes(), of.format.scale_bytes());
    for (&id, out) in ids.iter().zip(out.chunks_exact_mut(of.format.columns)) {
        let (shard, row) = of.locate(id);
        let shard = &of.shards[shard];
        let of_codes = &shard.map[shard.codes.start + row * codes..][..codes];
        of.format.decode(of_codes, &shard.map[shard.scales.start + row * scales..][..scales], out);
    }
}

/// The files of the shards, opened for reads at random.
pub(crate) struct Files<'s> {
    of: &'s Shards,
    files: Vec<File>,
}

impl<'s> Files<'s> {
    /// Opens the files; `flags` may be `O_DIRECT`.
    pub(crate) fn open(of: &'s Shards, flags: i32) -> io::Result<Self> {
        let files = of.shards.iter().map(|shard| {
            let file = File::options().read(true).custom_flags(flags).open(&shard.path)?;
            // SAFETY: the file is open; the advice changes no byte of it.
            match unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) } {
                0 => Ok(file),
                status => Err(io::Error::from_raw_os_error(status)),
            }
        });
        Ok(Files { of, files: files.collect::<Result<_, _>>()? })
    }

    /// Reads rows by `pread` on several threads, which wait when the time begins.
    pub(crate) fn pread(&self, threads: usize, ids: &[u64], out: &mut [f32]) -> io::Result<Duration> {
        let share = ids.len().div_ceil(threads);
        // Whether the threads are to read. They wait for the lock, and end without a read if one of them cannot start.
        let (reads, (here, arrived)) = (RwLock::new(false), mpsc::channel());
        std::thread::scope(|scope| {
            let mut begin = reads.write().map_err(|_| io::Error::other("a thread panicked"))?;
            let spawn = |(ids, out)| {
                let (here, reads) = (here.clone(), &reads);
                Builder::new().spawn_scoped(scope, move || {
                    let mut buffer = vec![0; self.of.format.code_bytes() + self.of.format.scale_bytes()];
                    let is_awaited = here.send(()).is_ok();
                    drop(here);
                    let begins = is_awaited && reads.read().is_ok_and(|begins| *begins);
                    if begins { self.pread_share(ids, out, &mut buffer) } else { Ok(()) }
                })
            };
            let shares = ids.chunks(share).zip(out.chunks_mut(share * self.of.format.columns));
            let running = shares.map(spawn).collect::<io::Result<Vec<_>>>()?;
            drop(here);
            // Ends when each thread has sent, or has panicked.
            if arrived.iter().count() < running.len() {
                return Err(io::Error::other("a thread panicked"));
            }
            let start = Instant::now();
            *begin = true;
            drop(begin);
            for thread in running {
                thread.join().map_err(|_| io::Error::other("a thread panicked"))??;
            }
            Ok(start.elapsed())
        })
    }

    fn pread_share(&self, ids: &[u64], out: &mut [f32], buffer: &mut [u8]) -> io::Result<()> {
        let format = &self.of.format;
        let (codes, scales) = buffer.split_at_mut(format.code_bytes());
        for (&id, out) in ids.iter().zip(out.chunks_exact_mut(format.columns)) {
            let (shard, row) = self.of.locate(id);
            let (file, shard) = (&self.files[shard], &self.of.shards[shard]);
            file.read_exact_at(codes, (shard.codes.start + row * codes.len()) as u64)?;
            file.read_exact_at(scales, (shard.scales.start + row * scales.len()) as u64)?;
            format.decode(codes, scales, out);
        }
        Ok(())
    }

    /// Reads rows by io_uring through the page cache: codes and scales of each row.
    pub(crate) fn by_ring(&self, ring: &mut Ring, ids: &[u64], out: &mut [f32]) -> io::Result<Duration> {
        let (format, start) = (&self.of.format, Instant::now());
        let (codes, scales) = (format.code_bytes(), format.scale_bytes());
        let mut reads = Vec::with_capacity(ids.len() * 2);
        for (at, &id) in ids.iter().enumerate() {
            let (shard, row) = self.of.locate(id);
            let (file, shard) = (self.files[shard].as_raw_fd(), &self.of.shards[shard]);
            let to = at * (codes + scales);
            let offset = (shard.codes.start + row * codes) as u64;
            reads.push(Read { file, offset, bytes: codes, least: codes, to });
            let offset = (shard.scales.start + row * scales) as u64;
            reads.push(Read { file, offset, bytes: scales, least: scales, to: to + codes });
        }
        let read = ring.run(&reads, ids.len() * (codes + scales))?;
        for (row, out) in read.chunks_exact(codes + scales).zip(out.chunks_exact_mut(format.columns)) {
            format.decode(&row[..codes], &row[codes..], out);
        }
        Ok(start.elapsed())
    }

    /// Reads rows by io_uring past the page cache: each page of the call once.
    pub(crate) fn by_direct_ring(&self, ring: &mut Ring, ids: &[u64], out: &mut [f32]) -> io::Result<Duration> {
        let (format, start) = (&self.of.format, Instant::now());
        let (codes, scales) = (format.code_bytes(), format.scale_bytes());
        let places: Vec<_> = ids
            .iter()
            .map(|&id| {
                let (at, row) = self.of.locate(id);
                let shard = &self.of.shards[at];
                (at, shard.codes.start + row * codes, shard.scales.start + row * scales)
            })
            .collect();
        let pages_of = |start: usize, bytes: usize| start / Page::BYTES..(start + bytes).div_ceil(Page::BYTES);
        let mut pages = Vec::new();
        for &(shard, of_codes, of_scales) in &places {
            let both = pages_of(of_codes, codes).chain(pages_of(of_scales, scales));
            pages.extend(both.map(|page| (shard, page)));
        }
        pages.sort_unstable();
        pages.dedup();
        let read = |(at, &(shard, page)): (usize, &(usize, usize))| {
            let (file, offset) = (self.files[shard].as_raw_fd(), page * Page::BYTES);
            let least = (self.of.shards[shard].map.len() - offset).min(Page::BYTES);
            Read { file, offset: offset as u64, bytes: Page::BYTES, least, to: at * Page::BYTES }
        };
        let reads: Vec<_> = pages.iter().enumerate().map(read).collect();
        let read = ring.run(&reads, pages.len() * Page::BYTES)?;
        // Pages of a row are adjacent in a shard, so they are adjacent in the sorted list.
        let bytes_at = |shard: usize, start: usize, bytes: usize| {
            let at = pages.partition_point(|&page| page < (shard, start / Page::BYTES));
            &read[at * Page::BYTES + start % Page::BYTES..][..bytes]
        };
        for (&(shard, of_codes, of_scales), out) in places.iter().zip(out.chunks_exact_mut(format.columns)) {
            format.decode(bytes_at(shard, of_codes, codes), bytes_at(shard, of_scales, scales), out);
        }
        Ok(start.elapsed())
    }
}
