//! How many tasks a call is worth.

#![forbid(unsafe_code)]

use crate::types::policy::Par;

/// Work that one task should have at least, in bytes copied: with half as much, calls that find the pool asleep take
/// longer than on one thread (bench `peers`, two threads).
const BYTES_PER_TASK: usize = 1 << 20;

/// The cost of resolving an index and beginning its row, in bytes copied.
const ROW: usize = 24;

/// The most tasks that [`Par::Threads`] cuts a call into. Each has pieces, and may have memory of its own, whether or
/// not there is work for it.
const MOST_TASKS: usize = 1024;

/// The work of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    /// Bytes that it writes.
    pub(crate) bytes: usize,
    /// Rows that it moves.
    pub(crate) rows: usize,
    /// Bytes that row functions read, besides.
    pub(crate) read: usize,
}

impl Work {
    /// The work of a call that does `count` times as much as a `planned`-th of this one.
    #[inline]
    pub(crate) fn scaled(self, planned: usize, count: usize) -> Self {
        let scale = |total: usize| (total / planned).saturating_mul(count);
        Work { bytes: scale(self.bytes), rows: scale(self.rows), read: scale(self.read) }
    }

    /// This work and another.
    pub(crate) fn and(self, other: Work) -> Self {
        Work {
            bytes: self.bytes.saturating_add(other.bytes),
            rows: self.rows.saturating_add(other.rows),
            read: self.read.saturating_add(other.read),
        }
    }

    /// Whether one thread does it, whatever the pool.
    #[inline]
    pub(crate) fn is_for_one(self, par: Par) -> bool {
        match par {
            _ if cfg!(not(feature = "rayon")) => true,
            Par::Seq => true,
            Par::Threads(n) => n <= 1,
            Par::Auto => self.as_bytes() < 2 * BYTES_PER_TASK,
        }
    }

    /// The tasks, at least 1, that it is cut into where a pool has `threads()` threads. Small calls do not even ask
    /// for the pool, which would start it.
    #[inline]
    pub(crate) fn tasks(self, par: Par, threads: impl FnOnce() -> usize) -> usize {
        match par {
            _ if self.is_for_one(par) => 1,
            Par::Threads(n) => n.min(MOST_TASKS),
            Par::Auto | Par::Seq => threads().min(self.as_bytes() / BYTES_PER_TASK).max(1),
        }
    }

    /// The bytes that are copied in as much time.
    #[inline]
    fn as_bytes(self) -> usize {
        self.bytes.saturating_add(self.rows.saturating_mul(ROW)).saturating_add(self.read)
    }
}
