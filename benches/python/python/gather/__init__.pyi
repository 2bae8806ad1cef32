"""Gathers, scatters and bags of NumPy arrays: functions by NumPy's names, and operators of gather-core."""

from collections.abc import Sequence
from typing import Any, Literal, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Plan",
    "__version__",
    "add_at",
    "batch_to_space",
    "depth_to_space",
    "embedding_bag",
    "gather",
    "gather_elements",
    "gather_nd",
    "index_add",
    "masked_fill",
    "plan",
    "put",
    "put_along_axis",
    "put_mask",
    "scatter_elements",
    "scatter_nd",
    "select",
    "space_to_batch",
    "space_to_depth",
    "take",
    "take_along_axis",
]
__version__: str

_T = TypeVar("_T", bound=np.generic)
_Indices = NDArray[np.integer[Any]]
_IndicesLike = _Indices | Sequence[Any] | int | np.integer[Any]
_Mask = NDArray[np.bool_] | Sequence[Any]
_Mode = Literal["raise", "wrap", "clip"]
_Reduction = Literal["none", "add", "sub", "mul", "min", "max", "mean"]
_Negative = Literal["from_end", "reject"]
_OutOfBounds = Literal["error", "zero", "clamp", "wrap"]
_ScatterOutOfBounds = Literal["error", "drop", "clamp", "wrap"]
_DepthMode = Literal["dcr", "crd"]

def take(
    a: NDArray[_T],
    indices: _IndicesLike,
    axis: int | None = None,
    out: NDArray[_T] | None = None,
    mode: _Mode = "raise",
    *,
    threads: int | None = None,
) -> Any: ...
def take_along_axis(
    a: NDArray[_T],
    indices: _IndicesLike,
    axis: int | None = -1,
    *,
    out: NDArray[_T] | None = None,
    threads: int | None = None,
) -> NDArray[_T]: ...
def put(
    a: NDArray[Any], ind: _IndicesLike, v: ArrayLike, mode: _Mode = "raise", *, threads: int | None = None
) -> None: ...
def put_along_axis(
    a: NDArray[Any], indices: _IndicesLike, values: ArrayLike, axis: int | None, *, threads: int | None = None
) -> None: ...
def add_at(
    a: NDArray[Any],
    indices: _IndicesLike | tuple[_IndicesLike, ...],
    b: ArrayLike,
    *,
    threads: int | None = None,
) -> None: ...
def select(
    a: NDArray[_T], mask: _Mask, axis: int = 0, *, out: NDArray[_T] | None = None, threads: int | None = None
) -> NDArray[_T]: ...
def put_mask(a: NDArray[Any], mask: _Mask, values: ArrayLike, *, threads: int | None = None) -> None: ...
def masked_fill(a: NDArray[_T], mask: _Mask, value: ArrayLike, *, threads: int | None = None) -> NDArray[_T]: ...
def gather(
    data: NDArray[_T],
    indices: _Indices,
    axis: int = 0,
    batch_dims: int = 0,
    *,
    negative_index: _Negative = "from_end",
    out_of_bounds: _OutOfBounds = "error",
    out: NDArray[_T] | None = None,
    threads: int | None = None,
) -> NDArray[_T]: ...
def gather_elements(
    data: NDArray[_T],
    indices: _Indices,
    axis: int = 0,
    *,
    negative_index: _Negative = "from_end",
    out_of_bounds: _OutOfBounds = "error",
    out: NDArray[_T] | None = None,
    threads: int | None = None,
) -> NDArray[_T]: ...
def gather_nd(
    data: NDArray[_T],
    indices: _Indices,
    batch_dims: int = 0,
    *,
    negative_index: _Negative = "from_end",
    out_of_bounds: _OutOfBounds = "error",
    out: NDArray[_T] | None = None,
    threads: int | None = None,
) -> NDArray[_T]: ...
def scatter_elements(
    data: NDArray[_T],
    indices: _Indices,
    updates: NDArray[_T],
    axis: int = 0,
    *,
    reduction: _Reduction = "none",
    include_self: bool = True,
    negative_index: _Negative = "from_end",
    out_of_bounds: _ScatterOutOfBounds = "error",
    out: NDArray[_T] | None = None,
    threads: int | None = None,
) -> NDArray[_T]: ...
def scatter_nd(
    data: NDArray[_T],
    indices: _Indices,
    updates: NDArray[_T],
    batch_dims: int = 0,
    *,
    reduction: _Reduction = "none",
    include_self: bool = True,
    negative_index: _Negative = "from_end",
    out_of_bounds: _ScatterOutOfBounds = "error",
    out: NDArray[_T] | None = None,
    threads: int | None = None,
) -> NDArray[_T]: ...
def index_add(
    data: NDArray[_T],
    indices: _Indices,
    updates: NDArray[_T],
    axis: int = 0,
    *,
    negative_index: _Negative = "from_end",
    out_of_bounds: _OutOfBounds = "error",
    out: NDArray[_T] | None = None,
    threads: int | None = None,
) -> NDArray[_T]: ...
def embedding_bag(
    data: NDArray[_T],
    indices: _Indices,
    offsets: _Indices | None = None,
    weights: NDArray[_T] | None = None,
    *,
    reduction: _Reduction = "add",
    out: NDArray[_T] | None = None,
    threads: int | None = None,
) -> NDArray[_T]: ...
def batch_to_space(
    data: NDArray[_T],
    block_shape: Sequence[int],
    crops_begin: Sequence[int],
    crops_end: Sequence[int],
    *,
    out: NDArray[_T] | None = None,
    threads: int | None = None,
) -> NDArray[_T]: ...
def space_to_batch(
    data: NDArray[_T],
    block_shape: Sequence[int],
    pads_begin: Sequence[int],
    pads_end: Sequence[int],
    *,
    out: NDArray[_T] | None = None,
    threads: int | None = None,
) -> NDArray[_T]: ...
def depth_to_space(
    data: NDArray[_T],
    block_size: int,
    mode: _DepthMode = "dcr",
    *,
    out: NDArray[_T] | None = None,
    threads: int | None = None,
) -> NDArray[_T]: ...
def space_to_depth(
    data: NDArray[_T],
    block_size: int,
    mode: _DepthMode = "dcr",
    *,
    out: NDArray[_T] | None = None,
    threads: int | None = None,
) -> NDArray[_T]: ...
def plan(
    operator: str,
    data: NDArray[Any],
    indices: _Indices | None = None,
    updates: NDArray[Any] | None = None,
    *,
    axis: int = 0,
    batch_dims: int = 0,
    reduction: _Reduction = "none",
    include_self: bool = True,
    block_shape: Sequence[int] | None = None,
    crops_begin: Sequence[int] | None = None,
    crops_end: Sequence[int] | None = None,
    pads_begin: Sequence[int] | None = None,
    pads_end: Sequence[int] | None = None,
    block_size: int = 1,
    mode: _DepthMode = "dcr",
    negative_index: _Negative = "from_end",
    out_of_bounds: str = "error",
    threads: int | None = None,
) -> Plan: ...
@final
class Plan:
    @property
    def output_shape(self) -> list[int]: ...
    def run(
        self,
        data: NDArray[_T],
        indices: _Indices | None = None,
        updates: NDArray[_T] | None = None,
        *,
        out: NDArray[_T] | None = None,
    ) -> NDArray[_T]: ...
    def explain(self) -> str: ...
