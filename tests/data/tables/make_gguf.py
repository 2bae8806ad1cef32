#!/usr/bin/env python3
"""Writes `tiny.gguf`, and what its rows are to `tests/readers/tests/gguf/expected.rs`.

    pip install gguf==0.19.0 numpy
    python make_gguf.py

Three rows of random numbers for each format, written by the package `gguf`, and read by it.
"""
import pathlib

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

HERE = pathlib.Path(__file__).parent
EXPECTED = HERE.parent.parent / "readers/tests/gguf/expected.rs"
RNG = np.random.default_rng(17)


def main() -> None:
    path = HERE / "tiny.gguf"
    writer = gguf.GGUFWriter(path, "test")
    writer.add_string("general.name", "three rows of each")
    writer.add_array("tokenizer.ggml.tokens", ["a", "bc", ""])
    writer.add_array("some.numbers", [1, 2, 3])
    names = []
    for kind in [Type.F32, Type.F16, Type.BF16, Type.Q4_0, Type.Q4_1, Type.Q8_0, Type.MXFP4, Type.Q5_0, Type.Q5_1]:
        rows = RNG.normal(size=(3, 64)).astype(np.float32)
        writer.add_tensor(kind.name.lower(), gguf.quantize(rows, kind), raw_dtype=kind)
        names.append(kind.name.lower())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    lines = []
    for tensor in gguf.GGUFReader(path).tensors:
        rows = gguf.dequantize(tensor.data, tensor.tensor_type).astype("<f4").reshape(3, 64)
        bits = [int(rows.view("<u4")[row, at]) for row in (2, 0) for at in (0, 63)]
        lines.append(f'    ("{tensor.name}", &[2, 64], [{", ".join(f"{b:#010x}" for b in bits)}]),')
    EXPECTED.parent.mkdir(exist_ok=True)
    text = "\n".join(["const EXPECTED: &[(&str, &[usize], [u32; 4])] = &[", *lines, "];", ""])
    EXPECTED.write_text(text)


main()
