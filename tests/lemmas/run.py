"""Runs the lemmas: all, or those of the topics that are named.

    python3 tests/lemmas/run.py [TOPIC]...
"""

import importlib
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import frame

HERE = Path(__file__).resolve().parent
TOPICS = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("frame", "run"))


def main(topics):
    topics = topics or TOPICS
    for topic in topics:
        importlib.import_module(topic)
    # A topic may use the model of another.
    lemmas = [(cases, quotes) for cases, quotes in frame.LEMMAS if cases.__module__ in topics]
    wrong = [message for cases, quotes in lemmas for message in frame.run(cases, quotes)]
    for message in wrong:
        print(f"error: {message}", file=sys.stderr)
    print(f"{len(lemmas)} lemmas, {len(wrong)} errors")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
