"""An add that is killed between what it stores and what it queues.

Run as `python child_dying_add.py DIRECTORY QUEUE ADDRESS WHAT`. With `extract` the language model fails, and the
process dies right after the messages are stored. With `accept` it dies right after an add was accepted for later.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from ebbing import Memory
from ebbing.domain.errors import ModelUnavailableError
from ebbing.testing.models.chat_model import ScriptedChatModel
from ebbing.wiring.build import build, load_settings

SENTENCE = "As of last week I pay my taxes in Leeds."


def main(directory: str, queue: str, *, address: str, what: str) -> None:
    settings = load_settings({"path": directory, "embedder": "none", "job_queue": queue, "redis_url": address})
    components = build(settings, chat_model=ScriptedChatModel(ModelUnavailableError("down")))
    place: Any = components.store if what == "extract" else components.store.requests
    name = "write" if what == "extract" else "begin"
    original = getattr(place, name)

    async def store_and_die(*values: Any, **more: Any) -> None:
        await original(*values, **more)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(place, name, store_and_die)
    memory = Memory(components=components)
    if what == "extract":
        memory.add(SENTENCE, user_id="ada")
    else:
        memory.enqueue_add(SENTENCE, user_id="ada", infer=False)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], address=sys.argv[3], what=sys.argv[4])
