"""The fixed workloads: operators, attributes, shapes and data types, with seeded inputs."""

import functools
from dataclasses import dataclass

import numpy as np

import rearrange

ZIPF = 1.2  # the exponent


@dataclass(frozen=True)
class Workload:
    """An operator on tensors of fixed shapes. Where `batch_dims` is set, Gather's `axis` is the same number.

    `spread` says where updates of a scatter go: "uniform", "permutation" (along the axis, so that each place is met
    once), "distinct" (rows that all differ) or "zipf" (mostly to a few rows).
    """

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
    reduction: str = "none"
    spread: str = "uniform"
    block_size: int = 1
    mode: str = "dcr"

    @property
    def output_shape(self):
        """The shape of the result."""
        if self.operator in ("gather", "take_clip"):
            return self.shape[: self.axis] + self.index_shape[self.batch_dims :] + self.shape[self.axis + 1 :]
        if self.operator == "gather_elements":
            return self.index_shape
        if self.operator == "gather_nd":
            return self.index_shape[:-1] + self.shape[self.batch_dims + self.index_shape[-1] :]
        if self.operator == "embedding_bag":
            return self.index_shape[:1] + self.shape[1:]
        if self.update_shape is not None:
            return self.shape
        return tuple(part.stop - part.start for part in self.steps[3])

    @property
    def update_shape(self):
        """The shape of the updates of a scatter; None for all other operators."""
        if self.operator == "scatter_elements":
            return self.index_shape
        if self.operator == "scatter_nd":
            return self.index_shape[:-1] + self.shape[self.index_shape[-1] :]
        if self.operator == "index_add":
            return self.index_shape + self.shape[1:]
        return None

    @functools.cached_property
    def steps(self):
        """An operator that rearranges space, in steps."""
        return rearrange.steps(self)

    def batch_coordinates(self, rank):
        """Coordinates of the shared leading dimensions that broadcast against indices of `rank` dimensions."""
        return tuple(np.ogrid[tuple(slice(size) for size in self.index_shape[:rank])])[: self.batch_dims]

    def inputs(self):
        """Data, indices (None for operators that rearrange space), and updates of scatters: the same at every call."""
        random = np.random.default_rng(1)
        if self.operator in rearrange.OPERATORS:
            return self._data(random), None
        if self.update_shape is None and self.operator != "embedding_bag":
            return self._data(random), self._indices(random)
        shapes = [shape for shape in (self.shape, self.update_shape) if shape is not None]
        data, *updates = (self._addends(random, shape) for shape in shapes)
        return data, self._indices(random), *updates

    def _data(self, random):
        data = random.integers(0, 1 << (8 if self.dtype == "uint8" else 24), self.shape)
        return (data / (1 << 24) if self.dtype == "float16" else data).astype(self.dtype)

    def _addends(self, random, shape):
        """Numbers whose sums are exact, whatever their order."""
        return random.integers(-8, 9, shape).astype(self.dtype)

    def _indices(self, random):
        rows = self.shape[self.axis]
        if self.spread == "permutation":
            # Numbers at random, in the order that sorts them.
            indices = np.argsort(random.random(self.index_shape, np.float32), axis=self.axis)
        elif self.spread == "distinct":
            indices = random.permutation(rows)[: self.index_shape[0]].reshape(self.index_shape)
        elif self.spread == "zipf":
            weights = np.arange(1, rows + 1) ** -ZIPF
            indices = random.permutation(rows)[random.choice(rows, self.index_shape, p=weights / weights.sum())]
        elif self.operator == "take_clip":
            # An eighth of them on either side of the axis.
            indices = random.integers(-rows // 6, rows + rows // 6, self.index_shape)
        else:
            limit = rows
            if self.operator in ("gather_nd", "scatter_nd"):
                limit = self.shape[self.batch_dims : self.batch_dims + self.index_shape[-1]]
            indices = random.integers(0, limit, self.index_shape)
        return indices.astype(self.index_dtype)


def _gather(name, axis, shape, index_shape, **types):
    return Workload(f"gather/{name}", "gather", shape, index_shape, axis, **types)


def _clip(name, shape, index_shape):
    return Workload(f"take_clip/{name}", "take_clip", shape, index_shape)


def _elements(name, axis, shape, **types):
    return Workload(f"gather_elements/{name}", "gather_elements", shape, shape, axis, **types)


def _nd(name, shape, index_shape, batch_dims=0):
    return Workload(f"gather_nd/{name}", "gather_nd", shape, index_shape, batch_dims=batch_dims)


def _space(name, shape, block, begin=(0, 0, 0, 0), end=(0, 0, 0, 0), **types):
    operator = "batch_to_space"
    return Workload(f"{operator}/{name}", operator, shape, block=block, crops_begin=begin, crops_end=end, **types)


def _scatter(operator, name, shape, index_shape, **attributes):
    return Workload(f"{operator}/{name}", operator, shape, index_shape, **attributes)


def _depth(operator, name, shape, mode):
    return Workload(f"{operator}/{name}", operator, shape, block_size=2, mode=mode)


def _bag(name, reduction, shape, index_shape):
    return Workload(f"embedding_bag/{name}", "embedding_bag", shape, index_shape, reduction=reduction)


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

# The way back: scatters, adjoints, the operators that undo BatchToSpace and each other, and bags.
INVERSES = (
    _scatter("scatter_elements", "none_axis0_4096x4096", (4096, 4096), (4096, 4096), spread="permutation"),
    _scatter("scatter_elements", "add_axis0_8192x64", (8192, 64), (8192, 64), reduction="add"),
    _scatter("scatter_elements", "add_last_4096x1024", (4096, 1024), (4096, 1024), axis=1, reduction="add"),
    _scatter("scatter_elements", "add_1d_1M_into_64K", (1 << 16,), (1 << 16,), reduction="add"),
    _scatter("scatter_nd", "none_rows64B_512K_into_1M", (1 << 20, 16), (1 << 19, 1), spread="distinct"),
    _scatter("scatter_nd", "add_k2_slices_16k_128x128x256", (128, 128, 256), (16384, 2), reduction="add"),
    _scatter("scatter_nd", "add_k2_elems_1M_2048x2048", (2048, 2048), (1 << 20, 2), reduction="add"),
    _scatter("index_add", "512Kx64_into_16K", (16384, 64), (1 << 19,), reduction="add"),
    _scatter("index_add", "512Kx64_into_16K_zipf", (16384, 64), (1 << 19,), reduction="add", spread="zipf"),
    _scatter("index_add", "4M_into_64K_scalars", (1 << 16,), (1 << 22,), reduction="add"),
    Workload("space_to_batch/nhwc_16x128x128x32_b2", "space_to_batch", (16, 128, 128, 32), block=(1, 2, 2, 1)),
    _depth("depth_to_space", "dcr_16x256x64x64_b2", (16, 256, 64, 64), "dcr"),
    _depth("depth_to_space", "crd_16x256x64x64_b2", (16, 256, 64, 64), "crd"),
    _depth("space_to_depth", "16x64x128x128_b2", (16, 64, 128, 128), "dcr"),
    _bag("sum_1Mx64_16Kx32", "add", (1 << 20, 64), (16384, 32)),
    _bag("mean_50257x768_256x128", "mean", (50257, 768), (256, 128)),
)


def _large(mib):
    """Gathers at random from a table of a size. With many engines at once, the largest take tens of gigabytes."""
    numbers = mib << 18
    return (
        _gather(f"rows3072B_{mib}MiB_16K", 0, (numbers // 768, 768), (1 << 14,)),
        _gather(f"rows256B_{mib}MiB_256K", 0, (numbers // 64, 64), (1 << 18,)),
        _gather(f"rows64B_{mib}MiB_1M", 0, (numbers // 16, 16), (1 << 20,)),
        _gather(f"take_{mib}MiB_4M", 0, (numbers,), (1 << 22,)),
    )


# Indices of which a quarter is out of range, and clamped to the axis.
CLIPPED = (
    _clip("rows4B_64K_1M", (1 << 16,), (1 << 20,)),
    _clip("rows64B_64Kx16_256K", (1 << 16, 16), (1 << 18,)),
)

TABLES = {
    "gathers": WORKLOADS,
    "clipped": CLIPPED,
    "inverses": INVERSES,
    "all": (*WORKLOADS, *INVERSES),
    "large": (*_large(64), *_large(512), *_large(2048)),
}
