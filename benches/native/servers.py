#!/usr/bin/env python3
"""Times PyTorch on the requests of the benchmark `servers`.

    pip install -r requirements.txt
    python servers.py [--rounds N]

A request has 8 to 64 ids for each of its tables, of 100,000 rows: `rows` wants their rows, by
torch.nn.functional.embedding and by torch.index_select into tensors that are used again; `sums` the sum of each eight,
by torch.nn.functional.embedding_bag. Each thread makes one call after another, and PyTorch has one thread for each
call. Microseconds of a request: the median and the 99th percentile; and requests of all threads in a second. The
results of every request are compared with NumPy's first. Without PyTorch the program says so, and ends well.
"""

import argparse
import sys
import threading
import time

import numpy as np

try:
    import torch
except ImportError as error:
    print(f"servers.py: skipped: {error}")
    sys.exit(0)

# `src/servers.rs` and `src/bin/servers.rs`.
ROWS, BAG, MOST, REQUESTS = 100_000, 8, 64, 4096
TABLES = [(1, 64), (1, 128), (2, 64), (4, 64), (4, 128)]
THREADS = [1, 2, 4]


def requests(tables, columns):
    """Tables, and for each request the ids of each table."""
    rng = np.random.default_rng(17)
    data = [rng.random((ROWS, columns), dtype=np.float32) - np.float32(0.5) for _ in range(tables)]
    counts = BAG * rng.integers(1, MOST // BAG, REQUESTS, endpoint=True)
    return data, [[rng.integers(0, ROWS, count) for _ in range(tables)] for count in counts]


def calls(data):
    """The calls: each makes a function of a request, for a thread."""
    tables = [torch.from_numpy(table) for table in data]

    def embedding():
        return lambda ids: [torch.nn.functional.embedding(i, t) for i, t in zip(ids, tables)]

    def index_select():
        outs = [torch.empty(0) for _ in tables]

        def run(ids):
            for i, t, out in zip(ids, tables, outs):
                torch.index_select(t, 0, i, out=out.resize_(len(i), t.shape[1]))
            return outs

        return run

    def embedding_bag():
        bag = torch.nn.functional.embedding_bag
        return lambda ids: [bag(i.view(-1, BAG), t, mode="sum") for i, t in zip(ids, tables)]

    return {
        ("rows", "embedding"): embedding,
        ("rows", "index_select"): index_select,
        ("sums", "embedding_bag"): embedding_bag,
    }


def check(kind, run, data, drawn, ids):
    for numbers, tensors in zip(drawn, ids):
        for table, list_of_ids, got in zip(data, numbers, run(tensors)):
            rows = table[list_of_ids]
            if kind == "rows":
                assert np.array_equal(got.numpy(), rows)
            else:
                assert np.allclose(got.numpy(), rows.reshape(-1, BAG, table.shape[1]).sum(axis=1), atol=1e-5)


def measure(make, ids, threads, rounds):
    """Latencies of all requests in microseconds, and requests in a second."""
    barrier, latencies = threading.Barrier(threads + 1), [[] for _ in range(threads)]

    def serve(thread):
        run, mine = make(), latencies[thread]
        begin = thread * REQUESTS // threads
        order = ids[begin:] + ids[:begin]
        with torch.inference_mode():
            for request in order:
                run(request)
            barrier.wait()
            for _ in range(rounds):
                before = time.perf_counter()
                for request in order:
                    run(request)
                    now = time.perf_counter()
                    mine.append((now - before) * 1e6)
                    before = now
            barrier.wait()

    started = [threading.Thread(target=serve, args=(thread,)) for thread in range(threads)]
    for thread in started:
        thread.start()
    barrier.wait()
    start = time.perf_counter()
    barrier.wait()
    seconds = time.perf_counter() - start
    for thread in started:
        thread.join()
    flat = np.concatenate(latencies)
    return flat, len(flat) / seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}\n")
    print("| request | call | tables | threads | median | 99% | requests/s |\n|---|---|---|---|---|---|---|")
    for tables, columns in TABLES:
        data, drawn = requests(tables, columns)
        ids = [[torch.from_numpy(i) for i in request] for request in drawn]
        for (kind, name), make in calls(data).items():
            with torch.inference_mode():
                check(kind, make(), data, drawn, ids)
            for threads in THREADS:
                times, rate = measure(make, ids, threads, options.rounds)
                median, most = np.percentile(times, [50, 99])
                row = [f"{kind} of {columns}", name, tables, threads, f"{median:.1f}", f"{most:.1f}", f"{rate:.0f}"]
                print("|", " | ".join(map(str, row)), "|", flush=True)


main()
