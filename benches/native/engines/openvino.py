"""OpenVINO."""

import numpy as np

from engine import Engine

REDUCTIONS = {"none": "none", "add": "sum", "mean": "mean"}
MODES = {"dcr": "blocks_first", "crd": "depth_first"}


class OpenVino(Engine):
    """A model with one operator of operation set 15, compiled for the CPU; tensors are set ahead."""

    label = "OpenVINO"
    fresh = False

    def load(self, threads):
        import openvino
        from openvino import opset15

        self.openvino, self.operators = openvino, opset15
        self.version = openvino.__version__
        self.core = openvino.Core()
        self.config = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}

    def _compile(self, workload, build, *arrays):
        parameters = [self.operators.parameter(list(array.shape), array.dtype) for array in arrays]
        model = self.openvino.Model([build(*parameters)], parameters)
        request = self.core.compile_model(model, "CPU", self.config).create_infer_request()
        for position, array in enumerate(arrays):
            request.set_input_tensor(position, self.openvino.Tensor(array, shared_memory=True))
        output = self.output(workload)
        request.set_output_tensor(0, self.openvino.Tensor(output, shared_memory=True))

        def run():
            request.infer(share_outputs=True)
            return output

        return run

    def gather(self, workload, data, indices):
        def build(data, indices):
            axis = self.operators.constant(np.int64(workload.axis))
            return self.operators.gather(data, indices, axis, workload.batch_dims)

        return self._compile(workload, build, data, indices)

    def gather_elements(self, workload, data, indices):
        def build(data, indices):
            return self.operators.gather_elements(data, indices, workload.axis)

        return self._compile(workload, build, data, indices)

    def gather_nd(self, workload, data, indices):
        def build(data, indices):
            return self.operators.gather_nd(data, indices, workload.batch_dims)

        return self._compile(workload, build, data, indices)

    def batch_to_space(self, workload, data, indices):
        attributes = (workload.block, workload.crops_begin, workload.crops_end)
        return self._space(workload, self.operators.batch_to_space, attributes, data)

    def space_to_batch(self, workload, data, indices):
        nothing = [0] * data.ndim
        return self._space(workload, self.operators.space_to_batch, (workload.block, nothing, nothing), data)

    def _space(self, workload, operator, attributes, data):
        def build(data):
            return operator(data, *(self.operators.constant(np.array(values, np.int64)) for values in attributes))

        return self._compile(workload, build, data)

    def depth_to_space(self, workload, data, indices):
        mode, size = MODES[workload.mode], workload.block_size
        return self._compile(workload, lambda data: self.operators.depth_to_space(data, mode, size), data)

    def space_to_depth(self, workload, data, indices):
        mode, size = MODES[workload.mode], workload.block_size
        return self._compile(workload, lambda data: self.operators.space_to_depth(data, mode, size), data)

    def scatter_elements(self, workload, data, indices, updates):
        reduction = REDUCTIONS[workload.reduction]

        def build(data, indices, updates):
            axis = self.operators.constant(np.int64(workload.axis))
            return self.operators.scatter_elements_update(data, indices, updates, axis, reduction)

        return self._compile(workload, build, data, indices, updates)

    def scatter_nd(self, workload, data, indices, updates):
        reduction = REDUCTIONS[workload.reduction]

        def build(data, indices, updates):
            return self.operators.scatter_nd_update(data, indices, updates, reduction)

        return self._compile(workload, build, data, indices, updates)

    def index_add(self, workload, data, indices, updates):
        """OpenVINO lacks the operator. ScatterNDUpdate with tuples of one index does the same."""
        return self.scatter_nd(workload, data, indices[..., np.newaxis], updates)

    def embedding_bag(self, workload, data, indices):
        reduction = REDUCTIONS[workload.reduction]

        def build(data, indices):
            return self.operators.embedding_bag_packed(data, indices, reduction=reduction)

        return self._compile(workload, build, data, indices)
