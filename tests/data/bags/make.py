"""Writes the cases of EmbeddingBag: what PyTorch and OpenVINO compute for random tables, indices and bags.

    pip install torch openvino numpy
    python make.py
"""

import json
import random
import warnings
from pathlib import Path

import numpy as np
import openvino as ov
import torch
import torch.nn.functional as F
from openvino import opset15

warnings.filterwarnings("ignore")
HERE = Path(__file__).parent
draw = random.Random(15)

TORCH = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16}


def numbers(count):
    """Multiples of 1/4 whose sums are exact in every type."""
    return [draw.randrange(-16, 17) / 4 for _ in range(count)]


def lengths(bags):
    return [draw.choice([0, 0, 1, 2, 3, 4, 5, 9]) for _ in range(bags)]


def begins(of):
    return [sum(of[:b]) for b in range(len(of))]


def write(name, cases):
    with open(HERE / name, "w") as file:
        for case in cases:
            file.write(json.dumps(case, separators=(",", ":")) + "\n")
    print(name, len(cases))


def torch_case(dtype, mode, packed, weighted, padding, last):
    rows, columns = draw.randrange(1, 9), draw.choice([1, 2, 3, 8, 17])
    case = {"reduction": mode, "dtype": dtype, "data": {"shape": [rows, columns], "values": numbers(rows * columns)}}
    if packed:
        shape = [draw.randrange(1, 5), draw.randrange(1, 6)]
        count = shape[0] * shape[1]
    else:
        of = lengths(draw.randrange(1, 7))
        count = sum(of)
        shape = [count]
        case["offsets"] = begins(of) + ([count] if last else [])
    case["indices"] = {"shape": shape, "values": [draw.randrange(rows) for _ in range(count)]}
    if weighted:
        case["weights"] = numbers(count)
    if padding:
        case["padding_index"] = draw.randrange(-rows, rows)
    if last:
        case["include_last_offset"] = True
    table = torch.tensor(case["data"]["values"], dtype=TORCH[dtype]).reshape(rows, columns)
    weights = torch.tensor(case["weights"], dtype=TORCH[dtype]).reshape(shape) if weighted else None
    out = F.embedding_bag(
        torch.tensor(case["indices"]["values"], dtype=torch.int64).reshape(shape),
        table,
        None if packed else torch.tensor(case["offsets"], dtype=torch.int64),
        mode=mode,
        per_sample_weights=weights,
        include_last_offset=last,
        padding_idx=case.get("padding_index"),
    )
    return case | {"output": {"shape": list(out.shape), "values": out.double().flatten().tolist()}}


def openvino_case(reduction, packed, weighted, default):
    rows = draw.randrange(2, 9)
    inner = draw.choice([[2], [3], [2, 3], [9]])
    size = int(np.prod(inner))
    case = {"reduction": reduction, "dtype": "f32", "data": {"shape": [rows, *inner], "values": numbers(rows * size)}}
    if packed:
        shape = [draw.randrange(1, 5), draw.randrange(1, 6)]
    else:
        # Its kernel takes no offset at the end of the indices.
        of = [*lengths(draw.randrange(1, 6)), draw.randrange(1, 5)]
        shape = [sum(of)]
        case["offsets"] = begins(of)
    case["indices"] = {"shape": shape, "values": [draw.randrange(rows) for _ in range(int(np.prod(shape)))]}
    if weighted:
        case["weights"] = numbers(int(np.prod(shape)))
    if default is not None:
        case["default_index"] = default if default < 0 else draw.randrange(rows)
    table = opset15.parameter([rows, *inner], np.float32)
    indices = np.array(case["indices"]["values"], np.int32).reshape(shape)
    weights = opset15.constant(np.array(case["weights"], np.float32).reshape(shape)) if weighted else None
    if packed:
        node = opset15.embedding_bag_packed(table, opset15.constant(indices), weights, reduction)
    else:
        missing = -1 if weighted and default is None else None
        chosen = case.get("default_index", missing)
        chosen = None if chosen is None else opset15.constant(np.int32(chosen))
        offsets = opset15.constant(np.array(case["offsets"], np.int32))
        node = opset15.embedding_bag_offsets(table, opset15.constant(indices), offsets, chosen, weights, reduction)
    compiled = ov.Core().compile_model(ov.Model([node], [table]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    out = compiled([np.array(case["data"]["values"], np.float32).reshape([rows, *inner])])[0]
    return case | {"output": {"shape": list(out.shape), "values": out.astype(float).flatten().tolist()}}


def torch_cases():
    for dtype in TORCH:
        for mode in ["sum", "mean", "max"]:
            for packed in [False, True]:
                for padding in [False, True]:
                    yield torch_case(dtype, mode, packed, False, padding, False)
            yield torch_case(dtype, mode, False, False, False, True)
        for packed in [False, True]:
            yield torch_case(dtype, "sum", packed, True, False, False)
    for padding in [False, True]:
        yield torch_case("f32", "sum", False, True, padding, True)


def openvino_cases():
    for _ in range(3):
        for reduction in ["sum", "mean"]:
            yield openvino_case(reduction, True, False, None)
            for default in [None, -1, 0]:
                yield openvino_case(reduction, False, False, default)
        yield openvino_case("sum", True, True, None)
        for default in [None, -1, 0]:
            yield openvino_case("sum", False, True, default)


write("torch.jsonl", list(torch_cases()))
write("openvino.jsonl", list(openvino_cases()))
