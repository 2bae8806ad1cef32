//! Reads of files by io_uring, up to `DEPTH` at a time.

use std::io;
use std::os::fd::RawFd;

use io_uring::{IoUring, opcode, types};

pub(crate) const DEPTH: usize = 64;

/// A unit of direct reads, at an address that such reads may write to.
#[derive(Clone, Copy)]
#[repr(C, align(4096))]
pub(crate) struct Page([u8; Page::BYTES]);

impl Page {
    pub(crate) const BYTES: usize = 4096;
}

/// A read of up to `bytes` bytes of a file into a buffer; an error if it gives fewer than `least`.
pub(crate) struct Read {
    pub(crate) file: RawFd,
    pub(crate) offset: u64,
    pub(crate) bytes: usize,
    pub(crate) least: usize,
    /// The place in the buffer.
    pub(crate) to: usize,
}

pub(crate) struct Ring {
    ring: IoUring,
    /// The buffer of reads, which the kernel may write to while `run` waits.
    pages: Vec<Page>,
}

impl Ring {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Ring { ring: IoUring::new(DEPTH as u32)?, pages: Vec::new() })
    }

    /// Runs reads into a buffer of `bytes` bytes, and returns the buffer.
    pub(crate) fn run(&mut self, reads: &[Read], bytes: usize) -> io::Result<&[u8]> {
        assert!(reads.iter().all(|read| read.to + read.bytes <= bytes), "a read ends after the buffer");
        let pages = bytes.div_ceil(Page::BYTES).max(self.pages.len());
        self.pages.try_reserve_exact(pages - self.pages.len()).map_err(io::Error::other)?;
        self.pages.resize(pages, Page([0; Page::BYTES]));
        if let Err(error) = self.run_all(reads) {
            // Reads may be under way: their memory is never freed.
            std::mem::forget(std::mem::take(&mut self.pages));
            return Err(error);
        }
        Ok(&self.bytes()[..bytes])
    }

    /// Runs reads into the pages. Unless it returns an error, all reads have ended.
    fn run_all(&mut self, reads: &[Read]) -> io::Result<()> {
        let begin = self.pages.as_mut_ptr().cast::<u8>();
        let (mut next, mut waiting) = (0, 0);
        while waiting > 0 || next < reads.len() {
            while waiting < DEPTH && next < reads.len() {
                let Read { file, offset, bytes, to, .. } = reads[next];
                let read = opcode::Read::new(types::Fd(file), begin.wrapping_add(to), bytes as u32).offset(offset);
                let entry = read.build().user_data(next as u64);
                // SAFETY: `run` has checked that the bytes lie in the pages, which stay where they are until the read
                // has ended: after an error they are never freed.
                let pushed = unsafe { self.ring.submission().push(&entry) };
                pushed.map_err(io::Error::other)?;
                (next, waiting) = (next + 1, waiting + 1);
            }
            match self.ring.submit_and_wait(1) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for ended in self.ring.completion() {
                waiting -= 1;
                let least = reads[ended.user_data() as usize].least;
                match usize::try_from(ended.result()) {
                    Ok(bytes) if bytes >= least => {}
                    Ok(bytes) => return Err(io::Error::other(format!("a read gave {bytes} bytes of {least}"))),
                    Err(_) => return Err(io::Error::from_raw_os_error(-ended.result())),
                }
            }
        }
        Ok(())
    }

    /// The bytes of all pages.
    fn bytes(&self) -> &[u8] {
        let bytes = self.pages.len() * Page::BYTES;
        // SAFETY: a page is an array of `Page::BYTES` bytes, without padding: its alignment is its size.
        unsafe { std::slice::from_raw_parts(self.pages.as_ptr().cast(), bytes) }
    }
}
