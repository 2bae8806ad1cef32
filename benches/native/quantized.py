#!/usr/bin/env python3
"""Times ONNX Runtime's GatherBlockQuantized on the table of the benchmark `tables`.

    pip install -r requirements.txt
    python quantized.py [THREADS]

8,192 rows out of [50257, 768] codes of 4 bits in blocks of 32, with scales in f32: milliseconds of a call, the least and
the median of 15. The output is bound ahead, and the first results are compared with NumPy's.
"""
import statistics
import sys
import time

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

ROWS, VALUES, BLOCK, IDS = 50_257, 768, 32, 8_192
RNG = np.random.default_rng(17)


def session(data: np.ndarray, scales: np.ndarray, threads: int) -> onnxruntime.InferenceSession:
    constants = [
        helper.make_tensor("data", TensorProto.UINT8, data.shape, data.tobytes(), raw=True),
        helper.make_tensor("scales", TensorProto.FLOAT, scales.shape, scales.tobytes(), raw=True),
    ]
    attributes = {"bits": 4, "block_size": BLOCK, "gather_axis": 0, "quantize_axis": 1}
    inputs = ["data", "indices", "scales"]
    node = helper.make_node("GatherBlockQuantized", inputs, ["out"], domain="com.microsoft", **attributes)
    graph = helper.make_graph(
        [node],
        "lookup",
        [helper.make_tensor_value_info("indices", TensorProto.INT64, [IDS])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, [IDS, VALUES])],
        constants,
    )
    domains = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def main() -> None:
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    data = RNG.integers(0, 256, [ROWS, VALUES // 2], dtype=np.uint8)
    scales = RNG.normal(size=[ROWS, VALUES // BLOCK]).astype(np.float32)
    ids = RNG.integers(0, ROWS, IDS, dtype=np.int64)
    out = np.full([IDS, VALUES], np.nan, dtype=np.float32)
    lookup = session(data, scales, threads)
    binding = lookup.io_binding()
    binding.bind_cpu_input("indices", ids)
    binding.bind_output("out", "cpu", 0, np.float32, out.shape, out.ctypes.data)
    lookup.run_with_iobinding(binding)
    codes = np.stack([data[ids] & 15, data[ids] >> 4], axis=-1).reshape(out.shape).astype(np.float32)
    assert np.array_equal(out, (codes - 8) * np.repeat(scales[ids], BLOCK, axis=1))

    times = []
    for _ in range(15):
        start = time.perf_counter()
        lookup.run_with_iobinding(binding)
        times.append(1e3 * (time.perf_counter() - start))
    version = onnxruntime.__version__
    print(f"ONNX Runtime {version}, {threads} threads: {min(times):.2f} ms at best, {statistics.median(times):.2f} median")


main()
