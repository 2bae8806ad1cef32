"""NumPy."""

import numpy as np

from engine import Engine


class NumPy(Engine):
    """take, take_along_axis, put_along_axis, fancy indexing, ufunc.at, and reshape-transpose-copy.

    The others are checked against it.
    """

    label = "NumPy"

    def load(self, threads):
        self.version = np.__version__

    def gather(self, workload, data, indices):
        if workload.batch_dims:
            where = (*workload.batch_coordinates(indices.ndim), indices)
            return lambda: data[where]
        return lambda: np.take(data, indices, axis=workload.axis)

    def take_clip(self, workload, data, indices):
        return lambda: np.take(data, indices, axis=workload.axis, mode="clip")

    def gather_elements(self, workload, data, indices):
        return lambda: np.take_along_axis(data, indices, axis=workload.axis)

    def gather_nd(self, workload, data, indices):
        batch = workload.batch_coordinates(indices.ndim - 1)
        return lambda: data[(*batch, *np.moveaxis(indices, -1, 0))]

    def rearrange(self, workload, data, indices):
        split, permutation, merged, crop = workload.steps
        return lambda: np.ascontiguousarray(data.reshape(split).transpose(permutation).reshape(merged)[crop])

    def scatter_elements(self, workload, data, indices, updates):
        axis = workload.axis
        if workload.reduction == "none":

            def run():
                out = data.copy()
                np.put_along_axis(out, indices, updates, axis)
                return out

            return run
        where = list(np.ogrid[tuple(map(slice, indices.shape))])
        where[axis] = indices
        return self._add_at(data, tuple(where), updates)

    def scatter_nd(self, workload, data, indices, updates):
        where = tuple(np.moveaxis(indices, -1, 0))
        if workload.reduction == "add":
            return self._add_at(data, where, updates)

        def run():
            out = data.copy()
            out[where] = updates
            return out

        return run

    def index_add(self, workload, data, indices, updates):
        return self._add_at(data, indices, updates)

    def _add_at(self, data, where, updates):
        def run():
            out = data.copy()
            np.add.at(out, where, updates)
            return out

        return run

    def embedding_bag(self, workload, data, indices):
        reduce = np.sum if workload.reduction == "add" else np.mean
        return lambda: reduce(data[indices], axis=1)
