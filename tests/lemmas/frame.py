"""Lemmas: statements of index arithmetic that z3 proves for all integers, and the Rust text that each speaks of.

A lemma is a generator. It yields cases: a name, what is assumed, and what is claimed. It is given `twin`: where that is
true, the model of the code has a mistake, and z3 must find a counterexample to each case.
"""

import time
from pathlib import Path

import z3

SRC = Path(__file__).resolve().parents[2] / "gather-core" / "src"
# A case takes far less. One that takes longer counts as not proved.
MOST_SECONDS = 20

LEMMAS = []


def normalised(text):
    """Rust without lines of comments, its white space one space. `tests/it/lemmas.rs` does the same."""
    lines = (line.strip() for line in text.splitlines())
    return " ".join(" ".join(line for line in lines if not line.startswith("//")).split())


class Rust:
    """Text that a file of gather-core must have, word by word."""

    def __init__(self, path, text):
        self.path, self.text = path, text

    def is_there(self):
        path = SRC / self.path
        return path.is_file() and normalised(self.text) in normalised(path.read_text())


def rust(path, text):
    return Rust(path, text)


def lemma(*quotes):
    """Registers a lemma about quoted text. Its title is the first line of its doc comment."""

    def register(cases):
        LEMMAS.append((cases, quotes))
        return cases

    return register


def solve(assumed, claimed):
    """Searches a counterexample: `unsat` where there is none, else `sat` or `unknown`, and the model."""
    solver = z3.Solver()
    solver.set("timeout", MOST_SECONDS * 1000)
    solver.add(*assumed, z3.Not(claimed))
    answer = solver.check()
    return answer, solver.model() if answer == z3.sat else None


def show(model):
    names = sorted(model.decls(), key=str)
    return ", ".join(f"{name} = {model[name]}" for name in names if name.arity() == 0)


def run(cases, quotes):
    """Proves the cases of a lemma and refutes those of its twin; returns what went wrong."""
    topic, title = cases.__module__, cases.__doc__.strip().splitlines()[0]
    wrong = []
    for quote in quotes:
        if not quote.is_there():
            first = quote.text.strip().splitlines()[0].strip()
            wrong.append(
                f"{quote.path} has changed: `{first}`. Read the lemma `{topic}.{cases.__name__}` beside the new text: "
                "where it still says what the code does, copy the new text into it."
            )
    begin, example = time.monotonic(), None
    proofs, twins = list(cases(False)), list(cases(True))
    if [name for name, *_ in proofs] != [name for name, *_ in twins]:
        wrong.append(f"{topic}.{cases.__name__}: not every case has a twin")
    for name, assumed, claimed in proofs:
        answer, model = solve(assumed, claimed)
        if answer != z3.unsat:
            found = show(model) if model else f"no answer in {MOST_SECONDS} s"
            wrong.append(f"{topic}.{cases.__name__}: `{name}` is not proved: {found}")
    for name, assumed, claimed in twins:
        answer, model = solve(assumed, claimed)
        if answer != z3.sat:
            wrong.append(f"{topic}.{cases.__name__}: the false twin of `{name}` is not refuted: {answer}")
        else:
            example = example or show(model)
    print(f"{topic}.{cases.__name__}: {title}")
    print(f"    {len(proofs)} cases, {time.monotonic() - begin:.1f} s; its twin fails at {example}", flush=True)
    return wrong


# What models of machine integers share.


def low(value, bits):
    """The low bits of a bit-vector: `as` to a narrower type."""
    return z3.Extract(bits - 1, 0, value)


def extended(value, bits, signed):
    """A bit-vector of more bits with the same value: `as` to a wider type."""
    more = bits - value.size()
    return (z3.SignExt if signed else z3.ZeroExt)(more, value) if more else value


def ceil(a, b):
    """`a.div_ceil(b)` of integers, `b` a number."""
    return (a + (b - 1)) / b


def least(a, b):
    return z3.If(a < b, a, b)


def greatest(a, b):
    return z3.If(a > b, a, b)
