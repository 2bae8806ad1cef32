#!/usr/bin/env python3
"""Writes the reference values of this folder.

    pip install gguf==0.19.0 ml_dtypes==0.6.0 numpy
    python make.py

Rows are quantised by the package `gguf` where it can; all other blocks are random bytes whose scales are small. Both
are dequantised by `gguf`. The codes of 8 bits and less are those of `ml_dtypes`, every one of them.
"""
import json
import pathlib

import gguf
import ml_dtypes
import numpy as np
from gguf import GGMLQuantizationType as Type

HERE = pathlib.Path(__file__).parent
RNG = np.random.default_rng(17)
# Where the halves stand that scale a block of random bytes, and how many blocks there are.
BLOCKS = {
    "Q8_0": ([0], 6),
    "Q4_0": ([0], 6),
    "Q4_1": ([0, 2], 6),
    "Q4_K": ([0, 2], 3),
    "Q6_K": ([208], 3),
    "IQ4_NL": ([0], 6),
    "MXFP4": ([], 8),
    "NVFP4": ([], 5),
    "Q5_0": ([0], 6),
    "Q5_1": ([0, 2], 6),
    "Q2_K": ([80, 82], 3),
    "Q3_K": ([108], 3),
    "Q5_K": ([0, 2], 3),
    "IQ4_XS": ([0], 3),
}
FLOATS = {
    "E4M3": ml_dtypes.float8_e4m3fn,
    "E5M2": ml_dtypes.float8_e5m2,
    "E8M0": ml_dtypes.float8_e8m0fnu,
    "E2M1": ml_dtypes.float4_e2m1fn,
}
# Halves that scale the first blocks of random bytes: zeros, a subnormal one, the greatest, infinity.
SPECIAL = [0x0000, 0x8000, 0x0001, 0x83FF, 0x7BFF, 0x7C00]


def values_of(blocks: np.ndarray, kind: Type) -> np.ndarray:
    with np.errstate(all="ignore"):
        return gguf.dequantize(blocks, kind).astype(np.float32)


def line(name: str, origin: str, blocks: np.ndarray, values: np.ndarray) -> str:
    bits = values.astype("<f4").view("<u4").ravel()
    case = {"format": name, "origin": origin, "bytes": blocks.tobytes().hex(), "f32": [int(b) for b in bits]}
    return json.dumps(case, separators=(",", ":"))


def random_blocks(name: str, kind: Type) -> np.ndarray:
    at, count = BLOCKS[name]
    _, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = RNG.integers(0, 256, (count, size), dtype=np.uint8)
    for block in range(count):
        for position in at:
            half = np.float16(RNG.normal() / 64)
            bits = SPECIAL[block] if count > len(SPECIAL) - 1 and block < len(SPECIAL) - 2 else half.view(np.uint16)
            blocks[block, position : position + 2] = np.array([bits], dtype="<u2").view(np.uint8)
    if name == "MXFP4":
        blocks[:4, 0] = [0, 1, 2, 254]
    if name == "NVFP4":
        blocks[0, :4] = [0, 1, 7, 8]
        blocks[1, :4] = [0x7E, 0x7F, 0x80, 0xFF]
    return blocks


def main() -> None:
    lines = []
    for name in BLOCKS:
        kind = Type[name]
        size, _ = gguf.GGML_QUANT_SIZES[kind]
        row = (RNG.normal(size=(1, 2 * size)) * 0.7).astype(np.float32)
        try:
            blocks = gguf.quantize(row, kind)
            lines.append(line(name, "gguf.quantize", blocks, values_of(blocks, kind)))
        except NotImplementedError:
            pass
        blocks = random_blocks(name, kind)
        lines.append(line(name, "random bytes", blocks, values_of(blocks, kind)))
    (HERE / "gguf.jsonl").write_text("\n".join(lines) + "\n")

    lines = []
    for name, kind in FLOATS.items():
        codes = np.arange(16 if name == "E2M1" else 256, dtype=np.uint8)
        lines.append(line(name, "every code", codes, codes.view(kind).astype(np.float32)))
    (HERE / "floats.jsonl").write_text("\n".join(lines) + "\n")


main()
