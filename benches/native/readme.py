#!/usr/bin/env python3
"""Writes the table of README and the page `benches/record/engines.md` from one run of `measure.py`.

    python benches/native/measure.py --table all --json all.json
    python benches/native/readme.py all.json

Each ratio is the quotient of the two printed times, and each mean the geometric mean of the printed ratios of the rows
that it names. `cargo test -p gather-tests --test it front_page` divides the columns again.
"""

import argparse
import datetime
import json
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- measured: `readme.py` writes the lines below -->\n", "<!-- end of measured -->\n"
PLANNED, FRESH = "gather", "gather (fresh)"
LATENCY = "gather/small_32x16_8"
# The rows of README; its means are of all rows.
LISTED = (
    "gather/embedding_50257x768_8k",
    "gather/rows64B_1Mx16_1M",
    "gather/take_16M_4M",
    "gather/midaxis_64x128x256_64",
    "gather/small_32x16_8",
    "gather_elements/last_4096x1024",
    "gather_elements/axis0_8192x64_i32",
    "gather_nd/k2_elems_2048x2048_1M",
    "batch_to_space/nhwc_64x64x64x32_b2",
    "scatter_elements/add_1d_1M_into_64K",
    "scatter_nd/none_rows64B_512K_into_1M",
    "index_add/512Kx64_into_16K",
    "depth_to_space/dcr_16x256x64x64_b2",
    "embedding_bag/sum_1Mx64_16Kx32",
    "embedding_bag/mean_50257x768_256x128",
)
FAMILIES = {
    "gathers": ("gather/", "gather_elements/", "gather_nd/"),
    "scatters": ("scatter_elements/", "scatter_nd/", "index_add/"),
    "rearrangements": ("batch_to_space/", "space_to_batch/", "depth_to_space/", "space_to_depth/"),
    "bags": ("embedding_bag/",),
}


def milliseconds(time):
    """A time with three significant digits."""
    return f"{time:.0f}" if time >= 1000 else f"{time:#.3g}".rstrip(".") if time >= 1e-3 else f"{time:.6f}"


def geometric_mean(ratios):
    """The geometric mean, or a dash if there is no ratio."""
    return f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}" if ratios else "-"


class Run:
    """One run of `measure.py`: printed times by workload and engine."""

    def __init__(self, report):
        self.report, self.rows = report, {}
        for entry in report["workloads"]:
            ok = {label: found for label, found in entry["results"].items() if found["status"] == "ok"}
            times = {label: milliseconds(found["median_ms"]) for label, found in ok.items()}
            self.rows[entry["workload"]["name"]] = times
        self.engines = [label for label, version in report["engines"].items() if version and label not in report["ours"]]

    def best(self, workload, ours):
        """The fastest engine on a workload, its time, and the quotient of both times; None if a time is missing.

        Our fresh outputs are compared with engines whose outputs are fresh, too."""
        times, fresh = self.rows[workload], self.report["fresh"]
        rivals = [engine for engine in self.engines if engine in times and (ours != FRESH or engine in fresh)]
        if ours not in times or not rivals:
            return None
        engine = min(rivals, key=lambda label: float(times[label]))
        return engine, times[engine], float(times[engine]) / float(times[ours])

    def ratios(self, ours, prefixes):
        """The printed ratios of a family's workloads; the call of a few bytes has a line of its own."""
        names = (name for name in self.rows if name.startswith(prefixes) and name != LATENCY)
        return [float(f"{found[2]:.2f}") for name in names if (found := self.best(name, ours))]

    def table(self, ours, workloads):
        """A table: ours, the engines that people compare with, the best engine of all, and its time / ours."""
        shown = [engine for engine in ("NumPy", "PyTorch") if engine in self.engines]
        lines = [["workload, ms", "ours", *shown, "best engine", "its ms", "best / ours"]]
        lines.append(["---"] * len(lines[0]))
        for name in (name for name in workloads if name in self.rows):
            times, found = self.rows[name], self.best(name, ours)
            cells = (found[0], found[1], f"{found[2]:.2f}") if found else ("-", "-", "-")
            lines.append([name, times.get(ours, "-"), *(times.get(engine, "-") for engine in shown), *cells])
        return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"

    def means(self, ours):
        """A sentence with the geometric mean of each family."""
        of = {name: self.ratios(ours, prefixes) for name, prefixes in FAMILIES.items()}
        return ", ".join(f"{geometric_mean(ratios)} over {len(ratios)} {name}" for name, ratios in of.items() if ratios)

    def load(self):
        """The load averages of the last minute before and after the run."""
        return f"{self.report['load_average_before'][0]:.1f} before, {self.report['load_average_after'][0]:.1f} after"

    def machine(self):
        """The machine, the day and the versions."""
        day = datetime.datetime.fromisoformat(self.report["date"]).date().isoformat()
        versions = sorted(f"{label} {self.report['engines'][label].split('+')[0]}" for label in self.engines)
        versions = [version.partition("-")[0] for version in versions]
        threads = self.report["threads"]
        return f"{self.report['cpu_model']}, {threads} thread{'s' * (threads > 1)}, {day}. {', '.join(versions)}."


def wrapped(text, width=120):
    """Text in lines of at most `width` columns."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "\n".join([*lines, line]) + "\n"


def readme(run):
    """The lines of README between its marks."""
    text = (
        f"Geometric means of `best / ours` over all workloads of this run: {run.means(PLANNED)}. "
        f"With fresh outputs on both sides: {run.means(FRESH)}. The call of a few bytes, `small_32x16_8`, is in no mean. "
        f"All rows are in [the record](benches/record/engines.md). {run.machine()} The load average was "
        f"{run.load()}."
    )
    return run.table(PLANNED, LISTED) + "\n" + wrapped(text)


def page(run):
    """The page of the record."""
    parts = ["# Engines, the run of README\n"]
    parts.append(wrapped(
        f"`benches/native/readme.py` wrote this page and README's table from one run of `measure.py --table all`. "
        f"{run.machine()} Load average: {run.load()}. Each engine ran in its own process, in turn with the others, on warm "
        f"memory; outputs were compared with NumPy's first. Times are medians in milliseconds; `best / ours` is the "
        f"quotient of the two printed times."
    ))
    for title, ours in (("Planned calls into warm memory", PLANNED), ("Calls that return fresh outputs", FRESH)):
        parts.append(f"## {title}\n")
        if ours == FRESH:
            parts.append("The best engine is one that returns fresh outputs, too.\n")
        parts.append(run.table(ours, run.rows))
        parts.append(wrapped(f"Geometric means: {run.means(ours)}."))
    labels = [PLANNED, FRESH, *run.engines]
    lines = [["workload, ms", *labels], ["---"] * (len(labels) + 1)]
    lines += [[name, *(times.get(label, "-") for label in labels)] for name, times in run.rows.items()]
    parts += ["## All times\n", "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"]
    return "\n".join(parts)


def main():
    """Reads a run and writes both files."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("measured", metavar="JSON", help="the file of `measure.py --table all --json`")
    with open(parser.parse_args().measured, encoding="utf-8") as file:
        run = Run(json.load(file))
    if run.report.get("cpu_time") or run.report.get("pages", "numpy") != "numpy" or run.report["offset"]:
        raise SystemExit("README's run is on the clock, on NumPy's pages, at offset 0")
    path = ROOT / "README.md"
    before, rest = path.read_text(encoding="utf-8").split(BEGIN)
    path.write_text(f"{before}{BEGIN}\n{readme(run)}\n{END}{rest.split(END)[1]}", encoding="utf-8")
    (ROOT / "benches/record/engines.md").write_text(page(run), encoding="utf-8")


if __name__ == "__main__":
    main()
