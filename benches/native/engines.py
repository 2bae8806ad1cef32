"""The tensor engines. An adapter for each turns a workload into a call without arguments.

An adapter imports its engine when it is made, so a process loads only one engine. The engine gets its inputs before
the call is timed. A cast that it needs for a type of indices is part of the call. NumPy, PyTorch, TensorFlow, JAX and
`gather (fresh)` return a fresh output from every call. ONNX Runtime, OpenVINO and `gather` write into one that was
bound ahead. Inputs and bound outputs lie where `buffers.place` puts them; TensorFlow and JAX may keep copies of the
inputs elsewhere, and fresh outputs lie where an engine's allocator puts them.
"""

import os

import numpy as np

from engine import Engine, Unsupported
from ours import Gather, GatherFresh


class NumPy(Engine):
    """take, take_along_axis, fancy indexing, and reshape-transpose-copy. The others are checked against it."""

    label = "NumPy"

    def load(self, threads):
        self.version = np.__version__

    def gather(self, workload, data, indices):
        if workload.batch_dims:
            where = (*workload.batch_coordinates(indices.ndim), indices)
            return lambda: data[where]
        return lambda: np.take(data, indices, axis=workload.axis)

    def gather_elements(self, workload, data, indices):
        return lambda: np.take_along_axis(data, indices, axis=workload.axis)

    def gather_nd(self, workload, data, indices):
        batch = workload.batch_coordinates(indices.ndim - 1)
        return lambda: data[(*batch, *np.moveaxis(indices, -1, 0))]

    def batch_to_space(self, workload, data, indices):
        split, permutation = workload.split_shape, workload.permutation
        merged, crop = workload.merged_shape, workload.crop
        return lambda: np.ascontiguousarray(data.reshape(split).transpose(permutation).reshape(merged)[crop])


class PyTorch(Engine):
    """index_select, gather, advanced indexing, and permute-contiguous."""

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

    def batch_to_space(self, workload, data, indices):
        (data,) = self._tensors(data)
        split, permutation = workload.split_shape, workload.permutation
        merged, crop = workload.merged_shape, workload.crop
        return lambda: data.view(split).permute(permutation).reshape(merged)[crop].contiguous()


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

    def _bind(self, workload, data, indices, node_type, **attributes):
        helper = self.onnx.helper
        nodes = [helper.make_node(node_type, ["data", "positions"], ["output"], **attributes)]
        if indices.dtype in (np.int32, np.int64):
            nodes[0].input[1] = "indices"
        else:
            to = self.onnx.TensorProto.INT32
            nodes.insert(0, helper.make_node("Cast", ["indices"], ["positions"], to=to))
        inputs = {"data": data, "indices": indices}
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
        return self._bind(workload, data, indices, "Gather", axis=workload.axis)

    def gather_elements(self, workload, data, indices):
        return self._bind(workload, data, indices, "GatherElements", axis=workload.axis)

    def gather_nd(self, workload, data, indices):
        return self._bind(workload, data, indices, "GatherND", batch_dims=workload.batch_dims)


class OpenVino(Engine):
    """Gather-8, GatherElements-6, GatherND-8 and BatchToSpace-2, compiled for the CPU; tensors are set ahead."""

    label = "OpenVINO"
    fresh = False

    def load(self, threads):
        import openvino
        from openvino import opset8

        self.openvino, self.operators = openvino, opset8
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

        def build(data):
            constants = [self.operators.constant(np.array(values, np.int64)) for values in attributes]
            return self.operators.batch_to_space(data, *constants)

        return self._compile(workload, build, data)


class TensorFlow(Engine):
    """Eager gather, gather_nd and batch_to_space; reshape and transpose where channels come first."""

    label = "TensorFlow"

    def load(self, threads):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        import tensorflow

        tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
        tensorflow.config.threading.set_inter_op_parallelism_threads(1)
        self.tf = tensorflow
        self.version = tensorflow.__version__

    def gather(self, workload, data, indices):
        tf, axis, batch_dims = self.tf, workload.axis, workload.batch_dims
        data, indices = tf.constant(data), tf.constant(indices)
        if indices.dtype not in (tf.int32, tf.int64):
            return lambda: tf.gather(data, tf.cast(indices, tf.int32), axis=axis)
        return lambda: tf.gather(data, indices, axis=axis, batch_dims=batch_dims)

    def gather_elements(self, workload, data, indices):
        """TensorFlow lacks the operator. With the axis moved to the end, Gather with batch_dims does the same."""
        tf, axis, last = self.tf, workload.axis, data.ndim - 1
        data, indices = tf.constant(data), tf.constant(indices)
        if axis == last:
            return lambda: tf.gather(data, indices, axis=last, batch_dims=last)
        there = [*range(axis), *range(axis + 1, last + 1), axis]
        back = np.argsort(there)

        def run():
            moved = tf.gather(tf.transpose(data, there), tf.transpose(indices, there), axis=last, batch_dims=last)
            return tf.transpose(moved, back)

        return run

    def gather_nd(self, workload, data, indices):
        data, indices = self.tf.constant(data), self.tf.constant(indices)
        return lambda: self.tf.gather_nd(data, indices, batch_dims=workload.batch_dims)

    def batch_to_space(self, workload, data, indices):
        tf = self.tf
        data = tf.constant(data)
        if workload.block[1] == 1:
            split, permutation = workload.split_shape, workload.permutation
            merged, crop = workload.merged_shape, workload.crop
            return lambda: tf.reshape(tf.transpose(tf.reshape(data, split), permutation), merged)[crop]
        block = workload.block[1:]
        crops = list(zip(workload.crops_begin[1:], workload.crops_end[1:]))
        return lambda: tf.batch_to_space(data, block, crops)


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

    def batch_to_space(self, workload, data, indices):
        split, permutation = workload.split_shape, workload.permutation
        merged, crop = workload.merged_shape, workload.crop
        return self._compile(lambda data: data.reshape(split).transpose(permutation).reshape(merged)[crop], data)


ENGINES = {
    engine.label: engine
    for engine in (Gather, GatherFresh, NumPy, PyTorch, OnnxRuntime, OpenVino, TensorFlow, Jax)
}
OURS = [Gather.label, GatherFresh.label]
