#!/usr/bin/env python3
"""Times ONNX Runtime's EmbedLayerNormalization on the embedding of the benchmark `rows`.

    pip install -r requirements.txt
    python rows.py [--threads N] [--seconds S]

Microseconds of a call into bound memory, the least and the median: token and position embeddings, then a layer norm, for
[16, 512] ids of [50257, 768]. The result is compared with NumPy's first.
"""

import argparse
import statistics
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

ROWS, WIDTH, SHAPE, EPSILON = 50257, 768, (16, 512), 1e-5


def model():
    """One node: ids, both tables and the norm's parameters in, rows out."""
    inputs = {
        "ids": (TensorProto.INT32, SHAPE),
        "words": (TensorProto.FLOAT, (ROWS, WIDTH)),
        "positions": (TensorProto.FLOAT, (SHAPE[1], WIDTH)),
        "gamma": (TensorProto.FLOAT, (WIDTH,)),
        "beta": (TensorProto.FLOAT, (WIDTH,)),
    }
    node = helper.make_node(
        "EmbedLayerNormalization",
        ["ids", "", "words", "positions", "", "gamma", "beta"],
        ["rows", "mask"],
        domain="com.microsoft",
        epsilon=EPSILON,
    )
    graph = helper.make_graph(
        [node],
        "embedding",
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, (*SHAPE, WIDTH))],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()

    rng = np.random.default_rng(17)
    values = {
        "ids": rng.integers(0, ROWS, SHAPE, dtype=np.int32),
        "words": rng.random((ROWS, WIDTH), dtype=np.float32) - np.float32(0.5),
        "positions": rng.random((SHAPE[1], WIDTH), dtype=np.float32) - np.float32(0.5),
        "gamma": rng.random(WIDTH, dtype=np.float32),
        "beta": rng.random(WIDTH, dtype=np.float32),
    }
    rows = values["words"][values["ids"]].astype(np.float64) + values["positions"]
    rows -= rows.mean(axis=-1, keepdims=True)
    rows /= np.sqrt((rows * rows).mean(axis=-1, keepdims=True) + EPSILON)
    expected = rows * values["gamma"] + values["beta"]

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    session = onnxruntime.InferenceSession(
        model().SerializeToString(), settings, providers=["CPUExecutionProvider"]
    )
    binding, out = session.io_binding(), np.empty((*SHAPE, WIDTH), np.float32)
    for name, value in values.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(value))
    binding.bind_output("rows", "cpu", 0, np.float32, out.shape, out.ctypes.data)
    session.run_with_iobinding(binding)
    assert np.abs(out - expected).max() < 1e-5, np.abs(out - expected).max()

    times, end = [], time.perf_counter() + options.seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        session.run_with_iobinding(binding)
        times.append((time.perf_counter() - start) * 1e6)
    least, median = min(times), statistics.median(times)
    print(f"onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}, {options.threads} thread(s)")
    print(f"embedding, position and layer norm: {least:.0f} us at least, {median:.0f} us in the median")


main()
