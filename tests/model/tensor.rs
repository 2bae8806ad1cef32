//! What `blocks` of gather-core takes from other modules of its layer. Memory is a number here.

/// The counterpart of `tensor/allocation.rs`.
pub(crate) mod allocation {
    use std::cell::Cell;

    use crate::types::error::Error;

    std::thread_local! {
        /// How much memory is not freed yet in this test, all of whose threads are one to the system.
        static ALIVE: Cell<usize> = const { Cell::new(0) };
        /// How often there was any.
        static ALLOCATED: Cell<usize> = const { Cell::new(0) };
        /// The most there may be.
        static MOST: Cell<usize> = const { Cell::new(usize::MAX) };
    }

    /// Memory.
    pub(crate) struct Allocation {
        number: usize,
        bytes: usize,
        align: usize,
    }

    impl Allocation {
        pub(crate) fn new(bytes: usize, align: usize) -> Result<Self, Error> {
            // Others may run while the allocator does.
            shuttle::thread::yield_now();
            if ALIVE.get() >= MOST.get() {
                return Err(Error::AllocationFailed { bytes });
            }
            ALIVE.set(ALIVE.get() + 1);
            ALLOCATED.set(ALLOCATED.get() + 1);
            Ok(Allocation { number: ALLOCATED.get(), bytes, align })
        }

        /// A number that no other memory has.
        pub(crate) fn number(&self) -> usize {
            self.number
        }

        pub(crate) fn bytes(&self) -> usize {
            self.bytes
        }

        pub(crate) fn align(&self) -> usize {
            self.align
        }
    }

    impl Drop for Allocation {
        fn drop(&mut self) {
            ALIVE.set(ALIVE.get() - 1);
        }
    }

    /// The blocks that are not freed.
    pub(crate) fn alive() -> usize {
        ALIVE.get()
    }

    /// Lets there be at most `blocks` at a time.
    pub(crate) fn allow(blocks: usize) {
        MOST.set(blocks);
    }
}
