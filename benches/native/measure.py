#!/usr/bin/env python
"""Measures tensor engines on the fixed workloads and prints a table of median milliseconds.

Every engine runs in a process of its own, pinned to as many CPUs as there are threads (Linux). Every output is
checked against NumPy's before it is timed. Engines take turns on a workload, so a busy moment of the machine does not
hit one of them alone. This library is the first of them; `gather (reused)` is measured where `--engines` names it.
With `--offset 16` the inputs and the bound outputs begin 16 bytes after a cache line, as NumPy's own arrays do; with
`--pages` the inputs lie on pages of that kind. With `--cpu-time` a call takes what its process had a CPU for, which
other programs disturb less. In the table '-' stands for a missing operator or engine, 'wrong' for an output that
differs, 'error' for an exception, and 'crash' for a process that died. The JSON has the reasons.

    pip install -r benches/native/requirements.txt ./benches/python
    python benches/native/measure.py --threads 1 --json one.json
    python benches/native/measure.py --table inverses --filter scatter  # or the way back
    python benches/native/measure.py --table large --pages small --engines "gather,NumPy,ONNX Runtime"
"""

import argparse
import dataclasses
import datetime
import gc
import json
import multiprocessing
import os
import platform
import signal
import sys
import time

import numpy as np

from buffers import OFFSETS, PAGES, place
from engine import Unsupported
from engines import ENGINES, OURS, REUSED, NumPy
from workloads import TABLES

ROUNDS = 3
MIN_SAMPLES = 7
SETTLING_CALLS = 12  # before the first round: at first, allocators give pages back and fault them in again
SETTLING_SECONDS = 3  # at most, even if fewer calls fit
WARM_UP = 0.2  # a part of each round's time, before the round
SHORTEST_SAMPLE = 100e-6  # seconds; shorter calls are timed several at once
PATIENCE = 300  # seconds without an answer, after which an engine counts as crashed


class Crash(Exception):
    """An engine's process died."""


class EngineProcess:
    """An engine in a process of its own, which is started again after a crash."""

    def __init__(self, label, cpus, offset, pages):
        self.label, self.cpus, self.offset, self.pages = label, cpus, offset, pages
        self.version = self.missing = self.process = None

    def ask(self, *request):
        """Sends a request, and starts the process first if there is none. Raises Crash if no answer comes."""
        if self.process is None:
            self._start()
        if self.missing:
            return {"status": "unsupported", "reason": self.missing}
        try:
            self.connection.send(request)
        except ConnectionError:
            pass  # The process has died; waiting for its answer finds out how.
        return self._answer()

    def stop(self):
        """Ends the process."""
        if self.process:
            self.connection.close()
            self.process.join()
            self.process = None

    def _start(self):
        self.connection, theirs = multiprocessing.Pipe()
        arguments = (theirs, self.connection, self.label, self.cpus, self.offset, self.pages)
        self.process = multiprocessing.Process(target=serve, args=arguments)
        self.process.start()
        theirs.close()
        self.version, self.missing = self._answer()

    def _answer(self):
        reason = None
        try:
            if self.connection.poll(PATIENCE):
                return self.connection.recv()
            reason = f"no answer for {PATIENCE} s"
            self.process.kill()
        except (EOFError, ConnectionError):
            pass
        self.process.join()
        code, self.process = self.process.exitcode, None
        raise Crash(reason or (f"killed by {signal.Signals(-code).name}" if code < 0 else f"exited with {code}"))


def serve(connection, parents_end, label, cpus, offset, pages):
    """Runs in an engine's process: answers requests until the connection closes."""
    parents_end.close()
    os.sched_setaffinity(0, cpus)
    try:
        engine = ENGINES[label](len(cpus), offset)
    except ImportError as error:
        connection.send((None, f"not installed: {error}"))
        return
    connection.send((engine.version, None))
    bench = Bench(engine, pages)
    while True:
        try:
            method, *arguments = connection.recv()
        except EOFError:
            return
        connection.send(getattr(bench, method)(*arguments))


class Bench:
    """One engine with at most one prepared workload."""

    def __init__(self, engine, pages):
        self.engine, self.pages = engine, pages
        self.inputs = self.call = None

    def prepare(self, workload):
        """Sets a workload up and checks its output. The answer's status is 'ok' if it can be timed."""
        self.call = self.inputs = None
        self.inputs = [place(array, self.engine.offset, self.pages) for array in workload.inputs()]
        expected = NumPy(threads=1).prepare(workload, *self.inputs)()
        try:
            call = self.engine.prepare(workload, *self.inputs)
            output = self.engine.to_numpy(call())
        except Unsupported as reason:
            return {"status": "unsupported", "reason": str(reason)}
        except Exception as error:  # Whatever an engine raises belongs in the report.
            return {"status": "error", "reason": f"{type(error).__name__}: {error}"}
        if (output.shape, output.dtype) != (expected.shape, expected.dtype):
            return {"status": "wrong", "reason": f"{output.dtype} {output.shape}"}
        if not np.array_equal(output, expected):
            return {"status": "wrong", "reason": f"{np.count_nonzero(output != expected)} elements differ"}
        start = time.perf_counter()
        for _ in range(SETTLING_CALLS):
            call()
            if time.perf_counter() - start > SETTLING_SECONDS:
                break
        self.call = call
        return {"status": "ok"}

    def time(self, seconds, min_samples, cpu_time):
        """Times the prepared call. Returns seconds per call, and CPU seconds per second during the timing."""
        call, clock = self.call, time.perf_counter
        each = time.process_time if cpu_time else clock
        start, calls = clock(), 0
        while calls == 0 or clock() - start < seconds * WARM_UP:
            call()
            calls += 1
        repeats = range(max(1, round(SHORTEST_SAMPLE * calls / (clock() - start))))
        samples = []
        gc.disable()
        start, cpu = clock(), time.process_time()
        while len(samples) < min_samples or clock() - start < seconds:
            before = each()
            for _ in repeats:
                call()
            samples.append((each() - before) / len(repeats))
        busy = (time.process_time() - cpu) / (clock() - start)
        gc.enable()
        return {"samples": samples, "busy": busy}


def measure(workload, engines, seconds, cpu_time):
    """Results of all engines on a workload, by label."""
    results, rounds = {}, {}
    for engine in engines:
        try:
            results[engine.label] = engine.ask("prepare", workload)
        except Crash as reason:
            results[engine.label] = {"status": "crash", "reason": str(reason)}
    for _ in range(ROUNDS):
        for engine in engines:
            if results[engine.label]["status"] == "ok":
                try:
                    answer = engine.ask("time", seconds / ROUNDS, -(-MIN_SAMPLES // ROUNDS), cpu_time)
                    rounds.setdefault(engine.label, []).append(answer)
                except Crash as reason:
                    results[engine.label] = {"status": "crash", "reason": str(reason)}
    for engine in engines:
        if results[engine.label]["status"] == "ok":
            results[engine.label] |= summary(rounds[engine.label])
    return results


def summary(rounds):
    """Statistics in milliseconds over all rounds."""
    samples = np.concatenate([answer["samples"] for answer in rounds]) * 1e3
    names = ("min_ms", "p25_ms", "median_ms", "p75_ms")
    statistics = dict(zip(names, map(float, np.percentile(samples, (0, 25, 50, 75)))))
    medians = [float(np.median(answer["samples"]) * 1e3) for answer in rounds]
    busy = float(np.mean([answer["busy"] for answer in rounds]))
    return statistics | {"round_medians_ms": medians, "samples": len(samples), "cpu_per_wall": busy}


def cell(result):
    """A result as the table shows it."""
    if result["status"] == "ok":
        return digits(result["median_ms"])
    return "-" if result["status"] == "unsupported" else result["status"]


def digits(number):
    """Three significant digits, never in scientific notation."""
    return f"{number:.0f}" if number >= 1000 else f"{number:.3g}"


def table(rows, labels):
    """The results as a markdown table."""
    lines = [["workload", *labels, "best engine", "its ms"], ["---"] * (len(labels) + 3)]
    for row in rows:
        results = row["results"]
        timed = {label: result["median_ms"] for label, result in results.items() if result["status"] == "ok"}
        best = min(timed.keys() - set(OURS), key=timed.get, default=None)
        cells = [cell(results[label]) for label in labels]
        lines.append([row["workload"]["name"], *cells, *((best, digits(timed[best])) if best else ("-", "-"))])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cpu_model():
    """The processor's name."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of every engine (default: 1)")
    parser.add_argument("--offset", type=int, default=0, choices=OFFSETS, help="bytes after a cache line (default: 0)")
    parser.add_argument("--pages", default=PAGES[0], choices=PAGES, help="of the inputs (default: as NumPy does)")
    parser.add_argument("--cpu-time", action="store_true", help="what processes had CPUs for, not the clock")
    parser.add_argument("--engines", metavar="LABELS", help="these alone, as `gather,gather (reused),NumPy`")
    parser.add_argument("--table", default="gathers", choices=TABLES, help="which workloads (default: gathers)")
    parser.add_argument("--filter", default="", metavar="SUBSTR", help="only workloads whose name contains this")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S", help="per workload and engine (default: 1)")
    parser.add_argument("--json", metavar="FILE", help="where everything that was measured goes")
    options = parser.parse_args()
    available = len(os.sched_getaffinity(0))
    if not 1 <= options.threads <= available:
        parser.error(f"--threads must be 1 to {available} on this machine")
    options.workloads = [workload for workload in TABLES[options.table] if options.filter in workload.name]
    if not options.workloads:
        parser.error(f"no workload's name contains {options.filter!r}")
    options.labels = options.engines.split(",") if options.engines else [label for label in ENGINES if label != REUSED]
    if not set(options.labels) <= set(ENGINES):
        parser.error(f"engines are {', '.join(ENGINES)}")
    return options


def main():
    """Measures, and writes the table and the JSON."""
    options = arguments()
    multiprocessing.set_start_method("spawn")
    cpus = sorted(os.sched_getaffinity(0))[-options.threads :]
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "threads": options.threads,
        "offset": options.offset,
        "pages": options.pages,
        "cpu_time": options.cpu_time,
        "cpus": cpus,
        "cpu_model": cpu_model(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "seconds": options.seconds,
        "load_average_before": os.getloadavg(),
    }
    engines = [EngineProcess(label, cpus, options.offset, options.pages) for label in options.labels]
    rows = []
    for number, workload in enumerate(options.workloads, 1):
        results = measure(workload, engines, options.seconds, options.cpu_time)
        rows.append({"workload": dataclasses.asdict(workload), "results": results})
        cells = ", ".join(f"{label} {cell(result)}" for label, result in results.items())
        print(f"[{number}/{len(options.workloads)}] {workload.name}: {cells}", file=sys.stderr, flush=True)
    for engine in engines:
        engine.stop()
    report["load_average_after"] = os.getloadavg()
    report["engines"] = {engine.label: engine.version for engine in engines}
    report["ours"] = [label for label in OURS if label in options.labels]
    report["fresh"] = [label for label, engine in ENGINES.items() if engine.fresh]
    report["workloads"] = rows
    print(table(rows, options.labels))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
