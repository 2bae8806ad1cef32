//! Untyped memory from the global allocator.

use alloc::alloc::{alloc, dealloc, realloc};
use alloc::vec::Vec;
use core::alloc::Layout as Memory;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use crate::tensor::pages;
use crate::types::declare::accessors;
use crate::types::error::Error;

/// Memory from the global allocator; dangling if its size is 0.
pub(crate) struct Allocation {
    start: NonNull<u8>,
    memory: Memory,
}

// SAFETY: it owns its memory, and only unsafe code accesses values through the address.
unsafe impl Send for Allocation {}
// SAFETY: a shared reference gives out the address and the layout only.
unsafe impl Sync for Allocation {}

impl Allocation {
    pub(crate) fn empty(align: usize) -> Self {
        let memory = Memory::from_size_align(0, align).expect("an alignment of a type");
        Allocation { start: NonNull::without_provenance(align.try_into().expect("an alignment is not 0")), memory }
    }

    pub(crate) fn of_vec<T>(values: Vec<T>) -> Self {
        let mut values = ManuallyDrop::new(values);
        let memory = Memory::array::<T>(values.capacity()).expect("a vector's memory has a layout");
        let start = NonNull::new(values.as_mut_ptr().cast()).expect("a vector's address is not null");
        Allocation { start, memory }
    }

    /// Shrinks the memory to `bytes() / size * size` bytes.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    fn of_whole(self, size: usize) -> Result<Self, Error> {
        let bytes = self.bytes() / size * size;
        if bytes == self.bytes() {
            return Ok(self);
        }
        let memory = Memory::from_size_align(bytes, self.memory.align()).expect("no more bytes than before");
        let old = ManuallyDrop::new(self);
        let start = if bytes == 0 {
            // SAFETY: `old` owns memory allocated with `old.memory`, whose size differs from `bytes`, which is 0.
            unsafe { dealloc(old.start.as_ptr(), old.memory) };
            Allocation::empty(memory.align()).start
        } else {
            // SAFETY: `old` owns memory allocated with `old.memory`; the new size is not 0 and smaller.
            let start = unsafe { realloc(old.start.as_ptr(), old.memory, bytes) };
            let Some(start) = NonNull::new(start) else {
                drop(ManuallyDrop::into_inner(old));
                return Err(Error::AllocationFailed { bytes });
            };
            start
        };
        Ok(Allocation { start, memory })
    }

    pub(crate) fn new(bytes: usize, align: usize) -> Result<Self, Error> {
        if bytes == 0 {
            return Ok(Self::empty(align));
        }
        let memory = Memory::from_size_align(bytes, align).map_err(|_| Error::AllocationFailed { bytes })?;
        // SAFETY: the size of the layout is `bytes`, which is not 0.
        let start = NonNull::new(unsafe { alloc(memory) }).ok_or(Error::AllocationFailed { bytes })?;
        pages::advise(start.as_ptr(), bytes);
        Ok(Allocation { start, memory })
    }

    accessors! { self:
        pub(crate) fn bytes() -> usize => self.memory.size();
        pub(crate) fn align() -> usize => self.memory.align();
        pub(crate) fn start() -> *mut u8 => self.start.as_ptr();
    }

    /// The memory as a vector of `len` elements, without a copy.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`] if the excess bytes could not be given back.
    ///
    /// # Safety
    /// The memory has the alignment of `T`, which is not zero-sized, and begins with `len` values of `T`.
    pub(crate) unsafe fn into_vec<T>(self, len: usize) -> Result<Vec<T>, Error> {
        debug_assert!(self.align() == align_of::<T>() && len * size_of::<T>() <= self.bytes());
        let memory = ManuallyDrop::new(self.of_whole(size_of::<T>())?);
        let capacity = memory.bytes() / size_of::<T>();
        // SAFETY: the memory came from the global allocator for `capacity` elements of the size and alignment of `T`,
        // or is dangling if `capacity == 0`. By the caller's contract it begins with `len` values of `T`.
        // `ManuallyDrop` prevents a second owner.
        Ok(unsafe { Vec::from_raw_parts(memory.start().cast(), len, capacity) })
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if self.memory.size() != 0 {
            // SAFETY: owned, and allocated with the layout `memory` (`new`, `of_vec`, `of_whole`).
            unsafe { dealloc(self.start.as_ptr(), self.memory) };
        }
    }
}
