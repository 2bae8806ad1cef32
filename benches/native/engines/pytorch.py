"""PyTorch."""

import numpy as np

from engine import Engine


class PyTorch(Engine):
    """index_select, gather, scatter, index_put, index_add, embedding_bag, and permute-contiguous."""

    label = "PyTorch"

    def load(self, threads):
        import torch

        torch.set_num_threads(threads)
        self.torch = torch
        self.version = torch.__version__

    def _tensors(self, *arrays):
        return [self.torch.from_numpy(array) for array in arrays]

    def gather(self, workload, data, indices):
        axis, shape = workload.axis, workload.output_shape
        is_mask = indices.dtype == np.uint8  # To PyTorch bytes are a mask, not indices.
        data, indices, *batch = self._tensors(data, indices, *workload.batch_coordinates(indices.ndim))
        if batch:
            return lambda: data[(*batch, indices)]
        if is_mask:
            return lambda: data.index_select(axis, indices.flatten().int()).view(shape)
        return lambda: data.index_select(axis, indices.flatten()).view(shape)

    def gather_elements(self, workload, data, indices):
        data, indices = self._tensors(data, indices)
        return lambda: self.torch.gather(data, workload.axis, indices)

    def gather_nd(self, workload, data, indices):
        data, indices, *batch = self._tensors(data, indices, *workload.batch_coordinates(indices.ndim - 1))
        return lambda: data[(*batch, *indices.unbind(-1))]

    def rearrange(self, workload, data, indices):
        (data,) = self._tensors(data)
        split, permutation, merged, crop = workload.steps
        return lambda: data.view(split).permute(permutation).reshape(merged)[crop].contiguous()

    def scatter_elements(self, workload, data, indices, updates):
        axis = workload.axis
        data, indices, updates = self._tensors(data, indices, updates)
        if workload.reduction == "none":
            return lambda: self.torch.scatter(data, axis, indices, updates)
        return lambda: self.torch.scatter_add(data, axis, indices, updates)

    def scatter_nd(self, workload, data, indices, updates):
        accumulate = workload.reduction == "add"
        data, indices, updates = self._tensors(data, indices, updates)
        if indices.shape[-1] == 1 and not accumulate:
            return lambda: self.torch.index_copy(data, 0, indices.flatten(), updates)
        return lambda: self.torch.index_put(data, indices.unbind(-1), updates, accumulate)

    def index_add(self, workload, data, indices, updates):
        data, indices, updates = self._tensors(data, indices, updates)
        return lambda: self.torch.index_add(data, 0, indices, updates)

    def embedding_bag(self, workload, data, indices):
        data, indices = self._tensors(data, indices)
        mode = "sum" if workload.reduction == "add" else "mean"
        return lambda: self.torch.nn.functional.embedding_bag(indices, data, mode=mode)
