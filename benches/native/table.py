#!/usr/bin/env python3
"""Joins the library's times with the engines' into one markdown table.

    cargo run --release -p gather-benches --bin record > ours.md
    python benches/native/measure.py --threads 1 --json one.json > /dev/null
    python benches/native/measure.py --threads 2 --json two.json > /dev/null
    python benches/native/table.py ours.md one.json two.json

Prints a row for each workload: our milliseconds, the best engine's and their ratio, with one thread and with two; then
our time with one thread beside a warm copy of the output's bytes and beside the moves alone. The last lines have
geometric means over all workloads but the one of latency. The first is that of the ratios. The second is what the
ratios with one thread would be if each workload took as long as its moves, or as long as now where that is less.
"""

import json
import math
import sys

LATENCY = "gather/small_32x16_8"


def our_times(path):
    """The rows of `record`: workload -> (one thread, two threads, fresh, loop, copy, moves) in milliseconds."""
    rows = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            cells = [cell.strip() for cell in line.split("|")[1:-1]]
            if cells and "/" in cells[0] and cells[0] != "loop/1":
                try:
                    rows[cells[0]] = tuple(float(cell) for cell in cells[1:7])
                except ValueError:
                    continue
    return rows


def best_engines(path):
    """The fastest engine of a run of `measure.py`: workload -> (engine, milliseconds)."""
    with open(path, encoding="utf-8") as file:
        measured = json.load(file)
    best = {}
    for entry in measured["workloads"]:
        times = {
            engine: result["median_ms"]
            for engine, result in entry["results"].items()
            if result["status"] == "ok"
        }
        engine = min(times, key=times.get)
        best[entry["workload"]["name"]] = (engine, times[engine])
    return best


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: table.py OURS.md ONE_THREAD.json TWO_THREADS.json")
    ours, engines = our_times(sys.argv[1]), [best_engines(path) for path in sys.argv[2:]]
    head = ["workload", "ours, 1", "best engine, 1", "ratio", "ours, 2", "best engine, 2", "ratio"]
    head += ["ours / copy", "ours / moves", "fresh / ours"]
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    ratios, limits = [[], []], []
    for workload, (one, two, fresh, _, copy, moves) in ours.items():
        cells = [workload]
        for time, best, kept in zip((one, two), engines, ratios):
            engine, theirs = best[workload]
            cells += [f"{time:.3g}", f"{theirs:.3g} {engine}", f"{theirs / time:.2f}"]
            if workload != LATENCY:
                kept.append(theirs / time)
        if workload == LATENCY:
            cells += ["-", "-", "-"]
        else:
            cells += [f"{one / copy:.2f}", f"{one / moves:.2f}", f"{fresh / one:.2f}"]
            limits.append(engines[0][workload][1] / min(one, moves))
        print("| " + " | ".join(cells) + " |")
    if ratios[0]:
        one, two = map(geometric_mean, ratios)
        print(f"\nGeometric means: {one:.2f} with one thread, {two:.2f} with two.")
        print(f"If each took as long as its moves: {geometric_mean(limits):.2f} with one thread.")


if __name__ == "__main__":
    main()
