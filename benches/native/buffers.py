"""Where arrays lie in memory."""

import numpy as np

LINE = 64
OFFSETS = (0, 16, 32, 48)


def place(array, offset):
    """A copy of an array that begins `offset` bytes after a cache line; None stays None."""
    if array is None:
        return None
    memory = np.empty(array.nbytes + 2 * LINE, np.uint8)
    start = -memory.ctypes.data % LINE + offset
    placed = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    placed[...] = array
    return placed
