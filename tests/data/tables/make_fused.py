#!/usr/bin/env python3
"""Writes `fused.jsonl`: rows as PyTorch quantises them, and as it unpacks them.

    pip install torch==2.15.0 numpy
    python make_fused.py

Rows are random numbers of ours, of many ranges; some are constant, subnormal, or reach the greatest values.
"""
import json
import pathlib

import numpy as np
import torch

HERE = pathlib.Path(__file__).parent
RNG = np.random.default_rng(37)
Q = torch.ops.quantized
FORMATS = {
    "Torch8": (Q.embedding_bag_byte_prepack, Q.embedding_bag_byte_unpack),
    "Torch4": (Q.embedding_bag_4bit_prepack, Q.embedding_bag_4bit_unpack),
    "Torch2": (Q.embedding_bag_2bit_prepack, Q.embedding_bag_2bit_unpack),
}
COLUMNS = {"Torch8": [1, 3, 8, 17, 64, 100], "Torch4": [2, 6, 8, 16, 18, 64], "Torch2": [4, 8, 20, 64]}


def rows(columns):
    """Rows of so many columns."""
    scales = [1.0, 0.01, 1e-5, 300.0, 1e-9, 3e-39]
    values = [(RNG.random(columns) - RNG.choice([0.0, 0.5, 1.0])) * scale for scale in scales]
    values += [np.full(columns, constant) for constant in [0.0, 0.37, -2.5]]
    # Codes that lie between two.
    values += [np.arange(columns) * 0.5, np.arange(columns) % 5 * 0.125 - 1, RNG.integers(-3, 4, columns) * 1.0]
    return np.array(values, dtype=np.float32)


with open(HERE / "fused.jsonl", "w") as file:
    for name, (pack, unpack) in FORMATS.items():
        for columns in COLUMNS[name]:
            values = rows(columns)
            packed = pack(torch.from_numpy(values))
            unpacked = unpack(packed).numpy()[:, :columns]
            line = {
                "format": name,
                "columns": columns,
                "values": values.view(np.uint32).reshape(-1).tolist(),
                "bytes": packed.numpy().tobytes().hex(),
                "unpacked": np.ascontiguousarray(unpacked).view(np.uint32).reshape(-1).tolist(),
            }
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
