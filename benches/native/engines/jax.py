"""JAX."""

import os

from engine import Engine


class Jax(Engine):
    """Functions compiled ahead. Out-of-range mode "clip", negative indices not wrapped, i64 indices kept."""

    label = "JAX"

    def load(self, threads):
        os.environ["JAX_PLATFORMS"] = "cpu"
        if threads == 1:
            os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.version = jax.__version__

    def _compile(self, function, *arrays):
        arrays = [self.jax.device_put(array) for array in arrays]
        compiled = self.jax.jit(function)
        compiled(*arrays).block_until_ready()
        return lambda: compiled(*arrays).block_until_ready()

    def _at(self, data, where):
        return data.at[where].get(mode="clip", wrap_negative_indices=False)

    def gather(self, workload, data, indices):
        leading = tuple(slice(size) for size in workload.shape[: workload.axis])
        if workload.batch_dims:
            leading = workload.batch_coordinates(indices.ndim)
        return self._compile(lambda data, indices: self._at(data, (*leading, indices)), data, indices)

    def take_clip(self, workload, data, indices):
        return self.gather(workload, data, indices)

    def gather_elements(self, workload, data, indices):
        def function(data, indices):
            return self.jax.numpy.take_along_axis(
                data, indices, axis=workload.axis, mode="clip", wrap_negative_indices=False
            )

        return self._compile(function, data, indices)

    def gather_nd(self, workload, data, indices):
        batch = workload.batch_coordinates(indices.ndim - 1)

        def function(data, indices):
            return self._at(data, (*batch, *(indices[..., k] for k in range(indices.shape[-1]))))

        return self._compile(function, data, indices)

    def rearrange(self, workload, data, indices):
        split, permutation, merged, crop = workload.steps
        return self._compile(lambda data: data.reshape(split).transpose(permutation).reshape(merged)[crop], data)

    def _scatter(self, reduction, where, data, indices, updates):
        """`where` makes what one indexes with out of the indices."""
        keywords = {"mode": "clip", "wrap_negative_indices": False}

        def function(data, indices, updates):
            at = data.at[where(indices)]
            return at.add(updates, **keywords) if reduction == "add" else at.set(updates, **keywords)

        return self._compile(function, data, indices, updates)

    def scatter_elements(self, workload, data, indices, updates):
        axis, shape = workload.axis, indices.shape

        def where(indices):
            grid = self.jax.numpy.ogrid[tuple(map(slice, shape))]
            return (*grid[:axis], indices, *grid[axis + 1 :])

        return self._scatter(workload.reduction, where, data, indices, updates)

    def scatter_nd(self, workload, data, indices, updates):
        def where(indices):
            return tuple(indices[..., k] for k in range(indices.shape[-1]))

        return self._scatter(workload.reduction, where, data, indices, updates)

    def index_add(self, workload, data, indices, updates):
        return self._scatter("add", lambda indices: indices, data, indices, updates)

    def embedding_bag(self, workload, data, indices):
        def function(data, indices):
            rows = self._at(data, indices)
            return rows.sum(axis=1) if workload.reduction == "add" else rows.mean(axis=1)

        return self._compile(function, data, indices)
