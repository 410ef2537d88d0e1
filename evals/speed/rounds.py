"""What it costs to remember a round of a conversation, two messages, with neither vectors nor a model."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Final

from ebbing import Memory
from evals.extraction import LANGUAGES, items
from evals.metrics import percentile

ROUNDS: Final = 600
WARM: Final = 300
USERS: Final = 40
_SEED: Final = 3
_REPLY: Final = "That is good to know, thank you for telling me. Is there anything else that I can help you with?"


def rounds() -> dict[str, float]:
    """Milliseconds of CPU, of all threads of the process, for one `add` of two messages; median and 90th percentile.

    The user's messages are those of the extraction sets, in a fixed order: in both languages, half of them hold facts.
    """
    said = [
        message["content"]
        for language in LANGUAGES
        for _, item in items("extraction", language)
        for message in item["messages"]
        if message["role"] == "user"
    ]
    Random(_SEED).shuffle(said)
    spent: list[float] = []
    with (
        tempfile.TemporaryDirectory(prefix="ebbing-evals-") as folder,
        Memory(path=Path(folder), embedder="none") as memory,
    ):
        for number in range(WARM + ROUNDS):
            told = [{"role": "user", "content": said[number % len(said)]}, {"role": "assistant", "content": _REPLY}]
            began = time.process_time_ns()
            memory.add(told, user_id=f"user{number % USERS}")
            spent.append((time.process_time_ns() - began) / 1e6)
    measured = spent[WARM:]
    return {"p50_cpu_ms": percentile(measured, 0.5), "p90_cpu_ms": percentile(measured, 0.9), "n": len(measured)}


def main() -> None:
    """`python -m evals.speed.rounds`: the figures as JSON."""
    print(json.dumps(rounds()))


if __name__ == "__main__":
    main()
