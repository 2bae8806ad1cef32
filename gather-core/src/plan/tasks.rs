//! Number of tasks of a call.

#![forbid(unsafe_code)]

use crate::types::policy::Par;

/// Minimum work of a task, in bytes copied: with half of it, calls that find the pool asleep take longer than on one
/// thread (bench `peers`, two threads).
const BYTES_PER_TASK: usize = 1 << 20;

/// Cost of resolving an index and beginning its row, in bytes copied.
const ROW: usize = 24;

/// Maximum tasks of a call under [`Par::Threads`]: each has chunks, and maybe a scratch, even without work.
const MOST_TASKS: usize = 1024;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) bytes: usize,
    pub(crate) rows: usize,
    /// Additional bytes that row functions read.
    pub(crate) read: usize,
}

impl Work {
    /// The work of a call with `count` in place of `planned` along the dynamic dimension.
    #[inline]
    pub(crate) fn scaled(self, planned: usize, count: usize) -> Self {
        let scale = |total: usize| (total / planned).saturating_mul(count);
        Work { bytes: scale(self.bytes), rows: scale(self.rows), read: scale(self.read) }
    }

    pub(crate) fn and(self, other: Work) -> Self {
        Work {
            bytes: self.bytes.saturating_add(other.bytes),
            rows: self.rows.saturating_add(other.rows),
            read: self.read.saturating_add(other.read),
        }
    }

    /// Whether one thread does the work in any pool.
    #[inline]
    pub(crate) fn is_for_one(self, par: Par) -> bool {
        match par {
            _ if cfg!(not(feature = "rayon")) => true,
            Par::Seq => true,
            Par::Threads(n) => n <= 1,
            Par::Auto => self.as_bytes() < 2 * BYTES_PER_TASK,
        }
    }

    /// Number of tasks, at least 1, in a pool of `threads()` threads. Small calls do not query, and start, the pool.
    #[inline]
    pub(crate) fn tasks(self, par: Par, threads: impl FnOnce() -> usize) -> usize {
        match par {
            _ if self.is_for_one(par) => 1,
            Par::Threads(n) => n.min(MOST_TASKS),
            Par::Auto | Par::Seq => threads().min(self.as_bytes() / BYTES_PER_TASK).max(1),
        }
    }

    /// The equivalent cost in bytes copied.
    #[inline]
    fn as_bytes(self) -> usize {
        self.bytes.saturating_add(self.rows.saturating_mul(ROW)).saturating_add(self.read)
    }
}
