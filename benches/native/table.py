#!/usr/bin/env python3
"""Makes the tables of a record out of what `measure.py` has measured, in markdown.

    python benches/native/measure.py --threads 1 --json one.json
    python benches/native/measure.py --threads 2 --json two.json
    python benches/native/measure.py --threads 1 --offset 16 --json one-off.json
    cargo run --release -p gather-benches --bin record > limits.md
    cargo run --release -p gather-benches --bin record -- --offset 16 > limits-off.md
    python benches/native/table.py one.json two.json one-off.json --limits limits.md limits-off.md

Files of the same number of threads and the same offset are joined, so that a run may be made in parts. The first table
compares planned calls into warm memory with the best engine; the second one, where they were measured, unplanned calls
into outputs that are used again; the last one compares fresh outputs with fresh outputs.
`limit` is our time beside the limit that `record` has measured for as many threads and the same offset: it comes from
another process, and another hour, so that it says less than what `record` itself prints. The lines below the tables
have geometric means over all workloads but the one of latency. `At the limit of each` is the mean that a library would
have that takes no more than the limit on every workload.
"""

import argparse
import json
import math

LATENCY = "gather/small_32x16_8"


class Run:
    """What was measured with one number of threads at one offset."""

    def __init__(self):
        self.rows, self.ours, self.fresh = {}, [], []

    def add(self, report):
        """Joins a report of `measure.py`."""
        self.ours = list(dict.fromkeys(self.ours + report["ours"]))
        self.fresh = list(dict.fromkeys(self.fresh + report["fresh"]))
        for entry in report["workloads"]:
            timed = {label: result for label, result in entry["results"].items() if result["status"] == "ok"}
            row = self.rows.setdefault(entry["workload"]["name"], {})
            row.update((label, result["median_ms"]) for label, result in timed.items())

    def compared(self, workload, label, rivals):
        """Our time under a label, the best of the rivals with its time, and the ratio; None where one is missing."""
        times = self.rows.get(workload, {})
        best = min((engine for engine in rivals if engine in times), key=times.get, default=None)
        if best is None or label not in times:
            return None
        return times[label], best, times[best], times[best] / times[label]


def runs_of(paths):
    """The runs of files: (offset, threads) -> run, in order."""
    runs = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        if report.get("cpu_time") or report.get("pages", "numpy") != "numpy":
            raise SystemExit(f"{path}: times of another clock, or on other pages")
        runs.setdefault((report["offset"], report["threads"]), Run()).add(report)
    return dict(sorted(runs.items()))


def limits_of(paths):
    """The limits that `record` printed: (offset, threads) -> workload -> milliseconds."""
    limits = {}
    for path in paths:
        offset, head = 0, []
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("Buffers begin "):
                    offset = int(line.split()[2])
                cells = [cell.strip() for cell in line.split("|")[1:-1]]
                if cells[:1] == ["workload"]:
                    head = cells
                elif head and len(cells) == len(head) and "/" in cells[0]:
                    for name, cell in zip(head, cells):
                        if name.startswith("limit, "):
                            limits.setdefault((offset, int(name.split()[1])), {})[cells[0]] = float(cell)
    return limits


def geometric_mean(ratios):
    """The geometric mean of some ratios."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def heading(offset, threads):
    """A run in the head of a table."""
    place = "aligned" if offset == 0 else f"{offset} bytes off"
    return f"{threads} thread{'s' * (threads > 1)}, {place}"


def three_digits(number):
    """Three significant digits, never in scientific notation."""
    return f"{number:.0f}" if number >= 1000 else f"{number:#.3g}".rstrip(".") if number >= 1e-4 else f"{number:.6f}"


def own(run, way):
    """Our label in a run: "planned", "reused" or "fresh"; None where it was not measured so."""
    labels = [label for label in run.ours if (label in run.fresh) == (way == "fresh")]
    return next((label for label in labels if label.endswith("(reused)") == (way == "reused")), None)


def table(runs, limits, way):
    """A table of all runs: planned into warm memory, "reused" as that is but unplanned, or "fresh" outputs."""
    fresh = way == "fresh"
    head, kept, at_limit = ["workload"], {key: [] for key in runs}, {key: [] for key in runs}
    for key in runs:
        head += [heading(*key), "best engine", "ratio"] + ["limit"] * (way == "planned" and key in limits)
    lines = [head, ["---"] * len(head)]
    for workload in dict.fromkeys(name for run in runs.values() for name in run.rows):
        cells = [workload]
        for key, run in runs.items():
            label = own(run, way)
            engines = {engine for times in run.rows.values() for engine in times} - set(run.ours)
            rivals = engines & set(run.fresh) if fresh else engines
            found, limit = run.compared(workload, label, sorted(rivals)), limits.get(key, {}).get(workload)
            if found is None:
                cells += ["-"] * 3
            else:
                ours, engine, theirs, ratio = found
                cells += [three_digits(ours), f"{three_digits(theirs)} {engine}", f"{ratio:.2f}"]
            if way == "planned" and key in limits:
                cells.append("-" if found is None or limit is None else f"{found[0] / limit:.2f}")
            if found is not None and workload != LATENCY:
                kept[key].append(found[3])
                if way == "planned" and limit is not None:
                    at_limit[key].append(found[2] / limit)
        lines.append(cells)
    means = [f"{geometric_mean(ratios):.2f} ({heading(*key)})" for key, ratios in kept.items() if ratios]
    below = [sum(ratio < 1 for ratio in ratios) for ratios in kept.values()]
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    text = f"{text}\n\nGeometric means: {', '.join(means)}. Ratios below 1: {', '.join(map(str, below))}."
    best = [f"{geometric_mean(ratios):.2f} ({heading(*key)})" for key, ratios in at_limit.items() if ratios]
    return f"{text} At the limit of each: {', '.join(best)}." if best else text


def main():
    """Reads the files and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("measured", nargs="+", metavar="JSON", help="what `measure.py --json` has written")
    parser.add_argument("--limits", nargs="+", default=[], metavar="FILE", help="what `record` has printed")
    options = parser.parse_args()
    runs, limits = runs_of(options.measured), limits_of(options.limits)
    print("Planned calls into warm memory, from outside of any pool; ratios to the best engine, whatever its output.\n")
    print(table(runs, limits, "planned"))
    if all(own(run, "reused") for run in runs.values()):
        print("\nUnplanned calls into outputs that are used again; ratios to the best engine, whatever its output.\n")
        print(table(runs, {}, "reused"))
    print("\nUnplanned calls that return fresh outputs; ratios to the best engine that does so, too.\n")
    print(table(runs, {}, "fresh"))


if __name__ == "__main__":
    main()
