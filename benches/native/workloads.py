"""The fixed workloads: operators, attributes, shapes and data types, with seeded inputs."""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Workload:
    """An operator on tensors of fixed shapes. Where `batch_dims` is set, Gather's `axis` is the same number."""

    name: str
    operator: str
    shape: tuple
    index_shape: tuple = ()
    axis: int = 0
    batch_dims: int = 0
    block: tuple = ()
    crops_begin: tuple = ()
    crops_end: tuple = ()
    dtype: str = "float32"
    index_dtype: str = "int64"

    @property
    def output_shape(self):
        """The shape of the result."""
        if self.operator == "gather":
            return self.shape[: self.axis] + self.index_shape[self.batch_dims :] + self.shape[self.axis + 1 :]
        if self.operator == "gather_elements":
            return self.index_shape
        if self.operator == "gather_nd":
            return self.index_shape[:-1] + self.shape[self.batch_dims + self.index_shape[-1] :]
        return tuple(part.stop - part.start for part in self.crop)

    @property
    def split_shape(self):
        """BatchToSpace, step 1: data reshaped so that every block has a dimension of its own, before the batch."""
        return (*self.block[1:], self.shape[0] // math.prod(self.block), *self.shape[1:])

    @property
    def permutation(self):
        """BatchToSpace, step 2: every block goes after the dimension that it refines."""
        blocks = len(self.block) - 1
        pairs = ((blocks + 1 + k, k) for k in range(blocks))
        return (blocks, *(dimension for pair in pairs for dimension in pair))

    @property
    def merged_shape(self):
        """BatchToSpace, step 3: blocks merged into their dimensions, with nothing cropped yet."""
        spatial = (size * block for size, block in zip(self.shape[1:], self.block[1:]))
        return (self.shape[0] // math.prod(self.block), *spatial)

    @property
    def crop(self):
        """BatchToSpace, step 4: the slices of the merged shape that are kept."""
        ends = zip(self.merged_shape, self.crops_begin, self.crops_end)
        return tuple(slice(begin, size - end) for size, begin, end in ends)

    def batch_coordinates(self, rank):
        """Coordinates of the shared leading dimensions that broadcast against indices of `rank` dimensions."""
        return tuple(np.ogrid[tuple(slice(size) for size in self.index_shape[:rank])])[: self.batch_dims]

    def inputs(self):
        """Data and indices (None for BatchToSpace), the same at every call."""
        random = np.random.default_rng(1)
        data = random.integers(0, 1 << (8 if self.dtype == "uint8" else 24), self.shape)
        data = (data / (1 << 24) if self.dtype == "float16" else data).astype(self.dtype)
        if self.operator == "batch_to_space":
            return data, None
        limit = self.shape[self.axis]
        if self.operator == "gather_nd":
            limit = self.shape[self.batch_dims : self.batch_dims + self.index_shape[-1]]
        return data, random.integers(0, limit, self.index_shape).astype(self.index_dtype)


def _gather(name, axis, shape, index_shape, **types):
    return Workload(f"gather/{name}", "gather", shape, index_shape, axis, **types)


def _elements(name, axis, shape, **types):
    return Workload(f"gather_elements/{name}", "gather_elements", shape, shape, axis, **types)


def _nd(name, shape, index_shape, batch_dims=0):
    return Workload(f"gather_nd/{name}", "gather_nd", shape, index_shape, batch_dims=batch_dims)


def _space(name, shape, block, begin=(0, 0, 0, 0), end=(0, 0, 0, 0), **types):
    operator = "batch_to_space"
    return Workload(f"{operator}/{name}", operator, shape, block=block, crops_begin=begin, crops_end=end, **types)


WORKLOADS = (
    _gather("embedding_50257x768_8k", 0, (50257, 768), (16, 512)),
    _gather("rows64B_1Mx16_1M", 0, (1 << 20, 16), (1 << 20,)),
    _gather("rows12B_1Mx3_1M", 0, (1 << 20, 3), (1 << 20,)),
    _gather("take_16M_4M", 0, (1 << 24,), (1 << 22,)),
    _gather("take_64K_4M_i32", 0, (1 << 16,), (1 << 22,), index_dtype="int32"),
    _gather("lut256_u8_16M_u8", 0, (256,), (1 << 24,), dtype="uint8", index_dtype="uint8"),
    _gather("lut16_f32_4M_i32", 0, (16,), (1 << 22,), index_dtype="int32"),
    _gather("lastaxis_4096x1024_512", 1, (4096, 1024), (512,)),
    _gather("midaxis_64x128x256_64", 1, (64, 128, 256), (64,)),
    _gather("midaxis_f16_64x512x7_256", 1, (256, 512, 7), (256,), dtype="float16"),
    _gather("batch_64x4096x64_1024", 1, (64, 4096, 64), (64, 1024), batch_dims=1),
    _elements("last_4096x1024", 1, (4096, 1024)),
    _elements("axis0_4096x4096", 0, (4096, 4096)),
    _elements("axis0_8192x64_i32", 0, (8192, 64), index_dtype="int32"),
    _elements("axis1_8x256x64x64", 1, (8, 256, 64, 64)),
    _nd("k2_elems_2048x2048_1M", (2048, 2048), (1 << 20, 2)),
    _nd("k3_elems_128x128x128_1M", (128, 128, 128), (1 << 20, 3)),
    _nd("k2_slices_128x128x256_16k", (128, 128, 256), (16384, 2)),
    _nd("batch_32x64x64x64_1024", (32, 64, 64, 64), (32, 1024, 2), batch_dims=1),
    _space("nhwc_64x64x64x32_b2", (64, 64, 64, 32), (1, 2, 2, 1)),
    _space("nchw_16x3x256x256_b2", (16, 3, 256, 256), (1, 1, 2, 2), (0, 0, 1, 1), (0, 0, 2, 2)),
    _space("nchw_u8_64x3x128x128_b4", (64, 3, 128, 128), (1, 1, 4, 4), dtype="uint8"),
    _gather("small_32x16_8", 0, (32, 16), (8,)),
)
