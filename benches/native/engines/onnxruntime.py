"""ONNX Runtime."""

import numpy as np

from engine import Engine, Unsupported


class OnnxRuntime(Engine):
    """A session with one node; inputs and output are bound ahead."""

    label = "ONNX Runtime"
    fresh = False

    def load(self, threads):
        import onnx
        import onnxruntime

        self.onnx, self.runtime = onnx, onnxruntime
        self.version = onnxruntime.__version__
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1

    def _value_info(self, name, shape, dtype):
        helper = self.onnx.helper
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)

    def _bind(self, workload, inputs, node_type, **attributes):
        helper, indices = self.onnx.helper, inputs.get("indices")
        nodes = [helper.make_node(node_type, list(inputs), ["output"], **attributes)]
        if indices is not None and indices.dtype not in (np.int32, np.int64):
            nodes[0].input[1] = "positions"
            to = self.onnx.TensorProto.INT32
            nodes.insert(0, helper.make_node("Cast", ["indices"], ["positions"], to=to))
        output = self.output(workload)
        graph = helper.make_graph(
            nodes,
            "workload",
            [self._value_info(name, array.shape, array.dtype) for name, array in inputs.items()],
            [self._value_info("output", output.shape, output.dtype)],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        session = self.runtime.InferenceSession(
            model.SerializeToString(), self.options, providers=["CPUExecutionProvider"]
        )
        values = {name: self.runtime.OrtValue.ortvalue_from_numpy(array) for name, array in inputs.items()}
        result = self.runtime.OrtValue.ortvalue_from_numpy(output)
        binding = session.io_binding()
        for name, value in values.items():
            binding.bind_ortvalue_input(name, value)
        binding.bind_ortvalue_output("output", result)

        def run():
            session.run_with_iobinding(binding)
            return result

        return run

    def to_numpy(self, output):
        return output.numpy()

    def gather(self, workload, data, indices):
        if workload.batch_dims:
            raise Unsupported("ONNX's Gather has no batch_dims")
        return self._bind(workload, {"data": data, "indices": indices}, "Gather", axis=workload.axis)

    def gather_elements(self, workload, data, indices):
        return self._bind(workload, {"data": data, "indices": indices}, "GatherElements", axis=workload.axis)

    def gather_nd(self, workload, data, indices):
        inputs = {"data": data, "indices": indices}
        return self._bind(workload, inputs, "GatherND", batch_dims=workload.batch_dims)

    def scatter_elements(self, workload, data, indices, updates):
        inputs = {"data": data, "indices": indices, "updates": updates}
        return self._bind(workload, inputs, "ScatterElements", axis=workload.axis, reduction=workload.reduction)

    def scatter_nd(self, workload, data, indices, updates):
        inputs = {"data": data, "indices": indices, "updates": updates}
        return self._bind(workload, inputs, "ScatterND", reduction=workload.reduction)

    def index_add(self, workload, data, indices, updates):
        """ONNX lacks the operator. ScatterND with tuples of one index does the same."""
        return self.scatter_nd(workload, data, indices[..., np.newaxis], updates)

    def depth_to_space(self, workload, data, indices):
        attributes = {"blocksize": workload.block_size, "mode": workload.mode.upper()}
        return self._bind(workload, {"data": data}, "DepthToSpace", **attributes)

    def space_to_depth(self, workload, data, indices):
        if workload.mode != "dcr":
            raise Unsupported("SpaceToDepth has a mode since version 28")
        return self._bind(workload, {"data": data}, "SpaceToDepth", blocksize=workload.block_size)
