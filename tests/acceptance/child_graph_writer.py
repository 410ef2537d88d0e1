"""A process that tells of people, and has the graph server follow after each, until it is killed.

Run as `python child_graph_writer.py SETTINGS FIRST`, the settings as JSON; prints the number of each person, once
that is stored.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from itertools import count
from typing import Any

from ebbing import AsyncMemory
from ebbing.wiring.build import build, load_settings

CITIES = ("Lisbon", "Porto", "Leeds", "Berlin", "Oslo")


def sentence(number: int) -> str:
    """What is told of one person."""
    name = f"Z{''.join(chr(ord('a') + int(digit)) for digit in str(number))}"
    return f"My friend {name} lives in {CITIES[number % len(CITIES)]}."


async def write(settings: Mapping[str, Any], first: int) -> None:
    async with AsyncMemory(components=build(load_settings(settings))) as memory:
        assert memory.components.graph is not None
        for number in count(first):
            await memory.add(sentence(number), user_id="ada")
            print(number, flush=True)
            await memory.components.graph.catch_up()


if __name__ == "__main__":
    asyncio.run(write(json.loads(sys.argv[1]), int(sys.argv[2])))
