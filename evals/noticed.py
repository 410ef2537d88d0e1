"""Of which messages is something remembered, and of which not?

    python -m evals noticed              # the held part of both languages, with the trained models and without

Each item of the extraction sets (`evals extraction`) is added by `AsyncMemory.add` to a person of its own, with the
bundled embedder. *Precision*: of the items of which a memory is made, those that hold something worth it. *Recall*: of
those that hold something, the ones of which a memory is made. *Misfire*: of those that hold nothing, the ones of which
one is made. What the memory says is judged by `evals extraction` and by reading.
"""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import dataclass
from typing import Any, Final

from ebbing.memory import AsyncMemory
from ebbing.wiring.build import Components, build, load_settings
from evals.extraction import HELD, LANGUAGES, PARTS, items

MODES: Final = {"rules alone": "off", "with the salience model": "auto"}
"""What is measured, by the setting of the models."""


@dataclass
class Counts:
    """Items by whether they hold something, and whether a memory was made."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    silent: int = 0

    def count(self, *, holds: bool, is_kept: bool) -> None:
        """Count one item."""
        self.right += holds and is_kept
        self.wrong += is_kept and not holds
        self.missed += holds and not is_kept
        self.silent += not holds and not is_kept

    def shares(self) -> tuple[float, float, float]:
        """Return precision, recall and misfire."""
        precision = self.right / max(self.right + self.wrong, 1)
        recall = self.right / max(self.right + self.missed, 1)
        return precision, recall, self.wrong / max(self.wrong + self.silent, 1)

    def __str__(self) -> str:
        return "precision {:.3f}, recall {:.3f}, misfire {:.3f}".format(*self.shares())


async def measure(language: str, part: str, *, components: Components) -> Counts:
    """Return the counts of one part of one language; the components are closed."""
    counts = Counts()
    async with AsyncMemory(components=components) as memory:
        for its_part, item in items("extraction", language):
            if its_part == part:
                counts.count(holds=bool(item["facts"]), is_kept=await _is_kept(memory, item))
    return counts


async def _is_kept(memory: AsyncMemory, item: dict[str, Any]) -> bool:
    await memory.add(item["messages"], user_id=item["id"])
    return bool((await memory.get_all(user_id=item["id"], limit=1))["results"])


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m evals noticed`."""
    parser.add_argument("--part", choices=PARTS, default=HELD, help="part of the sets (default: held)")


def run(options: argparse.Namespace) -> None:
    """Print the figures of both languages."""
    for language in LANGUAGES:
        for mode, reader in MODES.items():
            components = build(load_settings({"store": "ephemeral", "embedder": "e5", "reader": reader}))
            counts = asyncio.run(measure(language, options.part, components=components))
            print(f"{language}, {mode}: {counts}", flush=True)
