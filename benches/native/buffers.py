"""Where arrays lie in memory."""

import mmap

import numpy as np

LINE = 64
OFFSETS = (0, 16, 32, 48)
PAGES = ("numpy", "small", "huge")  # where NumPy puts arrays; pages of the usual size; huge ones


def place(array, offset, pages="numpy"):
    """A copy of an array that begins `offset` bytes after a cache line, on pages of a kind; None stays None."""
    if array is None:
        return None
    memory = _memory(array.nbytes + 2 * LINE, pages)
    start = -memory.ctypes.data % LINE + offset
    placed = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    placed[...] = array
    return placed


def _memory(size, pages):
    """Bytes on pages of a kind."""
    if pages == "numpy":
        return np.empty(size, np.uint8)
    # Private: what is shared is memory of a file system, which has huge pages by another setting.
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE if pages == "huge" else mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, np.uint8)
