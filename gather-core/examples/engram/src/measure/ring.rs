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
        self.pages.resize(bytes.div_ceil(Page::BYTES).max(self.pages.len()), Page([0; Page::BYTES]));
        let begin = self.pages.as_mut_ptr().cast::<u8>();
        let (mut next, mut waiting, mut first_error) = (0, 0, None);
        while waiting > 0 || (next < reads.len() && first_error.is_none()) {
            while waiting < DEPTH && next < reads.len() && first_error.is_none() {
                let read = &reads[next];
                assert!(read.to + read.bytes <= bytes, "a read behind the buffer");
                let to = begin.wrapping_add(read.to);
                let entry = opcode::Read::new(types::Fd(read.file), to, read.bytes as u32).offset(read.offset).build();
                // SAFETY: `read.bytes` bytes from `to` on lie in `self.pages`, which stays as it is until all reads
                // have ended: this loop waits for each, and otherwise gives the memory up below.
                let pushed = unsafe { self.ring.submission().push(&entry.user_data(next as u64)) };
                pushed.map_err(io::Error::other)?;
                (next, waiting) = (next + 1, waiting + 1);
            }
            match self.ring.submit_and_wait(1) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    // Reads may be under way: their memory is never freed.
                    std::mem::forget(std::mem::take(&mut self.pages));
                    return Err(error);
                }
            }
            for ended in self.ring.completion() {
                waiting -= 1;
                let read = &reads[ended.user_data() as usize];
                let error = match usize::try_from(ended.result()) {
                    Ok(bytes) if bytes >= read.least => continue,
                    Ok(bytes) => io::Error::other(format!("a read gave {bytes} bytes of {}", read.least)),
                    Err(_) => io::Error::from_raw_os_error(-ended.result()),
                };
                first_error.get_or_insert(error);
            }
        }
        match first_error {
            Some(error) => Err(error),
            None => Ok(&self.bytes()[..bytes]),
        }
    }

    /// The bytes of all pages.
    fn bytes(&self) -> &[u8] {
        let bytes = self.pages.len() * Page::BYTES;
        // SAFETY: a page is an array of `Page::BYTES` bytes, without padding: its alignment is its size.
        unsafe { std::slice::from_raw_parts(self.pages.as_ptr().cast(), bytes) }
    }
}
