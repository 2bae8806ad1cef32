"""What all engines have in common."""

import numpy as np

from buffers import place


class Unsupported(Exception):
    """The engine lacks the operator or one of its attributes."""


class Engine:
    """An engine. Each operator is a method that takes a workload and its inputs, and returns the call to time."""

    label = ""
    fresh = True  # Every call makes a new output.

    def __init__(self, threads, offset=0):
        """Imports the engine and limits it to `threads` threads. Buffers begin `offset` bytes after a cache line."""
        self.offset = offset
        self.load(threads)

    def load(self, threads):
        """Imports the engine and limits it to `threads` threads."""
        raise NotImplementedError

    def output(self, workload):
        """A warm output for an engine that binds one."""
        return place(np.zeros(workload.output_shape, workload.dtype), self.offset)

    def prepare(self, workload, *inputs):
        """The call to be timed, which returns the output. The inputs must outlive it."""
        return getattr(self, workload.operator)(workload, *inputs)

    def to_numpy(self, output):
        """The output of a call as an array."""
        return np.asarray(output)

    def gather(self, workload, data, indices):
        raise Unsupported(f"{self.label} has no Gather")

    def take_clip(self, workload, data, indices):
        raise Unsupported(f"{self.label} has no take that clips")

    def gather_elements(self, workload, data, indices):
        raise Unsupported(f"{self.label} has no GatherElements")

    def gather_nd(self, workload, data, indices):
        raise Unsupported(f"{self.label} has no GatherND")

    def scatter_elements(self, workload, data, indices, updates):
        raise Unsupported(f"{self.label} has no ScatterElements")

    def scatter_nd(self, workload, data, indices, updates):
        raise Unsupported(f"{self.label} has no ScatterND")

    def index_add(self, workload, data, indices, updates):
        raise Unsupported(f"{self.label} has no index_add")

    def embedding_bag(self, workload, data, indices):
        raise Unsupported(f"{self.label} has no EmbeddingBag")

    def rearrange(self, workload, data, indices):
        """An operator that rearranges space, where the engine has no function of its own for it."""
        raise Unsupported(f"{self.label} has no {workload.operator}")

    def batch_to_space(self, workload, data, indices):
        return self.rearrange(workload, data, indices)

    def space_to_batch(self, workload, data, indices):
        return self.rearrange(workload, data, indices)

    def depth_to_space(self, workload, data, indices):
        return self.rearrange(workload, data, indices)

    def space_to_depth(self, workload, data, indices):
        return self.rearrange(workload, data, indices)
