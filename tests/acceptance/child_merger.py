"""Merges two users of a store and parts them again, over and over, until it is killed."""

from __future__ import annotations

import asyncio
import sys

from ebbing import AsyncMemory


async def main(path: str) -> None:
    async with AsyncMemory(path, embedder="none") as memory:
        print("open", flush=True)
        while True:
            done = await memory.identities.merge("ada", "bob")
            await memory.identities.unmerge(done["id"])


asyncio.run(main(sys.argv[1]))
