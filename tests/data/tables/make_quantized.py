#!/usr/bin/env python3
"""Writes `quantized.jsonl`: what ONNX Runtime's GatherBlockQuantized gives.

    pip install onnxruntime==1.31.1 onnx==1.23.2 numpy
    python make_quantized.py

Codes, scales and zero points are random; some scales are special. ONNX Runtime computes the results.
"""
import json
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).parent
RNG = np.random.default_rng(29)
# The type of data, and bits of a code.
CODES = {
    "Bits2": (TensorProto.UINT8, 2),
    "Bits4": (TensorProto.UINT8, 4),
    "Bits8": (TensorProto.UINT8, 8),
    "U4": (TensorProto.UINT4, 4),
    "I4": (TensorProto.INT4, 4),
    "E4M3": (TensorProto.FLOAT8E4M3FN, 8),
    "E4M3Fnuz": (TensorProto.FLOAT8E4M3FNUZ, 8),
    "E5M2": (TensorProto.FLOAT8E5M2, 8),
    "E5M2Fnuz": (TensorProto.FLOAT8E5M2FNUZ, 8),
    "E2M1": (TensorProto.FLOAT4E2M1, 4),
}
FLOATS = [kind for kind, _ in CODES.values() if kind not in (TensorProto.UINT8, TensorProto.UINT4, TensorProto.INT4)]
# Codes, block size (0 for whole rows), axis, the shape of values, indices, type of scales, whether there are zero
# points, and for floating-point codes, which dimensions share scales.
CASES = [
    ("Bits4", 32, 0, [7, 64], [3, 0, -1, 7, -8, 6, -7], np.float32, True),
    ("Bits4", 32, 0, [7, 64], [[1, 2], [9, -3]], np.float32, False),
    ("Bits4", 16, 0, [5, 80], 2, np.float32, True),
    ("Bits4", 64, 0, [4, 100], [0, 3, -2], np.float32, True),
    ("Bits4", 16, 0, [3, 6], [2, 1], np.float32, True),
    ("Bits4", 16, -3, [3, 2, 48], [2, -3, 1], np.float16, True),
    ("Bits4", 128, 0, [3, 256], [1, 5], np.float16, False),
    ("Bits2", 16, 0, [6, 80], [5, 0, -6, 6], np.float32, True),
    ("Bits2", 32, 0, [4, 36], [[3], [-1]], np.float32, False),
    ("Bits2", 64, 0, [4, 192], [1, 1, 2], np.float16, True),
    ("Bits8", 16, 0, [5, 33], [4, -2, 5], np.float32, True),
    ("Bits8", 32, 0, [5, 64], [0], np.float32, False),
    ("Bits8", 16, 0, [3, 2, 17], [2, 0], np.float16, True),
    ("U4", 32, 0, [5, 64], [4, 0, -5, -6], np.float32, True),
    ("U4", 16, 1, [2, 5, 48], [[4, -1], [5, 0]], np.float32, True),
    ("U4", 16, 0, [3, 40], [1, 2], np.float16, False),
    ("I4", 32, 0, [5, 96], [4, 0, -5, 5], np.float32, True),
    ("I4", 16, 1, [3, 4, 18], [3, -4, 7], np.float32, True),
    ("I4", 16, -2, [2, 3, 32], 1, np.float16, True),
    ("I4", 128, 0, [3, 130], [2], np.float32, False),
    ("E4M3", 64, 0, [3, 256], [0, 2, -2, 3], np.float32, False),
    ("E4M3", 0, 0, [2, 40], [[1], [-2]], np.float16, False, [0]),
    ("E4M3", 16, 1, [2, 4, 3, 33], [3, -1, -5], np.float32, False, [1]),
    ("E4M3Fnuz", 128, 0, [2, 256], [1, 0], np.float32, False),
    ("E4M3Fnuz", 0, 1, [2, 3, 20], [2, -3], np.float16, False, [0]),
    ("E5M2", 32, -2, [2, 256], [1, -1], np.float32, False),
    ("E5M2", 0, 0, [5, 17], 3, np.float32, False, [0]),
    ("E5M2", 16, 2, [2, 3, 4, 24], [1, 3], np.float16, False, [0, 2]),
    ("E5M2Fnuz", 256, 0, [1, 256], [0], np.float32, False),
    ("E2M1", 16, 0, [4, 50], [3, 0, -4, 4], np.float32, False),
    ("E2M1", 32, 1, [3, 2, 64], [[1, 0]], np.float16, False, [0, 1]),
    ("E2M1", 0, 0, [3, 18], [2, 5], np.float32, False),
]
# All codes of a byte, once each.
WHOLE = 256
SPECIAL = [0.0, -0.0, 1e-41, -3.4e38, np.inf, 6e-8, 65504.0]


def packed(kind: int, values: np.ndarray, row: int, name: str) -> onnx.TensorProto:
    """Bytes as a tensor whose last dimension has `row` entries."""
    shape = [*values.shape[:-1], row]
    return helper.make_tensor(name, kind, shape, values.tobytes(), raw=True)


def case(codes, block, axis, shape, indices, kind, with_zero_points, shared=()):
    data_type, bits = CODES[codes]
    per, packs = 8 // bits, bits == 4 and data_type != TensorProto.UINT8
    blocks = -(-shape[-1] // block) if block else 1
    data = RNG.integers(0, 256, [*shape[:-1], shape[-1] // per], dtype=np.uint8)
    if data_type in FLOATS and data.size % WHOLE == 0:
        data = np.resize(np.arange(WHOLE, dtype=np.uint8), data.shape)
    rows = [1 if at in shared else dim for at, dim in enumerate(shape[:-1])]
    scales = RNG.normal(size=[*rows, blocks]).astype(np.float32)
    at = RNG.choice(scales.size, size=min(3, scales.size // 2), replace=False)
    scales.reshape(-1)[at] = RNG.choice(SPECIAL, size=at.size)
    with np.errstate(over="ignore"):
        scales = scales.astype(kind)
    indices = np.array(indices, dtype=RNG.choice([np.int32, np.int64]))

    float_type = helper.np_dtype_to_tensor_dtype(scales.dtype)
    constants = [
        packed(data_type, data, shape[-1] if packs else data.shape[-1], "data"),
        helper.make_tensor("scales", float_type, scales.shape, scales.tobytes(), raw=True),
    ]
    names, zero_points = ["data", "indices", "scales"], None
    if with_zero_points:
        count = -(-scales.size // per)
        zero_shape = [count] if packs else [*shape[:-1], -(-blocks // per)]
        zero_points = RNG.integers(0, 256, zero_shape, dtype=np.uint8)
        tensor_shape = scales.shape if packs else zero_shape
        constants.append(helper.make_tensor("zero_points", data_type, tensor_shape, zero_points.tobytes(), raw=True))
        names.append("zero_points")
    attributes = {"bits": bits, "block_size": block, "gather_axis": axis, "quantize_axis": -1}
    node = helper.make_node("GatherBlockQuantized", names, ["out"], domain="com.microsoft", **attributes)
    graph = helper.make_graph(
        [node],
        "case",
        [helper.make_tensor_value_info("indices", helper.np_dtype_to_tensor_dtype(indices.dtype), indices.shape)],
        [helper.make_tensor_value_info("out", float_type, None)],
        constants,
    )
    domains = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=11)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (out,) = session.run(None, {"indices": indices})
    as_bits = lambda values: [int(v) for v in values.view("<u4" if kind is np.float32 else "<u2").ravel()]
    return {
        "codes": codes,
        "block_size": block,
        "axis": axis,
        "data": {"shape": data.shape, "bytes": data.tobytes().hex()},
        "indices": {"shape": indices.shape, "type": str(indices.dtype), "values": [int(i) for i in indices.ravel()]},
        "scales": {"shape": scales.shape, "type": str(scales.dtype), "bits": as_bits(scales)},
        "zero_points": zero_points if zero_points is None else
        {"shape": zero_points.shape, "bytes": zero_points.tobytes().hex()},
        "out": {"shape": out.shape, "bits": as_bits(out)},
    }


def main() -> None:
    lines = [json.dumps(case(*arguments), separators=(",", ":")) for arguments in CASES]
    (HERE / "quantized.jsonl").write_text("\n".join(lines) + "\n")


main()
