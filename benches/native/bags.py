#!/usr/bin/env python3
"""Times torch.nn.functional.embedding_bag on the workloads of the benchmark `bags`, and sums of rows of 8, 4 and 2
bits on those of the benchmark `fused`.

    pip install -r requirements.txt
    python bags.py [FILTER] [--threads N] [--seconds S]

Milliseconds of a call into fresh memory, the least and the median. Arrays lie on huge pages where NumPy puts them there.
The first results are compared with NumPy's.
"""

import argparse
import statistics
import time

import numpy as np
import torch

# Name, mode, rows and columns of the table, bags and indices of each, whether rows have weights: `src/bags.rs`.
WORKLOADS = [
    ("embedding_bag/sum_1Mx64_16Kx32", "sum", (1 << 20, 64), (16384, 32), False),
    ("embedding_bag/mean_50257x768_256x128", "mean", (50257, 768), (256, 128), False),
    ("embedding_bag/weighted_1Mx64_16Kx32", "sum", (1 << 20, 64), (16384, 32), True),
    ("embedding_bag/max_1Mx64_16Kx32", "max", (1 << 20, 64), (16384, 32), False),
    ("embedding_bag/sum_1Mx16_64Kx8", "sum", (1 << 20, 16), (65536, 8), False),
    ("embedding_bag/sum_4096x64_16Kx32", "sum", (4096, 64), (16384, 32), False),
    ("embedding_bag/sum_1000x100_16Kx4", "sum", (1000, 100), (16384, 4), False),
    ("embedding_bag/sum_32x16_1x8", "sum", (32, 16), (1, 8), False),
]
# Name, rows and columns of the table, bags and indices of each: `src/bin/fused.rs`.
FUSED = [
    ("sum_1Mx64_16Kx32", (1 << 20, 64), (16384, 32)),
    ("sum_50257x768_256x128", (50257, 768), (256, 128)),
    ("sum_1Mx16_64Kx8", (1 << 20, 16), (65536, 8)),
    ("sum_1Mx128_16Kx32", (1 << 20, 128), (16384, 32)),
    ("sum_4096x64_16Kx32", (4096, 64), (16384, 32)),
    ("sum_4096x64_1Kx32", (4096, 64), (1024, 32)),
    ("sum_1000x100_16Kx4", (1000, 100), (16384, 4)),
]


def call(mode, table, bags, weighted):
    """A call of PyTorch's, and what it must come near to."""
    rng = np.random.default_rng(17)
    (rows, columns), (count, length) = table, bags
    data = rng.random(table, dtype=np.float32) - np.float32(0.5)
    ids = rng.integers(0, rows, count * length)
    weights = rng.random(count * length, dtype=np.float32) if weighted else None
    few = data[ids[: 16 * length]] * (1 if weights is None else weights[: 16 * length, None])
    few = few.reshape(-1, length, columns)
    expected = {"sum": few.sum, "mean": few.mean, "max": few.max}[mode](axis=1)
    data, ids = torch.from_numpy(data), torch.from_numpy(ids)
    offsets = torch.arange(0, count * length, length)
    weights = None if weights is None else torch.from_numpy(weights)

    def run():
        return torch.nn.functional.embedding_bag(ids, data, offsets, mode=mode, per_sample_weights=weights)

    assert np.allclose(run()[:16].numpy(), expected, atol=1e-5)
    return run


def fused(bits, table, bags):
    """A call of PyTorch's on rows of so many bits."""
    rng = np.random.default_rng(17)
    (rows, columns), (count, length) = table, bags
    name, q = "byte" if bits == 8 else f"{bits}bit", torch.ops.quantized
    data = torch.from_numpy(rng.random(table, dtype=np.float32) - np.float32(0.5))
    packed = getattr(q, f"embedding_bag_{name}_prepack")(data)
    ids = torch.from_numpy(rng.integers(0, rows, count * length))
    ends = torch.arange(0, count * length + 1, length)
    sums = getattr(q, f"embedding_bag_{name}_rowwise_offsets")

    def run():
        return sums(packed, ids, ends, False, 0, False, None, None, True)

    few = getattr(q, f"embedding_bag_{name}_unpack")(packed[ids[: 16 * length]])
    assert np.allclose(run()[:16].numpy(), few.reshape(-1, length, columns).sum(1).numpy(), atol=1e-4)
    return run


def measure(run, seconds):
    times, start = [], time.perf_counter()
    while len(times) < 7 or time.perf_counter() - start < seconds:
        calls, begin = 0, time.perf_counter()
        while calls == 0 or time.perf_counter() - begin < 1e-3:
            run()
            calls += 1
        times.append(1e3 * (time.perf_counter() - begin) / calls)
    return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("filter", nargs="?", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with torch.inference_mode():
        for name, *workload in WORKLOADS:
            if options.filter in name:
                times = measure(call(*workload), options.seconds)
                print(f"| {name} | {min(times):.5f} | {statistics.median(times):.5f} |", flush=True)
        for name, *workload in FUSED:
            for bits in (8, 4, 2):
                if options.filter in f"fused/{name}":
                    times = measure(fused(bits, *workload), options.seconds)
                    print(f"| {name} | {bits} bits | {min(times):.5f} | {statistics.median(times):.5f} |", flush=True)


main()
