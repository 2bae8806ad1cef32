#!/usr/bin/env python
"""Times this package beside NumPy: `python benches/python/times.py`. Prints the table of the package's README.

Both functions of a row give the same result, which is checked first. Each time is the best of many calls, of both in
turn, on one thread, which short calls need not ask for. Results are fresh arrays unless a row says otherwise.
"""

import argparse
import datetime
import functools
import pathlib
import time

import numpy as np

import gather

UNITS = (("ms", 1e3), ("µs", 1e6), ("ns", 1e9))
RANDOM = np.random.default_rng(1)


def in_place(call, a, *arguments):
    """A call that changes a copy of `a`, which is made once: times count the change alone."""
    copy = a.copy()
    one_thread = {"threads": 1} if getattr(gather, call.__name__, None) is call else {}

    def run():
        call(copy, *arguments, **one_thread)
        return copy

    return run


def takes():
    """take and take_along_axis."""
    for count in (10, 1_000):
        a, indices = RANDOM.random(count, np.float32), RANDOM.integers(0, count, count)
        out, other, name = np.empty_like(a), np.empty_like(a), f"`take`, {count:,} float32 by int64"
        ours = functools.partial(gather.take, a, indices)
        yield name, ours, functools.partial(np.take, a, indices)
        yield name + "; NumPy by its method", ours, functools.partial(a.take, indices)
        yield (
            name + ", into `out`; NumPy by its method, clipped",
            functools.partial(gather.take, a, indices, None, out),
            functools.partial(a.take, indices, None, other, "clip"),
        )
    a = RANDOM.random(1_000_000, np.float32)
    for index in ("int64", "int32"):
        indices = RANDOM.integers(0, a.size, a.size, index)
        yield (
            f"`take`, 1,000,000 float32 by {index}",
            functools.partial(gather.take, a, indices, threads=1),
            functools.partial(np.take, a, indices),
        )
    rows, ids = RANDOM.random((100_000, 128), np.float32), RANDOM.integers(0, 100_000, 20_000)
    yield (
        "`take`, 20,000 rows of 128 float32",
        lambda: gather.take(rows, ids, 0, threads=1),
        lambda: np.take(rows, ids, 0),
    )
    wide, columns = RANDOM.random((1_000, 1_000)), RANDOM.integers(0, 1_000, 1_000)
    yield (
        "`take`, 1,000 columns of 1,000 float64",
        lambda: gather.take(wide, columns, 1, threads=1),
        lambda: np.take(wide, columns, 1),
    )
    order = np.argsort(wide, 1)
    yield (
        "`take_along_axis`, 1,000 x 1,000 float64 by `argsort`",
        lambda: gather.take_along_axis(wide, order, threads=1),
        lambda: np.take_along_axis(wide, order, -1),
    )


def puts():
    """put, put_along_axis and add_at, in place."""
    a, b = np.zeros(1_000_000), RANDOM.random(1_000_000)
    places = RANDOM.permutation(1_000_000)
    yield "`put`, 1,000,000 float64, in place", in_place(gather.put, a, places, b), in_place(np.put, a, places, b)
    wide, order = RANDOM.random((1_000, 1_000)), np.argsort(RANDOM.random((1_000, 1_000)), 1)
    new = RANDOM.random((1_000, 1_000))
    yield (
        "`put_along_axis`, 1,000 x 1,000 float64, in place",
        in_place(gather.put_along_axis, wide, order, new, 1),
        in_place(np.put_along_axis, wide, order, new, 1),
    )
    ids = RANDOM.integers(0, 10_000, 1_000_000)
    counts, ones = np.zeros(10_000, np.int64), np.ones(1_000_000, np.int64)
    zeros, added = np.zeros((10_000, 64)), np.ones((20_000, 64))
    yield (
        "`add_at`, 1,000,000 int64 into 10,000, in place",
        in_place(gather.add_at, counts, ids, ones),
        in_place(np.add.at, counts, ids, ones),
    )
    yield (
        "`add_at`, 20,000 rows of 64 float64 into 10,000, in place",
        in_place(gather.add_at, zeros, ids[:20_000], added),
        in_place(np.add.at, zeros, ids[:20_000], added),
    )


def masks():
    """select, put_mask and masked_fill."""
    a = RANDOM.random(1_000_000)
    for share in (1, 10, 50, 90):
        mask = RANDOM.random(1_000_000) < share / 100
        yield (
            f"`select`, 1,000,000 float64, {share}% true",
            lambda mask=mask: gather.select(a, mask, threads=1),
            lambda mask=mask: a[mask],
        )
    short, few = RANDOM.random(100), RANDOM.random(100) < 0.5
    yield (
        "`select`, 100 float64, half true",
        functools.partial(gather.select, short, few),
        lambda: short[few],
    )
    mask = RANDOM.random(1_000_000) < 0.5
    new = RANDOM.random(int(mask.sum()))

    def put(a, mask, values):
        a[mask] = values

    yield (
        "`put_mask`, 1,000,000 float64, half true, in place",
        in_place(gather.put_mask, a, mask, new),
        in_place(put, a, mask, new),
    )
    yield (
        "`masked_fill`, 1,000,000 float64, half true; NumPy's `where`",
        lambda: gather.masked_fill(a, mask, 0.0, threads=1),
        lambda: np.where(mask, 0.0, a),
    )


def bags():
    """embedding_bag beside the sum of the rows."""
    table, ids = RANDOM.integers(0, 9, (100_000, 64)).astype(np.float32), RANDOM.integers(0, 100_000, (1_000, 20))
    yield (
        "`embedding_bag`, 1,000 bags of 20 rows of 64 float32; NumPy's `table[ids].sum(1)`",
        lambda: gather.embedding_bag(table, ids, threads=1),
        lambda: table[ids].sum(1),
    )


def best(call, other, seconds):
    """The least times of two calls, which run in turn."""
    times, start = [float("inf")] * 2, time.perf_counter()
    call(), other()
    repeats = max(1, int(0.002 / max(time.perf_counter() - start, 1e-7)))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for which, function in enumerate((call, other)):
            start = time.perf_counter()
            for _ in range(repeats):
                function()
            times[which] = min(times[which], (time.perf_counter() - start) / repeats)
    return times


def text(seconds):
    """A time with three digits."""
    number, unit = next((seconds * scale, unit) for unit, scale in UNITS if seconds * scale >= 1)
    return f"{number:.{0 if number >= 100 else 1}f} {unit}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="for a row")
    parser.add_argument("--readme", type=pathlib.Path, help="writes the table into this page")
    arguments = parser.parse_args()
    lines = [f"NumPy {np.__version__}, {datetime.date.today()}.", ""]
    lines += ["| call | gather | NumPy | NumPy / gather |", "|---|---|---|---|"]
    for name, ours, theirs in (row for rows in (takes, puts, masks, bags) for row in rows()):
        np.testing.assert_array_equal(ours(), theirs(), name)
        one, other = best(ours, theirs, arguments.seconds)
        lines.append(f"| {name} | {text(one)} | {text(other)} | {other / one:.2f} |")
    table = "\n".join(lines)
    print(table)
    if arguments.readme:
        page = arguments.readme.read_text()
        head, tail = page.index("<!-- times -->\n") + len("<!-- times -->\n"), page.index("<!-- end of times -->")
        arguments.readme.write_text(f"{page[:head]}{table}\n{page[tail:]}")


if __name__ == "__main__":
    main()
