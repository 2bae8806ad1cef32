//! Guard pages: memory with an inaccessible page on either side. Reading or writing one byte too far kills the process.

#![allow(unsafe_code)]

use gather_core::Element;
use region::{Allocation, Protection};

/// The end of the memory that a tensor is placed against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The tensor's first byte follows the guard in front.
    Front,
    /// The tensor's last byte is followed by the guard behind.
    Back,
}

impl Side {
    /// Both ends.
    pub const ALL: [Side; 2] = [Side::Front, Side::Back];
}

/// Memory between two inaccessible pages, for one tensor at a time.
pub struct Guarded {
    /// Invariant: all pages but the first and the last are initialised, and may be read and written.
    memory: Allocation,
}

impl Guarded {
    /// A buffer of `bytes` bytes, in whole pages.
    ///
    /// # Panics
    /// When the system has no such memory.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let page = region::page::size();
        let room = bytes.max(1).next_multiple_of(page);
        // Fresh pages hold zeros.
        let mut memory = region::alloc(room + 2 * page, Protection::READ_WRITE).expect("memory for a test");
        let first = memory.as_mut_ptr::<u8>();
        for guard in [first, first.wrapping_add(page + room)] {
            // SAFETY: a page of our own, to which there is no reference.
            unsafe { region::protect(guard, page, Protection::NONE) }.expect("a page to be protected");
        }
        Guarded { memory }
    }

    /// The number of bytes that fit.
    #[must_use]
    pub fn room(&self) -> usize {
        self.memory.len() - 2 * region::page::size()
    }

    /// Places elements `shift` bytes away from one end of the memory, over those placed before. The shift must be a
    /// multiple of their alignment.
    ///
    /// # Panics
    /// When the shift is not a multiple of the alignment.
    pub fn place<T: Element>(
        &mut self,
        side: Side,
        shift: usize,
        len: usize,
        element: impl FnMut(usize) -> T,
    ) -> &mut [T] {
        let start = self.start::<T>(side, shift, len);
        for (at, value) in (0..len).map(element).enumerate() {
            // SAFETY: the bytes lie inside the buffer, which is aligned as `start` says.
            unsafe { start.wrapping_add(at).write(value) };
        }
        // SAFETY: as above; all elements have just been written, and the borrow of `self` keeps others away.
        unsafe { std::slice::from_raw_parts_mut(start, len) }
    }

    /// As [`Guarded::place`], with the elements of a slice: at the speed of a copy, whatever the tests are compiled
    /// with.
    ///
    /// # Panics
    /// As [`Guarded::place`] does.
    pub fn place_copy<T: Element>(&mut self, side: Side, shift: usize, elements: &[T]) -> &mut [T] {
        let len = elements.len();
        let start = self.start::<T>(side, shift, len);
        // SAFETY: the bytes lie inside the buffer, which is aligned as `start` says, and which no other slice reaches.
        unsafe { start.copy_from_nonoverlapping(elements.as_ptr(), len) };
        // SAFETY: as above; all elements have just been written, and the borrow of `self` keeps others away.
        unsafe { std::slice::from_raw_parts_mut(start, len) }
    }

    /// Where `len` elements begin that lie `shift` bytes away from one end of the memory: aligned, with room for all.
    fn start<T: Element>(&mut self, side: Side, shift: usize, len: usize) -> *mut T {
        assert!(shift.is_multiple_of(align_of::<T>()), "elements of this alignment cannot lie {shift} bytes off");
        let (page, bytes) = (region::page::size(), len * size_of::<T>());
        if bytes + shift > self.room() {
            *self = Guarded::new(bytes + shift);
        }
        let at = match side {
            Side::Front => shift,
            Side::Back => self.room() - bytes - shift,
        };
        // Pages and sizes are multiples of the alignment, as is the shift.
        self.memory.as_mut_ptr::<u8>().wrapping_add(page + at).cast::<T>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::this_test;

    #[test]
    fn tensors_lie_against_the_guards() {
        let mut memory = Guarded::new(1);
        let page = region::page::size();
        for len in [0, 1, 5, 100, page / 4, page] {
            let first = memory.place(Side::Front, 0, len, |at| at as u32).as_ptr_range().start.addr();
            assert_eq!(first % page, 0);
            let slice = memory.place(Side::Back, 0, len, |at| at as u32);
            assert!(slice.iter().enumerate().all(|(at, &value)| value == at as u32));
            assert_eq!(slice.as_ptr_range().end.addr() % page, 0);
            let odd = memory.place(Side::Back, 3, len, |_| [7u8; 5]);
            assert_eq!((odd.as_ptr_range().end.addr() + 3) % page, 0);
        }
        assert!(memory.room() >= 4 * page);
    }

    /// The environment variable that tells the child process what to do.
    const TOUCH: &str = "GATHER_TESTS_TOUCH";

    /// Runs this test in a process of its own. Returns whether it exited successfully.
    fn touch(what: &str) -> bool {
        let run =
            this_test().args(["--exact", "guard::tests::a_byte_beyond_kills", "--nocapture"]).env(TOUCH, what).output();
        run.expect("a process").status.success()
    }

    #[test]
    fn a_byte_beyond_kills() {
        let Ok(what) = std::env::var(TOUCH) else {
            assert!(touch("inside"), "nothing beyond is touched");
            for what in ["read in front", "read behind", "write in front", "write behind"] {
                assert!(!touch(what), "{what}");
            }
            return;
        };
        let mut memory = Guarded::new(10);
        let side = if what.ends_with("front") { Side::Front } else { Side::Back };
        let slice = memory.place(side, 0, 10, |at| at as u8);
        let beyond = match side {
            Side::Front => slice.as_mut_ptr().wrapping_sub(1),
            Side::Back => slice.as_mut_ptr().wrapping_add(10),
        };
        match what.split(' ').next() {
            Some("read") => {
                // SAFETY: none: this is what is to kill the process.
                let _ = unsafe { beyond.read_volatile() };
            }
            Some("write") => {
                // SAFETY: none: this is what is to kill the process.
                unsafe { beyond.write_volatile(1) };
            }
            _ => assert_eq!(slice, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        }
    }
}
